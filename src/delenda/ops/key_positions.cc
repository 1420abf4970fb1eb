#include "delenda/ops/key_positions.h"

#include <arrow/record_batch.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "delenda/model/partition.h"
#include "delenda/model/sorted_keys.h"
#include "delenda/plan/file_stats.h"
#include "delenda/plan/scan_task.h"
#include "delenda/plan/shard.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {
namespace {

// The tasks of a plan that a query has to look at: those of its partition, so that many queries of one partition each
// do not look at every task.
class TasksByPartition {
 public:
  explicit TasksByPartition(const plan::ScanPlan& plan) {
    for (const plan::FileTask& task : plan.tasks) {
      all_.push_back(&task);
      in_[{.spec_id = task.file.spec_id, .tuple = task.file.partition.get()}].push_back(&task);
    }
  }

  std::span<const plan::FileTask* const> For(const KeyQuery& query) const {
    if (!query.partition) return all_;
    const auto found = in_.find({.spec_id = query.partition->spec_id, .tuple = query.partition->tuple.get()});
    if (found == in_.end()) return {};
    return found->second;
  }

 private:
  std::vector<const plan::FileTask*> all_;
  std::unordered_map<PartitionKey, std::vector<const plan::FileTask*>, PartitionKeyHash> in_;
};

// The tasks whose data files may hold rows of the query.
Result<std::vector<plan::FileTask>> TasksFor(const KeyQuery& query, const plan::ScanPlan& plan,
                                             const TasksByPartition& by_partition) {
  const auto sorted = query.keys->sorted();
  const int64_t highest =
      query.sequence_numbers ? std::ranges::max(*query.sequence_numbers) : std::numeric_limits<int64_t>::max();
  std::map<int32_t, KeyPartitions> keys_in;
  for (const auto& [id, spec] : plan.specs) keys_in.emplace(id, sorted->InPartitionsOf(spec));
  std::vector<plan::FileTask> tasks;
  for (const plan::FileTask* task : by_partition.For(query)) {
    const ContentFile& file = task->file;
    if (file.data_sequence_number >= highest) continue;
    const auto partitions = keys_in.find(file.spec_id);
    if (partitions != keys_in.end() && !partitions->second.CouldBeIn(*file.partition)) continue;
    // Plans of one query have been pruned by bounds, and have no metrics.
    if (file.metrics && !sorted->CouldHold(plan::FileStats(file))) continue;
    DELENDA_TRY(CheckPositionDeletes(*task, query));
    tasks.push_back(*task);
    // They stay attached, and readers go on to apply them beside the vector.
    tasks.back().equality_deletes.clear();
  }
  return tasks;
}

}  // namespace

Result<void> CheckPositionDeletes(const plan::FileTask& task, const KeyQuery& query) {
  if (task.position_deletes.empty() || query.allows_position_deletes) return {};
  return ValidationFailed(
      "data file {} has position delete files: turn them into deletion vectors first (delenda convert "
      "--position-deletes)",
      task.file.path);
}

Result<std::vector<KeyPositions>> NewlyFound(ChangedFiles& found, const plan::ScanPlan& plan,
                                             const commit::TableSession& session) {
  std::vector<KeyPositions> positions;
  std::map<std::string_view, uint32_t> vector_of;
  for (const plan::FileTask& task : plan.tasks) {
    if (task.dv) vector_of.emplace(task.file.path, *task.dv);
  }
  for (auto& file : DELENDA_TRY(found.Deletes(session))) {
    KeyPositions& one = positions.emplace_back();
    if (const auto at = vector_of.find(file.file.path); at != vector_of.end()) one.vector = plan.deletes[at->second];
    one.found = file.deleted.Difference(file.before);
    one.before = std::move(file.before);
    one.data_file = std::move(file.file);
  }
  return positions;
}

Result<std::vector<KeyPositions>> ScanKeyPositionResolver::Resolve(const commit::TableSession& session,
                                                                   std::span<const KeyQuery> queries) const {
  if (queries.empty()) return std::vector<KeyPositions>();
  plan::ScanRequest request{.select = {"_file", "_pos"}, .select_all = false};
  if (queries.size() == 1) {
    request.keys = queries[0].keys->sorted();
    request.partition = queries[0].partition;
  } else {
    request.with_metrics = true;
  }
  const auto plan = DELENDA_TRY(session.Plan(queries[0].branch, request));
  const TasksByPartition by_partition(*plan);
  ChangedFiles found(*plan);
  for (const KeyQuery& query : queries) {
    if (query.keys->size() == 0) continue;
    auto tasks = DELENDA_TRY(TasksFor(query, *plan, by_partition));
    if (tasks.empty()) continue;
    auto reading = std::make_shared<const plan::ScanPlan>(DELENDA_TRY(plan::PlanOf(*plan, std::move(tasks))));
    const auto stream = DELENDA_TRY(read::OpenScan(std::move(reading), session.io(),
                                                   {.threads = session.executor().threads(),
                                                    .keys = query.keys,
                                                    .key_sequence_numbers = query.sequence_numbers,
                                                    .hooks = session.hooks()}));
    while (const auto batch = DELENDA_TRY(stream->Next())) {
      DELENDA_TRY(found.Add(*batch, 0));
    }
  }
  return NewlyFound(found, *plan, session);
}

}  // namespace delenda::ops
