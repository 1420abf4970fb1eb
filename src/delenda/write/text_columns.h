// Columns of texts read as values of a table type.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>

#include "delenda/base/result.h"
#include "delenda/model/type.h"

namespace delenda::write {

// Each text by DatumFromText; NULL stays NULL. InvalidArgument for the first text that is no value of the type.
Result<std::shared_ptr<arrow::Array>> ParseTexts(const arrow::StringArray& texts, const Type& type,
                                                 const std::shared_ptr<arrow::DataType>& arrow_type);

}  // namespace delenda::write
