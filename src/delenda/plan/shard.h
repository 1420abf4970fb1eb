// Parts of a plan: some of its tasks with the deletes that these need. Cutting a plan into shards: the tasks that one
// worker reads.
#pragma once

#include <cstddef>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/plan/change_task.h"
#include "delenda/plan/scan_task.h"

namespace delenda::plan {

inline constexpr size_t kMaxShards = 65'536;

// A plan of these tasks, which refer to deletes of `plan`: with the deletes that they need and no others, and all else
// as in `plan`. Its metrics count its own data files and deletes; those of manifests are 0.
//
// EXAMPLE  deletes d0, d1, d2; tasks {a, dv 2}, {b, equality deletes 0 2}  →  deletes d2, d0; tasks {a, dv 0}, {b,
//          equality deletes 1 0}
//
// Internal: a task refers to a delete that the plan does not have.
Result<ScanPlan> PlanOf(const ScanPlan& plan, std::vector<FileTask> tasks);

// `count` plans that together have every task of `plan` once, each with the deletes that its tasks need and no others,
// so that the rows of the shards are the rows of the plan.
//
// A task weighs the bytes of its row range and of its deletes (of a vector: its blob; of a file: all of it). The
// heaviest task goes first, always to the shard that is lightest so far, so that no shard is heavier than 4/3 of what
// is possible. Within a shard tasks keep the order of the plan. The same plan gives the same shards. With fewer tasks
// than shards some are empty. A shard is a PlanOf its tasks.
//
// EXAMPLE  tasks of 50, 30, 20 and 10 bytes, 2 shards  →  {50, 10}, {30, 20}
//
// InvalidArgument for no shards or more than kMaxShards.
Result<std::vector<ScanPlan>> SplitPlan(const ScanPlan& plan, size_t count);

// The same for changes; a task weighs its estimated bytes. Tasks of one snapshot may come into several shards: the rows
// of the shards together are the rows of the tasks, and what compares rows of a snapshot with each other (carry-over
// rows, updates) needs them together.
Result<std::vector<ChangePlan>> SplitChanges(const ChangePlan& plan, size_t count);

}  // namespace delenda::plan
