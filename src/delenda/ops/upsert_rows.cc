#include "delenda/ops/upsert_rows.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <functional>
#include <memory>
#include <utility>

#include "delenda/commit/upgrade.h"
#include "delenda/model/expression.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/commit_deltas.h"
#include "delenda/ops/delta_files.h"
#include "delenda/ops/key_positions.h"
#include "delenda/ops/key_scan.h"
#include "delenda/ops/keyed_commit.h"
#include "delenda/ops/keyed_rows_writer.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/row_condition.h"

namespace delenda::ops {
namespace {

// The live rows of the table that have one key.
struct Matched {
  int64_t row_id = KeyedRowsWriter::kNewRow;  // the lowest
  uint32_t rows = 0;
};

class Upserter {
 public:
  Upserter(commit::TableSession& session, KeyedSource& source, const UpsertOptions& options)
      : session_(session), source_(source), options_(options) {}

  Result<std::variant<RowChange, commit::LookAgain>> Run() {
    DELENDA_TRY(CheckDeletes(session_, options_.branch));
    DELENDA_TRY(CheckColumnsStayed(source_, session_));
    if (!options_.delete_when.empty())
      deletes_ = DELENDA_TRY(RowCondition::Make(options_.delete_when, source_.schema()));
    writer_ = DELENDA_TRY(KeyedRowsWriter::Make(session_, source_, options_.dry_run));
    for (size_t part = 0; part < source_.parts(); ++part) {
      const auto rows = DELENDA_TRY(source_.Part(part));
      const auto matched = DELENDA_TRY(FindMatched(rows));
      DELENDA_TRY(WriteRows(*rows, matched));
    }
    change_.is_dry_run = options_.dry_run;
    return CommitKeyedChange(session_, options_.branch, source_, plan_, joined_, *writer_, change_);
  }

 private:
  Result<std::vector<Matched>> FindMatched(const std::shared_ptr<const KeyedRows>& rows) {
    std::vector<Matched> matched(static_cast<size_t>(rows->keys.size()));
    auto scan = DELENDA_TRY(KeyScan::Start(session_, options_.branch, rows, source_.key(), KeyScanColumns::kKey,
                                           {"_row_id", "_file", "_pos"}));
    const int first = scan.columns();
    plan_ = scan.plan();
    ChangedFiles changed(*plan_);
    for (auto batch = DELENDA_TRY(scan.Next()); batch.rows; batch = DELENDA_TRY(scan.Next())) {
      const auto& row_ids = static_cast<const arrow::Int64Array&>(*batch.rows->column(first));
      for (size_t i = 0; i < batch.numbers.size(); ++i) {
        Matched& match = matched[static_cast<size_t>(batch.numbers[i])];
        if (++match.rows > 1 && options_.strict) return SeveralRows(*rows, batch.numbers[i]);
        const auto row = static_cast<int64_t>(i);
        // Files older than format version 3 have none.
        if (row_ids.IsNull(row)) continue;
        if (match.row_id == KeyedRowsWriter::kNewRow || row_ids.Value(row) < match.row_id)
          match.row_id = row_ids.Value(row);
      }
      DELENDA_TRY(changed.Add(static_cast<const arrow::StringArray&>(*batch.rows->column(first + 1)),
                              static_cast<const arrow::Int64Array&>(*batch.rows->column(first + 2))));
    }
    joined_.Add(DELENDA_TRY(changed.Deletes(session_)));
    return matched;
  }

  std::unexpected<Error> SeveralRows(const KeyedRows& rows, int64_t number) const {
    const read::RowRef ref = rows.row_of[static_cast<size_t>(number)];
    return ValidationFailed("the table has more than one row with the key {}; without strict they would become one",
                            KeyText(source_, *rows.batches[ref.batch], ref.row));
  }

  Result<void> WriteRows(const KeyedRows& rows, const std::vector<Matched>& matched) {
    for (const auto& batch : rows.batches) {
      const int64_t count = batch->num_rows();
      const auto columns = DELENDA_TRY(rows.keys.ColumnsOf(source_.schema(), *batch));
      const auto numbers = DELENDA_TRY(rows.keys.Find(columns, count));
      read::Selection written(count, true);
      if (deletes_) {
        written = DELENDA_TRY(deletes_->Matches(*batch));
        written.Invert();
      }
      std::vector<int64_t> row_ids;
      for (int64_t row = 0; row < count; ++row) {
        if (!written.Kept(row)) continue;
        const Matched& match = matched[static_cast<size_t>(numbers[static_cast<size_t>(row)])];
        ++(match.rows > 0 ? change_.rows_updated : change_.rows_added);
        row_ids.push_back(match.row_id);
      }
      DELENDA_TRY(writer_->Write(batch, written, row_ids));
      if (session_.hooks().progress)
        session_.hooks().progress({.stage = "upsert", .done = change_.rows_updated + change_.rows_added, .total = 0});
    }
    return {};
  }

  commit::TableSession& session_;
  KeyedSource& source_;
  const UpsertOptions& options_;
  std::optional<RowCondition> deletes_;
  std::optional<KeyedRowsWriter> writer_;
  std::shared_ptr<const plan::ScanPlan> plan_;
  JoinedDeletes joined_;
  RowChange change_;
};

using OnlyDeletes = std::function<Result<read::Selection>(const arrow::RecordBatch&)>;

// What UpsertByKeyFiles would do now; no file is written.
Result<RowChange> TryUpsertByKeyFiles(const commit::TableSession& session, KeyedSource& source,
                                      const OnlyDeletes& only_deletes, const UpsertOptions& options) {
  auto writer = DELENDA_TRY(KeyedRowsWriter::Make(session, source, true, false));
  const ScanKeyPositionResolver resolver;
  JoinedDeletes joined;
  RowChange change;
  change.is_dry_run = true;
  for (size_t part = 0; part < source.parts(); ++part) {
    const auto rows = DELENDA_TRY(source.Part(part));
    for (const auto& batch : rows->batches) {
      read::Selection written = DELENDA_TRY(only_deletes(*batch));
      written.Invert();
      change.rows_added += static_cast<uint64_t>(written.Count());
      DELENDA_TRY(writer.Write(batch, written, {}));
    }
    if (options.most_tries == 0) continue;  // the table is not looked at
    std::vector<commit::FileDelete> found;
    const KeyQuery query{.keys = {rows, &rows->keys},
                         .sequence_numbers = nullptr,
                         .branch = options.branch,
                         .base_snapshot_id = session.head(options.branch).value_or(0),
                         .partition = {},
                         .allows_position_deletes = true};
    for (auto& file : DELENDA_TRY(resolver.Resolve(session, {&query, 1}))) {
      auto deleted = file.before.Union(file.found);
      found.push_back({.file = std::move(file.data_file), .before = std::move(file.before), .deleted = deleted});
    }
    joined.Add(std::move(found));
  }
  const auto deletes = joined.Take();
  CountChanged(deletes, change);
  change.rows_deleted = DeletedRows(deletes);
  return change;
}

Result<RowChange> UpsertByKeyFiles(commit::TableSession& session, KeyedSource& source, const UpsertOptions& options) {
  DELENDA_TRY(commit::CheckTakesDeletes(session.format_version()));
  std::optional<RowCondition> deletes;
  if (!options.delete_when.empty()) deletes = DELENDA_TRY(RowCondition::Make(options.delete_when, source.schema()));
  const OnlyDeletes only_deletes = [&](const arrow::RecordBatch& batch) -> Result<read::Selection> {
    return deletes ? deletes->Matches(batch) : read::Selection(batch.num_rows());
  };
  if (options.dry_run) return TryUpsertByKeyFiles(session, source, only_deletes, options);
  const DeltaResult delta = DELENDA_TRY(WriteDeltaFiles(session, source, only_deletes, {.fallback = options.fallback}));
  return CommitDeltas(
      session, {&delta, 1},
      {.branch = options.branch, .most_tries = options.most_tries, .key_memory = options.memory_budget});
}

}  // namespace

Result<RowChange> UpsertRows(commit::TableSession& session, io::FileIO& files, const UpsertOptions& options) {
  if (options.strict && options.via == UpsertVia::kEqualityDeletes) {
    return InvalidArgument(
        "via equality deletes the rows of a key are not counted: a strict upsert goes via positions");
  }
  if (options.fallback != DeltaFallback::kAbort && options.via != UpsertVia::kEqualityDeletes)
    return InvalidArgument("an upsert via positions has no equality deletes that could be committed as a fallback");
  // Before files are written, which CommitDeltas would not take.
  if (options.most_tries == 0 && options.fallback == DeltaFallback::kAbort)
    return InvalidArgument("with no tries only equality deletes can be committed, and the fallback is to abort");
  DELENDA_TRY(session.Refresh());
  // Before rows are read: the answers would come late.
  DELENDA_TRY(CheckDeletes(session, options.branch));
  auto key = DELENDA_TRY(KeyColumns(session.schema(), options.key));
  KeyedSourceOptions wanted{.files = options.files,
                            .format = options.format,
                            .key = std::move(key),
                            .ignore_unknown_columns = options.ignore_unknown_columns,
                            .is_unique = options.strict,
                            .memory_budget = options.memory_budget,
                            .temp_folder = options.temp_folder};
  if (!options.delete_when.empty()) wanted.looked_at = ColumnNames(*DELENDA_TRY(ParseExpression(options.delete_when)));
  auto source = DELENDA_TRY(KeyedSource::Open(files, session.schema(), std::move(wanted)));
  if (!options.delete_when.empty()) DELENDA_TRY(RowCondition::Make(options.delete_when, source.schema()));
  DELENDA_TRY(source.Read(session.hooks()));
  if (options.via == UpsertVia::kEqualityDeletes) return UpsertByKeyFiles(session, source, options);
  return RunUntilCommitted(session, [&] { return Upserter(session, source, options).Run(); });
}

}  // namespace delenda::ops
