// DELETE of the rows whose keys a file holds.
#pragma once

#include <string>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/io/file_io.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/row_change.h"

namespace delenda::ops {

struct DeleteKeysOptions {
  KeyedFiles rows = {};  // no key: all columns of the files; other columns than the key are ignored
  std::string branch = "main";
  bool dry_run = false;  // find the rows, commit nothing
};

// Deletes every live row that has one of the keys, in whatever partition; NULL equals NULL. Of the table, only files
// that may hold one of the keys are read, and of these the key columns.
//
// EXAMPLE  keys.csv "id\n3\n7\n3\n"; ids of a.parquet 0 to 9, of b.parquet 10 to 19  →  a.parquet gets the vector {3,
// 7},
//          2 rows deleted; b.parquet is not opened.
//
// A pure delete: it merges with those of others. Serializable (property write.delete.isolation-level): if others add
// rows with these keys meanwhile, they are looked for again.
//
// `files`: where the keys come from. Errors: those of KeyedSource and of scanning; NotSupported below format
// version 3; CommitConflict.
Result<RowChange> DeleteKeys(commit::TableSession& session, io::FileIO& files, const DeleteKeysOptions& options);

}  // namespace delenda::ops
