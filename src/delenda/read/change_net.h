// Net changes: of all that happened to a row over a range, its first image and its last.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/read/row_match.h"
#include "delenda/read/row_spill.h"

namespace delenda::read {

struct NetRule {
  std::vector<int> identity;      // columns that say which row it is
  std::vector<int> user_columns;  // an update that changes none of them is no change
  bool pair = true;               // a delete and an insert that are left of one row are images of an update
};

// The net changes of `changes`, which come by number, with the column `number` whose rank says delete or insert; by
// number, those of an update with the same. What is known of each row at a time are at most two of its changes; beyond
// the budget the rows are cut by hash into files, and those again.
//
// Counts updates in `updates`. ValidationFailed: a row is inserted while it lives, or deleted while it does not: two
// rows have the same identity, and what is left of one cannot be told from the other. InvalidArgument: a row without
// `_row_id`, if that is the identity.
Result<RowBuffer> CollapseChanges(const MatchContext& context, const NetRule& rule, const RowPull& changes,
                                  uint64_t& updates);

}  // namespace delenda::read
