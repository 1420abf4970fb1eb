// Choosing rows: from one batch, from several, from several sorted runs.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/read/row_spill.h"
#include "delenda/read/selection.h"

namespace delenda::read {

struct RowRef {
  uint32_t batch = 0;
  uint32_t row = 0;
};

// The kept rows, copied; the batch itself if these are all, null if there are none.
Result<std::shared_ptr<arrow::RecordBatch>> KeepRows(std::shared_ptr<arrow::RecordBatch> batch, const Selection& kept,
                                                     arrow::MemoryPool* pool);

// The rows that `rows` names, in its order, copied. `rows` is not empty.
Result<std::shared_ptr<arrow::RecordBatch>> GatherRows(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
                                                       std::span<const RowRef> rows, arrow::MemoryPool* pool);

// One run out of several, each sorted by the int64 column `order`. Rows of one run with equal numbers stay together.
// Holds two blocks of each run at a time, about.
Result<RowBuffer> MergeRuns(std::vector<RowBuffer> runs, int order, SpillContext& context, RowBuffer merged);

}  // namespace delenda::read
