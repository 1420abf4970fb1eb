// Finding the row ids that more than one row has, whatever their number, in memory that compresses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/positions/position_set.h"

namespace delenda::ops {

// Ids come in batches. Each becomes a set, compared with all that came before; sets of about equal size are joined, so
// that there are few of them (about log2 of the number of batches) and each id is copied as often. Ids that lie close
// together, as those of one file do, take two bits each or less.
//
// EXAMPLE  Add({1, 2, 3}), Add({7, 8}), Add({3, 8, 9})  →  Duplicates() = {3, 8}
class RowIdSet {
 public:
  // InvalidArgument for an id above PositionSet::kMaxPosition. The order within `ids` does not matter.
  Result<void> Add(std::span<const uint64_t> ids);

  const PositionSet& duplicates() const { return duplicates_; }
  uint64_t ids() const { return ids_; }  // that were added

 private:
  std::vector<PositionSet> sets_;  // each at least twice as large as the next
  PositionSet duplicates_;
  uint64_t ids_ = 0;
};

}  // namespace delenda::ops
