// DELETE: rows that a filter matches are gone.
#pragma once

#include <string>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/row_change.h"

namespace delenda::ops {

struct DeleteOptions {
  std::string where;  // empty: every row
  std::string branch = "main";
  bool dry_run = false;  // find the rows, commit nothing
};

// Data files of which every row matches (or is deleted already) are dropped; the others get deletion vectors that hold
// what was deleted before, too.
//
// EXAMPLE  a.parquet rows 0-9, vector {1}; "id < 3" matches rows 0, 1, 2  →  vector {0, 1, 2}, 2 rows deleted.
//
// Errors: those of scanning; NotSupported below format version 3, naming the way out; CommitConflict.
Result<RowChange> DeleteRows(commit::TableSession& session, const DeleteOptions& options);

}  // namespace delenda::ops
