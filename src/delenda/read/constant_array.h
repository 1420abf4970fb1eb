// Arrays that hold one value in every row.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>

#include "delenda/base/result.h"
#include "delenda/model/datum.h"
#include "delenda/model/type.h"

namespace delenda::read {

// `value` (NULL, or a value of the primitive table type `type`) in `rows` rows of `arrow_type` = ToArrowType(type). A
// float stands for a double too, as values written before a promotion do.
Result<std::shared_ptr<arrow::Array>> ConstantArray(const Type& type,
                                                    const std::shared_ptr<arrow::DataType>& arrow_type,
                                                    const Datum& value, int64_t rows);

}  // namespace delenda::read
