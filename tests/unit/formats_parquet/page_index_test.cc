// Page indexes: those of other writers say of each page what is in it, and those that lie are refused.
#include "delenda/formats/parquet/page_index.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "delenda/io/counting_file_io.h"
#include "support/fixtures.h"
#include "unit/formats_parquet/parquet_writer.h"

namespace delenda::parquet {
namespace {

using ::testing::HasSubstr;
using testing::IdField;
using testing::LongRange;
using testing::PutFile;
using testing::Texts;
using testing::ToParquet;

// --- Indexes by hand, as parquet.thrift has them.

class Thrift {
 public:
  void Field(int delta, int type) { out_.WriteLittle(static_cast<uint8_t>(delta << 4 | type)); }
  void List(size_t size, int type) {
    out_.WriteLittle(static_cast<uint8_t>(size < 15 ? size << 4 | static_cast<size_t>(type) : 0xf0U | unsigned(type)));
    if (size >= 15) Length(size);
  }
  void Number(int64_t value) { out_.WriteZigZag(value); }
  void Byte(uint8_t value) { out_.WriteLittle(value); }
  void Text(const std::string& text) {
    Length(text.size());
    out_.Write(AsBytes(text));
  }
  void Stop() { Byte(0); }
  Bytes Finish() && { return std::move(out_).Finish(); }

 private:
  void Length(size_t size) {
    for (; size >= 128; size >>= 7) Byte(static_cast<uint8_t>(size | 128));
    Byte(static_cast<uint8_t>(size));
  }
  ByteWriter out_;
};

struct Page {
  int64_t offset = 0, bytes = 0, first_row = 0;
  bool all_null = false;
  std::string min = "a", max = "b";
  int64_t nulls = 0;
};

Bytes OffsetIndexOf(const std::vector<Page>& pages) {
  Thrift out;
  out.Field(1, 9);
  out.List(pages.size(), 12);
  for (const Page& page : pages) {
    out.Field(1, 6);
    out.Number(page.offset);
    out.Field(1, 5);
    out.Number(page.bytes);
    out.Field(1, 6);
    out.Number(page.first_row);
    out.Stop();
  }
  out.Stop();
  return std::move(out).Finish();
}

Bytes ColumnIndexOf(const std::vector<Page>& pages, bool null_counts = true, uint8_t is_false = 2) {
  Thrift out;
  out.Field(1, 9);
  out.List(pages.size(), 2);
  for (const Page& page : pages) out.Byte(page.all_null ? 1 : is_false);
  for (const auto bound : {&Page::min, &Page::max}) {
    out.Field(1, 9);
    out.List(pages.size(), 8);
    for (const Page& page : pages) out.Text(page.*bound);
  }
  out.Field(1, 5);
  out.Number(0);
  if (null_counts) {
    out.Field(1, 9);
    out.List(pages.size(), 6);
    for (const Page& page : pages) out.Number(page.nulls);
  }
  out.Stop();
  return std::move(out).Finish();
}

// 300 rows in bytes 4 to 64: 100 with 5 NULLs, 50 NULLs, 150.
std::vector<Page> GoodPages() {
  return {{.offset = 4, .bytes = 30, .first_row = 0, .min = "b", .max = "m", .nulls = 5},
          {.offset = 34, .bytes = 10, .first_row = 100, .all_null = true, .min = "", .max = "", .nulls = 50},
          {.offset = 44, .bytes = 20, .first_row = 150, .min = "", .max = "zz"}};
}
IndexedChunk GoodChunk() { return {.rows = 300, .data_pages = {4, 60}, .null_count = 55, .has_bounds = true}; }

TEST(PageIndex, PagesHaveRowsBytesAndBounds) {
  for (const bool null_counts : {true, false}) {
    for (const uint8_t is_false : {uint8_t{2}, uint8_t{0}}) {
      const auto pages =
          ParsePageIndex(ColumnIndexOf(GoodPages(), null_counts, is_false), OffsetIndexOf(GoodPages()), GoodChunk());
      ASSERT_TRUE(pages) << pages.error().ToString();
      ASSERT_EQ(pages->size(), 3U);
      const IndexedPage& first = (*pages)[0];
      EXPECT_EQ(first.first_row, 0);
      EXPECT_EQ(first.rows, 100);
      EXPECT_EQ(first.bytes, (io::ByteRange{4, 30}));
      EXPECT_EQ(first.statistics.min, "b");
      EXPECT_EQ(first.statistics.max, "m");
      EXPECT_EQ(first.statistics.null_count, null_counts ? std::optional<int64_t>(5) : std::nullopt);
      const IndexedPage& nulls = (*pages)[1];
      EXPECT_EQ(nulls.rows, 50);
      EXPECT_EQ(nulls.statistics.null_count, 50) << "known by its mark alone";
      EXPECT_EQ(nulls.statistics.min, std::nullopt);
      EXPECT_EQ(nulls.statistics.max, std::nullopt);
      EXPECT_EQ((*pages)[2].rows, 150);
      EXPECT_EQ((*pages)[2].statistics.min, "") << "the lowest text of all is a bound";
    }
  }
}

TEST(PageIndex, AnEmptyUpperBoundIsNone) {
  // ClickHouse, issue 103039: a bound that was too long became an empty one.
  auto pages = GoodPages();
  pages[2].max = "";
  const auto parsed = ParsePageIndex(ColumnIndexOf(pages), OffsetIndexOf(pages), GoodChunk());
  ASSERT_TRUE(parsed) << parsed.error().ToString();
  EXPECT_EQ((*parsed)[2].statistics.max, std::nullopt);
}

TEST(PageIndex, BoundsOfUntrustedOrdersAreLeftOut) {
  auto chunk = GoodChunk();
  chunk.has_bounds = false;
  const auto pages = ParsePageIndex(ColumnIndexOf(GoodPages()), OffsetIndexOf(GoodPages()), chunk);
  ASSERT_TRUE(pages);
  EXPECT_EQ((*pages)[0].statistics.min, std::nullopt);
  EXPECT_EQ((*pages)[0].statistics.max, std::nullopt);
  EXPECT_EQ((*pages)[0].statistics.null_count, 5);
}

// Each would let rows be passed over that are there.
TEST(PageIndex, RefusesWhatContradictsItself) {
  struct Case {
    std::string what;
    std::function<void(std::vector<Page>&, IndexedChunk&)> change;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"the first page does not begin with the first row", [](auto& p, auto&) { p[0].first_row = 1; }, "rows 1 to"},
      {"pages out of order", [](auto& p, auto&) { p[1].first_row = 150; }, "rows 150 to 150"},
      {"rows going back", [](auto& p, auto&) { p[2].first_row = 99; }, "rows 100 to 99"},
      {"a page behind the last row", [](auto& p, auto&) { p[2].first_row = 300; }, "rows 300 to 300"},
      {"a page far behind the last row", [](auto& p, auto&) { p[2].first_row = int64_t{1} << 62; }, "page 1"},
      {"a negative row", [](auto& p, auto&) { p[1].first_row = -5; }, "page 0"},
      {"a gap between pages", [](auto& p, auto&) { p[1].offset = 35, p[1].bytes = 9; }, "offset 35"},
      {"pages that overlap", [](auto& p, auto&) { p[0].bytes = 31; }, "expected offset 35"},
      {"a size of decompressed bytes (parquet-go)", [](auto& p, auto&) { p[2].bytes = 200; }, "200 bytes long"},
      {"a page without bytes", [](auto& p, auto&) { p[1].bytes = 0; }, "0 bytes long"},
      {"a negative size", [](auto& p, auto&) { p[1].bytes = -10; }, "-10 bytes long"},
      {"a negative offset", [](auto& p, auto&) { p[0].offset = -4; }, "offset -4"},
      {"a dictionary taken for a page", [](auto& p, auto&) { p[0].offset = 0, p[0].bytes = 34; }, "offset 0"},
      {"bytes of the chunk that are no page's", [](auto&, auto& c) { c.data_pages.length = 61; }, "end at offset 64"},
      {"another number of rows", [](auto&, auto& c) { c.rows = 150; }, "of 150"},
      {"no pages (parquet-rs 42, issue 4459)", [](auto& p, auto&) { p.clear(); },
       "300 rows are said to lie in no page"},
      {"no pages in no bytes", [](auto& p, auto& c) { p.clear(), c.data_pages.length = 0; }, "lie in no page"},
      {"a page of NULLs without NULLs (parquet-java, issue 3457)", [](auto& p, auto&) { p[1].nulls = 0; }, "0 NULLs"},
      {"a page of NULLs with other values", [](auto& p, auto&) { p[1].nulls = 49; }, "49 NULLs and nothing else"},
      {"other values in a page of NULLs", [](auto& p, auto&) { p[0].nulls = 100; }, "100 NULLs and other values"},
      {"more NULLs than rows", [](auto& p, auto&) { p[0].nulls = 101; }, "101 NULLs"},
      {"a negative number of NULLs", [](auto& p, auto&) { p[0].nulls = -1; }, "-1 NULLs"},
      {"NULLs that do not add up", [](auto& p, auto&) { p[0].nulls = 4; }, "54 NULLs, their column chunk 55"},
  };
  for (const Case& one : cases) {
    auto pages = GoodPages();
    auto chunk = GoodChunk();
    one.change(pages, chunk);
    const auto parsed = ParsePageIndex(ColumnIndexOf(pages), OffsetIndexOf(pages), chunk);
    ASSERT_FALSE(parsed) << one.what;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::kCorrupt) << one.what;
    EXPECT_THAT(parsed.error().ToString(), HasSubstr(one.says)) << one.what;
  }
  auto fewer = GoodPages();
  fewer.pop_back();
  EXPECT_FALSE(ParsePageIndex(ColumnIndexOf(fewer), OffsetIndexOf(GoodPages()), GoodChunk()));
  EXPECT_FALSE(ParsePageIndex(ColumnIndexOf(GoodPages()), OffsetIndexOf(fewer), GoodChunk()));
}

TEST(PageIndex, AnyBytesGivePagesThatHoldEachRowOnceOrAnError) {
  const Bytes columns = ColumnIndexOf(GoodPages()), offsets = OffsetIndexOf(GoodPages());
  const auto check = [](const Bytes& c, const Bytes& o) {
    const auto pages = ParsePageIndex(c, o, GoodChunk());
    if (!pages) {
      EXPECT_EQ(pages.error().kind(), ErrorKind::kCorrupt);
      return;
    }
    int64_t rows = 0;
    for (const IndexedPage& page : *pages) {
      EXPECT_EQ(page.first_row, rows);
      rows += page.rows;
    }
    EXPECT_EQ(rows, 300);
  };
  for (const bool of_columns : {true, false}) {
    const Bytes& good = of_columns ? columns : offsets;
    for (size_t at = 0; at < good.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        Bytes bad = good;
        bad[at] = static_cast<std::byte>(value);
        check(of_columns ? bad : columns, of_columns ? offsets : bad);
      }
      const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_FALSE(ParsePageIndex(of_columns ? cut : columns, of_columns ? offsets : cut, GoodChunk()));
    }
  }
  // Lists of 2^34 elements, of nothing.
  for (const int field_type : {2, 8, 6, 12}) {
    Thrift out;
    out.Field(1, 9);
    out.Byte(static_cast<uint8_t>(0xf0 | field_type));
    for (int i = 0; i < 4; ++i) out.Byte(0xff);
    out.Byte(0x07);
    const Bytes bytes = std::move(out).Finish();
    EXPECT_FALSE(ParsePageIndex(bytes, offsets, GoodChunk()));
    EXPECT_FALSE(ParsePageIndex(columns, bytes, GoodChunk()));
  }
}

// --- Indexes of other writers, beside Arrow's reader of them and beside the values.

Bytes ReadFileBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return {AsBytes(text).begin(), AsBytes(text).end()};
}

template <typename T>
T Plain(const std::string& bytes) {
  T value{};
  EXPECT_EQ(bytes.size(), sizeof(T));
  if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// The bounds hold the values of the page, and are reached: nothing is between them and the values for numbers.
template <typename Array, typename T>
void ExpectNumberBounds(const arrow::Array& page, const LeafStatistics& statistics, const std::string& what) {
  T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
  for (int64_t i = 0; i < page.length(); ++i) {
    if (page.IsNull(i)) continue;
    low = std::min(low, static_cast<T>(static_cast<const Array&>(page).Value(i)));
    high = std::max(high, static_cast<T>(static_cast<const Array&>(page).Value(i)));
  }
  EXPECT_EQ(Plain<T>(*statistics.min), low) << what;
  EXPECT_EQ(Plain<T>(*statistics.max), high) << what;
}

// Parses the index of each flat column of the file and compares it with what Arrow makes of it and with the values.
// Returns the number of pages.
size_t CheckIndexesOf(const Bytes& bytes, const std::string& name) {
  size_t pages_checked = 0;
  const auto buffer = std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                      static_cast<int64_t>(bytes.size()));
  const auto reader = ::parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(buffer));
  const auto metadata = reader->metadata();
  const auto theirs = reader->GetPageIndexReader();
  const auto io = io::MakeMemoryFileIO();
  PutFile(*io, "/f", bytes);
  const auto file = ParquetFile::Open(io->Open("/f", bytes.size()).value(), bytes.size());
  EXPECT_TRUE(file) << name;
  if (!file) return 0;
  for (int group = 0; group < metadata->num_row_groups(); ++group) {
    for (int leaf = 0; leaf < metadata->num_columns(); ++leaf) {
      const auto chunk = metadata->RowGroup(group)->ColumnChunk(leaf);
      const auto columns = chunk->GetColumnIndexLocation(), offsets = chunk->GetOffsetIndexLocation();
      if (!columns || !offsets || metadata->schema()->Column(leaf)->max_repetition_level() != 0) continue;
      const auto slice = [&](const ::parquet::IndexLocation& at) {
        return ByteView(bytes).subspan(static_cast<size_t>(at.offset), static_cast<size_t>(at.length));
      };
      const auto first = static_cast<uint64_t>(chunk->data_page_offset());
      const bool dictionary = chunk->has_dictionary_page() && chunk->dictionary_page_offset() > 0;
      const auto end =
          static_cast<uint64_t>(std::min(dictionary ? chunk->dictionary_page_offset() : chunk->data_page_offset(),
                                         chunk->data_page_offset())) +
          static_cast<uint64_t>(chunk->total_compressed_size());
      const auto statistics = (*file)->Statistics(static_cast<size_t>(group), leaf).value();
      const auto pages = ParsePageIndex(slice(*columns), slice(*offsets),
                                        {.rows = metadata->RowGroup(group)->num_rows(),
                                         .data_pages = {first, end - first},
                                         .null_count = statistics.null_count,
                                         .has_bounds = true});
      const std::string what = name + " " + (*file)->leaves()[static_cast<size_t>(leaf)].path;
      EXPECT_TRUE(pages) << what << ": " << pages.error().ToString();
      if (!pages) continue;
      const auto column_index = theirs->RowGroup(group)->GetColumnIndex(leaf);
      const auto offset_index = theirs->RowGroup(group)->GetOffsetIndex(leaf);
      EXPECT_EQ(pages->size(), offset_index->page_locations().size()) << what;
      const auto& fields = (*file)->schema()->fields();
      const bool flat = static_cast<size_t>(metadata->num_columns()) == fields.size() &&
                        !arrow::is_nested(fields[static_cast<size_t>(leaf)]->type()->id());
      std::shared_ptr<arrow::Array> values;
      if (flat) {
        const auto rows = (*file)->Read(static_cast<size_t>(group), {leaf}, 1 << 20).value();
        values = rows->Next().value()->column(0);
      }
      for (size_t i = 0; i < pages->size(); ++i) {
        const IndexedPage& page = (*pages)[i];
        const auto& location = offset_index->page_locations()[i];
        EXPECT_EQ(page.first_row, location.first_row_index) << what;
        EXPECT_EQ(page.bytes.offset, static_cast<uint64_t>(location.offset)) << what;
        EXPECT_EQ(page.bytes.length, static_cast<uint64_t>(location.compressed_page_size)) << what;
        if (column_index->has_null_counts()) {
          EXPECT_EQ(page.statistics.null_count, column_index->null_counts()[i]) << what;
        }
        if (!column_index->null_pages()[i] && page.statistics.max) {
          EXPECT_EQ(page.statistics.min, column_index->encoded_min_values()[i]) << what;
          EXPECT_EQ(page.statistics.max, column_index->encoded_max_values()[i]) << what;
        }
        ++pages_checked;
        if (!values) continue;
        const auto part = values->Slice(page.first_row, page.rows);
        if (page.statistics.null_count) {
          EXPECT_EQ(page.statistics.null_count, part->null_count()) << what;
        }
        if (!page.statistics.min || !page.statistics.max) continue;
        switch (part->type_id()) {
          case arrow::Type::INT32: ExpectNumberBounds<arrow::Int32Array, int32_t>(*part, page.statistics, what); break;
          case arrow::Type::INT64: ExpectNumberBounds<arrow::Int64Array, int64_t>(*part, page.statistics, what); break;
          case arrow::Type::STRING:
            for (int64_t row = 0; row < part->length(); ++row) {
              if (part->IsNull(row)) continue;
              const auto text = static_cast<const arrow::StringArray&>(*part).GetView(row);
              EXPECT_LE(*page.statistics.min, text) << what;
              EXPECT_GE(*page.statistics.max, text) << what;
            }
            break;
          default: break;
        }
      }
    }
  }
  return pages_checked;
}

// parquet-mr, by Spark.
TEST(PageIndex, IndexesOfTheFixturesSayWhatIsInThePages) {
  size_t pages = 0, files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(testing::FixtureTable(""))) {
    if (entry.path().extension() != ".parquet") continue;
    ++files;
    pages += CheckIndexesOf(ReadFileBytes(entry.path()), entry.path().string());
  }
  EXPECT_GE(files, 500U);
  EXPECT_GE(pages, 2000U);
}

std::shared_ptr<arrow::Table> PagedTable(int64_t rows) {
  std::vector<std::optional<std::string>> texts;
  std::vector<std::optional<int64_t>> numbers;
  for (int64_t i = 0; i < rows; ++i) {
    texts.push_back(i / 1500 % 2 == 0 ? std::nullopt : std::optional("some text " + std::to_string(i * 7919 % rows)));
    numbers.push_back(i % 3 == 0 ? std::nullopt : std::optional(i * 7919 % 1000 - 500));
  }
  return arrow::Table::Make(arrow::schema({IdField(1, "id", arrow::int64(), false), IdField(2, "text", arrow::utf8()),
                                           IdField(3, "n", arrow::int64())}),
                            {LongRange(0, rows), Texts(texts), testing::Longs(numbers)});
}

TEST(PageIndex, IndexesOfArrowSayWhatIsInThePages) {
  for (const bool dictionary : {true, false}) {
    const Bytes bytes =
        ToParquet(PagedTable(10'000), {.rows_per_group = 4000, .dictionary = dictionary, .page_rows = 500});
    EXPECT_GE(CheckIndexesOf(bytes, "Arrow"), 60U);
  }
}

TEST(PageIndex, IndexesOfManyRowGroupsAreOneRequest) {
  const auto io = std::make_shared<io::CountingFileIO>(io::MakeMemoryFileIO());
  const Bytes bytes = ToParquet(PagedTable(40'000), {.rows_per_group = 4000, .dictionary = false, .page_rows = 200});
  PutFile(*io, "/f", bytes);
  const auto file = ParquetFile::Open(io->Open("/f", bytes.size()).value(), bytes.size()).value();
  io->Reset();
  std::vector<ColumnChunk> chunks;
  for (size_t group = 0; group < 10; ++group) {
    for (const int leaf : {0, 2}) {
      EXPECT_NE(file->CostOfPageIndex(group, leaf), PageIndexCost::kNone);
      chunks.push_back({group, leaf});
    }
  }
  const auto indexes = file->ReadPageIndexes(chunks);
  ASSERT_TRUE(indexes) << indexes.error().ToString();
  ASSERT_EQ(indexes->size(), 20U);
  for (const auto& pages : *indexes) {
    ASSERT_TRUE(pages) << pages.error().ToString();
    EXPECT_EQ(pages->size(), 20U);
  }
  EXPECT_EQ(Plain<int64_t>(*(*(*indexes)[2])[3].statistics.min), 4600) << "fourth page of id in the second row group";
  EXPECT_LE(io->Snapshot().reads, 1U);
}

TEST(PageIndex, FilesWithoutAndThoseOfCarelessWritersHaveNone) {
  const auto cost_of = [](const testing::ParquetOptions& options) {
    const Bytes bytes = ToParquet(PagedTable(5000), options);
    const auto io = io::MakeMemoryFileIO();
    PutFile(*io, "/f", bytes);
    return ParquetFile::Open(io->Open("/f", bytes.size()).value(), bytes.size()).value()->CostOfPageIndex(0, 0);
  };
  EXPECT_EQ(cost_of({.page_rows = 500}), PageIndexCost::kHeld);
  EXPECT_EQ(cost_of({.page_rows = 500, .page_index = false}), PageIndexCost::kNone);
  EXPECT_EQ(cost_of({.page_rows = 500, .created_by = "parquet-go version latest"}), PageIndexCost::kNone);
  EXPECT_EQ(cost_of({.dictionary = false, .page_rows = 1}), PageIndexCost::kNone) << "as large as the column";
}

// Runs of rows from columns whose pages begin at other rows, with masks, whoever decodes them.
TEST(PageIndex, RunsOfRowsAreRead) {
  auto table = PagedTable(6000);
  std::vector<std::shared_ptr<arrow::Array>> flags;
  arrow::BooleanBuilder builder;  // read by Arrow
  for (int64_t i = 0; i < 6000; ++i) ASSERT_TRUE(builder.Append(i % 7 == 0).ok());
  table = table
              ->AddColumn(3, IdField(4, "flag", arrow::boolean()),
                          std::make_shared<arrow::ChunkedArray>(builder.Finish().ValueOrDie()))
              .ValueOrDie();
  const Bytes bytes = ToParquet(table, {.rows_per_group = 5000, .page_rows = 300});
  const auto io = io::MakeMemoryFileIO();
  PutFile(*io, "/f", bytes);
  const auto file = ParquetFile::Open(io->Open("/f", bytes.size()).value(), bytes.size()).value();
  struct Case {
    RowGroupPart part;
    std::vector<RowRun> expected;  // batches of 400
  };
  const std::vector<Case> cases = {
      {{.runs = {{0, 10}, {400, 1100}, {4999, 5000}}}, {{0, 10}, {400, 800}, {800, 1100}, {4999, 5000}}},
      {{.runs = {{300, 301}}}, {{300, 301}}},
      {{.first = 500, .end = 1000, .runs = {{0, 510}, {600, 601}, {990, 2000}}}, {{500, 510}, {600, 601}, {990, 1000}}},
      {{.first = 500, .end = 1000, .runs = {{0, 500}, {1000, 2000}}}, {}},
      {{.first = 4500}, {{4500, 4900}, {4900, 5000}}},
  };
  for (const std::vector<int>& leaves : {std::vector{0, 1, 2}, std::vector{0, 3}, std::vector{0, 1, 2, 3}}) {
    for (const Case& one : cases) {
      const auto reader = file->Read(0, leaves, 400, one.part).value();
      std::vector<RowRun> batches;
      for (;;) {
        const auto rows = reader->Begin();
        ASSERT_TRUE(rows) << rows.error().ToString();
        if (*rows == 0) break;
        // Arrow's batches end where they end: put together what belongs together.
        const int64_t first = reader->first_row();
        if (!batches.empty() && batches.back().end == first && batches.back().end % 400 != 0 && leaves.back() == 3 &&
            batches.size() > 0) {
          batches.back().end += *rows;
        } else {
          batches.push_back({first, first + *rows});
        }
        if (batches.size() % 2 == 0) continue;  // passed over
        const auto batch = reader->Take(RowMask(), *rows);
        ASSERT_TRUE(batch) << batch.error().ToString();
        for (int column = 0; column < (*batch)->num_columns(); ++column) {
          const auto expected = table->column(leaves[static_cast<size_t>(column)])->Slice(first, *rows);
          EXPECT_TRUE(expected->Equals(arrow::ChunkedArray((*batch)->column(column)))) << first;
        }
      }
      if (leaves.back() != 3) {
        EXPECT_EQ(batches, one.expected);
      } else {
        const auto count = [](const std::vector<RowRun>& runs) {
          return std::accumulate(runs.begin(), runs.end(), int64_t{0},
                                 [](int64_t sum, const RowRun& run) { return sum + run.end - run.first; });
        };
        EXPECT_EQ(count(batches), count(one.expected));
      }
    }
  }
}

}  // namespace
}  // namespace delenda::parquet
