// Keeping some rows of an Arrow array.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/row_mask.h"

namespace delenda::parquet {

// The rows of `array` that are kept, `count` of them, in order. All types that a Parquet file's schema gives without
// hints. Nothing is copied when all rows are kept, or
// at least half of them, which follow each other.
Result<std::shared_ptr<arrow::Array>> Compact(const std::shared_ptr<arrow::Array>& array, const RowMask& kept,
                                              int64_t count);

}  // namespace delenda::parquet
