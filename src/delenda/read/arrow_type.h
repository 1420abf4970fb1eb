// The Arrow type of a table type: one pure function, so that every file of a table gives the same batches.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/type.h"
#include "delenda/plan/scan_task.h"

namespace delenda::read {

// boolean bool · int int32 · long int64 · float float · double double · decimal decimal128(p, s) · date date32 · time
// time64[us] · timestamp timestamp[us] · timestamptz timestamp[us, UTC] · …_ns the same in ns · string utf8 · uuid
// fixed_size_binary(16) · fixed fixed_size_binary(n) · binary binary · unknown null · struct, list and map of these.
// NotSupported for variant, geometry and geography; the caller adds the column's name.
Result<std::shared_ptr<arrow::DataType>> ToArrowType(const Type& type);

// Name, type, nullability, and the field id, unless it is negative, as metadata "PARQUET:field_id". NotSupported names
// the column and its type.
Result<std::shared_ptr<arrow::Field>> ToArrowField(const Field& field);

// The schema of a plan's batches.
Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const std::vector<plan::OutputColumn>& columns);

}  // namespace delenda::read
