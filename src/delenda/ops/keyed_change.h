// What upserts and merges have in common: rows with a key meet those of the table, and one snapshot comes of it.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/intent.h"
#include "delenda/commit/rebase.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/key_scan.h"
#include "delenda/ops/keyed_rows_writer.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/row_change.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/selection.h"

namespace delenda::ops {

// One evaluation of an operation, which says what it does about the rows that it sees. The source's parts come one
// after the other: of each first the table's rows with its keys, then its own.
//
// EXAMPLE  an upsert; table {1, a}, {2, b}; source {2, x}, {9, y}: SeeTable has {2, b} with key number 0 and deletes
//          it; SeeSource has {2, x}, {9, y} with numbers {0, 1} and writes both, the first with the row id of {2, b},
//          which MatchOf(0) tells  →  an overwrite with one vector and one data file
class KeyedChange {
 public:
  virtual ~KeyedChange() = default;

  // On the state that the session has read; commits. The snapshot is an append if no row is deleted, a delete if none
  // is written, else an overwrite. At any isolation level it looks again if others have added rows with the source's
  // keys, so that a key never gets two rows; serializable (property write.merge.isolation-level) also if they have
  // deleted a row that was kept. NotSupported below format version 3; CommitConflict: the table's columns
  // were changed since the source was read.
  Result<std::variant<RowChange, commit::LookAgain>> Run();

 protected:
  // The live rows of the table that have one key.
  struct Match {
    int64_t row_id = KeyedRowsWriter::kNewRow;  // the lowest
    uint32_t rows = 0;
  };

  // What happens to rows of the table.
  struct Seen {
    ChangedFiles gone;
    ChangedFiles kept;  // they stay, but were they not there, something else would be done
  };

  // Both must outlive it. `stage`: for reports of progress.
  KeyedChange(const commit::TableSession& session, KeyedSource& source, std::string branch, bool dry_run,
              std::string_view stage)
      : session_(session), source_(source), branch_(std::move(branch)), dry_run_(dry_run), stage_(stage) {}

  // Before any row; which columns of the table SeeTable wants.
  virtual Result<KeyScanColumns> Begin() = 0;
  // Rows of the table; columns _row_id, _file and _pos from `metadata` on.
  virtual Result<void> SeeTable(const KeyedRows& part, const KeyScan::Batch& table, int metadata, Seen& seen) = 0;
  // Rows of the source with the numbers of their keys.
  virtual Result<void> SeeSource(const std::shared_ptr<arrow::RecordBatch>& batch,
                                 const std::vector<int64_t>& numbers) = 0;

  // Of a key of the part. For SeeSource: before, it is not complete.
  const Match& MatchOf(int64_t number) const { return matches_[static_cast<size_t>(number)]; }
  // KeyedRowsWriter::Write. `updates`: how many of the rows take the place of one in the table.
  Result<void> Write(const std::shared_ptr<arrow::RecordBatch>& batch, const read::Selection& written,
                     std::span<const int64_t> row_ids, uint64_t updates);

  const commit::TableSession& session_;
  KeyedSource& source_;

 private:
  Result<void> ScanTable(const std::shared_ptr<const KeyedRows>& part, KeyScanColumns columns);
  Result<void> GoThroughSource(const KeyedRows& part);
  Result<std::variant<RowChange, commit::LookAgain>> Commit();

  std::string branch_;
  bool dry_run_;
  std::string_view stage_;
  std::optional<KeyedRowsWriter> writer_;
  std::vector<Match> matches_;                  // by key number of the part
  std::shared_ptr<const plan::ScanPlan> plan_;  // of the last part's scan
  JoinedDeletes deletes_;
  std::vector<commit::ReadRows> read_rows_;
  RowChange change_;
};

}  // namespace delenda::ops
