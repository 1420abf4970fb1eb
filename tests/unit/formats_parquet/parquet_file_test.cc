#include "delenda/formats/parquet/parquet_file.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/io/counting_file_io.h"
#include "delenda/io/faulting_file_io.h"
#include "unit/formats_parquet/parquet_writer.h"

namespace delenda::parquet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IdField;
using testing::LongRange;
using testing::PutFile;
using testing::Texts;
using testing::ToParquet;

std::shared_ptr<arrow::Table> WideTable(int64_t rows) {
  std::vector<std::optional<std::string>> texts;
  std::string noise;
  uint64_t state = 1;
  for (int64_t i = 0; i < rows; ++i) {
    noise.clear();
    for (int j = 0; j < 40; ++j) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      noise.push_back(static_cast<char>('a' + (state >> 60)));
    }
    texts.push_back(noise);
  }
  return arrow::Table::Make(arrow::schema({IdField(1, "id", arrow::int64(), false), IdField(2, "noise", arrow::utf8()),
                                           IdField(3, "n", arrow::int64())}),
                            {LongRange(0, rows), Texts(texts), LongRange(100, 100 + rows)});
}

Result<std::shared_ptr<const ParquetFile>> OpenBytes(const Bytes& bytes, io::FileIO& io,
                                                     const std::string& path = "/f.parquet") {
  PutFile(io, path, bytes);
  std::shared_ptr<io::InputFile> file = DELENDA_TRY(io.Open(path, bytes.size()));
  return ParquetFile::Open(std::move(file), bytes.size());
}

Result<std::shared_ptr<const ParquetFile>> OpenBytes(const Bytes& bytes) {
  return OpenBytes(bytes, *io::MakeMemoryFileIO());
}

// Everything in the file, decoded.
Result<int64_t> ReadRows(const ParquetFile& file) {
  std::vector<int> leaves;
  for (size_t i = 0; i < file.leaves().size(); ++i) leaves.push_back(static_cast<int>(i));
  int64_t rows = 0;
  for (size_t group = 0; group < file.row_groups().size(); ++group) {
    for (const int leaf : leaves) DELENDA_TRY(file.Statistics(group, leaf));
    const auto reader = DELENDA_TRY(file.Read(group, leaves, 1000));
    while (const auto batch = DELENDA_TRY(reader->Next())) rows += batch->num_rows();
  }
  return rows;
}

TEST(ParquetFile, RowGroupsHavePhysicalFirstPositions) {
  const auto file = OpenBytes(ToParquet(WideTable(250), {.rows_per_group = 100}));
  ASSERT_TRUE(file) << file.error().ToString();
  ASSERT_EQ((*file)->row_groups().size(), 3U);
  EXPECT_EQ((*file)->row_groups()[0].first_position, 0U);
  EXPECT_EQ((*file)->row_groups()[1].first_position, 100U);
  EXPECT_EQ((*file)->row_groups()[2].first_position, 200U);
  EXPECT_EQ((*file)->row_groups()[2].num_rows, 50);
  EXPECT_EQ((*file)->row_groups()[0].first_byte, 4U);
  EXPECT_EQ(*ReadRows(**file), 250);
}

TEST(ParquetFile, EveryCutOfAFileReadsEachRowGroupOnce) {
  const Bytes bytes = ToParquet(WideTable(250), {.rows_per_group = 20});
  const auto file = OpenBytes(bytes);
  ASSERT_TRUE(file);
  for (const uint64_t piece : {uint64_t{1} << 40, uint64_t{5000}, uint64_t{777}, uint64_t{13}}) {
    for (const RowGroup& group : (*file)->row_groups()) {
      int owners = 0;
      for (uint64_t start = 0; start < bytes.size(); start += piece) owners += group.BelongsTo(start, piece) ? 1 : 0;
      EXPECT_EQ(owners, 1) << piece;
    }
  }
}

TEST(ParquetFile, FieldIdsComeFromTheFile) {
  const auto element = IdField(12, "element", arrow::int32());
  const auto item = IdField(15, "value", arrow::struct_({IdField(16, "x", arrow::utf8())}));
  const auto key = IdField(14, "key", arrow::utf8(), false);
  const auto schema = arrow::schema({IdField(11, "l", arrow::list(element)),
                                     IdField(13, "m", std::make_shared<arrow::MapType>(key, item)),
                                     arrow::field("none", arrow::int32())});
  const auto table = arrow::Table::MakeEmpty(schema).ValueOrDie();
  const auto file = OpenBytes(ToParquet(table));
  ASSERT_TRUE(file) << file.error().ToString();
  const auto& read = *(*file)->schema();
  EXPECT_EQ(FieldIdOf(*read.field(0)), 11);
  EXPECT_EQ(FieldIdOf(*read.field(0)->type()->field(0)), 12);
  const auto& map = static_cast<const arrow::MapType&>(*read.field(1)->type());
  EXPECT_EQ(FieldIdOf(*map.key_field()), 14);
  EXPECT_EQ(FieldIdOf(*map.item_field()), 15);
  EXPECT_EQ(FieldIdOf(*map.item_type()->field(0)), 16);
  EXPECT_EQ(FieldIdOf(*read.field(2)), std::nullopt);
  EXPECT_EQ((*file)->leaves().size(), 4U);
  EXPECT_TRUE((*file)->leaves()[0].repeated);
  EXPECT_FALSE((*file)->leaves()[3].repeated);
}

// A file's rows must not depend on the Arrow schema that its writer left in the footer.
TEST(ParquetFile, EmbeddedArrowSchemaChangesNoType) {
  const auto indices = testing::MakeArray<arrow::Int32Builder, int32_t>({0, 1, 0});
  const auto type = arrow::dictionary(arrow::int32(), arrow::utf8());
  const auto dictionary = arrow::DictionaryArray::FromArrays(type, indices, Texts({"a", "b"})).ValueOrDie();
  const auto large = testing::MakeArray<arrow::LargeStringBuilder, std::string>({"x", std::nullopt, "z"});
  const auto duration =
      testing::MakeArray<arrow::DurationBuilder, int64_t>({1, 2, 3}, arrow::duration(arrow::TimeUnit::MICRO));
  const auto table = arrow::Table::Make(
      arrow::schema({IdField(1, "d", type), IdField(2, "l", arrow::large_utf8()), IdField(3, "t", duration->type())}),
      {dictionary, large, duration});
  const auto file = OpenBytes(ToParquet(table, {.store_arrow_schema = true}));
  ASSERT_TRUE(file) << file.error().ToString();
  const auto reader = (*file)->Read(0, {0, 1, 2}, 10);
  ASSERT_TRUE(reader) << reader.error().ToString();
  const auto batch = (*reader)->Next();
  ASSERT_TRUE(batch) << batch.error().ToString();
  EXPECT_TRUE((*batch)->column(0)->type()->Equals(arrow::utf8())) << (*batch)->schema()->ToString();
  EXPECT_TRUE((*batch)->column(1)->type()->Equals(arrow::utf8()));
  EXPECT_TRUE((*batch)->column(2)->type()->Equals(arrow::int64()));
  EXPECT_TRUE((*batch)->schema()->Equals(*(*file)->schema()));
}

TEST(ParquetFile, FooterIsOneRequestAndOnlyWantedChunksAreFetched) {
  const auto io = std::make_shared<io::CountingFileIO>(io::MakeMemoryFileIO());
  const Bytes bytes = ToParquet(WideTable(20'000), {.rows_per_group = 5'000, .dictionary = false});
  ASSERT_GT(bytes.size(), size_t{600'000});
  const auto file = OpenBytes(bytes, *io);
  ASSERT_TRUE(file);
  EXPECT_EQ(io->Snapshot().reads, 1U);
  EXPECT_EQ(io->Snapshot().bytes_read, 65536U);
  io->Reset();
  // The noise column lies between the two.
  const auto reader = (*file)->Read(1, {0, 2}, 1000);
  ASSERT_TRUE(reader);
  int64_t rows = 0;
  while (const auto batch = (*reader)->Next().value()) {
    EXPECT_EQ(static_cast<const arrow::Int64Array&>(*batch->column(0)).Value(0), 5000 + rows);
    EXPECT_EQ(batch->num_columns(), 2);
    rows += batch->num_rows();
  }
  EXPECT_EQ(rows, 5000);
  EXPECT_EQ(io->Snapshot().reads, 2U);
  EXPECT_LT(io->Snapshot().bytes_read, 100'000U);
}

TEST(ParquetFile, NeighbouringChunksAreOneRequest) {
  const auto io = std::make_shared<io::CountingFileIO>(io::MakeMemoryFileIO());
  const auto file = OpenBytes(ToParquet(WideTable(20'000), {.rows_per_group = 5'000, .dictionary = false}), *io);
  ASSERT_TRUE(file);
  io->Reset();
  const auto reader = (*file)->Read(0, {0, 1, 2}, 1000);
  ASSERT_TRUE(reader);
  while (const auto batch = (*reader)->Next().value()) EXPECT_EQ(batch->num_columns(), 3);
  EXPECT_EQ(io->Snapshot().reads, 1U);
}

TEST(ParquetFile, StatisticsAreBoundsOfTheValues) {
  const auto file = OpenBytes(ToParquet(WideTable(250), {.rows_per_group = 100}));
  ASSERT_TRUE(file);
  const auto stats = (*file)->Statistics(1, 0);
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->null_count, 0);
  int64_t low = 0;
  int64_t high = 0;
  ASSERT_EQ(stats->min->size(), 8U);
  std::memcpy(&low, stats->min->data(), 8);
  std::memcpy(&high, stats->max->data(), 8);
  EXPECT_EQ(low, 100);
  EXPECT_EQ(high, 199);
}

TEST(ParquetFile, RefusesWhatIsNoParquetFile) {
  const Bytes good = ToParquet(WideTable(10));
  const auto kind_of = [](const Bytes& bytes) {
    const auto file = OpenBytes(bytes);
    return file ? std::string("opened") : std::string(ErrorKindName(file.error().kind()));
  };
  EXPECT_EQ(kind_of({}), "corrupt");
  EXPECT_EQ(kind_of(Bytes(11)), "corrupt");
  Bytes bad = good;
  std::memcpy(bad.data() + bad.size() - 4, "PARE", 4);
  EXPECT_EQ(kind_of(bad), "not supported");
  std::memcpy(bad.data() + bad.size() - 4, "ORC1", 4);
  EXPECT_EQ(kind_of(bad), "corrupt");
  for (const uint32_t length :
       {uint32_t{0}, uint32_t{1}, static_cast<uint32_t>(good.size()), uint32_t{0x7fffffff}, uint32_t{0xffffffff}}) {
    bad = good;
    std::memcpy(bad.data() + bad.size() - 8, &length, 4);
    EXPECT_EQ(kind_of(bad), "corrupt") << length;
  }
  const auto file = OpenBytes(Bytes(20));
  EXPECT_THAT(file.error().ToString(), HasSubstr("/f.parquet"));
}

TEST(ParquetFile, TruncatedFilesAreErrors) {
  const Bytes good = ToParquet(WideTable(50), {.rows_per_group = 20});
  for (size_t size = 0; size < good.size(); size += 7) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(OpenBytes(cut)) << size;
  }
}

// Whatever byte is wrong: rows or an error, never a crash, and never another number of rows than the file says.
TEST(ParquetFile, DamagedBytesNeverCrash) {
  const Bytes good = ToParquet(WideTable(40), {.rows_per_group = 20});
  for (size_t at = 0; at < good.size(); ++at) {
    for (const uint8_t mask : {uint8_t{0xff}, uint8_t{0x01}, uint8_t{0x80}}) {
      Bytes bad = good;
      bad[at] ^= std::byte{mask};
      const auto file = OpenBytes(bad);
      if (!file) continue;
      const auto rows = ReadRows(**file);
      if (rows) {
        EXPECT_EQ(*rows, (*file)->num_rows()) << at;
      }
    }
  }
}

// A missing or refused file keeps its kind on the way through Arrow.
TEST(ParquetFile, ErrorsOfTheStorageKeepTheirKind) {
  for (const ErrorKind kind :
       {ErrorKind::kNotFound, ErrorKind::kPermissionDenied, ErrorKind::kIo, ErrorKind::kCancelled}) {
    const auto io = std::make_shared<io::FaultingFileIO>(io::MakeMemoryFileIO());
    const auto file = OpenBytes(ToParquet(WideTable(20'000), {.rows_per_group = 5'000, .dictionary = false}), *io);
    ASSERT_TRUE(file);
    io->Add({.effect = io::FailWith{.kind = kind, .message = "injected"},
             .operation = io::Operation::kRead,
             .path_contains = ""});
    const auto reader = (*file)->Read(0, {1}, 1000);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().kind(), kind);
    EXPECT_EQ(ToError(ToStatus(reader.error())).ToString(), reader.error().ToString());
  }
}

TEST(ParquetFile, StatusesOfBrokenFilesAreCorrupt) {
  EXPECT_EQ(ToError(arrow::Status::Invalid("x")).kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(ToError(arrow::Status::Invalid("x"), StatusSource::kCompute).kind(), ErrorKind::kInternal);
  EXPECT_EQ(ToError(arrow::Status::NotImplemented("x")).kind(), ErrorKind::kNotSupported);
  EXPECT_EQ(ToError(arrow::Status::OutOfMemory("x")).kind(), ErrorKind::kIo);
}

}  // namespace
}  // namespace delenda::parquet
