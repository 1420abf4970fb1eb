// Keys of rows in the form that planning wants: which files, manifests and row groups may hold one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "delenda/model/expression.h"
#include "delenda/model/partition.h"
#include "delenda/model/pruning.h"
#include "delenda/model/sorted_values.h"

namespace delenda {

// What the partitions of one spec may hold of some keys: the keys' values under the spec's transforms. Every partition
// field that is made from a key column counts; void and unknown ones say nothing.
//
// EXAMPLE  keys id {1, 2}, spec bucket(16, id), day(ts)  →  only partitions in the buckets of 1 and 2, whatever their
//          day.
class KeyPartitions {
 public:
  bool CouldBeIn(const PartitionTuple& tuple) const;
  // `stats` of partition fields, by their id: a manifest's summaries.
  bool CouldBeIn(const StatsSource& stats) const;
  // No partition field says anything.
  bool empty() const { return pins_.empty() && !no_keys_; }

 private:
  friend class SortedKeys;
  // The values of one field of the tuples.
  struct Pin {
    size_t at = 0;  // in the tuple
    BoundColumn field;
    SortedValues values;
  };
  std::vector<Pin> pins_;
  bool no_keys_ = false;
};

// For each column of some keys, the values that it has among them. A file can hold a key only if each column's range
// holds one of these values: exact for keys of one column, never too strict for keys of several. Immutable.
//
// EXAMPLE  keys (region, id): (eu, 1), (us, 9)  →  region {eu, us}, id {1, 9}. A file with ids [2, 8] holds none. One
//          with region eu alone and ids [5, 9] may, as far as this can tell.
class SortedKeys {
 public:
  struct Column {
    BoundColumn column;
    SortedValues values;
  };
  explicit SortedKeys(std::vector<Column> columns) : columns_(std::move(columns)) {}

  const std::vector<Column>& columns() const { return columns_; }
  bool empty() const;
  uint64_t memory() const;

  // May a row with these statistics have one of the keys? NULL and NaN keys, and bounds that were cut short, lose
  // nothing.
  bool CouldHold(const StatsSource& stats) const;
  KeyPartitions InPartitionsOf(const BoundSpec& spec) const;

 private:
  std::vector<Column> columns_;
};

}  // namespace delenda
