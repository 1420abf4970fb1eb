// Arrays of foreign types made arrays of a table's, where nothing can be lost.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>

#include "delenda/base/result.h"
#include "delenda/model/type.h"
#include "delenda/write/row_conform.h"

namespace delenda::write {

// Whether values of `source` can be made values of `target` at all; InvalidArgument says why not, and which nested
// field.
Result<void> CheckConformable(const arrow::DataType& source, const Field& target, const ConformOptions& options);

// The values of `array`, which passed CheckConformable, as an array of `arrow_type` = ToArrowType(target.type).
// InvalidArgument for a value that does not fit.
Result<std::shared_ptr<arrow::Array>> ConformValues(std::shared_ptr<arrow::Array> array, const Field& target,
                                                    const std::shared_ptr<arrow::DataType>& arrow_type,
                                                    const ConformOptions& options);

// For each field of the table the source field of its name, or -1: exact names first, then those equal but for ASCII
// case. InvalidArgument: an unknown source field (unless they are ignored), two for one, a required field without
// default that has none.
Result<std::vector<int>> MatchFields(const arrow::FieldVector& source, const std::vector<Field>& target,
                                     const ConformOptions& options);

// The write default of a field, or NULL, in every row.
Result<std::shared_ptr<arrow::Array>> MissingField(const Field& field,
                                                   const std::shared_ptr<arrow::DataType>& arrow_type, int64_t rows);

}  // namespace delenda::write
