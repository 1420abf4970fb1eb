// The deletes and inserts of one snapshot, matched by the values of some columns.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/read/change_columns.h"
#include "delenda/read/row_spill.h"

namespace delenda::read {

// Which rows a rule looks at.
enum class RowClass : uint8_t {
  kAll,
  kLineage,    // `_row_id` and `_last_updated_sequence_number` are known
  kNoLineage,  // one of them is not
  kRowId,      // `_row_id` is known
};

// Each insert, in order, takes the first delete left with the same values in `columns`.
struct MatchRule {
  enum class Action : uint8_t {
    kDrop,          // both vanish: the row was carried over
    kPair,          // both are images of one update
    kDropElsePair,  // both vanish if `same` has the same values too, else they pair
  };
  std::vector<int> columns;
  std::vector<int> same = {};  // rows vanish only if these columns have the same values as well
  RowClass deletes = RowClass::kAll;
  RowClass inserts = RowClass::kAll;
  Action action = Action::kDrop;
  // ValidationFailed, naming the values, for a match when these are there more than once on either side.
  bool unique = false;
};

struct MatchContext {
  SpillContext* spill = nullptr;
  ChangeColumns columns;
  // The deletes of a table in memory, with the table, take at most this; each buffer of results an eighth of it.
  uint64_t table_bytes = 0;
  CancelToken cancel;
};

struct Matched {
  RowBuffer deletes;  // those left, in order
  RowBuffer pairs;    // delete, insert, delete, insert …; each pair with the insert's number; in the order of inserts
  RowBuffer inserts;  // those left, in order
  uint64_t dropped = 0;
  uint64_t paired = 0;
};

// Batches of inserts, in order; null at the end.
using RowPull = std::function<Result<std::shared_ptr<arrow::RecordBatch>>()>;

// Matches in memory while inserts stream by, if the deletes are within `table_bytes`. Otherwise both sides are cut by
// hash into files, and those again, until each part's deletes are; a part that hashing cannot cut (rows that are all
// the same) is matched in several passes. Hashes only find candidates: rows match by their values.
Result<Matched> MatchRows(const MatchContext& context, const MatchRule& rule, RowBuffer deletes,
                          const RowPull& inserts);

// Cuts rows by the hash of some columns: `parts` buffers, and a last one for rows that are not of the class; all
// written out. Each depth cuts in another way.
Result<std::vector<RowBuffer>> CutByHash(const MatchContext& context, const std::vector<int>& columns,
                                         RowClass row_class, size_t parts, int depth, const RowPull& rows);

}  // namespace delenda::read
