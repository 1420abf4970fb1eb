// The part of verify that looks at row lineage (Iceberg spec, "Row Lineage"). See Table::Verify.
#pragma once

#include <cstdint>
#include <memory>

#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/model/finding.h"
#include "delenda/plan/scan_task.h"

namespace delenda::ops {

struct RowIdBounds {
  int64_t next_row_id = 0;      // of the table: every id is below it
  int64_t sequence_number = 0;  // of the snapshot: no row was updated by a later one
};

// Invariant: no two live rows share a row id. `plan` selects exactly _row_id, _last_updated_sequence_number, _file and
// _pos. Ids are read or derived as a scan does it; files that do not store them cost a range each. When an id was seen
// twice a second pass finds its rows; at most 100 ids are named.
//
// EXAMPLE  a.parquet (10 rows, first row id 0, row 3 deleted), b.parquet with one row of stored id 3  →  nothing;
//          b.parquet with one row of stored id 4  →  row-id-twice: row id 4, at 4 in a.parquet and 0 in b.parquet
Result<Findings> VerifyRowIds(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                              const RowIdBounds& bounds, size_t threads, const Hooks& hooks);

}  // namespace delenda::ops
