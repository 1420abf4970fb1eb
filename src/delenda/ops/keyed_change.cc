#include "delenda/ops/keyed_change.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "delenda/ops/new_rows.h"

namespace delenda::ops {

Result<std::variant<RowChange, commit::LookAgain>> KeyedChange::Run() {
  DELENDA_TRY(CheckDeletes(session_, branch_));
  DELENDA_TRY(CheckColumnsStayed(source_, session_));
  const KeyScanColumns columns = DELENDA_TRY(Begin());
  writer_ = DELENDA_TRY(KeyedRowsWriter::Make(session_, source_, dry_run_));
  for (size_t i = 0; i < source_.parts(); ++i) {
    const auto part = DELENDA_TRY(source_.Part(i));
    DELENDA_TRY(ScanTable(part, columns));
    DELENDA_TRY(GoThroughSource(*part));
  }
  return Commit();
}

Result<void> KeyedChange::ScanTable(const std::shared_ptr<const KeyedRows>& part, KeyScanColumns columns) {
  matches_.assign(static_cast<size_t>(part->keys.size()), Match());
  auto scan =
      DELENDA_TRY(KeyScan::Start(session_, branch_, part, source_.key(), columns, {"_row_id", "_file", "_pos"}));
  plan_ = scan.plan();
  Seen seen{.gone = ChangedFiles(*plan_), .kept = ChangedFiles(*plan_)};
  for (auto batch = DELENDA_TRY(scan.Next()); batch.rows; batch = DELENDA_TRY(scan.Next())) {
    const auto& row_ids = static_cast<const arrow::Int64Array&>(*batch.rows->column(scan.columns()));
    for (int64_t row = 0; row < row_ids.length(); ++row) {
      Match& match = matches_[static_cast<size_t>(batch.numbers[static_cast<size_t>(row)])];
      ++match.rows;
      // Files older than format version 3 have none.
      if (row_ids.IsNull(row)) continue;
      if (match.row_id == KeyedRowsWriter::kNewRow || row_ids.Value(row) < match.row_id)
        match.row_id = row_ids.Value(row);
    }
    DELENDA_TRY(SeeTable(*part, batch, scan.columns(), seen));
  }
  deletes_.Add(DELENDA_TRY(seen.gone.Deletes(session_)));
  std::ranges::move(DELENDA_TRY(seen.kept.Read()), std::back_inserter(read_rows_));
  return {};
}

Result<void> KeyedChange::GoThroughSource(const KeyedRows& part) {
  // row_of, the other way round.
  std::vector<std::vector<int64_t>> numbers;
  for (const auto& batch : part.batches) numbers.emplace_back(static_cast<size_t>(batch->num_rows()));
  for (size_t number = 0; number < part.row_of.size(); ++number)
    numbers[part.row_of[number].batch][part.row_of[number].row] = static_cast<int64_t>(number);
  for (size_t i = 0; i < part.batches.size(); ++i) DELENDA_TRY(SeeSource(part.batches[i], numbers[i]));
  return {};
}

Result<void> KeyedChange::Write(const std::shared_ptr<arrow::RecordBatch>& batch, const read::Selection& written,
                                std::span<const int64_t> row_ids, uint64_t updates) {
  DELENDA_TRY(writer_->Write(batch, written, row_ids));
  change_.rows_updated += updates;
  change_.rows_added += row_ids.size() - updates;
  if (session_.hooks().progress)
    session_.hooks().progress({.stage = stage_, .done = change_.rows_updated + change_.rows_added, .total = 0});
  return {};
}

Result<std::variant<RowChange, commit::LookAgain>> KeyedChange::Commit() {
  const auto isolation = DELENDA_TRY(session_.IsolationOf("merge"));
  commit::Intent intent;
  intent.branch = branch_;
  intent.base_snapshot_id = session_.head(branch_);
  intent.deletes = deletes_.Take();
  change_.is_dry_run = dry_run_;
  CountChanged(intent.deletes, change_);
  change_.rows_deleted = DeletedRows(intent.deletes) - change_.rows_updated;
  if (dry_run_ || (intent.deletes.empty() && change_.rows_added == 0)) return change_;
  intent.added_files = DELENDA_TRY(writer_->Finish());
  CountAdded(intent.added_files, change_);
  intent.operation = intent.added_files.empty() ? commit::Operation::kDelete
                     : intent.deletes.empty()   ? commit::Operation::kAppend
                                                : commit::Operation::kOverwrite;
  if (isolation == commit::Isolation::kSerializable) intent.read_rows = std::move(read_rows_);
  // Of rows that others add only those with the same keys matter, and these always.
  intent.isolation = commit::Isolation::kSnapshot;
  AddedKeyCheck check(session_, KeyParts::Of(source_), plan_);
  intent.touches_added = [&](const std::vector<ContentFile>& added) { return check.Touches(added); };
  return CommitChange(session_, intent, *writer_->staged(), change_);
}

}  // namespace delenda::ops
