// Which types of a file may be read as which types of the table, and the change of representation.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>

#include "delenda/base/result.h"
#include "delenda/model/type.h"

namespace delenda::read {

// May a primitive column of this type in the file be read as the table's type? Equal types, the promotions of the spec
// (int → long, float → double, wider decimals of equal scale, date → timestamp), and other spellings of one value:
// timestamps and times of another unit or as INT96, small integers, text as bytes. Never a narrowing.
bool CanReadAs(const arrow::DataType& file, const Type& table);

// The values as `arrow_type` = ToArrowType(table). Without a copy where the bytes are the same. Corrupt if a value does
// not fit (a timestamp in nanoseconds that is no whole microsecond, one outside the range).
Result<std::shared_ptr<arrow::Array>> CastValues(const std::shared_ptr<arrow::Array>& array, const Type& table,
                                                 const std::shared_ptr<arrow::DataType>& arrow_type);

}  // namespace delenda::read
