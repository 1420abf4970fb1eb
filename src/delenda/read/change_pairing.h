// From the raw rows of a changelog to its changes: rows that a rewrite only carried over are taken out, deletes and
// inserts of one row become an update, and on request the whole range collapses to its net changes.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/read/batch_source.h"

namespace delenda::read {

// What happens to a delete and an insert of the same row in one snapshot, as a copy-on-write rewrite makes them of
// every row that it only copies. Two rows have lineage if `_row_id` and `_last_updated_sequence_number` of both are not
// NULL.
enum class CarryOvers : uint8_t {
  // They stay: the rows of the tasks, unchanged.
  kKeep,
  // They vanish if they are the same row: where both have lineage, the same `_row_id` and the same
  // `_last_updated_sequence_number` (and the same values: a writer that kept the number of a row that it updated would
  // lose the change); where one has none, the same values in all user columns, as multisets (of three equal deletes and
  // two equal inserts one delete is left). Lineage goes first. A row that was updated to its old
  // values
  // stays an update, and a row that was deleted and inserted again under another `_row_id` stays both.
  kRemove,
  // They vanish if all user columns are the same, whatever their lineage: as Spark's create_changelog_view does it.
  kRemoveEqual,
};

// Which deletes and inserts that are left are two images of one row.
enum class Updates : uint8_t {
  kNone,     // none: DELETE and INSERT
  kLineage,  // those of one snapshot with the same `_row_id`; rows without one stay DELETE and INSERT
  kKey,      // those of one snapshot with the same values in `key_columns`
};

struct PairingOptions {
  // The source's first columns: those of the table. Rows are compared by all of them.
  size_t user_columns = 0;
  CarryOvers carry_overs = CarryOvers::kRemove;
  Updates updates = Updates::kLineage;
  // Names of user columns, for kKey, and for net changes by key. NULL equals NULL, as for Spark's identifier columns.
  std::vector<std::string> key_columns = {};
  // Collapse the range: by `key_columns` if there are any, else by `_row_id`.
  bool net = false;
  // Indexes of the source's columns that are handed out, in this order; empty: all. Others are only compared.
  std::vector<int> output_columns = {};
  // Can the snapshot of this ordinal hold both deletes and inserts? The plan's tasks know. If not, its rows pass
  // through as they come; empty: unknown, and the deletes of a snapshot wait until its first insert, or the next
  // snapshot.
  std::function<bool(int64_t ordinal)> holds_both = {};
  // Bytes that rows which wait for others may take; beyond it they go to a file in `temp_folder`. Batches in flight
  // (one of the source, one handed out) come on top. Less than 1 MiB works, but slowly, and
  // 1 MiB is taken.
  uint64_t memory_budget = uint64_t{256} << 20;
  // Where rows are spilled; empty: TMPDIR, else /tmp (which on some systems is memory too). Files there have no name,
  // so nothing is left when the process ends, however it ends.
  std::string temp_folder = {};
  int64_t batch_rows = int64_t{64} * 1024;  // of a batch handed out, at most
  arrow::MemoryPool* pool = nullptr;  // all waiting rows and hash tables are allocated here; null: Arrow's default
  CancelToken cancel = {};
};

struct PairingMetrics {
  uint64_t carry_overs = 0;    // pairs of rows that vanished
  uint64_t updates = 0;        // pairs of rows that became updates
  uint64_t spilled_bytes = 0;  // written to temporary files
};

// Changes, batch by batch.
//
// Source: batches of one schema. First the table's columns, then, found by name:
//   `_change_type` (utf8: INSERT or DELETE), `_change_ordinal` (int32 or int64), `_commit_snapshot_id` (int64) and, for
//   lineage, `_row_id` and `_last_updated_sequence_number` (int64, nullable). Any other column just goes along.
// Rows come by ascending ordinal, within one the deletes before the inserts; batches may cross these borders.
//
// Output: the same columns, or those of `output_columns`; `_change_type` may be UPDATE_BEFORE and UPDATE_AFTER too. By
// ordinal; within one first each DELETE in the order of the source, then updates, each UPDATE_BEFORE directly before
// its UPDATE_AFTER, in the order of the inserts that they were, then each INSERT in the order of the source. Every row
// keeps its own metadata. The result does not depend on the memory budget, nor on how rows are cut into batches.
//
// EXAMPLE  Columns (id, v); metadata (ordinal, _row_id, _last_updated_sequence_number). Snapshot 0 rewrote a file: row
//          id 1 as it was, id 2 with a new v, id 3 left out; and added id 9.
//            DELETE (1, a) 0 10 1 | DELETE (2, b) 0 11 1 | DELETE (3, c) 0 12 1
//            INSERT (1, a) 0 10 1 | INSERT (2, x) 0 11 2 | INSERT (9, n) 0 20 2
//          gives, with kRemove and kLineage:
//            DELETE (3, c) | UPDATE_BEFORE (2, b) | UPDATE_AFTER (2, x) | INSERT (9, n)
//          with kRemove and kNone:
//            DELETE (2, b) | DELETE (3, c) | INSERT (2, x) | INSERT (9, n)
//          with kKeep and kNone: the source's rows.
//
// EXAMPLE  The same without lineage (all NULL), kRemove and kKey {id}: (1, a) vanishes as equal rows, id 2 pairs by
// key:
//          the same result as with lineage.
//
// EXAMPLE  Net, snapshots 0 and 1:
//            0: INSERT (1, a) row id 10
//            0: DELETE (2, b) row id 11 | INSERT (2, c) row id 11
//            1: DELETE (1, a) row id 10 | DELETE (2, c) row id 11 | INSERT (2, d) row id 11
//          gives UPDATE_BEFORE (2, b) ordinal 0, UPDATE_AFTER (2, d) ordinal 1: id 1 came and went. With kNone:
//          DELETE (2, b) ordinal 0, INSERT (2, d) ordinal 1. Had (2, b) come back, nothing would be left of it.
//
// Net changes, taken by `_row_id` or key over the range (after carry-overs): the first image if it is a delete and the
// last if it is an insert; both, and different in a user column, are an update. A row keeps the ordinal, snapshot and
// metadata of its own change; an update stands where its UPDATE_AFTER does.
//
// Errors of Next(): what the source reports. ValidationFailed: a key that is more than once among the deletes or the
// inserts of a snapshot and stands on both sides, which could be paired in several ways (names key and snapshot); net
// changes where two rows share a key or row id: it is inserted while it lives, deleted while it does not, or deleted
// with other values than it was inserted with. InvalidArgument: net changes without key of a row without `_row_id`. Io:
// temporary files (the disk is full). Cancelled. Internal: source out of order. The first error ends the stream.
class ChangePairing : public BatchSource {
 public:
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  virtual PairingMetrics metrics() const = 0;
};

// `schema`: the source's. InvalidArgument: a column of `key_columns` that the table lacks, kKey without any, net
// changes by `_row_id` together with kRemoveEqual (a row could go on under another `_row_id`); a column that is missing
// or of another type than above. NotSupported: dictionary and view types.
//
// EXAMPLE  auto changes = DELENDA_TRY(PairChanges(std::move(rows), schema, {.user_columns = 2}));
//          while (auto batch = DELENDA_TRY(changes->Next())) Use(*batch);
Result<std::unique_ptr<ChangePairing>> PairChanges(std::unique_ptr<BatchSource> source,
                                                   std::shared_ptr<arrow::Schema> schema, PairingOptions options);

}  // namespace delenda::read
