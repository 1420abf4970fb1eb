#include "delenda/plan/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "delenda/plan/plan_json.h"

namespace delenda::plan {
namespace {

FileTask TaskOf(uint64_t bytes) {
  FileTask task;
  task.file.path = "f" + std::to_string(bytes);
  task.file.partition = std::make_shared<const PartitionTuple>();
  task.residual = Expr::True();
  task.length = bytes;
  return task;
}

std::vector<std::vector<uint64_t>> Lengths(const std::vector<ScanPlan>& shards) {
  std::vector<std::vector<uint64_t>> lengths;
  for (const auto& shard : shards) {
    auto& list = lengths.emplace_back();
    for (const auto& task : shard.tasks) list.push_back(task.length);
  }
  return lengths;
}

TEST(PlanOf, HasTheDeletesThatItsTasksNeedAndNoOthers) {
  ScanPlan plan;
  plan.snapshot_id = 7;
  plan.columns.resize(2);
  for (const char* path : {"d0", "d1", "d2"}) plan.deletes.emplace_back().path = path;
  plan.deletes[0].equality_ids = {4};
  plan.deletes[1].equality_ids = {5};
  plan.key_fields = {{4, {}}, {5, {}}};
  plan.tasks = {TaskOf(1), TaskOf(2)};
  plan.tasks[0].dv = 2;
  plan.tasks[1].equality_deletes = {0, 2};
  plan.warnings = {"of the whole"};

  const auto both = PlanOf(plan, plan.tasks);
  ASSERT_TRUE(both) << both.error().ToString();
  ASSERT_EQ(both->deletes.size(), 2U);
  EXPECT_EQ(both->deletes[0].path, "d2");
  EXPECT_EQ(both->deletes[1].path, "d0");
  EXPECT_EQ(both->tasks[0].dv, 0U);
  EXPECT_EQ(both->tasks[1].equality_deletes, (std::vector<uint32_t>{1, 0}));
  EXPECT_TRUE(both->key_fields.contains(4));
  EXPECT_FALSE(both->key_fields.contains(5));
  EXPECT_EQ(both->snapshot_id, 7);
  EXPECT_EQ(both->columns.size(), 2U);
  EXPECT_EQ(both->metrics.data_files_live, 2U);
  EXPECT_EQ(both->metrics.delete_files_live, 2U);

  // Tasks that the plan does not have, as of files that were added since.
  const auto other = PlanOf(plan, {TaskOf(9)});
  ASSERT_TRUE(other) << other.error().ToString();
  EXPECT_TRUE(other->deletes.empty());
  EXPECT_EQ(other->tasks.size(), 1U);
}

TEST(PlanOf, RefusesADeleteThatThePlanDoesNotHave) {
  ScanPlan plan;
  plan.deletes.resize(2);
  for (int kind = 0; kind < 3; ++kind) {
    FileTask task = TaskOf(1);
    if (kind == 0) task.dv = 2;
    if (kind == 1) task.position_deletes = {0, 2, 1};
    if (kind == 2) task.equality_deletes = {2};
    const auto refused = PlanOf(plan, {task});
    ASSERT_FALSE(refused) << kind;
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInternal);
    plan.tasks = {task};
    EXPECT_EQ(SplitPlan(plan, 1).error().kind(), ErrorKind::kInternal) << kind;
  }
}

TEST(SplitPlan, GivesTheHeaviestTaskToTheLightestShard) {
  ScanPlan plan;
  for (const uint64_t bytes : {10, 50, 30, 20}) plan.tasks.push_back(TaskOf(bytes));
  EXPECT_EQ(Lengths(*SplitPlan(plan, 2)), (std::vector<std::vector<uint64_t>>{{10, 50}, {30, 20}}));
  EXPECT_EQ(Lengths(*SplitPlan(plan, 1)), (std::vector<std::vector<uint64_t>>{{10, 50, 30, 20}}));
}

TEST(SplitPlan, LeavesShardsEmptyOnlyWhenThereAreFewerTasks) {
  ScanPlan plan;
  EXPECT_EQ(SplitPlan(plan, 3)->size(), 3U);
  for (int i = 0; i < 4; ++i) plan.tasks.push_back(TaskOf(0));
  const auto four = *SplitPlan(plan, 4);
  for (const auto& shard : four) EXPECT_EQ(shard.tasks.size(), 1U);
  const auto more = *SplitPlan(plan, 6);
  EXPECT_EQ(std::ranges::count_if(more, [](const ScanPlan& shard) { return shard.tasks.empty(); }), 2);
}

TEST(SplitPlan, RefusesNoShardsAndTooMany) {
  EXPECT_EQ(SplitPlan({}, 0).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(SplitPlan({}, kMaxShards + 1).error().kind(), ErrorKind::kInvalidArgument);
}

TEST(SplitPlan, CountsDeletes) {
  ScanPlan plan;
  ContentFile deletes;
  deletes.content = FileContent::kEqualityDeletes;
  deletes.partition = std::make_shared<const PartitionTuple>();
  deletes.file_size = 1000;
  plan.deletes = {deletes};
  plan.tasks = {TaskOf(400), TaskOf(300), TaskOf(500)};
  plan.tasks[0].equality_deletes = {0};
  EXPECT_EQ(Lengths(*SplitPlan(plan, 2)), (std::vector<std::vector<uint64_t>>{{400}, {300, 500}}));
}

// Each task once, with the same deletes, each delete once per shard, none without a task; no shard above 4/3 of the
// best.
TEST(SplitPlan, KeepsTasksAndTheirDeletes) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](uint32_t bound) { return std::uniform_int_distribution<uint32_t>(0, bound - 1)(random); };
  for (int round = 0; round < 200; ++round) {
    ScanPlan plan;
    for (uint32_t i = 0, count = below(12); i < count; ++i) {
      ContentFile file;
      file.path = "d" + std::to_string(i);
      file.content = FileContent::kPositionDeletes;
      file.format = i % 2 == 0 ? FileFormat::kPuffin : FileFormat::kParquet;
      plan.deletes.push_back(file);
    }
    std::multiset<std::string> wanted;
    const auto describe = [](const ScanPlan& of, const FileTask& task) {
      std::string text = task.file.path;
      if (task.dv) text += " dv " + of.deletes[*task.dv].path;
      for (const uint32_t index : task.position_deletes) text += " " + of.deletes[index].path;
      for (const uint32_t index : task.equality_deletes) text += " = " + of.deletes[index].path;
      return text;
    };
    uint64_t total = 0, largest = 0;
    for (uint32_t i = 0, count = below(40); i < count; ++i) {
      FileTask task = TaskOf(below(1000));
      task.file.path = std::to_string(i);
      total += task.length + 1;
      largest = std::max(largest, task.length + 1);
      if (!plan.deletes.empty() && below(2) == 0) task.dv = below(static_cast<uint32_t>(plan.deletes.size()));
      if (!plan.deletes.empty() && below(2) == 0)
        task.position_deletes = {below(static_cast<uint32_t>(plan.deletes.size()))};
      if (!plan.deletes.empty() && below(2) == 0)
        task.equality_deletes = {below(static_cast<uint32_t>(plan.deletes.size()))};
      plan.tasks.push_back(task);
      wanted.insert(describe(plan, task));
    }
    const size_t count = 1 + below(8);
    const auto shards = SplitPlan(plan, count);
    ASSERT_TRUE(shards);
    ASSERT_EQ(shards->size(), count);
    std::multiset<std::string> found;
    for (const auto& shard : *shards) {
      std::set<std::string> paths;
      std::set<uint32_t> used;
      for (const auto& file : shard.deletes) EXPECT_TRUE(paths.insert(file.path).second);
      uint64_t weight = 0;
      for (const auto& task : shard.tasks) {
        found.insert(describe(shard, task));
        weight += task.length + 1;
        if (task.dv) used.insert(*task.dv);
        used.insert(task.position_deletes.begin(), task.position_deletes.end());
        used.insert(task.equality_deletes.begin(), task.equality_deletes.end());
      }
      EXPECT_EQ(used.size(), shard.deletes.size());
      EXPECT_EQ(shard.metrics.data_files_live, shard.tasks.size());
      EXPECT_LE(weight, total / count + largest);
    }
    EXPECT_EQ(found, wanted);
  }
}

}  // namespace
}  // namespace delenda::plan
