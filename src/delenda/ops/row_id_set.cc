#include "delenda/ops/row_id_set.h"

#include <algorithm>
#include <utility>

namespace delenda::ops {

Result<void> RowIdSet::Add(std::span<const uint64_t> ids) {
  if (ids.empty()) return {};
  PositionSet added = DELENDA_TRY(PositionSet::FromPositions(ids));
  ids_ += ids.size();
  if (added.cardinality() < ids.size()) {
    std::vector<uint64_t> sorted(ids.begin(), ids.end()), twice;
    std::ranges::sort(sorted);
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i] == sorted[i - 1]) twice.push_back(sorted[i]);
    }
    duplicates_ = duplicates_.Union(DELENDA_TRY(PositionSet::FromPositions(twice)));
  }
  for (const PositionSet& earlier : sets_) {
    if (earlier.Intersects(added)) duplicates_ = duplicates_.Union(earlier.Intersection(added));
  }
  while (!sets_.empty() && sets_.back().cardinality() < 2 * added.cardinality()) {
    added = sets_.back().Union(added);
    sets_.pop_back();
  }
  sets_.push_back(added);
  return {};
}

}  // namespace delenda::ops
