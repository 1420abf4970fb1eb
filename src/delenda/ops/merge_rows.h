// MERGE: rows from files update or delete those with the same key, or are inserted.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/io/file_io.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/row_change.h"

namespace delenda::ops {

struct MergeOptions {
  KeyedFiles rows = {};  // no key: the table's identifier fields (KeyColumns)
  // What happens to a row of the table and the row of the files that has its key. Conditions are filters, values are
  // those of an update; both see the table's columns by name and the files' as source.NAME. The first clause whose
  // condition holds is carried out.
  std::string matched_delete = {};                                       // condition; empty: no such clause
  std::vector<std::pair<std::string, std::string>> matched_update = {};  // column, value
  bool matched_update_all = false;       // all columns get the files' values, those above their own
  std::string matched_update_when = {};  // condition; empty: all that were not deleted
  // Condition on rows of the files whose key the table lacks: they are inserted. Empty: all; not set: none.
  std::optional<std::string> not_matched_insert = std::nullopt;
  std::string branch = "main";
  bool dry_run = false;  // read and check all rows, change nothing
};

// As SQL's MERGE. Updated rows keep their _row_id and count as last updated by this commit; all values are computed
// from the old row and the files' row. Whole rows are read of those that have one of the keys only. A column of the
// table with the name "source" can't be named in conditions and values.
//
// EXAMPLE  key id; table {1, 10}, {2, 20}, {3, 30} of id, n; file {1, 5}, {2, 0}, {4, 7}; matched_delete "source.n =
// 0",
//          matched_update n = "n + source.n", not_matched_insert ""  →  {1, 15} with its _row_id, {3, 30}, {4, 7}: 1
//          row updated, 1 deleted, 1 inserted.
//
// At any isolation level, keys are looked for in data files that others add meanwhile, so that a key never gets two
// rows. Serializable (property write.merge.isolation-level): if others delete a row that has a key of the files and was
// left as it was, it is evaluated again, since the files' row is to be inserted now.
//
// `files`: where the rows come from. Errors: those of KeyedSource, of filters, values and scanning;
// InvalidArgument: two rows of the files with one key, no clause, a key column that is to be set, a NULL in a required
// column; NotSupported below format version 3; CommitConflict. Nothing is changed then.
Result<RowChange> MergeRows(commit::TableSession& session, io::FileIO& files, const MergeOptions& options);

}  // namespace delenda::ops
