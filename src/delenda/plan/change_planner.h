// From a table's metadata to a ChangePlan: which rows the snapshots of a range inserted, deleted and brought back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/plan/change_task.h"

namespace delenda::plan {

struct ChangeRequest {
  // The state that the changes start from: none set: the table before its first snapshot. An id may be that of an
  // expired snapshot if the oldest snapshot that is kept is its child.
  iceberg::SnapshotSelector from = {};
  bool from_inclusive = false;        // the changes of `from` itself belong to the range
  iceberg::SnapshotSelector to = {};  // inclusive; none set: the head of `branch`, else the current snapshot
  // `to` must be the head of this branch or one of its ancestors.
  std::optional<std::string> branch = {};
  // As in ScanRequest. Metadata columns: all but _deleted. The columns that tell of the change are the reader's.
  std::vector<std::string> select = {};
  bool select_all = true;
  bool with_metadata = false;  // append _file, _pos and _row_id unless they are selected
  std::string where = {};      // filter text on the table's current schema; empty: all rows
  // Tasks carry position and equality deletes too, as states before and after; else ranges that have some are refused.
  bool resolve_deletes = false;
};

// Plan the changes of a range of snapshots from metadata alone. Snapshots of operation "replace" change no rows: they
// have no ordinal and no tasks, but what they did to the deletes is part of the state that later ones start from.
//
// Every delete manifest of every changelog snapshot is read, each once however many snapshots list it; of the data
// manifests those that a changelog snapshot wrote; and, only where deletes of a file changed that the snapshot neither
// added nor removed, the data manifests of that snapshot whose partitions can hold the file. Besides, the manifest
// lists of these snapshots and of their parents.
//
// EXAMPLE  snapshot 1 append: a.parquet, b.parquet; 2 delete: DV v1 for a; 3 replace: manifests rewritten; 4 delete: v2
//          for a replaces v1, b removed.    From 1 (exclusive) to 4 →
//          {ordinal 0, snapshot 2, kDeletedRows, a, before {}, after {v1}},
//          {1, 4, kDeletedDataFile, b}, {1, 4, kDeletedRows, a, before {v1}, after {v2}}, {1, 4, kRestoredRows, the
//          same}
//
// Errors: NotFound (snapshot, ref, column); InvalidArgument (filter; `from` is no ancestor of `to`, or `to` none of the
// branch's head: both ids are named); NotSupported (a live position or equality delete file, or one that a changelog
// snapshot removed, unless `resolve_deletes`; any delete manifest of a table of format version 1 or 2, likewise; file
// formats that can't be read); Corrupt (two DVs for one file, an added DV without a live data
// file, a snapshot that dropped files without DELETED entries, broken metadata);
// Cancelled.
Result<ChangePlan> PlanChanges(const iceberg::TableMetadata& metadata, io::FileIO& io, const ChangeRequest& request,
                               Executor& executor, const Hooks& hooks);

}  // namespace delenda::plan
