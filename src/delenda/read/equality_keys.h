// The keys of equality delete files, hashed once for all data files that they apply to (Iceberg spec, "Equality Delete
// Files").
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/model/pruning.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/key_table.h"
#include "delenda/read/selection.h"

namespace delenda::read {

// Keys of one layout (the same equality field ids) and one scope (a partition, or the whole table), each with the
// highest data sequence number of the delete files that hold it. A row is deleted if its key is there with a number
// above that of its data file: lower numbers of the same key can add nothing.
//
// How keys match: read/key_table.h.
class EqualityKeys {
 public:
  // `files`: indexes of the plan's delete files, all of one layout and scope. `memory_budget`: bytes; NotSupported when
  // the keys need more. Corrupt: a file lacks one of its key columns (a missing one would read as NULL and delete other
  // rows).
  static Result<EqualityKeys> Load(io::FileIO& io, const plan::ScanPlan& plan, const std::vector<uint32_t>& files,
                                   uint64_t memory_budget, const CancelToken& cancel);

  const KeyTable& keys() const { return keys_; }
  // The highest of each key, by its number.
  const std::vector<int64_t>& sequence_numbers() const { return sequences_; }
  const SortedKeys& sorted() const { return *sorted_; }

  // The top-level columns that RemoveDeleted wants, in its order; structs cut down to the key.
  const std::vector<Field>& fields() const { return keys_.fields(); }

  // May a row with these statistics have one of the keys? False: the rows need not be looked at.
  bool CouldDelete(const StatsSource& stats) const { return sorted_->CouldHold(stats); }

  // Take the deleted rows out of `live`. `columns`: arrays for fields(), live.rows() long each.
  Result<void> RemoveDeleted(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t data_sequence_number,
                             Selection& live) const;

  size_t size() const { return static_cast<size_t>(keys_.size()); }

 private:
  explicit EqualityKeys(KeyTable keys) : keys_(std::move(keys)) {}
  Result<void> Add(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows, int64_t sequence,
                   uint64_t memory_budget);

  KeyTable keys_;
  std::vector<int64_t> sequences_;  // the highest of each key
  std::shared_ptr<const SortedKeys> sorted_;
};

}  // namespace delenda::read
