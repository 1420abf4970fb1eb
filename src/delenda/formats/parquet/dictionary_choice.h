// Which columns are better off without a dictionary.
#pragma once

#include <arrow/type_fwd.h>

#include <vector>

namespace delenda::parquet {

// Columns of the batch (indexes) of which nearly every value is another one, as ids, random numbers and free text are.
// A dictionary of such a column outgrows its limit within a row group: hashing each value until then costs a fifth of
// the time to write, and the file gets larger, not smaller. Nested columns and booleans are never among them, nor is
// anything if the batch has too few rows to tell.
//
// EXAMPLE  16,384 rows; id has 16,384 different values, region 3  →  {index of id}
std::vector<int> ColumnsWithoutDictionary(const arrow::RecordBatch& batch);

}  // namespace delenda::parquet
