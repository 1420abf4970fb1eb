// Single values put into Arrow arrays.
#pragma once

#include <arrow/type_fwd.h>

#include "delenda/base/result.h"
#include "delenda/model/datum.h"
#include "delenda/model/type.h"

namespace delenda::write {

// Appends NULL or a value of the primitive table type `type` to a builder of ToArrowType(type). Internal: the value is
// not of the type.
Result<void> AppendDatum(arrow::ArrayBuilder& builder, const Type& type, const Datum& value);

}  // namespace delenda::write
