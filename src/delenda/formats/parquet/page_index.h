// The page index of a column chunk (Parquet format, "Page Index"): where its data pages lie and what is in them, known
// before any of them is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/io/ranges.h"

namespace delenda::parquet {

// What the footer says of a column chunk that is not repeated.
struct IndexedChunk {
  int64_t rows = 0;
  io::ByteRange data_pages;  // of the file: from its first data page to its end
  std::optional<int64_t> null_count;
  // The writer and the column's order of values are such that bounds can be relied on; else there are none in the
  // result.
  bool has_bounds = false;
};

// The pages of a chunk from its two indexes (parquet.thrift, ColumnIndex and OffsetIndex), in order; together they hold
// all rows.
//
// Corrupt unless both indexes agree with each other and with the footer: as many pages in both, rows that begin with
// the first and ascend, pages that lie one behind the other from the first to the end of the chunk, NULLs that add up,
// no page of NULLs only that is said to hold fewer than it has rows. Pages are passed over unseen by what is said here,
// so a careless writer's index would lose rows. An empty upper bound is left out: some writers put it in place of one
// that was too long.
Result<std::vector<IndexedPage>> ParsePageIndex(ByteView column_index, ByteView offset_index,
                                                const IndexedChunk& chunk);

}  // namespace delenda::parquet
