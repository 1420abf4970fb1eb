// Equality deletes against a naive model: every row against every delete row (Iceberg spec, "Equality Delete Files").
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "delenda/read/equality_keys.h"
#include "support/seed.h"
#include "unit/read/key_rows.h"
#include "unit/read/plan_builder.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the fixtures' vocabulary

struct ModelDelete {
  std::vector<int32_t> fields;
  std::vector<ModelRow> keys;
  int64_t sequence = 0;
  int32_t partition = -1;  // -1: global
};

TEST(EqualityDeletes, EqualANaiveModel) {
  const uint64_t seed = Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<std::vector<int32_t>> layouts = {{2}, {3}, {4}, {6}, {2, 3}, {3, 4, 6}, {2, 4}};
  for (int round = 0; round < 60; ++round) {
    PlanBuilder table(TableFields());
    AddSpecs(table.plan());
    std::vector<ModelDelete> deletes;
    for (uint64_t i = 0, count = random() % 5 + 1; i < count; ++i) {
      ModelDelete model{
          .fields = layouts[random() % layouts.size()], .keys = {}, .sequence = static_cast<int64_t>(random() % 6 + 1)};
      if (random() % 2 == 0) model.partition = static_cast<int32_t>(random() % 2);
      for (uint64_t k = 0, keys = random() % 12 + 1; k < keys; ++k) model.keys.push_back(RandomRow(random, 0));
      // Columns outside the key are ignored, whatever they hold.
      const Bytes bytes = WriteRows(model.keys, {1, 2, 3, 4, 5}, random() % 3 == 0, 4);
      const std::string path = "/t/e" + std::to_string(i) + ".parquet";
      PutFile(*table.memory(), path, bytes);
      ContentFile& file = table.plan().deletes.emplace_back();
      file.content = FileContent::kEqualityDeletes;
      file.path = path;
      file.file_size = static_cast<int64_t>(bytes.size());
      file.record_count = static_cast<int64_t>(model.keys.size());
      file.data_sequence_number = model.sequence;
      file.equality_ids = model.fields;
      file.spec_id = model.partition < 0 ? 0 : 1;
      file.partition = model.partition < 0 ? std::make_shared<const PartitionTuple>() : PartitionOf(model.partition);
      for (const int32_t field : model.fields) AddKeyField(table.plan(), field);
      deletes.push_back(std::move(model));
    }
    std::vector<int64_t> wanted;
    for (int64_t f = 0; f < 3; ++f) {
      std::vector<ModelRow> rows;
      for (int64_t r = 0; r < 30; ++r) rows.push_back(RandomRow(random, f * 1000 + r));
      // An old file may lack a key column: its rows have NULL there.
      std::vector<int> ids = {1, 2, 3, 4, 5};
      if (random() % 3 == 0) {
        const auto gone = random() % 4 + 1;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(gone));
        for (auto& row : rows) {
          if (gone == 1) row.k.reset();
          if (gone == 2) row.t.reset();
          if (gone == 3) row.d.reset();
          if (gone == 4) row.st_null = true;
        }
      }
      auto& task =
          table.AddFile("/t/" + std::to_string(f) + ".parquet", WriteRows(rows, ids, random() % 2 == 0, 8), 30);
      task.file.data_sequence_number = static_cast<int64_t>(random() % 6 + 1);
      task.file.spec_id = 1;
      const auto partition = static_cast<int32_t>(random() % 2);
      task.file.partition = PartitionOf(partition);
      // As the planner attaches them: those of the partition, and global ones, that are newer.
      for (uint32_t i = 0; i < deletes.size(); ++i) {
        if (deletes[i].sequence > task.file.data_sequence_number &&
            (deletes[i].partition < 0 || deletes[i].partition == partition)) {
          task.equality_deletes.push_back(i);
        }
      }
      for (const auto& row : rows) {
        const bool deleted = std::ranges::any_of(task.equality_deletes, [&](uint32_t i) {
          return std::ranges::any_of(deletes[i].keys,
                                     [&](const ModelRow& key) { return SameKey(row, key, deletes[i].fields); });
        });
        if (!deleted) wanted.push_back(row.id);
      }
    }
    // With and without the key columns in the output, in one pass and in two.
    for (const std::vector<int32_t>& selected : {std::vector<int32_t>{1}, std::vector<int32_t>{1, 2, 3, 4, 5}}) {
      table.plan().columns.clear();
      for (const int32_t id : selected)
        table.plan().columns.push_back({plan::OutputColumn::Kind::kField, *table.plan().schema.FindById(id)[0]});
      const auto batches =
          table.Read({.threads = 1 + static_cast<size_t>(round % 2), .ordered = true, .batch_rows = 5});
      ASSERT_TRUE(batches) << batches.error().ToString();
      std::vector<int64_t> ids;
      for (const Json& row : ToJson(*batches)) ids.push_back(row["id"].get<int64_t>());
      ASSERT_EQ(ids, wanted) << "round " << round;
    }
  }
}

TEST(EqualityDeletes, RowGroupsWithoutAKeyAreReadWithoutTheKeyColumn) {
  PlanBuilder table(TableFields());
  AddSpecs(table.plan());
  std::vector<ModelRow> rows;
  for (int64_t i = 0; i < 40000; ++i) {
    ModelRow row;
    row.id = i * 7919 % 40000;  // not compressible, so that a chunk that is not read shows
    row.k = i;
    rows.push_back(row);
  }
  const Bytes data = WriteRows(rows, {1, 2}, false, 10000);
  auto& task = table.AddFile("/t/a.parquet", data, 40000);
  task.file.data_sequence_number = 1;
  std::vector<ModelRow> keys(2);
  keys[0].k = 20001;
  keys[1].k = -5;
  const Bytes bytes = WriteRows(keys, {2}, false, 10);
  PutFile(*table.memory(), "/t/e.parquet", bytes);
  ContentFile& file = table.plan().deletes.emplace_back();
  file.content = FileContent::kEqualityDeletes;
  file.path = "/t/e.parquet";
  file.file_size = static_cast<int64_t>(bytes.size());
  file.record_count = 2;
  file.data_sequence_number = 2;
  file.equality_ids = {2};
  file.partition = std::make_shared<const PartitionTuple>();
  AddKeyField(table.plan(), 2);
  table.plan().columns.resize(1);
  const auto bytes_read = [&] {
    table.io()->Reset();
    const auto batches = table.Read({.threads = 1});
    EXPECT_TRUE(batches) << batches.error().ToString();
    return std::pair(RowsIn(*batches), table.io()->SnapshotOf("/t/a.parquet").bytes_read);
  };
  const auto [all_rows, all_bytes] = bytes_read();
  table.plan().tasks[0].equality_deletes = {0};
  const auto [live_rows, live_bytes] = bytes_read();
  EXPECT_EQ(all_rows, 40000);
  EXPECT_EQ(live_rows, 39999);
  // One row group of four holds a key: at most its column k is read besides.
  EXPECT_GT(live_bytes, all_bytes);
  EXPECT_LT(live_bytes - all_bytes, 10000 * 8 * 3 / 2);
}

TEST(EqualityDeletes, RefuseFilesWithoutTheirKeyAndKeysAboveTheBudget) {
  PlanBuilder table(TableFields());
  AddSpecs(table.plan());
  std::vector<ModelRow> rows(100);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].k = static_cast<int64_t>(i);
  auto& task = table.AddFile("/t/a.parquet", WriteRows(rows, {1, 2}, false, 100), 100);
  task.equality_deletes = {0};
  const auto add_delete = [&](const std::string& path, const std::vector<int>& ids) {
    const Bytes bytes = WriteRows(rows, ids, false, 100);
    PutFile(*table.memory(), path, bytes);
    ContentFile file;
    file.content = FileContent::kEqualityDeletes;
    file.path = path;
    file.file_size = static_cast<int64_t>(bytes.size());
    file.record_count = 100;
    file.data_sequence_number = 2;
    file.equality_ids = {2};
    file.partition = std::make_shared<const PartitionTuple>();
    table.plan().deletes = {file};
  };
  AddKeyField(table.plan(), 2);
  add_delete("/t/no-key.parquet", {1, 3});
  auto refused = table.Read();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(refused.error().ToString(), ::testing::HasSubstr("/t/no-key.parquet"));
  add_delete("/t/many.parquet", {2});
  ReadOptions options;
  options.equality_memory = 1000;
  refused = table.Read(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(refused.error().ToString(), ::testing::HasSubstr("memory budget of 1000 bytes"));
  const auto read = table.Read();
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(RowsIn(*read), 0);
}

}  // namespace
}  // namespace delenda::read
