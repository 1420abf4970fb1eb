// Scans by keys: the rows that a full scan gives and that have one of the keys, and no more files read than need be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "delenda/read/count.h"
#include "delenda/read/key_table.h"
#include "support/seed.h"
#include "unit/read/key_rows.h"
#include "unit/read/plan_builder.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the fixtures' vocabulary

KeyTable EmptyTable(const Schema& schema, const std::vector<int32_t>& ids) {
  std::vector<plan::KeyField> fields;
  for (const int32_t id : ids) fields.push_back(KeyFieldOf(schema, id));
  return KeyTable::Make(std::move(fields)).value();
}

std::shared_ptr<const KeyTable> LongKeys(const Schema& schema, const std::vector<std::optional<int64_t>>& values) {
  KeyTable table = EmptyTable(schema, {1});
  EXPECT_TRUE(table.Add({Longs(values)}, static_cast<int64_t>(values.size())));
  return std::make_shared<const KeyTable>(std::move(table));
}

// Keys from rows of a file that was written for it: as any reader would get them.
std::shared_ptr<const KeyTable> KeysOfRows(const Schema& schema, const std::vector<int32_t>& layout,
                                           const std::vector<ModelRow>& rows) {
  PlanBuilder source(TableFields());
  source.AddFile("/keys.parquet", WriteRows(rows, {1, 2, 3, 4, 5}, false, 100), static_cast<int64_t>(rows.size()));
  KeyTable table = EmptyTable(schema, layout);
  const Batches batches = source.Read().value();
  for (const auto& batch : batches) EXPECT_TRUE(table.Add(table.ColumnsOf(schema, *batch).value(), batch->num_rows()));
  return std::make_shared<const KeyTable>(std::move(table));
}

TEST(KeyScan, EqualsANaiveModel) {
  const uint64_t seed = Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<std::vector<int32_t>> layouts = {{1}, {2}, {3}, {4}, {6}, {2, 3}, {3, 4, 6}, {6, 2}};
  for (int round = 0; round < 60; ++round) {
    PlanBuilder table(TableFields());
    AddSpecs(table.plan());
    const auto& layout = layouts[random() % layouts.size()];
    std::vector<ModelRow> key_rows;
    for (uint64_t i = 0, count = random() % 8; i < count; ++i)
      key_rows.push_back(RandomRow(random, static_cast<int64_t>(random() % 3 * 1000 + random() % 30)));
    const auto keys = KeysOfRows(table.plan().schema, layout, key_rows);
    // One equality delete on column k, of the later half of the files.
    const std::vector<ModelRow> deleted_keys = {RandomRow(random, 0), RandomRow(random, 0)};
    const Bytes bytes = WriteRows(deleted_keys, {2}, false, 4);
    PutFile(*table.memory(), "/t/e.parquet", bytes);
    ContentFile& equality = table.plan().deletes.emplace_back();
    equality.content = FileContent::kEqualityDeletes;
    equality.path = "/t/e.parquet";
    equality.file_size = static_cast<int64_t>(bytes.size());
    equality.record_count = 2;
    equality.data_sequence_number = 3;
    equality.equality_ids = {2};
    equality.partition = std::make_shared<const PartitionTuple>();
    AddKeyField(table.plan(), 2);

    std::vector<std::pair<size_t, std::vector<uint64_t>>> vectors;
    std::vector<std::vector<ModelRow>> files;
    for (int64_t f = 0; f < 3; ++f) {
      auto& rows = files.emplace_back();
      for (int64_t r = 0; r < 30; ++r) rows.push_back(RandomRow(random, f * 1000 + r));
      std::vector<int> ids = {1, 2, 3, 4, 5};
      if (random() % 3 == 0) {  // an old file that lacks a column
        ids.erase(ids.begin() + 1);
        for (auto& row : rows) row.k.reset();
      }
      auto& task =
          table.AddFile("/t/" + std::to_string(f) + ".parquet", WriteRows(rows, ids, random() % 2 == 0, 8), 30);
      task.file.data_sequence_number = 2;
      if (random() % 2 == 0) task.equality_deletes = {0};
      task.file.partition = std::make_shared<const PartitionTuple>();
      if (random() % 2 == 0) {
        std::vector<uint64_t> positions;
        for (uint64_t p = 0; p < 30; ++p) {
          if (random() % 4 == 0) positions.push_back(p);
        }
        if (!positions.empty()) vectors.emplace_back(static_cast<size_t>(f), std::move(positions));
      }
    }
    table.AddVectors("/t/v.puffin", vectors);
    const bool filtered = random() % 2 == 0;
    if (filtered) table.Where("id < 1010 OR t = 'a'");
    std::vector<std::string> wanted;
    for (size_t f = 0; f < files.size(); ++f) {
      for (size_t r = 0; r < files[f].size(); ++r) {
        const ModelRow& row = files[f][r];
        const auto has_key = [&](const ModelRow& key) {
          return std::ranges::all_of(layout, [&](int32_t field) {
            return field == 1 ? key.id == row.id : KeyValueText(key, field) == KeyValueText(row, field);
          });
        };
        const auto is_in_vector = [&](const auto& one) {
          return one.first == f && std::ranges::find(one.second, r) != one.second.end();
        };
        if (!std::ranges::any_of(key_rows, has_key) || std::ranges::any_of(vectors, is_in_vector)) continue;
        if (!table.plan().tasks[f].equality_deletes.empty() &&
            std::ranges::any_of(deleted_keys, [&](const ModelRow& key) { return SameKey(row, key, {2}); }))
          continue;
        if (filtered && row.id >= 1010 && row.t != "a") continue;
        wanted.push_back(fmt::format("{} /t/{}.parquet {}", row.id, f, r));
      }
    }
    // The key columns in the output, other ones, and none but those that the reader makes.
    for (const std::vector<int32_t>& selected :
         {std::vector<int32_t>{1}, std::vector<int32_t>{1, 2, 3, 4, 5}, std::vector<int32_t>{1, 4}}) {
      table.plan().columns.clear();
      for (const int32_t id : selected)
        table.plan().columns.push_back({plan::OutputColumn::Kind::kField, *table.plan().schema.FindById(id)[0]});
      table.plan().columns.push_back(
          {plan::OutputColumn::Kind::kFilePath, MakeField(2147483646, "_file", TypeKind::kString, true)});
      table.AddPositionColumn();
      const ReadOptions options{
          .threads = 1 + static_cast<size_t>(round % 2), .ordered = true, .keys = keys, .batch_rows = 5};
      const auto batches = table.Read(options);
      ASSERT_TRUE(batches) << batches.error().ToString();
      std::vector<std::string> read;
      for (const Json& row : ToJson(*batches))
        read.push_back(fmt::format("{} {} {}", row["id"].get<int64_t>(), row["_file"].get<std::string>(),
                                   row["_pos"].get<int64_t>()));
      ASSERT_EQ(read, wanted) << "round " << round;
      const auto counted = CountRows(table.shared_plan(), table.io(), options);
      ASSERT_TRUE(counted) << counted.error().ToString();
      EXPECT_EQ(counted->rows, wanted.size());
    }
  }
}

TEST(KeyScan, ReadsOnlyRowGroupsWhoseStatisticsAllowAKey) {
  PlanBuilder table({MakeField(1, "id", TypeKind::kLong)});
  table.AddFile("/t/a.parquet", IdFile(0, 1000, 100), 1000);
  const auto keys = LongKeys(table.plan().schema, {150, 199, 720, 5000});
  const auto stream = OpenScan(table.shared_plan(), table.io(), {.threads = 1, .keys = keys}).value();
  std::vector<int64_t> ids;
  for (;;) {
    const auto batch = stream->Next().value();
    if (batch == nullptr) break;
    for (const int64_t id : Ids({batch})) ids.push_back(id);
  }
  EXPECT_EQ(ids, (std::vector<int64_t>{150, 199, 720}));
  EXPECT_EQ(stream->metrics().row_groups, 10U);
  EXPECT_EQ(stream->metrics().row_groups_pruned, 8U);
  EXPECT_EQ(stream->metrics().data_files_opened, 1U);
}

// Reading the output's columns is the cost of a file: only those of its rows that are found pay it.
TEST(KeyScan, ReadsOtherColumnsOnlyWhereAKeyWasFound) {
  PlanBuilder table({MakeField(1, "id", TypeKind::kLong), MakeField(2, "t", TypeKind::kString)});
  std::vector<std::optional<int64_t>> ids;
  std::vector<std::optional<std::string>> texts;
  std::mt19937_64 random(7);
  for (int64_t i = 0; i < 2000; ++i) {
    ids.emplace_back(2 * i);
    std::string text(200, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 26);
    texts.emplace_back(std::move(text));
  }
  const auto rows = arrow::Table::Make(
      arrow::schema({IdField(1, "id", arrow::int64()), IdField(2, "t", arrow::utf8())}), {Longs(ids), Texts(texts)});
  table.AddFile("/t/a.parquet", ToParquet(rows, {.rows_per_group = 200, .dictionary = false}), 2000);
  const auto bytes_for = [&](int64_t key) {
    const auto before = table.io()->Snapshot().bytes_read;
    const auto read = table.Read({.threads = 1, .keys = LongKeys(table.plan().schema, {key})});
    EXPECT_TRUE(read);
    return std::pair(RowsIn(*read), table.io()->Snapshot().bytes_read - before);
  };
  const auto [found, bytes] = bytes_for(1000);
  const auto [missed, fewer] = bytes_for(1001);  // within a row group's bounds, in no row
  EXPECT_EQ(found, 1);
  EXPECT_EQ(missed, 0);
  EXPECT_LT(fewer + 30000, bytes) << "the texts of the row group that holds no key were read";
}

// Scattered keys lie within the bounds of every row group: only bloom filters tell which of them hold one.
TEST(KeyScan, ReadsOnlyRowGroupsWhoseBloomFiltersAllowAKey) {
  std::mt19937_64 random(11);
  std::vector<std::optional<int64_t>> longs;
  std::vector<std::optional<std::string>> texts;
  for (int64_t i = 0; i < 8000; ++i) {
    longs.emplace_back(static_cast<int64_t>(random() >> 2));
    texts.emplace_back("key-" + std::to_string(random()));
  }
  const auto rows = arrow::Table::Make(
      arrow::schema({IdField(1, "id", arrow::int64()), IdField(2, "t", arrow::utf8())}), {Longs(longs), Texts(texts)});
  for (const auto& [column, id] : {std::pair("id", 1), std::pair("t", 2)}) {
    PlanBuilder table({MakeField(1, "id", TypeKind::kLong), MakeField(2, "t", TypeKind::kString)});
    const Bytes bytes = ToParquet(rows, {.rows_per_group = 1000, .dictionary = false, .bloom_of = column});
    table.AddFile("/t/a.parquet", bytes, 8000);
    KeyTable keys = EmptyTable(table.plan().schema, {id});
    // A row of the third row group, one of the last, and ten that are nowhere.
    std::vector<std::optional<int64_t>> some_longs = {longs[2500], longs[7999]};
    std::vector<std::optional<std::string>> some_texts = {texts[2500], texts[7999]};
    for (int i = 0; i < 10; ++i) {
      some_longs.emplace_back(static_cast<int64_t>(random() >> 2));
      some_texts.emplace_back("key-" + std::to_string(random()));
    }
    ASSERT_TRUE(keys.Add({id == 1 ? Longs(some_longs) : Texts(some_texts)}, 12));
    const auto shared = std::make_shared<const KeyTable>(std::move(keys));
    const auto stream = OpenScan(table.shared_plan(), table.io(), {.threads = 1, .keys = shared}).value();
    int64_t found = 0;
    for (;;) {
      const auto batch = stream->Next().value();
      if (batch == nullptr) break;
      found += batch->num_rows();
    }
    EXPECT_EQ(found, 2);
    EXPECT_EQ(stream->metrics().row_groups, 8U);
    EXPECT_GE(stream->metrics().row_groups_pruned, 5U) << "false positives are 1 in 1000";
  }
}

TEST(KeyScan, FindsOldTimestampsOf12BytesBesideTheirBloomFilters) {
  const auto type = arrow::timestamp(arrow::TimeUnit::MICRO);
  const auto micros = [&](const std::vector<std::optional<int64_t>>& values) {
    return Longs(values)->View(type).ValueOrDie();
  };
  const auto rows = arrow::Table::Make(arrow::schema({IdField(1, "ts", type)}),
                                       {micros({-86'400'000'001, 0, 1, 1'700'000'000'000'000})});
  PlanBuilder table({MakeField(1, "ts", TypeKind::kTimestamp)});
  table.AddFile("/t/a.parquet", ToParquet(rows, {.int96 = true, .dictionary = false, .bloom_of = "ts"}), 4);
  KeyTable keys = EmptyTable(table.plan().schema, {1});
  ASSERT_TRUE(keys.Add({micros({-86'400'000'001, 1'700'000'000'000'000, 5})}, 3));
  EXPECT_EQ(RowsIn(*table.Read({.keys = std::make_shared<const KeyTable>(std::move(keys))})), 2);
}

TEST(KeyScan, WithoutKeysGivesNoRow) {
  PlanBuilder table({MakeField(1, "id", TypeKind::kLong)});
  table.AddFile("/t/a.parquet", IdFile(0, 10, 10), 10);
  const auto keys = LongKeys(table.plan().schema, {1});
  const auto none = LongKeys(table.plan().schema, {});
  EXPECT_EQ(RowsIn(*table.Read({.keys = none})), 0);
  EXPECT_EQ(RowsIn(*table.Read({.keys = keys})), 1);
}

// Planning and reading by keys on every fixture table: partitions of all transforms, evolved specs and schemas, all
// kinds of deletes. The rows are those of a full scan that have one of the keys.
TEST(KeyScan, OfFixturesEqualsTheFullScanByKey) {
  const uint64_t seed = Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  uint64_t pruned = 0;
  for (const std::string& name : ReadableIcebergTables()) {
    const auto full = PlanFixture(name, {.with_metadata = true});
    if (!full || (*full)->tasks.empty()) continue;
    const Schema& schema = (*full)->schema;
    const auto all = ReadAll(*full, FixtureIO());
    if (!all && all.error().kind() == ErrorKind::kNotSupported) continue;
    ASSERT_TRUE(all) << name << ": " << all.error().ToString();
    if (RowsIn(*all) == 0) continue;
    const std::vector<Json> rows = ToJson(*all);
    std::vector<int32_t> usable;
    for (const Field& field : schema.fields()) {
      if (!field.type.is_nested()) usable.push_back(field.id);
      if (field.type.kind() != TypeKind::kStruct) continue;
      for (const Field& child : field.type.fields()) {
        if (!child.type.is_nested()) usable.push_back(child.id);
      }
    }
    for (int round = 0; round < 6; ++round) {
      std::vector<int32_t> layout = {usable[random() % usable.size()]};
      const int32_t second = usable[random() % usable.size()];
      if (random() % 2 == 0 && second != layout[0]) layout.push_back(second);
      KeyTable table = EmptyTable(schema, layout);
      std::set<std::string> chosen;
      const auto text_of = [&](const Json& row) {
        std::string text;
        for (const int32_t id : layout) {
          const Schema::Path path = schema.FindById(id);
          const Json* value = &row[path[0]->name];
          if (path.size() > 1) value = value->is_null() ? value : &(*value)[path[1]->name];
          text += value->dump() + "|";
        }
        return text;
      };
      // A few rows' keys, out of every batch.
      size_t first = 0;
      for (const auto& batch : *all) {
        for (int64_t i = 0; i < batch->num_rows(); ++i) {
          if (random() % 40 != 0) continue;
          const auto one = batch->Slice(i, 1);
          ASSERT_TRUE(table.Add(table.ColumnsOf(schema, *one).value(), 1)) << name;
          chosen.insert(text_of(rows[first + static_cast<size_t>(i)]));
        }
        first += static_cast<size_t>(batch->num_rows());
      }
      std::vector<Json> expected;
      for (const Json& row : rows) {
        if (chosen.contains(text_of(row))) expected.push_back(row);
      }
      const auto keys = std::make_shared<const KeyTable>(std::move(table));
      const auto plan = PlanFixture(name, {.with_metadata = true, .keys = keys->sorted()});
      ASSERT_TRUE(plan) << name << ": " << plan.error().ToString();
      pruned += (*plan)->metrics.data_files_pruned;
      const auto batches = ReadAll(*plan, FixtureIO(), {.ordered = true, .keys = keys});
      ASSERT_TRUE(batches) << name << ": " << batches.error().ToString();
      ASSERT_EQ(Sorted(ToJson(*batches)), Sorted(expected)) << name << " by " << layout[0];
      // Planning alone loses nothing either.
      const auto unread = ReadAll(*plan, FixtureIO());
      ASSERT_TRUE(unread) << name;
      EXPECT_GE(RowsIn(*unread), RowsIn(*batches));
    }
  }
  EXPECT_GT(pruned, 50U);
}

}  // namespace
}  // namespace delenda::read
