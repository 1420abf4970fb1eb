// What a reader of changes will read: for each changelog snapshot of a range, the data files whose rows it added,
// deleted or brought back, and the deletes that tell which rows these are. Values only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delenda/model/content_file.h"
#include "delenda/model/expression.h"
#include "delenda/model/name_mapping.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"
#include "delenda/plan/scan_task.h"

namespace delenda::plan {

// The deletes of one data file at one snapshot, as indexes into ChangePlan::deletes. The positions that they delete are
// the union of what the vector, the position delete files and the equality delete files delete.
struct DeleteState {
  std::optional<uint32_t> dv;
  std::vector<uint32_t> position_deletes;  // only with resolved deletes (ChangeRequest::resolve_deletes)
  std::vector<uint32_t> equality_deletes;  // only with resolved deletes

  bool empty() const { return !dv && position_deletes.empty() && equality_deletes.empty(); }
};

// Rows of one data file that one snapshot changed. `before` is the state of the file's deletes in the parent snapshot,
// `after` that in the snapshot itself; D(s) are the positions that a state deletes:
//
//   kind              the data file                    its changed positions
//   kAddedRows        added by the snapshot            all \ D(after): inserted
//   kDeletedDataFile  removed by the snapshot          all \ D(before): deleted
//   kDeletedRows      live before and after            D(after) \ D(before): deleted
//   kRestoredRows     live before and after            D(before) \ D(after): inserted again
//
// EXAMPLE  snapshot 1 appended a.parquet (10 rows); 2 deleted row 3 with vector v1; 3 replaced v1 by v2 = {4}.
//          Changes of 2: kDeletedRows {a.parquet, before {}, after {v1}} → row 3 deleted.
//          Changes of 3: kDeletedRows {before {v1}, after {v2}} → row 4 deleted, and kRestoredRows of the same states →
//          row 3 inserted.
struct ChangeTask {
  enum class Kind : uint8_t { kAddedRows, kDeletedDataFile, kDeletedRows, kRestoredRows };
  Kind kind = Kind::kAddedRows;
  uint64_t change_ordinal = 0;  // of the snapshot among the changelog snapshots of the range, oldest first, from 0
  int64_t commit_snapshot_id = 0;
  int64_t commit_timestamp_ms = 0;  // since 1970-01-01 UTC
  ContentFile file;
  DeleteState before, after;
  ExprRef residual;  // never null; what is left of the filter for this file's partition
  // Estimates from metadata: rows that changed (an upper bound: the filter is not looked at), and bytes that reading
  // them may touch (the data file's share and the deletes).
  uint64_t estimated_rows = 0;
  uint64_t estimated_bytes = 0;
};

struct ChangeMetrics {
  uint64_t changelog_snapshots = 0;
  uint64_t replace_snapshots = 0;  // in the range, without tasks
  uint64_t delete_manifests_read = 0;
  uint64_t data_manifests_read = 0;
};

struct ChangePlan {
  std::optional<int64_t> from_snapshot_id;  // exclusive; none: from the first snapshot on
  std::optional<int64_t> to_snapshot_id;    // inclusive; none: the table has no snapshot
  Schema schema;                            // the table's current schema; rows are given in it, filters bound to it
  std::map<int32_t, BoundSpec> specs;       // by spec id; those of the tasks' files are present
  std::vector<OutputColumn> columns;
  ExprRef filter;                           // the whole filter, bound
  std::map<int32_t, KeyField> key_fields;   // by field id: the keys of all equality deletes in `deletes`
  std::optional<NameMapping> name_mapping;  // the table's, for files without field ids
  std::vector<ContentFile> deletes;         // each delete file or DV once, however many tasks refer to it
  // By ordinal; within one snapshot those that delete before those that insert, then in the order of the manifests.
  std::vector<ChangeTask> tasks;
  ChangeMetrics metrics;
  std::vector<std::string> warnings;
};

}  // namespace delenda::plan
