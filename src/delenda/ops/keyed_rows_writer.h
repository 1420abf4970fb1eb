// Rows of a source on their way into a table's new data files, some as new versions of rows that are there.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/model/content_file.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/read/selection.h"
#include "delenda/write/partitioned_writer.h"
#include "delenda/write/staged_files.h"

namespace delenda::ops {

// EXAMPLE  rows {2, x}, {9, y}, {3, z} of id and v; written: the first two; row_ids {1, kNewRow}  →  in a new data file
//          {2, x, _row_id 1}, {9, y, _row_id NULL}: the commit gives the second one its id.
class KeyedRowsWriter {
 public:
  static constexpr int64_t kNewRow = -1;  // as row id: assigned by the commit

  // `source` must outlive it. `dry_run`: rows are checked, not written. `row_ids`: Write is told them (below format
  // version 3 there are none); else all rows are new.
  static Result<KeyedRowsWriter> Make(const commit::TableSession& session, const KeyedSource& source, bool dry_run,
                                      bool row_ids = true);

  // Writes the rows `written` of a batch whose first columns are the table's. `row_ids`: of these rows, one each, if
  // the writer takes them.
  // They count as last updated by the commit. InvalidArgument, naming the row's key: a NULL in a required column.
  Result<void> Write(const std::shared_ptr<arrow::RecordBatch>& batch, const read::Selection& written,
                     std::span<const int64_t> row_ids);
  Result<std::vector<ContentFile>> Finish() { return writer_.Finish(); }

  const std::shared_ptr<write::StagedFiles>& staged() const { return staged_; }

 private:
  KeyedRowsWriter(write::PartitionedWriter writer, std::shared_ptr<write::StagedFiles> staged,
                  const KeyedSource& source, bool dry_run);
  Result<void> CheckRows(const arrow::RecordBatch& rows) const;

  write::PartitionedWriter writer_;
  std::shared_ptr<write::StagedFiles> staged_;
  const KeyedSource* source_;
  bool dry_run_;
  Schema table_;
  std::shared_ptr<arrow::Schema> schema_;  // of what is written
};

}  // namespace delenda::ops
