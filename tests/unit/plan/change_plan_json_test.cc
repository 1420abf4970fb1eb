// The JSON form of change plans, and their shards: nothing is lost, and what is missing or wrong is refused.
#include "delenda/plan/change_plan_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>

#include "delenda/iceberg/table_location.h"
#include "delenda/plan/change_planner.h"
#include "delenda/plan/plan_json.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/plan/shard.h"
#include "support/fixtures.h"

namespace delenda::plan {
namespace {

using testing::FixtureIO;
using testing::FixtureTable;
using ::testing::HasSubstr;

ChangePlan ChangesOf(const std::string& name, std::string where = {}) {
  const auto io = FixtureIO();
  const auto table = iceberg::LoadTable(*io, FixtureTable(name));
  EXPECT_TRUE(table);
  Executor executor(1);
  auto plan = PlanChanges(table->metadata, *io,
                          {.with_metadata = true, .where = std::move(where), .resolve_deletes = true}, executor, {});
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().ToString());
  return plan ? *std::move(plan) : ChangePlan();
}

std::string NameOfDelete(const ChangePlan& plan, uint32_t index) {
  const ContentFile& file = plan.deletes.at(index);
  return file.path + "@" + std::to_string(file.content_offset.value_or(-1)) + " " + std::to_string(file.record_count);
}

// All of a task that its reader looks at.
std::string Describe(const ChangePlan& plan, const ChangeTask& task) {
  std::string text =
      std::to_string(static_cast<int>(task.kind)) + " " + std::to_string(task.change_ordinal) + " " +
      std::to_string(task.commit_snapshot_id) + " " + std::to_string(task.commit_timestamp_ms) + " " + task.file.path +
      " " + std::to_string(task.file.record_count) + " " + std::to_string(task.file.file_size) + " " +
      std::to_string(task.file.first_row_id.value_or(-1)) + " " + std::to_string(task.file.data_sequence_number) + " " +
      PartitionText(plan.specs.at(task.file.spec_id), *task.file.partition) + " " + task.residual->ToString() + " " +
      std::to_string(task.estimated_rows) + " " + std::to_string(task.estimated_bytes);
  for (const DeleteState* state : {&task.before, &task.after}) {
    text += " |";
    if (state->dv) text += " dv " + NameOfDelete(plan, *state->dv);
    for (const uint32_t index : state->position_deletes) text += " pos " + NameOfDelete(plan, index);
    for (const uint32_t index : state->equality_deletes) text += " eq " + NameOfDelete(plan, index);
  }
  return text;
}

std::vector<std::string> Describe(const ChangePlan& plan) {
  std::vector<std::string> texts;
  for (const auto& task : plan.tasks) texts.push_back(Describe(plan, task));
  return texts;
}

constexpr const char* kTables[] = {
    "cl_basic",   "cl_partitioned", "cl_own_dv",         "cl_dv_removed", "cl_pos_to_dv",
    "cl_rewrite", "cl_v2_range",    "cl_eq_range",       "upsert_v3",     "eq_partitioned_global",
    "schema_evo", "names",          "mor_dv_partitioned"};

TEST(ChangePlanJson, KeepsThePlansOfRealTables) {
  for (const std::string name : kTables) {
    SCOPED_TRACE(name);
    const ChangePlan plan = ChangesOf(name);
    ASSERT_FALSE(plan.tasks.empty());
    for (const auto style : {json::Writer::Style::kPretty, json::Writer::Style::kCompact}) {
      const auto text = ChangePlanToJson(plan, style);
      ASSERT_TRUE(text) << text.error().ToString();
      const auto read = ChangePlanFromJson(*text);
      ASSERT_TRUE(read) << read.error().ToString();
      EXPECT_EQ(Describe(*read), Describe(plan));
      EXPECT_EQ(read->from_snapshot_id, plan.from_snapshot_id);
      EXPECT_EQ(read->to_snapshot_id, plan.to_snapshot_id);
      EXPECT_EQ(read->schema.fields(), plan.schema.fields());
      EXPECT_EQ(read->columns.size(), plan.columns.size());
      EXPECT_EQ(read->key_fields.size(), plan.key_fields.size());
      EXPECT_EQ(read->metrics.delete_manifests_read, plan.metrics.delete_manifests_read);
      EXPECT_EQ(*ChangePlanToJson(*read, style), *text);
    }
  }
}

TEST(ChangePlanJson, KeepsFiltersAndResiduals) {
  const ChangePlan plan = ChangesOf("cl_partitioned", "p = 'p1' AND id < 20");
  const auto read = ChangePlanFromJson(*ChangePlanToJson(plan));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->filter->ToString(), plan.filter->ToString());
  EXPECT_EQ(Describe(*read), Describe(plan));
  ASSERT_FALSE(plan.tasks.empty());
  EXPECT_EQ(plan.tasks.front().residual->ToString(), "id < 20");
}

// Every member but those for people and reports: without one, a reader would give other rows.
TEST(ChangePlanJson, RefusesAnythingMissingAndIgnoresWhatItDoesNotKnow) {
  const std::set<std::string> optional = {"metrics",       "partition", "firstRowId",           "initial-default",
                                          "write-default", "doc",       "identifier-field-ids", "schema-id"};
  const auto document = nlohmann::ordered_json::parse(*ChangePlanToJson(ChangesOf("upsert_v3")));
  size_t removed = 0;
  std::function<void(const nlohmann::ordered_json::json_pointer&)> visit = [&](const auto& at) {
    const auto& value = document[at];
    if (value.is_array()) {
      // The first and last of a list stand for all.
      if (!value.empty()) visit(at / size_t{0});
      if (value.size() > 1) visit(at / (value.size() - 1));
    }
    if (!value.is_object()) return;
    auto more = document;
    more[at]["something-new"] = {1, 2};
    EXPECT_TRUE(ChangePlanFromJson(more.dump())) << at.to_string();
    for (auto member = value.begin(); member != value.end(); ++member) {
      const std::string& key = member.key();
      if (optional.contains(key)) continue;
      auto less = document;
      less[at].erase(key);
      const bool may_be_absent = key == "contentOffset" || key == "contentSize" || key == "referencedDataFile";
      const bool is_vector = value.value("content", "") == "deletionVector";
      if (!may_be_absent || is_vector) {
        const auto read = ChangePlanFromJson(less.dump());
        EXPECT_FALSE(read) << (at / key).to_string();
        ++removed;
      }
      visit(at / key);
    }
  };
  visit(nlohmann::ordered_json::json_pointer());
  EXPECT_GT(removed, 80U);
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

TEST(ChangePlanJson, RefusesWhatContradictsItselfAndOtherPlans) {
  const std::string text = *ChangePlanToJson(ChangesOf("cl_basic"), json::Writer::Style::kCompact);
  struct Case {
    const char *from, *to, *message;
    ErrorKind kind = ErrorKind::kCorrupt;
  };
  for (const Case& wrong : {
           Case{"\"version\":1", "\"version\":2", "version 2", ErrorKind::kNotSupported},
           Case{"\"kind\":\"changes\"", "\"kind\":\"scan\"", "a plan of scan", ErrorKind::kNotSupported},
           Case{"\"kind\":\"addedRows\"", "\"kind\":\"movedRows\"", "movedRows", ErrorKind::kNotSupported},
           Case{"\"kind\":\"deletedRows\"", "\"kind\":\"addedRows\"", "before it was added"},
           Case{"\"kind\":\"deletedRows\"", "\"kind\":\"deletedDataFile\"", "after it was removed"},
           Case{"\"deletionVector\":1", "\"deletionVector\":99", "no delete file 99"},
           Case{"\"ordinal\":0", "\"ordinal\":-1", "negative"},
           Case{"\"estimatedBytes\":", "\"estimatedBytes\":-", "estimatedBytes"},
       }) {
    const bool is_pair = std::string_view(wrong.to).find("addedRows") != std::string_view::npos;
    // The first task that deletes has no deletes before; the second one has.
    std::string changed = text;
    if (is_pair) changed = Replaced(changed, wrong.from, "\"kind\":\"deleted-Rows\"");
    changed = Replaced(changed, wrong.from, wrong.to);
    if (is_pair) changed = Replaced(changed, "\"kind\":\"deleted-Rows\"", wrong.from);
    const auto read = ChangePlanFromJson(changed);
    ASSERT_FALSE(read) << wrong.to;
    EXPECT_EQ(read.error().kind(), wrong.kind) << read.error().ToString();
    EXPECT_THAT(read.error().message(), HasSubstr(wrong.message)) << wrong.to;
  }
  // Neither form passes for the other.
  const auto as_scan = PlanFromJson(text);
  ASSERT_FALSE(as_scan);
  EXPECT_EQ(as_scan.error().kind(), ErrorKind::kNotSupported);
  const auto as_changes = ChangePlanFromJson(*PlanToJson(ScanPlan()));
  ASSERT_FALSE(as_changes);
  EXPECT_EQ(as_changes.error().kind(), ErrorKind::kNotSupported);
}

TEST(SplitChanges, GivesEveryTaskOnceWithItsDeletesInTheOrderOfThePlan) {
  for (const std::string name : kTables) {
    SCOPED_TRACE(name);
    const ChangePlan plan = ChangesOf(name);
    for (const size_t count : {1U, 2U, 3U, 50U}) {
      const auto shards = SplitChanges(plan, count);
      ASSERT_TRUE(shards);
      ASSERT_EQ(shards->size(), count);
      std::multiset<std::string> found;
      for (const auto& shard : *shards) {
        const auto read = ChangePlanFromJson(*ChangePlanToJson(shard));
        ASSERT_TRUE(read) << read.error().ToString();
        for (auto& text : Describe(*read)) found.insert(std::move(text));
        EXPECT_TRUE(std::ranges::is_sorted(read->tasks, std::ranges::less(), &ChangeTask::change_ordinal));
        std::set<std::string> used;
        for (uint32_t i = 0; i < read->deletes.size(); ++i) EXPECT_TRUE(used.insert(NameOfDelete(*read, i)).second);
        EXPECT_TRUE(!read->tasks.empty() || read->deletes.empty());
      }
      const auto all = Describe(plan);
      EXPECT_EQ(found, std::multiset<std::string>(all.begin(), all.end()));
    }
  }
  EXPECT_EQ(SplitChanges({}, 0).error().kind(), ErrorKind::kInvalidArgument);
}

TEST(SplitChanges, WeighsEstimatedBytes) {
  ChangePlan plan;
  for (const uint64_t bytes : {10, 50, 30, 20}) {
    ChangeTask& task = plan.tasks.emplace_back();
    task.estimated_bytes = bytes;
    task.file.partition = std::make_shared<const PartitionTuple>();
    task.residual = Expr::True();
  }
  std::vector<std::vector<uint64_t>> weights;
  const auto shards = *SplitChanges(plan, 2);
  for (const auto& shard : shards) {
    auto& list = weights.emplace_back();
    for (const auto& task : shard.tasks) list.push_back(task.estimated_bytes);
  }
  EXPECT_EQ(weights, (std::vector<std::vector<uint64_t>>{{10, 50}, {30, 20}}));
}

}  // namespace
}  // namespace delenda::plan
