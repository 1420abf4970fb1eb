// Bloom filters of Parquet files against keys: row groups that hold none of them although their bounds allow it.
#pragma once

#include <cstddef>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/model/pruning.h"
#include "delenda/model/sorted_keys.h"

namespace delenda::read {

// May the row group hold one of the keys? A column's filter is asked when it is smaller than the column itself and few
// keys lie within the row group's bounds (`stats`, RowGroupStats); true where there is none. A damaged filter rules
// nothing out. Errors: storage.
Result<bool> BloomFiltersCouldHold(const parquet::ParquetFile& file, size_t row_group, const SortedKeys& keys,
                                   const StatsSource& stats);

}  // namespace delenda::read
