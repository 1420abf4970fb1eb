// The keys of equality delete files, hashed once for all data files that they apply to (Iceberg spec, "Equality Delete
// Files").
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/model/pruning.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/selection.h"

namespace delenda::read {

// Keys of one layout (the same equality field ids) and one scope (a partition, or the whole table), each with the
// highest data sequence number of the delete files that hold it. A row is deleted if its key is there with a number
// above that of its data file: lower numbers of the same key can add nothing.
//
// Keys match as the spec says: NULL equals NULL (a field of a NULL struct is NULL), NaN equals NaN; -0.0 and 0.0
// differ, as in Java.
class EqualityKeys {
 public:
  // `files`: indexes of the plan's delete files, all of one layout and scope. `memory_budget`: bytes; NotSupported when
  // the keys need more. Corrupt: a file lacks one of its key columns (a missing one would read as NULL and delete other
  // rows).
  static Result<EqualityKeys> Load(io::FileIO& io, const plan::ScanPlan& plan, const std::vector<uint32_t>& files,
                                   uint64_t memory_budget, const CancelToken& cancel);

  // The top-level columns that RemoveDeleted wants, in its order; structs cut down to the key.
  const std::vector<Field>& fields() const { return fields_; }

  // May a row with these statistics have one of the keys? False: the rows need not be looked at. Exact for single
  // integer keys, by binary search.
  bool CouldDelete(const StatsSource& stats) const;

  // Take the deleted rows out of `live`. `columns`: arrays for fields(), live.rows() long each.
  Result<void> RemoveDeleted(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t data_sequence_number,
                             Selection& live) const;

  size_t size() const { return int_slots_used_ + entries_.size() + (null_sequence_ ? 1 : 0); }

 private:
  // What the keys of one column are, for CouldDelete: sorted when they are integers, else only whether NULL is among
  // them.
  struct ColumnKeys {
    bool integer = false;
    bool has_null = false;
    std::vector<int64_t> values;
  };
  struct Entry {
    uint64_t hash = 0;
    uint64_t offset = 0;  // of the encoded key in key_bytes_
    uint32_t size = 0;
    int64_t sequence = 0;
  };
  struct KeyArrays;

  Result<KeyArrays> Arrays(const std::vector<std::shared_ptr<arrow::Array>>& columns) const;
  Result<void> Add(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows, int64_t sequence);
  Result<void> CheckBudget() const;
  void AddInteger(int64_t key, int64_t sequence);
  void AddBytes(std::string_view key, int64_t sequence);
  void GrowIntegers();
  void GrowBytes();
  void FinishColumns();

  std::vector<plan::KeyField> keys_;
  std::vector<Field> fields_;
  uint64_t memory_budget_ = 0;
  bool single_integer_ = false;  // one integer-like key column: keys are hashed as they are

  // Open addressing; a slot with sequence kEmpty is free.
  std::vector<std::pair<int64_t, int64_t>> int_slots_;  // key, sequence
  size_t int_slots_used_ = 0;
  std::optional<int64_t> null_sequence_;

  std::vector<uint32_t> byte_slots_;  // entry number + 1; 0: free
  std::vector<Entry> entries_;
  std::string key_bytes_;

  std::vector<ColumnKeys> columns_;
};

}  // namespace delenda::read
