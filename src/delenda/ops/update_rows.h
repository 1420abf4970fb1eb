// UPDATE: rows that a filter matches get new values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/row_change.h"

namespace delenda::ops {

struct UpdateOptions {
  std::string where;                                     // empty: every row
  std::vector<std::pair<std::string, std::string>> set;  // column, value (ops/value_expression.h)
  std::string branch = "main";
  bool dry_run = false;
};

// The old rows are deleted by vectors, their new versions written to new data files of the table's default spec; they
// keep their _row_id, and count as last updated by this commit (spec, "Row Lineage"). All values are computed from the
// old row.
//
// EXAMPLE  update set a = b, b = a where id = 7: row {7, a 1, b 2} → {7, a 2, b 1}, same _row_id.
//
// Errors: those of scanning; InvalidArgument for SET (no column, one twice, a value that does not fit, NULL for a
// required column); NotSupported below format version 3; CommitConflict.
Result<RowChange> UpdateRows(commit::TableSession& session, const UpdateOptions& options);

}  // namespace delenda::ops
