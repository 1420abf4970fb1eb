// Which snapshots the changes between two states of a table consist of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/plan/change_planner.h"

namespace delenda::plan {

struct SnapshotRange {
  std::vector<const iceberg::Snapshot*> snapshots;  // oldest first, each the child of the one before
  std::optional<int64_t> from_snapshot_id;          // exclusive: the parent of the first; none: it has none
  std::optional<int64_t> to_snapshot_id;            // inclusive; none: the table has no snapshot
  std::vector<std::string> warnings;
};

// The ancestors of `to`, itself among them, down to `from`. Along the line of parents, not by time: a snapshot that was
// rolled back is no part of what came after it.
//
// EXAMPLE  1 ← 2 ← 4 ← 5 (main) and 2 ← 3, rolled back.  From 2 to main → 4, 5; from 3 to main → InvalidArgument.
//
// Errors as PlanChanges.
Result<SnapshotRange> SelectRange(const iceberg::TableMetadata& metadata, const ChangeRequest& request);

}  // namespace delenda::plan
