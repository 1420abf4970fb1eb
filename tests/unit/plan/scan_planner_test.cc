// Planning, checked against Iceberg Java's planFiles() on the fixture tables (plan.jsonl).
#include "delenda/plan/scan_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "delenda/iceberg/table_location.h"
#include "delenda/io/counting_file_io.h"
#include "support/failing_reads.h"
#include "support/fixtures.h"
#include "unit/plan/table_history.h"

namespace delenda::plan {
namespace {

using testing::ExpectedLines;
using testing::FixtureIO;
using testing::FixtureTable;
using testing::HasExpected;
using ::testing::HasSubstr;
using testing::ReadableIcebergTables;

Result<ScanPlan> PlanFixture(const std::string& name, const ScanRequest& request,
                             std::shared_ptr<io::FileIO> io = FixtureIO(), size_t threads = 2) {
  auto table = DELENDA_TRY(iceberg::LoadTable(*io, FixtureTable(name)));
  Executor executor(threads);
  return PlanScan(table.metadata, *io, request, executor, {});
}

std::vector<std::string> PlannableTables() {
  std::vector<std::string> names;
  for (const auto& name : ReadableIcebergTables()) {
    if (HasExpected(name, "plan.jsonl")) names.push_back(name);
  }
  return names;
}

// Java prints partitions as paths: URL-encoded as forms are.
std::string UrlDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

class PlanOfFixture : public ::testing::TestWithParam<std::string> {};

TEST_P(PlanOfFixture, HasEveryFileAndDeleteThatJavaPlans) {
  const auto plan = PlanFixture(GetParam(), {});
  ASSERT_TRUE(plan) << plan.error().ToString();
  std::map<std::string, const FileTask*> tasks;
  for (const auto& task : plan->tasks) EXPECT_TRUE(tasks.emplace(task.file.path, &task).second) << task.file.path;
  const auto expected = ExpectedLines(GetParam(), "plan.jsonl");
  EXPECT_EQ(tasks.size(), expected.size());
  for (const auto& line : expected) {
    const auto file = *line.root().Get<json::Value>("data_file");
    const auto path = *file.Get<std::string>("path");
    ASSERT_TRUE(tasks.contains(path)) << path;
    const FileTask& task = *tasks[path];
    EXPECT_EQ(task.file.record_count, *file.Get<int64_t>("records")) << path;
    EXPECT_EQ(task.file.file_size, *file.Get<int64_t>("bytes")) << path;
    EXPECT_EQ(task.file.spec_id, *file.Get<int32_t>("spec_id")) << path;
    EXPECT_EQ(PartitionText(plan->specs.at(task.file.spec_id), *task.file.partition),
              UrlDecoded(*file.Get<std::string>("partition")))
        << path;
    EXPECT_EQ(task.file.data_sequence_number, *file.Get<int64_t>("data_seq")) << path;
    EXPECT_EQ(task.file.file_sequence_number, *file.Get<int64_t>("file_seq")) << path;
    EXPECT_EQ(task.file.first_row_id, *file.Optional<int64_t>("first_row_id")) << path;

    // By content, path and offset: Java prunes some position deletes by their bounds, so more may be attached, never
    // fewer; DVs exactly.
    std::set<std::pair<std::string, int64_t>> attached;
    for (const uint32_t at : task.position_deletes) attached.emplace(plan->deletes[at].path, -1);
    for (const uint32_t at : task.equality_deletes) attached.emplace(plan->deletes[at].path, -1);
    if (task.dv) attached.emplace(plan->deletes[*task.dv].path, *plan->deletes[*task.dv].content_offset);
    bool java_has_dv = false;
    const auto java_deletes = *line.root().Get<json::Array>("deletes");
    for (const auto deletes : java_deletes) {
      const auto offset = *deletes.Optional<int64_t>("content_offset");
      java_has_dv = java_has_dv || offset.has_value();
      const auto key = std::pair(*deletes.Get<std::string>("path"), offset.value_or(-1));
      EXPECT_TRUE(attached.contains(key)) << path << " lacks " << key.first;
      if (!offset) continue;
      const ContentFile& dv = plan->deletes[*task.dv];
      EXPECT_EQ(dv.record_count, *deletes.Get<int64_t>("records"));
      EXPECT_EQ(dv.content_size, *deletes.Get<int64_t>("content_size"));
      EXPECT_EQ(dv.referenced_data_file, *deletes.Get<std::string>("referenced_data_file"));
      EXPECT_EQ(dv.data_sequence_number, *deletes.Get<int64_t>("data_seq"));
    }
    EXPECT_EQ(task.dv.has_value(), java_has_dv) << path;
    if (task.dv) {
      EXPECT_THAT(task.position_deletes, ::testing::IsEmpty()) << path;
    }
  }
}

TEST_P(PlanOfFixture, IsTheSameOnAnyNumberOfThreads) {
  const auto one = PlanFixture(GetParam(), {}, FixtureIO(), 1);
  const auto many = PlanFixture(GetParam(), {}, FixtureIO(), 7);
  ASSERT_TRUE(one && many);
  ASSERT_EQ(one->tasks.size(), many->tasks.size());
  for (size_t i = 0; i < one->tasks.size(); ++i) {
    EXPECT_EQ(one->tasks[i].file.path, many->tasks[i].file.path);
    EXPECT_EQ(one->tasks[i].dv, many->tasks[i].dv);
    EXPECT_EQ(one->tasks[i].position_deletes, many->tasks[i].position_deletes);
    EXPECT_EQ(one->tasks[i].equality_deletes, many->tasks[i].equality_deletes);
  }
}

TEST_P(PlanOfFixture, SplitsCoverEachFileOnce) {
  const auto plan = PlanFixture(GetParam(), {.split_size = 4096});
  ASSERT_TRUE(plan) << plan.error().ToString();
  std::map<std::string, uint64_t> next;
  for (const auto& task : plan->tasks) {
    EXPECT_EQ(task.start, next[task.file.path]) << task.file.path;
    next[task.file.path] += task.length;
  }
  const auto whole = PlanFixture(GetParam(), {});
  ASSERT_TRUE(whole);
  ASSERT_EQ(next.size(), whole->tasks.size());
  for (const auto& task : whole->tasks) EXPECT_EQ(next[task.file.path], task.length);
}

INSTANTIATE_TEST_SUITE_P(Iceberg, PlanOfFixture, ::testing::ValuesIn(PlannableTables()),
                         [](const auto& test) { return test.param; });

TEST(PlanScan, ReadsNoDeleteManifestWhereThereIsNone) {
  auto counting = std::make_shared<io::CountingFileIO>(io::MakeLocalFileIO(), io::CountingFileIO::Detail::kPerPath);
  auto io = testing::MapWarehouse(counting);
  const auto table = iceberg::LoadTable(*io, FixtureTable("mor_dv"));
  ASSERT_TRUE(table);
  Executor executor(2);
  // The fifth append: five data manifests, no deletes yet.
  const iceberg::Snapshot* snapshot = table->metadata.FindSnapshot(table->metadata.snapshots[4].snapshot_id);
  ASSERT_NE(snapshot, nullptr);
  counting->Reset();
  const auto plan = PlanScan(table->metadata, *io, {.snapshot = {.snapshot_id = snapshot->snapshot_id}}, executor, {});
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(plan->metrics.delete_manifests, 0U);
  EXPECT_EQ(plan->metrics.data_manifests_read, 5U);
  EXPECT_EQ(plan->tasks.size(), 5U);
  // One list (whose size the metadata does not state) and five manifests (whose size the list states), each read by one
  // request.
  const auto counts = counting->Snapshot();
  EXPECT_EQ(counts.opens, 6U);
  EXPECT_EQ(counts.reads, 6U);
  EXPECT_EQ(counts.opens_without_size, 1U);
  EXPECT_EQ(counts.stats + counts.lists, 0U);
}

TEST(PlanScan, PrunesByPartitionSummaryPartitionValueAndBounds) {
  struct Case {
    const char* table;
    const char* where;
    uint64_t manifests_read_at_most;
    size_t tasks_at_most;
  };
  // mor_dv: five files of 200 ids each, one manifest each. mor_dv_partitioned: partitioned by region among others.
  for (const auto& [table, where, manifests, tasks] : {
           Case{"mor_dv", "id < 200", 5, 1},
           Case{"mor_dv", "id >= 150 and id < 250", 5, 2},
           Case{"mor_dv", "id = -1", 5, 0},
           Case{"mor_dv", "false", 0, 0},
           Case{"mor_mrg_part", "region = 'nowhere'", 8, 0},
           Case{"mor_mrg_part", "region < 'A'", 0, 0},
       }) {
    const auto plan = PlanFixture(table, {.where = where});
    ASSERT_TRUE(plan) << where << ": " << plan.error().ToString();
    EXPECT_LE(plan->metrics.data_manifests_read, manifests) << where;
    EXPECT_LE(plan->tasks.size(), tasks) << where;
  }
}

TEST(PlanScan, PrunedFilesStillCountAsTheTargetsOfTheirDeletes) {
  // All DVs of the table belong to files that the filter prunes by bounds, none by partition.
  const auto plan = PlanFixture("mor_dv", {.where = "id >= 900"});
  ASSERT_TRUE(plan) << plan.error().ToString();
  ASSERT_EQ(plan->tasks.size(), 1U);
  EXPECT_FALSE(plan->tasks[0].dv.has_value());
  EXPECT_THAT(plan->deletes, ::testing::IsEmpty());
  EXPECT_EQ(plan->metrics.delete_files_live, 4U);
}

// A table that was partitioned later: vectors of its unpartitioned files are no concern of a partition's scan, but
// equality deletes of that spec are.
TEST(PlanScan, OfOnePartitionLeavesVectorsOfUnpartitionedSpecsOut) {
  testing::TableHistory table;
  const auto old = table.DataFile("old", "", 10, testing::TableHistory::kUnpartitioned);
  const auto in_eu = table.DataFile("in_eu", "eu"), in_us = table.DataFile("in_us", "us");
  table.Apply({.add = {old, in_eu, in_us}});
  table.Apply({.operation = "overwrite",
               .add = {table.Dv(old, 1, 2), table.Dv(in_eu, 1, 3, 50), table.EqualityDeletes(old, 1)}});
  Executor executor(2);
  const OnePartition eu{.spec_id = testing::TableHistory::kByRegion, .tuple = in_eu.partition};
  const auto plan = PlanScan(table.metadata(), *table.io(), {.partition = eu}, executor, {});
  ASSERT_TRUE(plan) << plan.error().ToString();
  ASSERT_EQ(plan->tasks.size(), 1U);
  const FileTask& task = plan->tasks.front();
  EXPECT_EQ(task.file.path, in_eu.path);
  ASSERT_TRUE(task.dv);
  EXPECT_EQ(plan->deletes[*task.dv].content_offset, 50);
  ASSERT_EQ(task.equality_deletes.size(), 1U);
  EXPECT_EQ(plan->deletes[task.equality_deletes.front()].path, "mem/data/eq-1.parquet");
}

TEST(PlanScan, RefusesWhatCannotBeReadByName) {
  struct Case {
    const char* table;
    ErrorKind kind;
    const char* text;
  };
  for (const auto& [table, kind, text] : {
           Case{"unsupported_avro_data", ErrorKind::kNotSupported, "data in avro files"},
           Case{"unsupported_orc_data", ErrorKind::kNotSupported, "data in orc files"},
           Case{"unsupported_avro_deletes", ErrorKind::kNotSupported, "deletes in avro files"},
           Case{"unsupported_orc_deletes", ErrorKind::kNotSupported, "deletes in orc files"},
           Case{"invalid_two_dvs", ErrorKind::kCorrupt, "two deletion vectors for"},
       }) {
    const auto plan = PlanFixture(table, {});
    ASSERT_FALSE(plan) << table;
    EXPECT_EQ(plan.error().kind(), kind) << table;
    EXPECT_THAT(plan.error().ToString(), HasSubstr(text)) << table;
  }
}

TEST(PlanScan, ChoosesColumnsByNameAndMetadataColumns) {
  const auto plan = PlanFixture("mor_dv", {.select = {"s", "_pos", "ID"}, .select_all = false});
  ASSERT_TRUE(plan) << plan.error().ToString();
  ASSERT_EQ(plan->columns.size(), 3U);
  EXPECT_EQ(plan->columns[0].field.name, "s");
  EXPECT_EQ(plan->columns[1].kind, OutputColumn::Kind::kPosition);
  EXPECT_EQ(plan->columns[2].field.name, "id");
  EXPECT_EQ(PlanFixture("mor_dv", {.select = {"nope"}, .select_all = false}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(PlanFixture("mor_dv", {.select = {"id", "id"}, .select_all = false}).error().kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(PlanFixture("mor_dv", {.where = "nope = 1"}).error().kind(), ErrorKind::kNotFound);
}

TEST(PlanScan, EveryFailingReadIsAnErrorNeverAShorterPlan) {
  testing::ExpectEveryFailingReadIsAnError(
      10, [](const std::shared_ptr<io::FileIO>& io) { return PlanFixture("mor_mixed", {}, io, 1); });
}

TEST(PlanScan, StopsWhenCancelled) {
  auto io = FixtureIO();
  const auto table = iceberg::LoadTable(*io, FixtureTable("mor_dv"));
  ASSERT_TRUE(table);
  Executor executor(2);
  Hooks hooks;
  hooks.cancel.Cancel();
  const auto plan = PlanScan(table->metadata, *io, {}, executor, hooks);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind(), ErrorKind::kCancelled);
}

}  // namespace
}  // namespace delenda::plan
