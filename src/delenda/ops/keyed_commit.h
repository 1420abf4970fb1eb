// The end of upserts and merges: what was found and written becomes one snapshot.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "delenda/base/result.h"
#include "delenda/commit/rebase.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/keyed_rows_writer.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/row_change.h"
#include "delenda/plan/scan_task.h"

namespace delenda::ops {

// `change`: rows added and updated, and whether it is a dry run; what else there is to count is added. `deleted`: old
// versions of updated rows among them. `plan`: of a scan by the source's keys. The snapshot is an append if no row is
// deleted, a delete if none is written, else an overwrite. At any isolation level it looks again if others have added
// rows with the source's keys, so that a key never gets two rows.
Result<std::variant<RowChange, commit::LookAgain>> CommitKeyedChange(const commit::TableSession& session,
                                                                     const std::string& branch, KeyedSource& source,
                                                                     std::shared_ptr<const plan::ScanPlan> plan,
                                                                     JoinedDeletes& deleted, KeyedRowsWriter& writer,
                                                                     RowChange change);

}  // namespace delenda::ops
