// CONVERT: deletes that readers have to work for become deletion vectors, in a commit that changes no row.
#pragma once

#include <cstdint>
#include <string>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/key_positions.h"
#include "delenda/ops/row_change.h"

namespace delenda::ops {

struct ConvertOptions {
  std::string branch = "main";
  bool position_deletes = false;  // position delete files too
  bool dry_run = false;
  const KeyPositionResolver* resolver = nullptr;  // null: a scan (ScanKeyPositionResolver)
};

// Every equality delete file that is live on the branch is turned into vectors and removed in the same commit
// (operation "replace": no row changes). With `position_deletes` the position delete files first, in a commit of their
// own. A file that applies to nothing is just removed.
//
// A data file that others add meanwhile with an older sequence number, as compaction does, has to be looked at too: the
// conversion is evaluated again.
//
// Errors: those of EqualityDeleteConverter; NotFound: the branch; CommitConflict.
Result<RowChange> ConvertDeletes(commit::TableSession& session, const ConvertOptions& options);

}  // namespace delenda::ops
