// Planning of changes, checked against the rows that Spark's reads of consecutive snapshots differ by
// (changes-*.jsonl), and against tables that the project's own manifest writers made.
#include "delenda/plan/change_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "delenda/read/scan_stream.h"
#include "support/failing_reads.h"
#include "unit/read/read_fixture.h"

namespace delenda::plan {
namespace {

using ::testing::AllOf;
using testing::FixtureIO;
using testing::FixtureTable;
using ::testing::HasSubstr;
using testing::Json;
using testing::ReadJsonLines;
using Kind = ChangeTask::Kind;

Result<ChangePlan> PlanChangesOf(const std::string& name, const ChangeRequest& request,
                                 const std::shared_ptr<io::FileIO>& io = FixtureIO(), size_t threads = 2) {
  auto table = DELENDA_TRY(iceberg::LoadTable(*io, FixtureTable(name)));
  Executor executor(threads);
  return PlanChanges(table.metadata, *io, request, executor, {});
}

// The rows of a data file that are live under a state of its deletes, by position, as the scan that other tests check
// against Spark reads them.
std::map<int64_t, Json> LiveRows(const ChangePlan& plan, const ChangeTask& task, const DeleteState& state,
                                 const std::shared_ptr<io::FileIO>& io) {
  auto scan = std::make_shared<ScanPlan>();
  scan->schema = plan.schema;
  scan->specs = plan.specs;
  scan->columns = plan.columns;
  scan->filter = plan.filter;
  scan->key_fields = plan.key_fields;
  scan->name_mapping = plan.name_mapping;
  FileTask& file = scan->tasks.emplace_back();
  file.file = task.file;
  // Only the deletes of this state: a scan plan holds those of one snapshot.
  const auto keep = [&](uint32_t index) {
    scan->deletes.push_back(plan.deletes.at(index));
    return static_cast<uint32_t>(scan->deletes.size() - 1);
  };
  if (state.dv) file.dv = keep(*state.dv);
  for (const uint32_t index : state.position_deletes) file.position_deletes.push_back(keep(index));
  for (const uint32_t index : state.equality_deletes) file.equality_deletes.push_back(keep(index));
  file.residual = task.residual;
  file.length = static_cast<uint64_t>(task.file.file_size);
  const auto batches = testing::ReadAll(scan, io, {.threads = 1});
  EXPECT_TRUE(batches) << (batches ? "" : batches.error().ToString());
  std::map<int64_t, Json> rows;
  for (auto& row : testing::ToJson(batches.value_or(testing::Batches()))) {
    const int64_t position = row["_pos"];
    rows.emplace(position, std::move(row));
  }
  return rows;
}

// What a reader of the tasks gives.
std::vector<Json> RowsOf(const ChangePlan& plan, const std::shared_ptr<io::FileIO>& io = FixtureIO()) {
  std::vector<Json> rows;
  for (const auto& task : plan.tasks) {
    auto changed = task.kind == Kind::kAddedRows || task.kind == Kind::kRestoredRows
                       ? LiveRows(plan, task, task.after, io)
                       : LiveRows(plan, task, task.before, io);
    if (task.kind == Kind::kDeletedRows)
      for (const auto& [position, row] : LiveRows(plan, task, task.after, io)) changed.erase(position);
    if (task.kind == Kind::kRestoredRows)
      for (const auto& [position, row] : LiveRows(plan, task, task.before, io)) changed.erase(position);
    EXPECT_LE(changed.size(), task.estimated_rows) << task.file.path;
    const bool inserts = task.kind == Kind::kAddedRows || task.kind == Kind::kRestoredRows;
    for (auto& [position, row] : changed) {
      row["_change_type"] = inserts ? "INSERT" : "DELETE";
      row["_change_ordinal"] = task.change_ordinal;
      row["_commit_snapshot_id"] = task.commit_snapshot_id;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

ChangeRequest Request(const std::string& from, const std::string& to) {
  ChangeRequest request;
  if (from != "start") request.from.snapshot_id = std::stoll(from);
  request.to.snapshot_id = std::stoll(to);
  return request;
}

struct Range {
  std::string table, from, to;
  bool is_refused = false;            // without resolved deletes
  std::string where = {}, file = {};  // filter; file of the expected rows
};

void PrintTo(const Range& range, std::ostream* out) { *out << range.table << " " << range.from << " " << range.to; }

// All changes-<from>-<to>.jsonl of the fixtures.
std::vector<Range> ExpectedRanges() {
  std::ifstream in(testing::IcebergFixtures() + "/changes-refused.json");
  const Json refused = Json::parse(in);
  const std::map<std::string, std::string> filters = {
      {"where-p_eq_p1", "p = 'p1'"}, {"where-id_lt_20", "id < 20"}, {"where-p9", "p = 'p9'"}};
  std::vector<Range> ranges;
  for (const auto& folder : std::filesystem::directory_iterator(testing::IcebergFixtures())) {
    const std::string name = folder.path().filename();
    if (!name.starts_with("cl_") || !name.ends_with(".expected")) continue;
    const std::string table = name.substr(0, name.size() - std::string_view(".expected").size());
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string file = entry.path().stem();
      if (!file.starts_with("changes-") || file.starts_with("changes-net-")) continue;
      const auto dash = file.find('-', 8);
      const auto end = std::min(file.find('.'), file.size());
      Range range{.table = table,
                  .from = file.substr(8, dash - 8),
                  .to = file.substr(dash + 1, end - dash - 1),
                  .file = entry.path().filename()};
      if (end < file.size()) range.where = filters.at(file.substr(end + 1));
      if (refused.contains(table)) {
        for (const auto& pair : refused[table])
          range.is_refused = range.is_refused || (pair[0] == range.from && pair[1] == range.to);
      }
      ranges.push_back(std::move(range));
    }
  }
  std::ranges::sort(ranges, std::ranges::less(), [](const Range& range) { return std::tie(range.table, range.file); });
  return ranges;
}

class ChangesOfFixture : public ::testing::TestWithParam<Range> {
 protected:
  static ChangeRequest RequestOf(const Range& range) {
    ChangeRequest request = Request(range.from, range.to);
    request.with_metadata = true;
    request.where = range.where;
    return request;
  }
  static std::vector<std::string> Expected(const Range& range) {
    return testing::Sorted(ReadJsonLines(range.table, range.file));
  }
  static std::vector<std::string> Rows(const ChangePlan& plan) {
    auto rows = RowsOf(plan);
    for (Json& row : rows) row.erase("_row_id");
    return testing::Sorted(rows);
  }
};

TEST_P(ChangesOfFixture, AreTheRowsThatSnapshotsDifferBy) {
  if (GetParam().is_refused) {
    const auto plan = PlanChangesOf(GetParam().table, RequestOf(GetParam()));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind(), ErrorKind::kNotSupported);
    if (GetParam().table == "cl_v2_range") {
      EXPECT_EQ(plan.error().message(),
                "Delete files are only supported in changelog scans of format version 3 tables");
    } else {
      EXPECT_THAT(plan.error().message(),
                  AllOf(HasSubstr(GetParam().table == "cl_eq_range" ? "equality deletes" : "position deletes"),
                        HasSubstr("/data/"), HasSubstr("into deletion vectors")));
    }
    return;
  }
  const auto plan = PlanChangesOf(GetParam().table, RequestOf(GetParam()));
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(Rows(*plan), Expected(GetParam()));
}

TEST_P(ChangesOfFixture, AreTheSameWithResolvedDeletes) {
  ChangeRequest request = RequestOf(GetParam());
  request.resolve_deletes = true;
  const auto plan = PlanChangesOf(GetParam().table, request);
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(Rows(*plan), Expected(GetParam()));
}

TEST_P(ChangesOfFixture, HaveTasksInOrder) {
  ChangeRequest request = RequestOf(GetParam());
  request.resolve_deletes = true;
  const auto plan = PlanChangesOf(GetParam().table, request, FixtureIO(), 1);
  const auto again = PlanChangesOf(GetParam().table, request, FixtureIO(), 5);
  ASSERT_TRUE(plan && again);
  const auto inserts = [](const ChangeTask& task) {
    return task.kind == Kind::kAddedRows || task.kind == Kind::kRestoredRows;
  };
  EXPECT_TRUE(std::ranges::is_sorted(plan->tasks, std::ranges::less(), [&](const ChangeTask& task) {
    return std::pair(task.change_ordinal, inserts(task));
  }));
  ASSERT_EQ(plan->tasks.size(), again->tasks.size());
  for (size_t i = 0; i < plan->tasks.size(); ++i) {
    EXPECT_EQ(plan->tasks[i].kind, again->tasks[i].kind);
    EXPECT_EQ(plan->tasks[i].file.path, again->tasks[i].file.path);
    EXPECT_EQ(plan->tasks[i].before.dv, again->tasks[i].before.dv);
    EXPECT_EQ(plan->tasks[i].after.dv, again->tasks[i].after.dv);
  }
}

INSTANTIATE_TEST_SUITE_P(Iceberg, ChangesOfFixture, ::testing::ValuesIn(ExpectedRanges()), [](const auto& test) {
  std::string name = test.param.table + test.param.file.substr(7, test.param.file.size() - 13);
  std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

// (_file, _pos) of the live rows of a snapshot.
std::set<std::pair<std::string, int64_t>> PositionsAt(const iceberg::TableMetadata& metadata, int64_t snapshot_id,
                                                      const std::shared_ptr<io::FileIO>& io) {
  ScanRequest request{.snapshot = {.snapshot_id = snapshot_id}, .select = {"_file", "_pos"}, .select_all = false};
  Executor executor(1);
  auto plan = PlanScan(metadata, *io, request, executor, {});
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().ToString());
  std::set<std::pair<std::string, int64_t>> positions;
  if (!plan) return positions;
  const auto batches = testing::ReadAll(std::make_shared<ScanPlan>(*std::move(plan)), io, {.threads = 1});
  EXPECT_TRUE(batches) << (batches ? "" : batches.error().ToString());
  for (const auto& row : testing::ToJson(batches.value_or(testing::Batches())))
    positions.emplace(row["_file"], row["_pos"]);
  return positions;
}

class ChangesOfEveryFixture : public ::testing::TestWithParam<std::string> {};

// Every table, whatever its deletes: snapshot by snapshot, the changes are what its scan and its parent's differ by.
TEST_P(ChangesOfEveryFixture, AreTheDifferenceOfScansOfConsecutiveSnapshots) {
  const auto io = FixtureIO();
  const auto table = iceberg::LoadTable(*io, FixtureTable(GetParam()));
  ASSERT_TRUE(table);
  if (!table->metadata.current_snapshot_id) return;
  ChangeRequest request{.select = {"_file", "_pos"}, .select_all = false, .resolve_deletes = true};
  const auto plan = PlanChangesOf(GetParam(), request, io);
  ASSERT_TRUE(plan) << plan.error().ToString();
  using Change = std::tuple<int64_t, std::string, std::string, int64_t>;  // snapshot, type, file, position
  std::multiset<Change> changes, expected;
  for (const auto& row : RowsOf(*plan, io))
    changes.emplace(row["_commit_snapshot_id"], row["_change_type"], row["_file"], row["_pos"]);
  for (const auto* snapshot = table->metadata.FindSnapshot(*table->metadata.current_snapshot_id);
       snapshot != nullptr;) {
    const auto* parent = snapshot->parent_id ? table->metadata.FindSnapshot(*snapshot->parent_id) : nullptr;
    if (snapshot->parent_id && parent == nullptr) {  // expired: what the snapshot changed can't be told by scans
      std::erase_if(changes, [&](const Change& change) { return std::get<0>(change) == snapshot->snapshot_id; });
      break;
    }
    if (snapshot->operation != "replace") {
      const auto after = PositionsAt(table->metadata, snapshot->snapshot_id, io);
      const auto before = parent == nullptr ? std::set<std::pair<std::string, int64_t>>()
                                            : PositionsAt(table->metadata, parent->snapshot_id, io);
      for (const auto& [file, position] : after)
        if (!before.contains({file, position})) expected.emplace(snapshot->snapshot_id, "INSERT", file, position);
      for (const auto& [file, position] : before)
        if (!after.contains({file, position})) expected.emplace(snapshot->snapshot_id, "DELETE", file, position);
    }
    snapshot = parent;
  }
  EXPECT_EQ(changes, expected);
}

INSTANTIATE_TEST_SUITE_P(Iceberg, ChangesOfEveryFixture, ::testing::ValuesIn(testing::ReadableIcebergTables()),
                         [](const auto& test) { return test.param; });

TEST(PlanChanges, EveryFailingReadIsAnErrorNeverAShorterPlan) {
  testing::ExpectEveryFailingReadIsAnError(
      20, [](const std::shared_ptr<io::FileIO>& io) { return PlanChangesOf("cl_manifest_merge", {}, io, 1); });
}

TEST(PlanChanges, StopsWhenCancelled) {
  const auto io = FixtureIO();
  const auto table = iceberg::LoadTable(*io, FixtureTable("cl_basic"));
  ASSERT_TRUE(table);
  Executor executor(2);
  Hooks hooks;
  hooks.cancel.Cancel();
  const auto plan = PlanChanges(table->metadata, *io, {}, executor, hooks);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind(), ErrorKind::kCancelled);
}

TEST(PlanChanges, RefusesDataFilesThatCannotBeReadAndNamesThem) {
  for (const std::string name : {"unsupported_orc_data", "unsupported_avro_data", "unsupported_orc_deletes"}) {
    const auto plan = PlanChangesOf(name, {.resolve_deletes = true});
    ASSERT_FALSE(plan) << name;
    EXPECT_EQ(plan.error().kind(), ErrorKind::kNotSupported);
    EXPECT_THAT(plan.error().message(), HasSubstr("/data/"));
  }
}

}  // namespace
}  // namespace delenda::plan
