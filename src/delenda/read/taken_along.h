// Rows of later tasks of changes that were read together with those of an earlier one.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace delenda::read {

// Snapshots change the same file again and again, a few rows of a row group each: decoding the row group once for all
// of them is most of the work saved. What was taken along waits here, within a budget, until its own task comes.
//
// Thread-safe.
class TakenAlong {
 public:
  using Rows = std::vector<std::shared_ptr<arrow::RecordBatch>>;

  explicit TakenAlong(uint64_t budget) : budget_(budget) {}

  // Bytes of the budget; false: there are not so many left.
  bool Reserve(uint64_t bytes);
  void Release(uint64_t bytes);

  // The rows of a task in a row group are complete, and took `bytes`, which were reserved. Dropped if the task has
  // begun to read them itself.
  void Put(size_t task, size_t row_group, Rows rows, uint64_t bytes);
  // The task begins with the row group: what was put for it. Nothing: it has to read, and nothing will be put any more.
  std::optional<Rows> Claim(size_t task, size_t row_group);

 private:
  struct Entry {
    std::optional<Rows> rows;  // nothing: claimed
    uint64_t bytes = 0;
  };

  const uint64_t budget_;
  std::mutex mutex_;
  uint64_t used_ = 0;
  std::map<std::pair<size_t, size_t>, Entry> entries_;
};

}  // namespace delenda::read
