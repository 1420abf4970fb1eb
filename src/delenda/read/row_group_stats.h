// What a Parquet row group's statistics say about the columns of the table.
#pragma once

#include <cstddef>

#include "delenda/model/pruning.h"
#include "delenda/read/column_adapter.h"

namespace delenda::read {

// Statistics of one row group for CouldMatch. Columns that the file does not hold have one value in every row. Nothing
// is said of columns that cannot be compared safely (below lists and maps, INT96, another unit of time than the
// table's). `file` and `constants` must outlive the result.
StatsSource RowGroupStats(const parquet::ParquetFile& file, size_t row_group, const ConstantColumns& constants);

}  // namespace delenda::read
