#include "delenda/plan/shard.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace delenda::plan {
namespace {

// Of one task or delete at most, so that the sum over all of them stays exact whatever the metadata claims.
constexpr uint64_t kMaxWeight = uint64_t{1} << 40;

uint64_t BoundedWeight(int64_t bytes) {
  return std::min(static_cast<uint64_t>(std::max<int64_t>(bytes, 0)), kMaxWeight);
}

uint64_t TaskWeight(const ScanPlan& plan, const FileTask& task) {
  // 1: tasks of no bytes spread out too.
  uint64_t weight = 1 + std::min(task.length, kMaxWeight);
  if (task.dv) weight += BoundedWeight(plan.deletes[*task.dv].content_size.value_or(0));
  for (const auto* indexes : {&task.position_deletes, &task.equality_deletes}) {
    for (const uint32_t index : *indexes) weight += BoundedWeight(plan.deletes[index].file_size);
  }
  return weight;
}

// `deletes`: of a task, or of one state of a changed file.
template <typename Deletes, typename Use>
void ForEachIndex(Deletes& deletes, const Use& use) {
  if (deletes.dv) use(*deletes.dv);
  for (auto& index : deletes.position_deletes) use(index);
  for (auto& index : deletes.equality_deletes) use(index);
}

template <typename Plan, typename Deletes>
Result<void> CheckIndexes(const Plan& plan, const Deletes& deletes) {
  std::optional<uint32_t> wrong;
  ForEachIndex(deletes, [&](uint32_t index) {
    if (index >= plan.deletes.size()) wrong = index;
  });
  if (wrong) return InternalError("the plan has no delete {}", *wrong);
  return {};
}

// What the shards of a plan have in common with it, and the deletes that a shard's tasks need under their new indexes.
template <typename Plan>
class ShardMaker {
 public:
  explicit ShardMaker(const Plan& plan) : plan_(plan) {
    shard.schema = plan.schema;
    shard.specs = plan.specs;
    shard.columns = plan.columns;
    shard.filter = plan.filter;
    shard.name_mapping = plan.name_mapping;
  }

  template <typename Deletes>
  void MoveIndexes(Deletes& deletes) {
    ForEachIndex(deletes, [&](uint32_t& index) {
      const auto [known, is_new] = index_in_shard_.try_emplace(index, static_cast<uint32_t>(shard.deletes.size()));
      if (is_new) shard.deletes.push_back(plan_.deletes[index]);
      index = known->second;
    });
  }

  void AddKeyFields() {
    for (const ContentFile& file : shard.deletes) {
      for (const int32_t id : file.equality_ids) {
        if (const auto key = plan_.key_fields.find(id); key != plan_.key_fields.end()) shard.key_fields.insert(*key);
      }
    }
  }

  Plan shard;

 private:
  const Plan& plan_;
  std::unordered_map<uint32_t, uint32_t> index_in_shard_;
};

ChangePlan MakeChangeShard(const ChangePlan& plan, const std::vector<size_t>& tasks) {
  ShardMaker maker(plan);
  maker.shard.from_snapshot_id = plan.from_snapshot_id;
  maker.shard.to_snapshot_id = plan.to_snapshot_id;
  for (const size_t at : tasks) {
    ChangeTask& task = maker.shard.tasks.emplace_back(plan.tasks[at]);
    for (DeleteState* state : {&task.before, &task.after}) maker.MoveIndexes(*state);
  }
  maker.AddKeyFields();
  return std::move(maker.shard);
}

// Which tasks each of `count` shards gets, in ascending order.
Result<std::vector<std::vector<size_t>>> Distribute(const std::vector<uint64_t>& weights, size_t count) {
  if (count == 0 || count > kMaxShards)
    return InvalidArgument("a plan is cut into 1 to {} shards, not {}", kMaxShards, count);
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order,
                    [&](size_t a, size_t b) { return weights[a] != weights[b] ? weights[a] > weights[b] : a < b; });

  using Load = std::pair<uint64_t, size_t>;  // weight so far, shard: of equal ones the first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> lightest;
  for (size_t i = 0; i < count; ++i) lightest.emplace(0, i);
  std::vector<std::vector<size_t>> chosen(count);
  for (const size_t task : order) {
    const auto [weight, shard] = lightest.top();
    lightest.pop();
    chosen[shard].push_back(task);
    lightest.emplace(weight + weights[task], shard);
  }
  for (auto& tasks : chosen) std::ranges::sort(tasks);
  return chosen;
}

}  // namespace

Result<ScanPlan> PlanOf(const ScanPlan& plan, std::vector<FileTask> tasks) {
  ShardMaker maker(plan);
  maker.shard.snapshot_id = plan.snapshot_id;
  std::set<std::string_view> files;
  for (FileTask& task : tasks) {
    DELENDA_TRY(CheckIndexes(plan, task));
    maker.MoveIndexes(task);
    files.insert(task.file.path);
  }
  maker.AddKeyFields();
  maker.shard.metrics.data_files_live = files.size();
  maker.shard.metrics.delete_files_live = maker.shard.deletes.size();
  maker.shard.tasks = std::move(tasks);
  return std::move(maker.shard);
}

Result<std::vector<ScanPlan>> SplitPlan(const ScanPlan& plan, size_t count) {
  std::vector<uint64_t> weights;
  weights.reserve(plan.tasks.size());
  for (const FileTask& task : plan.tasks) {
    DELENDA_TRY(CheckIndexes(plan, task));
    weights.push_back(TaskWeight(plan, task));
  }
  std::vector<ScanPlan> shards;
  for (const auto& chosen : DELENDA_TRY(Distribute(weights, count))) {
    std::vector<FileTask> tasks;
    tasks.reserve(chosen.size());
    for (const size_t at : chosen) tasks.push_back(plan.tasks[at]);
    shards.push_back(DELENDA_TRY(PlanOf(plan, std::move(tasks))));
  }
  return shards;
}

Result<std::vector<ChangePlan>> SplitChanges(const ChangePlan& plan, size_t count) {
  std::vector<uint64_t> weights;
  weights.reserve(plan.tasks.size());
  for (const ChangeTask& task : plan.tasks) {
    for (const DeleteState* state : {&task.before, &task.after}) DELENDA_TRY(CheckIndexes(plan, *state));
    weights.push_back(1 + std::min(task.estimated_bytes, kMaxWeight));
  }
  std::vector<ChangePlan> shards;
  for (const auto& tasks : DELENDA_TRY(Distribute(weights, count))) shards.push_back(MakeChangeShard(plan, tasks));
  return shards;
}

}  // namespace delenda::plan
