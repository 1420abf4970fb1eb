// Carrying out a change plan: the rows that snapshots inserted, deleted and brought back, as Arrow batches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"
#include "delenda/plan/change_task.h"
#include "delenda/read/scan_stream.h"

namespace delenda::read {

// Columns behind those that were asked for, in this order. Types and ids as Iceberg has them (reserved field ids:
// 2147483647 − 104, − 105, − 106); _commit_timestamp has no id.
inline constexpr std::string_view kChangeTypeColumn = "_change_type";               // string: INSERT or DELETE
inline constexpr std::string_view kChangeOrdinalColumn = "_change_ordinal";         // int
inline constexpr std::string_view kCommitSnapshotIdColumn = "_commit_snapshot_id";  // long
inline constexpr std::string_view kCommitTimestampColumn = "_commit_timestamp";     // timestamptz

// Values of kChangeTypeColumn.
inline constexpr std::string_view kTypeInsert = "INSERT";
inline constexpr std::string_view kTypeDelete = "DELETE";

// The raw changes of a plan, with `columns` (as a plan's): exactly the rows of `tasks`, in their order (by ordinal; in
// one snapshot deletes before inserts), then by position. Rows that a copy-on-write rewrite carried over are among
// them, as a DELETE and an INSERT.
//
// Which rows a task stands for is decided by positions before a file is opened: files without changed rows are not
// opened, row groups without changed rows not read. Only deletes by equality need a look at the rows, at the key
// columns of row groups whose statistics allow a key. Memory is bounded as a scan's; beside it, vectors are held, as
// bytes, from the first snapshot to the last that needs them.
//
// `options.ordered` is always taken as set; `options.limit` bounds the rows as in a scan.
//
// `tasks`: those of the plan, or some of them, such as the ones of one snapshot. `first_ordinal` is added to the
// ordinals of the plan.
//
// EXAMPLE  snapshot 2 deleted row 3 of a.parquet with vector v1, snapshot 3 replaced v1 by v2 = {4}:
//          id  _change_type  _change_ordinal  _commit_snapshot_id
//          30  DELETE                      0                    2
//          40  DELETE                      1                    3
//          30  INSERT                      1                    3
//
// Errors as OpenScan; NotSupported for the column _deleted; InvalidArgument if a column of the table has the name of
// one of those above.
Result<std::unique_ptr<ScanStream>> OpenChanges(const plan::ChangePlan& plan, std::span<const plan::ChangeTask> tasks,
                                                const std::vector<plan::OutputColumn>& columns,
                                                std::shared_ptr<io::FileIO> io, ReadOptions options,
                                                int32_t first_ordinal = 0);

}  // namespace delenda::read
