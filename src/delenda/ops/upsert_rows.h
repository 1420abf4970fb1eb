// UPSERT: rows from files replace those with the same key, or are inserted.
#pragma once

#include <cstdint>
#include <string>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/io/file_io.h"
#include "delenda/ops/delta_files.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/row_change.h"

namespace delenda::ops {

// How the table's rows with the keys are found and replaced. The rows are the same afterwards.
enum class UpsertVia : uint8_t {
  kPositions,  // by a scan; row ids are kept, and reports tell updates from inserts
  // As a writer of streams does (ops/delta_writer.h): rows and keys are written first, keys become vectors in the
  // commit. Rows are written once however often others come between. They get new row ids, and an update is reported as
  // a deleted row and an added one.
  kEqualityDeletes,
};

struct UpsertOptions {
  KeyedFiles rows = {};  // no key: the table's identifier fields (KeyColumns)
  // A filter on the files' rows (columns of the table, and others of the files): those only delete. Empty: none does.
  std::string delete_when = {};
  bool strict = false;  // a key that is there twice, in the files or among the table's rows, is an error
  UpsertVia via = UpsertVia::kPositions;
  // Via equality deletes only: CommitDeltasOptions::most_tries, and what is done after them.
  uint64_t most_tries = kMostLooks;
  DeltaFallback fallback = DeltaFallback::kAbort;
  std::string branch = "main";
  bool dry_run = false;  // read and check all rows, change nothing
};

// For each key the last row of the files counts, in their order. Live rows with the key, in whatever partition, are
// deleted by vectors, all of them if there are several; the new row is written with the lowest _row_id that they had
// and counts as last updated by this commit. A row whose key the table lacks is inserted. NULL equals NULL. All is one
// snapshot. Of the table only the key columns and _row_id are read, of files that may hold one of the keys.
//
// EXAMPLE  key id; table {1, a}, {2, b}, {3, c}; files {2, x, u}, {9, y, u}, {3, NULL, d}, {9, z, u} with columns id, v
//          and op, delete_when "op = 'd'"  →  {1, a}, {2, x} with its old _row_id, {9, z}: 1 row updated, 1 inserted, 1
//          deleted.
//
// Counts: a key with rows in the table is one updated row, further rows of it are deleted ones.
//
// At any isolation level, keys are looked for in data files that others add meanwhile, so that a key never gets two
// rows.
//
// `files`: where the rows come from. Errors: those of KeyedSource, of filters and of scanning; InvalidArgument: a
// NULL in a required column, strict with equality deletes, a fallback without them, as CommitDeltas; ValidationFailed:
// strict, a key with several rows in the table; NotSupported below format version 3; CommitConflict. Nothing is changed
// then.
Result<RowChange> UpsertRows(commit::TableSession& session, io::FileIO& files, const UpsertOptions& options);

}  // namespace delenda::ops
