#include "delenda/plan/shard.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace delenda::plan {
namespace {

// Not more than 2^40 each, so that the sum over all tasks stays exact whatever the metadata claims.
uint64_t BoundedWeight(int64_t bytes) { return static_cast<uint64_t>(std::clamp<int64_t>(bytes, 0, int64_t{1} << 40)); }

uint64_t TaskWeight(const ScanPlan& plan, const FileTask& task) {
  // 1: tasks of no bytes spread out too.
  uint64_t weight = 1 + std::min(task.length, uint64_t{1} << 40);
  if (task.dv) weight += BoundedWeight(plan.deletes[*task.dv].content_size.value_or(0));
  for (const auto* indexes : {&task.position_deletes, &task.equality_deletes}) {
    for (const uint32_t index : *indexes) weight += BoundedWeight(plan.deletes[index].file_size);
  }
  return weight;
}

// The tasks of one shard, and the deletes that they need under their new indexes.
ScanPlan MakeShard(const ScanPlan& plan, const std::vector<size_t>& tasks) {
  ScanPlan shard;
  shard.snapshot_id = plan.snapshot_id;
  shard.schema = plan.schema;
  shard.specs = plan.specs;
  shard.columns = plan.columns;
  shard.filter = plan.filter;
  std::unordered_map<uint32_t, uint32_t> index_in_shard;
  const auto move_index = [&](uint32_t& index) {
    const auto [known, is_new] = index_in_shard.try_emplace(index, static_cast<uint32_t>(shard.deletes.size()));
    if (is_new) shard.deletes.push_back(plan.deletes[index]);
    index = known->second;
  };
  std::set<std::string_view> files;
  for (const size_t at : tasks) {
    files.insert(plan.tasks[at].file.path);
    FileTask& task = shard.tasks.emplace_back(plan.tasks[at]);
    if (task.dv) move_index(*task.dv);
    for (uint32_t& index : task.position_deletes) move_index(index);
    for (uint32_t& index : task.equality_deletes) move_index(index);
  }
  for (const ContentFile& file : shard.deletes) {
    for (const int32_t id : file.equality_ids) {
      if (const auto key = plan.key_fields.find(id); key != plan.key_fields.end()) shard.key_fields.insert(*key);
    }
  }
  shard.metrics.data_files_live = files.size();
  shard.metrics.delete_files_live = shard.deletes.size();
  return shard;
}

}  // namespace

Result<std::vector<ScanPlan>> SplitPlan(const ScanPlan& plan, size_t count) {
  if (count == 0 || count > kMaxShards)
    return InvalidArgument("a plan is cut into 1 to {} shards, not {}", kMaxShards, count);
  std::vector<uint64_t> weights;
  weights.reserve(plan.tasks.size());
  for (const FileTask& task : plan.tasks) {
    for (const auto* indexes : {&task.position_deletes, &task.equality_deletes}) {
      for (const uint32_t index : *indexes) {
        if (index >= plan.deletes.size()) return InternalError("the plan has no delete {}", index);
      }
    }
    if (task.dv && *task.dv >= plan.deletes.size()) return InternalError("the plan has no delete {}", *task.dv);
    weights.push_back(TaskWeight(plan, task));
  }
  std::vector<size_t> order(plan.tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return weights[i]; });

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
  std::vector<ScanPlan> shards;
  shards.reserve(count);
  for (auto& tasks : chosen) {
    std::ranges::sort(tasks);
    shards.push_back(MakeShard(plan, tasks));
  }
  return shards;
}

}  // namespace delenda::plan
