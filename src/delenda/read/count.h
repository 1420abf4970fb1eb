// Counting live rows: from metadata where that is exact, by reading where it is not.
#pragma once

#include <cstdint>
#include <memory>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/scan_stream.h"

namespace delenda::read {

struct CountResult {
  uint64_t rows = 0;
  uint64_t files_by_metadata = 0;  // tasks that were counted without opening anything
  uint64_t files_read = 0;         // tasks whose deletes or filter had to be read
};

// The number of rows that a scan of the plan returns.
//
// A task that covers its whole file, with nothing left of the filter and no delete but a deletion vector, counts
// record_count − cardinality: a vector's cardinality is exact, since it holds distinct positions below the record
// count. Position delete files may name rows twice or rows of other files, so what they delete must be read.
//
// EXAMPLE  a.parquet (100 rows, DV of 3), b.parquet (50 rows)  →  147, nothing is opened.
//
// Errors as OpenScan and Next; Corrupt for negative counts, a cardinality above the record count, or a sum past 2^63
// − 1. `options.limit` bounds the result as it bounds a scan.
Result<CountResult> CountRows(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                              ReadOptions options);

}  // namespace delenda::read
