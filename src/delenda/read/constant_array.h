// Arrays of values that metadata and keys hold.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>

#include "delenda/base/result.h"
#include "delenda/model/datum.h"
#include "delenda/model/type.h"

namespace delenda::read {

// `value` (NULL, or a value of the primitive table type `type`) in `rows` rows of `arrow_type` = ToArrowType(type). A
// float stands for a double too, as values written before a promotion do.
Result<std::shared_ptr<arrow::Array>> ConstantArray(const Type& type,
                                                    const std::shared_ptr<arrow::DataType>& arrow_type,
                                                    const Datum& value, int64_t rows);

// `values`, each as in ConstantArray, one a row.
Result<std::shared_ptr<arrow::Array>> ArrayOfValues(const Type& type,
                                                    const std::shared_ptr<arrow::DataType>& arrow_type,
                                                    std::span<const Datum> values);

}  // namespace delenda::read
