// The work of delta writers becomes one snapshot.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/delta_files.h"
#include "delenda/ops/key_positions.h"
#include "delenda/ops/row_change.h"

namespace delenda::ops {

struct CommitDeltasOptions {
  std::string branch = "main";
  // How often the keys are looked for, since others may change what was read. 0: not at all, the fallback is done at
  // once.
  uint64_t most_tries = kMostLooks;
  // Bytes that tables of keys may take; with more keys the table is looked through in several passes.
  uint64_t key_memory = uint64_t{256} << 20;
  const KeyPositionResolver* resolver = nullptr;  // null: a scan (ScanKeyPositionResolver)
};

// Commits what writers have written, one snapshot for all. Of several results the one with the higher order number
// holds the later events: its keys also delete the rows of the others (by deletion vectors on their new data files; a
// file of which no row is left is not committed). In the table the keys become deletion vectors, in whatever partition
// the rows lie: no reader sees an equality delete. On a conflict the keys are looked for again on the new snapshot; the
// data files stay as they are. A key never gets two rows, whatever others write meanwhile.
//
// When `most_tries` or the retries of the commit are used up, what the results' fallback says is done; equality deletes
// fit every state of the table, so that their commit only has to be first once.
//
// After an error the results are as they were, and may be committed again. Results that are committed already are not
// committed twice (the answer to the first try may have been lost): the report names the snapshot then, and counts
// nothing. The results' files belong to the table afterwards, and key files are deleted.
//
// EXAMPLE  order 1: data {1, a} {2, b}, keys 1 2; order 2: data {1, c}, keys 1 3; table {1, x} {3, y} {4, z}
//          →  rows {2, b} {1, c} {4, z}: vectors on the table's files for 1 and 3, and on order 1's file for {1, a}
//
// Counts: rows_added the new rows that are live, rows_deleted those of the table that are gone (also if an equality
// delete of before had deleted them already); an update is one of each, since keys are not looked up one by one. Row
// ids of updated rows are new: the rows were written before it was known which ones they replace.
//
// Errors: InvalidArgument: no tries and a fallback that aborts; no result, results of another table or other keys, two
// with one order number, some of which are committed and some not. CommitConflict: tries are used up.
// CommitStateUnknown. ValidationFailed: the table's columns or partitioning have changed so that the files do not fit
// any more. Those of EqualityDeleteConverter.
Result<RowChange> CommitDeltas(commit::TableSession& session, std::span<const DeltaResult> results,
                               const CommitDeltasOptions& options);

}  // namespace delenda::ops
