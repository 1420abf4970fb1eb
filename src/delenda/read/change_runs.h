// The rows of a changelog as runs: rows of one snapshot that were all deleted, or all inserted.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "delenda/base/result.h"
#include "delenda/read/batch_source.h"
#include "delenda/read/change_columns.h"

namespace delenda::read {

struct ChangeRun {
  std::shared_ptr<arrow::RecordBatch> batch;  // never empty
  int64_t ordinal = 0;
  bool inserted = false;
  int64_t first_index = 0;  // of its first row among the rows of its kind in its snapshot
};

// EXAMPLE  A batch with ordinals 0 0 1 and types DELETE INSERT INSERT gives three runs of one row.
class ChangeRuns {
 public:
  // `numbered`: the schema of NextOf's batches, WithNumber of the source's.
  ChangeRuns(std::unique_ptr<BatchSource> source, ChangeColumns columns, std::shared_ptr<arrow::Schema> numbered)
      : source_(std::move(source)), columns_(columns), numbered_(std::move(numbered)) {}

  // The next run, which stays the next; null at the end. Internal: rows out of order, or of another type.
  Result<const ChangeRun*> Peek();
  // The run that Peek showed.
  ChangeRun Pop();
  // If the next run is of this snapshot and kind: its rows with the column `number`. Else null.
  Result<std::shared_ptr<arrow::RecordBatch>> NextOf(int64_t ordinal, bool inserted);

 private:
  std::unique_ptr<BatchSource> source_;
  ChangeColumns columns_;
  std::shared_ptr<arrow::Schema> numbered_;
  std::shared_ptr<arrow::RecordBatch> batch_;  // null: read the next
  int64_t row_ = 0;                            // of batch_; those before were given out
  std::optional<ChangeRun> next_;
  // Of the last row that was looked at.
  int64_t ordinal_ = -1;
  bool inserted_ = false;
  int64_t index_ = 0;
  bool ended_ = false;
};

}  // namespace delenda::read
