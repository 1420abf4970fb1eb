// What the statistics of Parquet row groups and pages say about the columns of the table.
#pragma once

#include <cstddef>

#include "delenda/model/pruning.h"
#include "delenda/read/column_adapter.h"

namespace delenda::read {

// Statistics of one row group for CouldMatch. Columns that the file does not hold have one value in every row. Nothing
// is said of columns that cannot be compared safely (below lists and maps, INT96, another unit of time than the
// table's). `file` and `constants` must outlive the result.
StatsSource RowGroupStats(const parquet::ParquetFile& file, size_t row_group, const ConstantColumns& constants);

// The same of one leaf over any `rows` rows of it: `leaf`, which is not repeated, read as a column of type `table`.
// Bounds that contradict each other are left out.
ColumnStats StatsOfLeaf(const Type& table, const FileLeaf& leaf, ::parquet::Type::type physical,
                        const parquet::LeafStatistics& statistics, int64_t rows);

}  // namespace delenda::read
