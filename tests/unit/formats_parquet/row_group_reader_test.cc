// Row groups read with some rows kept, against Arrow's reader and a filter that keeps row by row.
#include <arrow/api.h>
#include <arrow/array/concatenate.h>
#include <arrow/io/memory.h>
#include <arrow/util/compression.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/metadata.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "delenda/formats/parquet/compaction.h"
#include "delenda/formats/parquet/decode_context.h"
#include "delenda/formats/parquet/page_header.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "support/seed.h"
#include "support/temporary_folder.h"
#include "unit/formats_parquet/parquet_writer.h"

namespace delenda::parquet {
namespace {

using testing::IdField;
using ArrayRef = std::shared_ptr<arrow::Array>;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Bits() { return engine_(); }
  int64_t Below(int64_t bound) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  const T& Of(const std::vector<T>& values) {
    return values[static_cast<size_t>(Below(static_cast<int64_t>(values.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

// Bits in runs, scattered, all or none: what masks and NULLs look like.
std::vector<bool> RandomBits(Random& random, int64_t rows) {
  std::vector<bool> bits;
  switch (random.Below(6)) {
    case 0: bits.assign(static_cast<size_t>(rows), true); break;
    case 1: bits.assign(static_cast<size_t>(rows), false); break;
    case 2:
    case 3:
      while (static_cast<int64_t>(bits.size()) < rows)
        bits.insert(bits.end(), static_cast<size_t>(1 + random.Below(300)), random.OneIn(2));
      break;
    default: {
      const int64_t n = 2 + random.Below(12);
      const bool rare = random.OneIn(2);
      for (int64_t i = 0; i < rows; ++i) bits.push_back(random.OneIn(n) == rare);
    }
  }
  bits.resize(static_cast<size_t>(rows));
  return bits;
}

std::string RandomText(Random& random, int64_t longest) {
  std::string text(static_cast<size_t>(random.Below(longest + 1)), 'x');
  for (char& c : text) c = static_cast<char>('a' + random.Below(26));
  return text;
}

// Values of a type, from `distinct` different ones.
ArrayRef RandomArray(Random& random, const std::shared_ptr<arrow::DataType>& type, int64_t rows, bool nullable) {
  if (type->id() == arrow::Type::STRUCT) {
    const ArrayRef child = RandomArray(random, type->field(0)->type(), rows, true);
    return arrow::StructArray::Make({child}, {type->field(0)}).ValueOrDie();
  }
  const std::vector<bool> valid = RandomBits(random, rows);
  std::unique_ptr<arrow::ArrayBuilder> builder;
  EXPECT_TRUE(arrow::MakeBuilder(arrow::default_memory_pool(), type, &builder).ok());
  const int64_t distinct = random.OneIn(2) ? 1 + random.Below(40) : int64_t{1} << 40;
  const int64_t longest = random.Of(std::vector<int64_t>{0, 3, 16, 17, 60});
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) texts.push_back(RandomText(random, longest));
  for (int64_t row = 0; row < rows; ++row) {
    if (nullable && !valid[static_cast<size_t>(row)]) {
      EXPECT_TRUE(builder->AppendNull().ok());
      continue;
    }
    const int64_t n = random.Below(distinct) - distinct / 2;
    const std::string text =
        distinct < 100 ? texts[static_cast<size_t>(n + distinct / 2)] : RandomText(random, longest);
    arrow::Status status;
    switch (type->id()) {
      case arrow::Type::BOOL: status = static_cast<arrow::BooleanBuilder&>(*builder).Append(n % 2 == 0); break;
      case arrow::Type::INT16:
        status = static_cast<arrow::Int16Builder&>(*builder).Append(static_cast<int16_t>(n));
        break;
      case arrow::Type::INT32:
        status = static_cast<arrow::Int32Builder&>(*builder).Append(static_cast<int32_t>(n));
        break;
      case arrow::Type::UINT32:
        status = static_cast<arrow::UInt32Builder&>(*builder).Append(static_cast<uint32_t>(n));
        break;
      case arrow::Type::DATE32:
        status = static_cast<arrow::Date32Builder&>(*builder).Append(static_cast<int32_t>(n));
        break;
      case arrow::Type::INT64: status = static_cast<arrow::Int64Builder&>(*builder).Append(n); break;
      case arrow::Type::TIME64:
        status = static_cast<arrow::Time64Builder&>(*builder).Append(std::abs(n) % 86400);
        break;
      case arrow::Type::TIMESTAMP: status = static_cast<arrow::TimestampBuilder&>(*builder).Append(n); break;
      case arrow::Type::FLOAT:
        status = static_cast<arrow::FloatBuilder&>(*builder).Append(static_cast<float>(n) / 8);
        break;
      case arrow::Type::DOUBLE:
        status = static_cast<arrow::DoubleBuilder&>(*builder).Append(static_cast<double>(n) / 8);
        break;
      case arrow::Type::DECIMAL128:
        status = static_cast<arrow::Decimal128Builder&>(*builder).Append(arrow::Decimal128(n % 99'999));
        break;
      case arrow::Type::STRING:
      case arrow::Type::BINARY: status = static_cast<arrow::BinaryBuilder&>(*builder).Append(text); break;
      case arrow::Type::FIXED_SIZE_BINARY: {
        std::string bytes = text;
        bytes.resize(static_cast<size_t>(static_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width()), '-');
        status = static_cast<arrow::FixedSizeBinaryBuilder&>(*builder).Append(bytes);
        break;
      }
      case arrow::Type::LIST: {
        auto& list = static_cast<arrow::ListBuilder&>(*builder);
        status = list.Append();
        for (int64_t i = random.Below(4); i > 0; --i) {
          status &= random.OneIn(4) ? list.value_builder()->AppendNull()
                                    : static_cast<arrow::StringBuilder&>(*list.value_builder()).Append(text);
        }
        break;
      }
      default: status = arrow::Status::NotImplemented(type->ToString());
    }
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  return builder->Finish().ValueOrDie();
}

std::vector<std::shared_ptr<arrow::DataType>> Types() {
  return {arrow::boolean(),
          arrow::int16(),
          arrow::int32(),
          arrow::uint32(),
          arrow::int64(),
          arrow::float32(),
          arrow::float64(),
          arrow::date32(),
          arrow::time64(arrow::TimeUnit::MICRO),
          arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
          arrow::timestamp(arrow::TimeUnit::NANO),
          arrow::decimal128(9, 2),
          arrow::decimal128(18, 3),
          arrow::decimal128(38, 4),
          arrow::utf8(),
          arrow::binary(),
          arrow::fixed_size_binary(5),
          arrow::fixed_size_binary(16),
          arrow::list(arrow::field("element", arrow::utf8())),
          arrow::struct_({arrow::field("a", arrow::int32())})};
}

ArrayRef KeepRowByRow(const ArrayRef& array, const std::vector<bool>& kept) {
  arrow::ArrayVector rows{array->Slice(0, 0)};
  for (int64_t row = 0; row < array->length(); ++row) {
    if (kept[static_cast<size_t>(row)]) rows.push_back(array->Slice(row, 1));
  }
  return arrow::Concatenate(rows).ValueOrDie();
}

std::vector<uint8_t> ToBitmap(const std::vector<bool>& bits, int64_t offset) {
  std::vector<uint8_t> bitmap((bits.size() + static_cast<size_t>(offset) + 7) / 8);
  for (size_t i = 0; i < bits.size(); ++i) {
    const size_t at = i + static_cast<size_t>(offset);
    if (bits[i]) bitmap[at / 8] = static_cast<uint8_t>(bitmap[at / 8] | (1U << (at % 8)));
  }
  return bitmap;
}

int64_t CountOf(const std::vector<bool>& bits) { return std::ranges::count(bits, true); }

void ExpectSame(const arrow::Array& read, const arrow::Array& expected, const std::string& what) {
  const arrow::Status valid = read.ValidateFull();
  ASSERT_TRUE(valid.ok()) << what << ": " << valid.ToString();
  ASSERT_TRUE(read.Equals(expected, arrow::EqualOptions::Defaults().nans_equal(true)))
      << what << "\nread: " << read.ToString() << "\nexpected: " << expected.ToString();
}

TEST(Compaction, KeepsWhatAFilterRowByRowKeeps) {
  Random random(delenda::testing::Seed());
  for (int run = 0; run < 600; ++run) {
    const auto type = random.OneIn(20) ? arrow::null() : random.Of(Types());
    const int64_t rows = random.Below(random.OneIn(2) ? 70 : 1000);
    const ArrayRef whole = type->id() == arrow::Type::NA ? std::make_shared<arrow::NullArray>(rows)
                                                         : RandomArray(random, type, rows, random.OneIn(2));
    const int64_t offset = random.Below(rows + 1);
    const ArrayRef array = whole->Slice(offset, random.Below(rows - offset + 1));
    const std::vector<bool> kept = RandomBits(random, array->length());
    const int64_t begin = random.Below(70);
    const std::vector<uint8_t> bitmap = ToBitmap(kept, begin);
    const auto compacted = Compact(array, RowMask(bitmap.data(), begin), CountOf(kept));
    ASSERT_TRUE(compacted) << compacted.error().ToString();
    ExpectSame(**compacted, *KeepRowByRow(array, kept), fmt::format("run {}: {}", run, type->ToString()));
    if (HasFatalFailure()) return;
  }
}

TEST(Compaction, OneRunIsNotCopied) {
  const ArrayRef array = testing::LongRange(0, 1000);
  std::vector<bool> kept(1000, false);
  std::fill(kept.begin() + 100, kept.begin() + 900, true);
  const std::vector<uint8_t> bitmap = ToBitmap(kept, 0);
  const auto compacted = Compact(array, RowMask(bitmap.data(), 0), 800);
  ASSERT_TRUE(compacted);
  EXPECT_EQ((*compacted)->data()->buffers[1], array->data()->buffers[1]);
  EXPECT_EQ((*compacted)->offset(), 100);
}

struct WrittenFile {
  Bytes bytes;
  std::string description;
};

WrittenFile WriteRandomly(Random& random, const std::shared_ptr<arrow::Table>& table) {
  using arrow::Compression;
  ::parquet::WriterProperties::Builder properties;
  const int64_t group_rows = 1 + random.Below(table->num_rows());
  const int64_t page_bytes = random.Of(std::vector<int64_t>{1, 100, 1000, 1 << 20});
  const auto codec =
      random.Of(std::vector<Compression::type>{Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD,
                                               Compression::ZSTD, Compression::GZIP, Compression::LZ4});
  const bool dictionary = random.OneIn(2);
  const bool v2 = random.OneIn(2);
  const bool as_integer = random.OneIn(2);
  properties.max_row_group_length(group_rows)->data_pagesize(page_bytes)->write_batch_size(1 + random.Below(200));
  properties.compression(codec)->version(::parquet::ParquetVersion::PARQUET_2_6);
  properties.data_page_version(v2 ? ::parquet::ParquetDataPageVersion::V2 : ::parquet::ParquetDataPageVersion::V1);
  if (!dictionary) properties.disable_dictionary();
  // Small ones overflow into plain pages in the middle of the chunk.
  properties.dictionary_pagesize_limit(random.Of(std::vector<int64_t>{50, 400, 1 << 20}));
  if (as_integer) properties.enable_store_decimal_as_integer();
  if (random.OneIn(4)) properties.encoding(::parquet::Encoding::PLAIN);
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto status = ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, group_rows,
                                                   properties.build(), ::parquet::default_arrow_writer_properties());
  EXPECT_TRUE(status.ok()) << status.ToString();
  const auto buffer = sink->Finish().ValueOrDie();
  const auto view = std::as_bytes(std::span(buffer->data(), static_cast<size_t>(buffer->size())));
  return {Bytes(view.begin(), view.end()),
          fmt::format("{} rows a group, pages of {} bytes version {}, {}{}{}", group_rows, page_bytes, v2 ? 2 : 1,
                      arrow::util::Codec::GetCodecAsString(codec), dictionary ? ", dictionaries" : "",
                      as_integer ? ", decimals as integers" : "")};
}

std::shared_ptr<arrow::Table> ReadByArrow(const Bytes& bytes, int row_group, const std::vector<int>& leaves) {
  const auto buffer = std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                      static_cast<int64_t>(bytes.size()));
  auto raw = ::parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(buffer));
  ::parquet::ArrowReaderProperties properties;
  const auto reader =
      ::parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(raw), properties).ValueOrDie();
  return reader->ReadRowGroup(row_group, leaves).ValueOrDie();
}

// Batches of random masks: some not taken, some whole, some in part; from memory at once, and from a file by pieces.
void CheckFile(Random& random, const WrittenFile& written, const std::shared_ptr<const ParquetFile>& file,
               const std::string& what) {
  std::vector<int> leaves;
  for (size_t i = 0; i < file->leaves().size(); ++i) {
    if (random.OneIn(2)) leaves.push_back(static_cast<int>(i));
  }
  if (leaves.empty()) leaves.push_back(0);
  const auto context = std::make_shared<DecodeContext>();
  for (size_t group = 0; group < std::min<size_t>(file->row_groups().size(), 3); ++group) {
    const auto expected = ReadByArrow(written.bytes, static_cast<int>(group), leaves);
    const int64_t batch_rows = 1 + random.Below(random.OneIn(2) ? 50 : 1500);
    const int64_t group_rows = file->row_groups()[group].num_rows;
    RowGroupPart part;
    part.context = context;
    if (random.OneIn(3)) {
      part.first = random.Below(group_rows + 1);
      part.end = part.first + random.Below(group_rows - part.first + 1);
    }
    const auto reader = file->Read(group, leaves, batch_rows, part);
    ASSERT_TRUE(reader) << what << reader.error().ToString();
    ASSERT_TRUE((*reader)->schema()->Equals(*expected->schema())) << what << (*reader)->schema()->ToString();
    int64_t first = part.first;
    for (;;) {
      const auto rows = (*reader)->Begin();
      ASSERT_TRUE(rows) << what << rows.error().ToString();
      if (*rows == 0) break;
      if (random.OneIn(4)) {
        first += *rows;
        continue;
      }
      const std::vector<bool> kept =
          random.OneIn(5) ? std::vector<bool>(static_cast<size_t>(*rows), true) : RandomBits(random, *rows);
      const std::vector<uint8_t> bitmap = ToBitmap(kept, 0);
      const bool all = CountOf(kept) == *rows;
      const auto batch = (*reader)->Take(all && random.OneIn(2) ? RowMask() : RowMask(bitmap.data(), 0), CountOf(kept));
      ASSERT_TRUE(batch) << what << batch.error().ToString();
      ASSERT_EQ((*batch)->num_rows(), CountOf(kept)) << what;
      for (int i = 0; i < expected->num_columns(); ++i) {
        const ArrayRef column = arrow::Concatenate(expected->column(i)->Slice(first, *rows)->chunks()).ValueOrDie();
        ExpectSame(*(*batch)->column(i), *KeepRowByRow(column, kept),
                   fmt::format("{}, row group {}, rows {} to {}, column {}", what, group, first, first + *rows,
                               expected->field(i)->ToString()));
        if (::testing::Test::HasFatalFailure()) return;
      }
      first += *rows;
    }
    EXPECT_EQ(first, std::min(part.end, group_rows)) << what;
  }
}

TEST(RowGroupReader, KeptRowsAreThoseOfArrowsReader) {
  Random random(delenda::testing::Seed());
  const delenda::testing::TemporaryFolder folder;
  for (int run = 0; run < 150; ++run) {
    const int64_t rows = 1 + random.Below(2500);
    arrow::FieldVector fields;
    arrow::ArrayVector arrays;
    for (int64_t i = 1 + random.Below(6); i > 0; --i) {
      const auto type = random.Of(Types());
      const bool nullable = random.OneIn(2);
      arrays.push_back(RandomArray(random, type, rows, nullable));
      fields.push_back(IdField(static_cast<int>(i), "c" + std::to_string(i), type, nullable));
    }
    const WrittenFile written = WriteRandomly(random, arrow::Table::Make(arrow::schema(fields), arrays));
    const std::string what = fmt::format("run {} ({}): ", run, written.description);
    for (const bool local : {false, true}) {
      const auto io = local ? io::MakeLocalFileIO() : io::MakeMemoryFileIO();
      const std::string path = folder.path() / fmt::format("{}.parquet", run);
      testing::PutFile(*io, path, written.bytes);
      std::shared_ptr<io::InputFile> input = io->Open(path, written.bytes.size()).value();
      const auto file = ParquetFile::Open(input, written.bytes.size());
      ASSERT_TRUE(file) << what << file.error().ToString();
      CheckFile(random, written, *file, what);
      if (HasFatalFailure()) return;
    }
  }
}

// The columns of a batch that was let go are where those of a later one are put.
TEST(BufferRecycler, UsesMemoryAgain) {
  const auto recycler = BufferRecycler::Make();
  auto first = recycler->Allocate(100'000, 64).value();
  EXPECT_EQ(first->size(), 100'000);
  EXPECT_GE(first->room(), 100'064);
  const std::byte* const memory = first->bytes();
  const auto second = recycler->Allocate(100'000, 64).value();
  EXPECT_NE(second->bytes(), memory);
  first.reset();
  const auto third = recycler->Allocate(90'000).value();  // a little smaller
  EXPECT_EQ(third->bytes(), memory);
  const auto fourth = recycler->Allocate(1'000).value();  // would waste most of it
  EXPECT_NE(fourth->bytes(), memory);
}

TEST(BufferRecycler, BuffersOutliveIt) {
  auto recycler = BufferRecycler::Make();
  const auto buffer = recycler->Allocate(100).value();
  recycler.reset();
  std::memset(buffer->bytes(), 7, 100);
  EXPECT_EQ(buffer->data()[99], 7);
}

Result<PageHeader> HeaderOf(const std::vector<int>& bytes) {
  std::vector<std::byte> header;
  for (const int byte : bytes) header.push_back(static_cast<std::byte>(byte));
  return ParsePageHeader(header);
}

// Bytes by hand from the compact protocol: (delta of the field id << 4 | type), zigzag numbers.
TEST(PageHeader, IsReadWithWhatItMayHoldBeside) {
  // type DATA_PAGE, 300 bytes decoded, 100 stored, crc, {5 values, PLAIN, RLE, RLE, statistics {min "a"}}; then a byte
  // of the page.
  const auto data = HeaderOf({0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0xc8, 0x01, 0x15, 0x07, 0x1c, 0x15, 0x0a, 0x15,
                              0x00, 0x15, 0x06, 0x15, 0x06, 0x1c, 0x28, 0x01, 'a',  0x00, 0x00, 0x00, 0x77});
  ASSERT_TRUE(data) << data.error().ToString();
  EXPECT_EQ(data->kind, PageHeader::Kind::kData);
  EXPECT_EQ(data->decoded_bytes, 300U);
  EXPECT_EQ(data->stored_bytes, 100U);
  EXPECT_EQ(data->values, 5);
  EXPECT_EQ(data->encoding, 0);
  EXPECT_EQ(data->header_bytes, 26U);
  // Version 2, not compressed: {5 values, 1 NULL, 5 rows, RLE_DICTIONARY, 3 bytes of definition levels, none of
  // repetition levels, false}.
  const auto v2 = HeaderOf({0x15, 0x06, 0x15, 0x0a, 0x15, 0x0a, 0x5c, 0x15, 0x0a, 0x15, 0x02,
                            0x15, 0x0a, 0x15, 0x10, 0x15, 0x06, 0x15, 0x00, 0x12, 0x00, 0x00});
  ASSERT_TRUE(v2) << v2.error().ToString();
  EXPECT_EQ(v2->kind, PageHeader::Kind::kDataV2);
  EXPECT_EQ(v2->encoding, 8);
  EXPECT_EQ(v2->definition_bytes, 3U);
  EXPECT_FALSE(v2->compressed);
  // A dictionary of 2 values.
  const auto dictionary = HeaderOf({0x15, 0x04, 0x15, 0x0a, 0x15, 0x0a, 0x4c, 0x15, 0x04, 0x15, 0x04, 0x00, 0x00});
  ASSERT_TRUE(dictionary) << dictionary.error().ToString();
  EXPECT_EQ(dictionary->kind, PageHeader::Kind::kDictionary);
  EXPECT_EQ(dictionary->values, 2);
}

TEST(PageHeader, RefusesWhatIsNone) {
  const std::vector<std::pair<std::vector<int>, std::string>> cases = {
      {{}, "no bytes"},
      {{0x00}, "no fields"},
      {{0x15, 0x00, 0x15, 0x0a, 0x15, 0x0a, 0x00}, "a data page that is not described"},
      {{0x15, 0x00, 0x15, 0x0a, 0x15, 0x0a, 0x2c, 0x15, 0x0a, 0x00, 0x00}, "no encoding"},
      {{0x15, 0x00, 0x15, 0x0a, 0x15, 0x0a, 0x2c, 0x15, 0x09, 0x15, 0x00, 0x00, 0x00}, "-5 values"},
      {{0x15, 0x00, 0x15, 0x01, 0x15, 0x0a, 0x2c, 0x15, 0x0a, 0x15, 0x00, 0x00, 0x00}, "-1 bytes"},
      {{0x16, 0x00, 0x15, 0x0a, 0x15, 0x0a, 0x2c, 0x15, 0x0a, 0x15, 0x00, 0x00, 0x00}, "a type of 64 bits"},
      {{0x15, 0x00, 0x15, 0x0a, 0x15, 0x0a, 0x2c, 0x15, 0x0a, 0x15, 0x00}, "an end within it"},
      {{0x1d, 0x00}, "an unknown type of field"},
  };
  for (const auto& [bytes, what] : cases) {
    const auto header = HeaderOf(bytes);
    ASSERT_FALSE(header) << what;
    EXPECT_EQ(header.error().kind(), ErrorKind::kCorrupt) << what;
  }
}

// Damage is found by the local reader as by the other, and crashes neither.
TEST(RowGroupReader, DamagedPagesNeverCrash) {
  Random random(delenda::testing::Seed());
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  int id = 0;
  for (const auto& type : {arrow::int64(), arrow::utf8(), arrow::decimal128(9, 2), arrow::fixed_size_binary(5)}) {
    for (const bool nullable : {false, true}) {
      arrays.push_back(RandomArray(random, type, 300, nullable));
      ++id;
      fields.push_back(IdField(id, "c" + std::to_string(id), type, nullable));
    }
  }
  const auto table = arrow::Table::Make(arrow::schema(fields), arrays);
  for (int run = 0; run < 400; ++run) {
    WrittenFile written = WriteRandomly(random, table);
    for (int64_t i = 1 + random.Below(3); i > 0; --i) {
      const auto at = static_cast<size_t>(random.Below(static_cast<int64_t>(written.bytes.size())));
      written.bytes[at] ^= static_cast<std::byte>(1 + random.Below(255));
    }
    const auto io = io::MakeMemoryFileIO();
    testing::PutFile(*io, "/f", written.bytes);
    std::shared_ptr<io::InputFile> input = io->Open("/f", written.bytes.size()).value();
    const auto file = ParquetFile::Open(input, written.bytes.size());
    if (!file) continue;
    std::vector<int> leaves;
    for (size_t i = 0; i < (*file)->leaves().size(); ++i) leaves.push_back(static_cast<int>(i));
    for (size_t group = 0; group < (*file)->row_groups().size(); ++group) {
      const auto reader = (*file)->Read(group, leaves, 100);
      if (!reader) continue;
      for (;;) {
        const auto rows = (*reader)->Begin();
        if (!rows || *rows == 0) break;
        const std::vector<bool> kept = RandomBits(random, *rows);
        const std::vector<uint8_t> bitmap = ToBitmap(kept, 0);
        const auto batch = (*reader)->Take(RowMask(bitmap.data(), 0), CountOf(kept));
        if (!batch) break;
        for (const ArrayRef& column : (*batch)->columns()) {
          const arrow::Status valid = column->Validate();
          ASSERT_TRUE(valid.ok()) << "run " << run << ": " << valid.ToString();
          ASSERT_EQ(column->length(), CountOf(kept));
        }
      }
    }
  }
}

}  // namespace
}  // namespace delenda::parquet
