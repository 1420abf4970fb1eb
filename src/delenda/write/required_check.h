// NULLs where the table's schema allows none.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>

#include "delenda/base/result.h"
#include "delenda/model/type.h"

namespace delenda::write {

// InvalidArgument names the column ("st.a") and the row, `first_row` being the first one's number: a required field, at
// any depth, that is NULL where its parent has a value. Readers rely on requiredness: a file with such a NULL cannot be
// read, or reads as something else.
Result<void> CheckRequired(const Schema& schema, const arrow::RecordBatch& batch, int64_t first_row);

}  // namespace delenda::write
