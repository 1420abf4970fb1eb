// Scans that ask the page index: the same rows as scans that do not, and no more decoded than need be.
#include "delenda/read/page_rows.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <limits>
#include <random>

#include "delenda/read/key_table.h"
#include "delenda/read/row_group_stats.h"
#include "support/seed.h"
#include "support/temporary_folder.h"
#include "unit/read/key_rows.h"
#include "unit/read/plan_builder.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the fixtures' vocabulary
using parquet::RowRun;
using ::testing::ElementsAre;

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

std::vector<Field> PagedFields() {
  return {MakeField(1, "id", TypeKind::kLong),
          MakeField(2, "k", TypeKind::kInt),
          MakeField(3, "t", TypeKind::kString),
          MakeField(4, "d", TypeKind::kDouble),
          MakeField(5, "st", Type::Struct({MakeField(6, "a", TypeKind::kInt), MakeField(7, "b", TypeKind::kString)})),
          MakeField(8, "amount", Type::Decimal(9, 2)),
          MakeField(9, "wide", Type::Decimal(38, 2)),
          MakeField(10, "flag", TypeKind::kBoolean),
          MakeField(11, "late", TypeKind::kLong)};
}

// Values lie together: what random rows would not have, pages that differ.
struct Shape {
  int64_t rows = 0, rows_per_group = 0, page_rows = 0, page_bytes = 0;
  bool dictionary = false, v2 = false, with_late = false;
  int64_t null_from = 0, null_to = 0, nan_from = 0, nan_to = 0;  // rows of nothing else
};

Shape RandomShape(std::mt19937_64& random) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  Shape shape{.rows = 2000 + below(6000), .page_rows = 70 + below(1200), .page_bytes = 500 + below(8000)};
  shape.rows_per_group = below(2) == 0 ? shape.rows : 1000 + below(4000);
  shape.dictionary = below(2) == 0;
  shape.v2 = below(2) == 0;
  shape.with_late = below(2) == 0;
  shape.null_from = below(shape.rows), shape.null_to = shape.null_from + below(2500);
  shape.nan_from = below(shape.rows), shape.nan_to = shape.nan_from + below(2500);
  return shape;
}

std::string TextOf(int64_t number) {
  const std::string head = fmt::format("{:05}", number / 7);
  switch (number % 5) {
    case 0: {  // longer than bounds may be
      std::string text = head;
      for (int i = 0; i < 100; ++i) text += "\xc3\xbf";
      return text + std::to_string(number % 3);
    }
    case 1: return head + "\xf4\x8f\xbf\xbf";  // the last character of all
    case 2: return "";
    default: return head;
  }
}

Bytes PagedFile(std::mt19937_64& random, const Shape& shape) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  arrow::Int64Builder ids, late;
  arrow::Int32Builder ks, as;
  arrow::StringBuilder bs;
  arrow::BinaryBuilder ts;
  arrow::DoubleBuilder ds;
  arrow::BooleanBuilder flags;
  arrow::Decimal128Builder amounts(arrow::decimal128(9, 2)), wides(arrow::decimal128(38, 2));
  arrow::TypedBufferBuilder<bool> st_valid;
  const auto add = [&](auto& builder, bool is_null, const auto& value) {
    EXPECT_TRUE((is_null ? builder.AppendNull() : builder.Append(value)).ok());
  };
  const int64_t spread = 1 + below(300);
  for (int64_t i = 0; i < shape.rows; ++i) {
    const bool nulls = i >= shape.null_from && i < shape.null_to;
    const bool nans = i >= shape.nan_from && i < shape.nan_to;
    const int64_t near = i + below(spread);
    add(ids, false, near);
    add(ks, nulls || below(20) == 0, static_cast<int32_t>(-near / 3));
    add(ts, nulls || below(30) == 0, TextOf(near));
    const double number = below(40) == 0 ? 0.0 : below(40) == 0 ? -0.0 : static_cast<double>(near) / 8 - 100;
    add(ds, below(30) == 0, nans || below(200) == 0 ? std::numeric_limits<double>::quiet_NaN() : number);
    add(as, nulls || below(9) == 0, static_cast<int32_t>(near / 10));
    add(bs, below(9) == 0, fmt::format("b{}", near / 100));
    EXPECT_TRUE(st_valid.Append(!(nans || below(25) == 0)).ok());
    add(amounts, nulls, arrow::Decimal128(near - shape.rows / 2));
    add(wides, nans, arrow::Decimal128(shape.rows / 2 - near));
    add(flags, nulls, i / 900 % 2 == 0);
    add(late, i < shape.rows / 2, near);
  }
  const auto finish = [](auto& builder) { return std::shared_ptr<arrow::Array>(builder.Finish().ValueOrDie()); };
  const arrow::FieldVector inner = {IdField(6, "a", arrow::int32()), IdField(7, "b", arrow::utf8())};
  const auto st = std::make_shared<arrow::StructArray>(
      arrow::struct_(inner), shape.rows, arrow::ArrayVector{finish(as), finish(bs)}, st_valid.Finish().ValueOrDie());
  arrow::FieldVector fields = {IdField(1, "id", arrow::int64(), false),
                               IdField(2, "k", arrow::int32()),
                               IdField(3, "t", arrow::binary()),
                               IdField(4, "d", arrow::float64()),
                               IdField(5, "st", st->type()),
                               IdField(8, "amount", arrow::decimal128(9, 2)),
                               IdField(9, "wide", arrow::decimal128(38, 2)),
                               IdField(10, "flag", arrow::boolean())};
  arrow::ArrayVector arrays = {finish(ids), finish(ks),      finish(ts),    finish(ds),
                               st,          finish(amounts), finish(wides), finish(flags)};
  if (shape.with_late) {
    fields.push_back(IdField(11, "late", arrow::int64()));
    arrays.push_back(finish(late));
  }
  const auto table = arrow::Table::Make(arrow::schema(fields), arrays);
  ::parquet::WriterProperties::Builder properties;
  properties.max_row_group_length(shape.rows_per_group)
      ->max_rows_per_page(shape.page_rows)
      ->data_pagesize(shape.page_bytes)
      ->write_batch_size(64)
      ->data_page_version(shape.v2 ? ::parquet::ParquetDataPageVersion::V2 : ::parquet::ParquetDataPageVersion::V1)
      ->enable_store_decimal_as_integer();
  if (!shape.dictionary) properties.disable_dictionary();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  EXPECT_TRUE(
      ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, shape.rows_per_group, properties.build())
          .ok());
  const auto buffer = sink->Finish().ValueOrDie();
  const auto view = std::as_bytes(std::span(buffer->data(), static_cast<size_t>(buffer->size())));
  return Bytes(view.begin(), view.end());
}

std::string RandomFilter(std::mt19937_64& random, int64_t rows, int depth) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  if (depth > 0 && below(3) != 0) {
    return fmt::format("{}({} {} {})", below(6) == 0 ? "NOT " : "", RandomFilter(random, rows, depth - 1),
                       below(2) == 0 ? "AND" : "OR", RandomFilter(random, rows, depth - 1));
  }
  const int64_t near = below(rows + 200) - 100;
  struct Column {
    const char* name;
    std::string literal, other;
  };
  const auto text = [&](int64_t at) {
    const std::string whole = TextOf(at < 0 ? 0 : at);
    return fmt::format("'{}'", whole.substr(0, whole.find_first_of("\xc3\xf4")));
  };
  const Column columns[] = {
      {"id", std::to_string(near), std::to_string(near + 50)},
      {"k", std::to_string(-near / 3), std::to_string(-near / 3 + 9)},
      {"t", text(near), text(near + 300)},
      {"d", std::to_string(static_cast<double>(near) / 8 - 100), below(3) == 0 ? "0.0" : "-0.0"},
      {"st.a", std::to_string(near / 10), std::to_string(near / 10 + 3)},
      {"st.b", fmt::format("'b{}'", near / 100), "'b3'"},
      {"amount", fmt::format("{}.25", (near - rows / 2) / 100), "0.00"},
      {"wide", fmt::format("{}.50", (rows / 2 - near) / 100), "-1.00"},
      {"late", std::to_string(near), std::to_string(near + 200)},
  };
  const Column& column = columns[below(std::size(columns))];
  const std::string_view name = column.name;
  switch (below(9)) {
    case 0: return fmt::format("{} IS {}NULL", name, below(2) == 0 ? "NOT " : "");
    case 1: return fmt::format("d IS {}NAN", below(2) == 0 ? "NOT " : "");
    case 2: return fmt::format("{} {}IN ({}, {})", name, below(3) == 0 ? "NOT " : "", column.literal, column.other);
    case 3: return fmt::format("{} {} {}", name, below(2) == 0 ? "!=" : "=", column.literal);
    case 4: {
      if (name != "t" && name != "st.b") return fmt::format("{} BETWEEN {} AND {}", name, column.literal, column.other);
      const std::string bare = column.literal.substr(1, column.literal.size() - 2);
      return fmt::format("{} {}LIKE '{}%'", name, below(3) == 0 ? "NOT " : "",
                         bare.substr(0, static_cast<size_t>(below(5))));
    }
    case 5: return "flag";
    default: {
      const char* ops[] = {"<", "<=", ">", ">=", "="};
      return fmt::format("{} {} {}", name, ops[below(5)], column.literal);
    }
  }
}

KeyTable EmptyKeys(const Schema& schema, const std::vector<int32_t>& ids) {
  std::vector<plan::KeyField> fields;
  for (const int32_t id : ids) fields.push_back(KeyFieldOf(schema, id));
  return KeyTable::Make(std::move(fields)).value();
}

struct Read {
  Batches batches;
  ReadMetrics metrics;
};
Result<Read> ReadBy(const PlanBuilder& table, ReadOptions options) {
  const auto stream = DELENDA_TRY(OpenScan(table.shared_plan(), table.io(), std::move(options)));
  Read read;
  while (auto batch = DELENDA_TRY(stream->Next())) read.batches.push_back(std::move(batch));
  read.metrics = stream->metrics();
  return read;
}

TEST(PageRows, ScansThatAskPagesGiveTheRowsOfThoseThatDoNot) {
  const uint64_t seed = Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<std::vector<int32_t>> layouts = {{1}, {2}, {3},  {4},    {6},    {7},
                                                     {8}, {9}, {11}, {1, 2}, {3, 8}, {6, 4}};
  uint64_t passed_over = 0, narrowed = 0, scans = 0;
  for (int round = 0; round < 25; ++round) {
    PlanBuilder table(PagedFields());
    AddSpecs(table.plan());
    table.AddPositionColumn();
    const Shape shape = RandomShape(random);
    auto& task = table.AddFile("/t/a.parquet", PagedFile(random, shape), shape.rows);
    task.file.data_sequence_number = 2;
    task.file.partition = std::make_shared<const PartitionTuple>();
    const Batches all = table.Read({.ordered = true, .page_index_bytes = kNever}).value();
    const auto random_row = [&] {
      const auto& batch = all[random() % all.size()];
      return batch->Slice(static_cast<int64_t>(random() % static_cast<uint64_t>(batch->num_rows())), 1);
    };
    if (random() % 2 == 0) {
      std::vector<uint64_t> positions;
      for (uint64_t p = 0; p < static_cast<uint64_t>(shape.rows); p += 1 + random() % 50) positions.push_back(p);
      table.AddVectors("/t/v.puffin", {{0, positions}});
    }
    if (random() % 3 == 0) {
      // Equality deletes on k and on NULL.
      const Bytes bytes =
          ToParquet(arrow::Table::Make(arrow::schema({IdField(2, "k", arrow::int32())}),
                                       {MakeArray<arrow::Int32Builder, int32_t>({-100, -200, -333, std::nullopt})}));
      PutFile(*table.memory(), "/t/e.parquet", bytes);
      ContentFile& equality = table.plan().deletes.emplace_back();
      equality.content = FileContent::kEqualityDeletes;
      equality.path = "/t/e.parquet";
      equality.file_size = static_cast<int64_t>(bytes.size());
      equality.record_count = 4;
      equality.data_sequence_number = 3;
      equality.equality_ids = {2};
      equality.partition = std::make_shared<const PartitionTuple>();
      table.plan().tasks[0].equality_deletes = {static_cast<uint32_t>(table.plan().deletes.size() - 1)};
      AddKeyField(table.plan(), 2);
    }
    // All columns, some of them, those that also decide; deleted rows too.
    const auto columns = table.plan().columns;
    if (random() % 3 == 0) {
      const size_t one = random() % (columns.size() - 1);
      table.plan().columns = {columns[one], columns.back()};
    }
    if (random() % 4 == 0) {
      table.plan().columns.push_back(
          {plan::OutputColumn::Kind::kDeleted, MakeField(2147483646, "_deleted", TypeKind::kBoolean, true)});
    }
    for (int turn = 0; turn < 12; ++turn) {
      ReadOptions options{.threads = 1 + random() % 2,
                          .ordered = true,
                          .page_index_bytes = kNever,
                          .batch_rows = static_cast<int64_t>(100 + random() % 3000)};
      std::string what = "none";
      if (turn % 3 != 0) what = RandomFilter(random, shape.rows, 2);
      const auto bound = BindText(what == "none" ? "TRUE" : what, table.plan().schema);
      ASSERT_TRUE(bound) << what << bound.error().ToString();
      table.plan().filter = *bound;
      table.plan().tasks[0].residual = table.plan().filter;
      if (turn % 3 != 1) {
        const auto& layout = layouts[random() % layouts.size()];
        KeyTable keys = EmptyKeys(table.plan().schema, layout);
        for (uint64_t i = 0, count = random() % 2 == 0 ? random() % 4 : random() % 60; i < count; ++i)
          ASSERT_TRUE(keys.Add(keys.ColumnsOf(table.plan().schema, *random_row()).value(), 1));
        if (layout == std::vector<int32_t>{1}) {
          ASSERT_TRUE(keys.Add({Longs({-5, 777, std::nullopt})}, 3));
        }
        options.keys = std::make_shared<const KeyTable>(std::move(keys));
        what += fmt::format(", keys of {}", layout[0]);
      }
      const auto whole = ReadBy(table, options);
      ASSERT_TRUE(whole) << what << whole.error().ToString();
      EXPECT_EQ(whole->metrics.rows_pruned, 0U);
      options.page_index_bytes = 0;
      const auto paged = ReadBy(table, options);
      ASSERT_TRUE(paged) << what << paged.error().ToString();
      ASSERT_EQ(ToJson(paged->batches), ToJson(whole->batches)) << "round " << round << ": " << what;
      passed_over += paged->metrics.rows_pruned;
      narrowed +=
          paged->metrics.rows_pruned != 0 || paged->metrics.row_groups_pruned > whole->metrics.row_groups_pruned;
      ++scans;
    }
  }
  EXPECT_GT(narrowed, scans / 4);
  EXPECT_GT(passed_over, 50'000U);
}

// A writer that compares decimals as unsigned bytes: -5 is above 3.
TEST(PageRows, BoundsThatContradictEachOtherAreNone) {
  const FileLeaf leaf{.leaf = 0, .type = arrow::decimal128(9, 2)};
  const parquet::LeafStatistics wrong{.null_count = 1, .min = std::string("\x03"), .max = std::string("\xfb")};
  const parquet::LeafStatistics right{.null_count = 1, .min = std::string("\xfb"), .max = std::string("\x03")};
  const auto stats_of = [&](const parquet::LeafStatistics& statistics) {
    return StatsOfLeaf(Type::Decimal(9, 2), leaf, ::parquet::Type::BYTE_ARRAY, statistics, 10);
  };
  EXPECT_EQ(stats_of(wrong).lower, std::nullopt);
  EXPECT_EQ(stats_of(wrong).upper, std::nullopt);
  EXPECT_EQ(stats_of(wrong).null_count, 1);
  EXPECT_EQ(stats_of(right).lower, Datum(Int128{-5}));
  EXPECT_EQ(stats_of(right).upper, Datum(Int128{3}));
}

// --- Which rows are left.

// 10,000 rows: id 0, 1, 2 …, in pages of 1,000; n is NULL from row 2,000 on up to 3,999, else 100 * (row / 1,000).
Bytes TenPages(bool page_index = true) {
  std::vector<std::optional<int64_t>> n;
  for (int64_t i = 0; i < 10'000; ++i)
    n.push_back(i >= 2000 && i < 4000 ? std::nullopt : std::optional(100 * (i / 1000) + i % 3));
  return ToParquet(
      arrow::Table::Make(arrow::schema({IdField(1, "id", arrow::int64(), false), IdField(2, "n", arrow::int64())}),
                         {LongRange(0, 10'000), Longs(n)}),
      {.dictionary = false, .page_rows = 1000, .page_index = page_index});
}

std::optional<std::vector<RowRun>> LeftBy(const std::string& filter, const std::vector<std::optional<int64_t>>& keys,
                                          const Bytes& bytes = TenPages(), uint64_t smallest_chunk = 0) {
  const Schema schema =
      Schema::Make(0, {MakeField(1, "id", TypeKind::kLong), MakeField(2, "n", TypeKind::kLong)}).value();
  const auto io = io::MakeMemoryFileIO();
  PutFile(*io, "/f", bytes);
  const auto file = parquet::ParquetFile::Open(io->Open("/f", bytes.size()).value(), bytes.size()).value();
  const ExprRef bound = filter.empty() ? nullptr : BindText(filter, schema).value();
  std::shared_ptr<const SortedKeys> sorted;
  if (!keys.empty()) {
    KeyTable table = EmptyKeys(schema, {2});
    EXPECT_TRUE(table.Add({Longs(keys)}, static_cast<int64_t>(keys.size())));
    sorted = std::make_shared<const KeyTable>(std::move(table))->sorted();
  }
  const std::vector<size_t> row_groups = {0};
  auto left = RowsThatPagesLeave(*file, row_groups, {},
                                 {.filter = bound.get(), .keys = sorted.get(), .smallest_chunk = smallest_chunk});
  EXPECT_TRUE(left) << left.error().ToString();
  return left->front() ? std::optional(left->front()->runs) : std::nullopt;
}

TEST(PageRows, OnlyPagesThatCouldMatchAreLeft) {
  struct Case {
    std::string filter;
    std::vector<std::optional<int64_t>> keys;
    std::optional<std::vector<RowRun>> left;
  };
  using Runs = std::vector<RowRun>;
  const std::vector<Case> cases = {
      {"id = 4999", {}, Runs{{4000, 5000}}},
      {"id IN (1, 9999, 20000)", {}, Runs{{0, 1000}, {9000, 10'000}}},
      {"id < 1000", {}, Runs{{0, 1000}}},
      {"id > 20000", {}, Runs{}},
      {"id >= 0", {}, std::nullopt},
      {"n IS NULL", {}, Runs{{2000, 4000}}},
      {"n IS NOT NULL", {}, Runs{{0, 2000}, {4000, 10'000}}},
      {"n = 100 AND id < 500", {}, Runs{}},
      {"n = 100 OR id < 500", {}, Runs{{0, 2000}}},
      {"n > 850 OR n IS NULL", {}, Runs{{2000, 4000}, {9000, 10'000}}},
      {"", {101}, Runs{{1000, 2000}}},
      {"", {std::nullopt}, Runs{{2000, 4000}}},
      {"", {std::nullopt, 900, 55}, Runs{{2000, 4000}, {9000, 10'000}}},
      {"", {55}, Runs{}},
      {"id > 5000", {101, 602}, Runs{{6000, 7000}}},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(LeftBy(one.filter, one.keys), one.left) << one.filter << ", " << one.keys.size() << " keys";
  }
}

TEST(PageRows, NothingIsAskedThatIsNotWorthIt) {
  EXPECT_EQ(LeftBy("id = 4999", {}, TenPages(false)), std::nullopt) << "no page index";
  EXPECT_EQ(LeftBy("id = 4999", {}, TenPages(), 1 << 20), std::nullopt) << "a small chunk";
  std::vector<std::optional<int64_t>> many;
  for (int64_t i = 0; i < 1000; ++i) many.push_back(i);
  EXPECT_EQ(LeftBy("", many), std::nullopt) << "keys all over";
  // Many keys that lie close together.
  many.clear();
  for (int64_t i = 900; i < 1000; ++i) many.push_back(i);
  EXPECT_EQ(LeftBy("", many), (std::vector<RowRun>{{9000, 10'000}}));
  // More comparisons with pages than there are rows.
  std::string list = "id IN (5";
  for (int64_t i = 0; i < 2000; ++i) list += fmt::format(", {}", 20'000 + i);
  EXPECT_EQ(LeftBy(list + ")", {}), std::nullopt);
}

// 20 pages of 5,000 rows: 40 KB of id, 220 KB of text each.
TEST(PageRows, FewKeysReadFewPagesOfALocalFile) {
  std::vector<std::optional<std::string>> texts;
  for (int64_t i = 0; i < 100'000; ++i) texts.push_back(fmt::format("{:040}", i));
  const Bytes bytes = ToParquet(
      arrow::Table::Make(arrow::schema({IdField(1, "id", arrow::int64(), false), IdField(2, "t", arrow::utf8())}),
                         {LongRange(0, 100'000), Texts(texts)}),
      {.dictionary = false, .page_rows = 5000});
  const TemporaryFolder folder;
  const std::string path = folder.path() / "a.parquet";
  PutFile(*io::MakeLocalFileIO(), path, bytes);
  PlanBuilder table({MakeField(1, "id", TypeKind::kLong), MakeField(2, "t", TypeKind::kString)});
  table.AddFile("/t/a.parquet", bytes, 100'000).file.path = path;
  KeyTable keys = EmptyKeys(table.plan().schema, {1});
  ASSERT_TRUE(keys.Add({Longs({777, 50'000, 200'000})}, 3));
  ReadOptions options{.threads = 1, .keys = std::make_shared<const KeyTable>(std::move(keys))};
  const auto io = std::make_shared<io::CountingFileIO>(io::MakeLocalFileIO());
  const auto stream = OpenScan(table.shared_plan(), io, options).value();
  std::vector<int64_t> ids;
  while (const auto batch = stream->Next().value()) {
    for (const int64_t id : Ids({batch})) ids.push_back(id);
  }
  EXPECT_THAT(ids, ElementsAre(777, 50'000));
  EXPECT_EQ(stream->metrics().rows_pruned, 90'000U);
  EXPECT_LT(io->Snapshot().bytes_read, 1'200'000U) << "of 5.2 MB, where id is read twice";
}

// A byte of the index that is wrong must not lose a row: what it says is checked, or the row is there all the same.
TEST(PageRows, DamagedIndexesLoseNoRow) {
  const Bytes good = TenPages();
  PlanBuilder whole({MakeField(1, "id", TypeKind::kLong), MakeField(2, "n", TypeKind::kLong)});
  // The indexes lie between the pages and the footer.
  const auto reader = ::parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(
      std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(good.data()), int64_t(good.size()))));
  const auto chunk = reader->metadata()->RowGroup(0)->ColumnChunk(0);
  const auto offsets = *chunk->GetOffsetIndexLocation(), columns = *chunk->GetColumnIndexLocation();
  size_t read = 0, refused = 0;
  for (const auto& location : {offsets, columns}) {
    for (int64_t at = location.offset; at < location.offset + location.length; ++at) {
      for (const uint8_t mask : {uint8_t{1}, uint8_t{0x10}, uint8_t{0x80}}) {
        Bytes bad = good;
        bad[static_cast<size_t>(at)] ^= std::byte{mask};
        PlanBuilder table({MakeField(1, "id", TypeKind::kLong)});
        table.AddFile("/t/a.parquet", bad, 10'000);
        table.Where("id = 4500 OR id = 7777");
        const auto batches = table.Read({.threads = 1, .ordered = true, .page_index_bytes = 0});
        if (!batches) {
          ++refused;
          EXPECT_EQ(batches.error().kind(), ErrorKind::kCorrupt);
          continue;
        }
        ++read;
        // A bound may be wrong in a way that nobody can see: that of a page between others.
        if (location.offset == offsets.offset) {
          EXPECT_EQ(Ids(*batches), (std::vector<int64_t>{4500, 7777})) << at - location.offset;
        }
      }
    }
  }
  EXPECT_GT(read, refused);
}

}  // namespace
}  // namespace delenda::read
