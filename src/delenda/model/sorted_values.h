// A set of values of one column in their order: which of them may lie between bounds is a binary search away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "delenda/model/datum.h"
#include "delenda/model/pruning.h"

namespace delenda {

// Distinct values of one type; NULL and NaN may be among them and are held apart, since bounds say nothing of them.
//
// EXAMPLE  {NULL, 7, 12}: bounds [8, 11] without NULLs hold none of them; [8, 12] may hold 12; [8, 11] with an unknown
//          number of NULLs may hold NULL.
class SortedValues {
 public:
  SortedValues() = default;
  // All of one alternative but for NULLs, in any order, with repetitions.
  static SortedValues Of(std::vector<Datum> values);
  static SortedValues OfIntegers(std::vector<int64_t> values, bool has_null);

  bool has_null() const { return has_null_; }
  bool has_nan() const { return has_nan_; }
  // NULL and NaN not counted.
  size_t size() const { return integers_.size() + others_.size(); }
  bool empty() const { return size() == 0 && !has_null_ && !has_nan_; }
  // The values but NULL and NaN, ascending, i < size().
  Datum At(size_t i) const { return integers_.empty() ? others_[i] : Datum(integers_[i]); }
  // Bytes, about.
  uint64_t memory() const;

  // May one of the values be among those that the statistics describe? What is unknown rules nothing out.
  bool CouldLieIn(const ColumnStats& stats) const;
  // Those that lie within the bounds of the statistics, as indexes [first, last) for At.
  std::pair<size_t, size_t> Between(const ColumnStats& stats) const;
  // In the order of bounds: {0.0} contains -0.0, which partitions of other writers may be named by. True for a value of
  // another type.
  bool Contains(const Datum& value) const;

 private:
  std::vector<int64_t> integers_;  // sorted, of integer-like types
  std::vector<Datum> others_;      // sorted, of all other types
  bool has_null_ = false;
  bool has_nan_ = false;
};

}  // namespace delenda
