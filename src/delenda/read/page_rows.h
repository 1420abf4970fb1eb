// Rows of Parquet row groups that a filter and keys leave by what the page index says of each page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/model/expression.h"
#include "delenda/model/sorted_keys.h"
#include "delenda/read/column_adapter.h"

namespace delenda::read {

// Rows of a row group.
struct PageRows {
  std::vector<parquet::RowRun> runs;       // that could match
  std::vector<parquet::KnownPages> pages;  // by which they were found
};

struct PageQuestion {
  const Expr* filter = nullptr;      // null: any row
  const SortedKeys* keys = nullptr;  // null: any row
  // Column chunks that are smaller, decompressed, are not asked.
  uint64_t smallest_chunk = 0;
};

// For each of the row groups the runs of rows that could match both, by the evaluator that prunes row groups; no runs:
// no row can. Nothing: all rows, since there are no page indexes, they are not worth asking, are not to be trusted, or
// rule out little.
// Errors: storage.
//
// EXAMPLE  pages of id: rows 0–99 [1, 50], rows 100–199 [51, 90], rows 200–299 all NULL; of price: rows 0–149 [1, 9],
//          rows 150–299 [5, 20].
//          id > 60 AND price > 10  →  rows 150–199.     id IS NULL OR price < 3  →  rows 0–149 and 200–299.
Result<std::vector<std::optional<PageRows>>> RowsThatPagesLeave(const parquet::ParquetFile& file,
                                                                std::span<const size_t> row_groups,
                                                                const ConstantColumns& constants,
                                                                const PageQuestion& question);

}  // namespace delenda::read
