#include "delenda/ops/merge_rows.h"

#include <arrow/array.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <memory>
#include <utility>

#include "delenda/ops/changed_files.h"
#include "delenda/ops/key_scan.h"
#include "delenda/ops/keyed_commit.h"
#include "delenda/ops/keyed_rows_writer.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/merge_clauses.h"
#include "delenda/read/row_gather.h"

namespace delenda::ops {
namespace {

using BatchRef = std::shared_ptr<arrow::RecordBatch>;

class Merger {
 public:
  Merger(commit::TableSession& session, KeyedSource& source, const MergeOptions& options)
      : session_(session), source_(source), options_(options) {}

  Result<std::variant<RowChange, commit::LookAgain>> Run() {
    DELENDA_TRY(CheckDeletes(session_, options_.branch));
    DELENDA_TRY(CheckColumnsStayed(source_, session_));
    clauses_ = DELENDA_TRY(MergeClauses::Make(options_, source_.key(), session_.schema(), source_.schema()));
    writer_ = DELENDA_TRY(KeyedRowsWriter::Make(session_, source_, options_.dry_run));
    for (size_t part = 0; part < source_.parts(); ++part) {
      const auto rows = DELENDA_TRY(source_.Part(part));
      const auto matched = DELENDA_TRY(ChangeMatched(rows));
      if (clauses_->inserts()) DELENDA_TRY(InsertOthers(*rows, matched));
    }
    change_.is_dry_run = options_.dry_run;
    return CommitKeyedChange(session_, options_.branch, source_, plan_, joined_, *writer_, change_);
  }

 private:
  // Deletes and updates rows of the table; says which keys it has.
  Result<std::vector<bool>> ChangeMatched(const std::shared_ptr<const KeyedRows>& rows) {
    std::vector<bool> matched(static_cast<size_t>(rows->keys.size()));
    auto scan = DELENDA_TRY(KeyScan::Start(session_, options_.branch, rows, source_.key(),
                                           clauses_->looks_at_matched() ? KeyScanColumns::kAll : KeyScanColumns::kKey,
                                           {"_row_id", "_file", "_pos"}));
    plan_ = scan.plan();
    ChangedFiles changed(*plan_);
    std::vector<read::RowRef> refs;
    for (auto batch = DELENDA_TRY(scan.Next()); batch.rows; batch = DELENDA_TRY(scan.Next())) {
      refs.clear();
      for (const int64_t number : batch.numbers) {
        matched[static_cast<size_t>(number)] = true;
        refs.push_back(rows->row_of[static_cast<size_t>(number)]);
      }
      if (!clauses_->looks_at_matched()) continue;
      const auto brought = DELENDA_TRY(read::GatherRows(rows->batches, refs, arrow::default_memory_pool()));
      DELENDA_TRY(ChangeBatch(batch.rows, brought, scan.columns(), changed));
    }
    joined_.Add(DELENDA_TRY(changed.Deletes(session_)));
    return matched;
  }

  // `metadata`: where the metadata columns of `table` begin.
  Result<void> ChangeBatch(const BatchRef& table, const BatchRef& brought, int metadata, ChangedFiles& changed) {
    const auto pool = arrow::default_memory_pool();
    const auto decided = DELENDA_TRY(clauses_->Decide(*table, *brought));
    read::Selection gone = decided.deleted;
    gone |= decided.updated;
    const auto places = arrow::RecordBatch::Make(
        arrow::schema({table->schema()->field(metadata + 1), table->schema()->field(metadata + 2)}), table->num_rows(),
        {table->column(metadata + 1), table->column(metadata + 2)});
    const auto gone_places = DELENDA_TRY(read::KeepRows(places, gone, pool));
    if (gone_places == nullptr) return {};
    DELENDA_TRY(changed.Add(static_cast<const arrow::StringArray&>(*gone_places->column(0)),
                            static_cast<const arrow::Int64Array&>(*gone_places->column(1))));
    // Values are computed for rows that get them and no others: those of others might not be computable.
    const auto old_rows = DELENDA_TRY(read::KeepRows(table, decided.updated, pool));
    if (old_rows == nullptr) return {};
    const auto brought_rows = DELENDA_TRY(read::KeepRows(brought, decided.updated, pool));
    const auto new_rows = DELENDA_TRY(clauses_->Update(*old_rows, *brought_rows));
    const auto& ids = static_cast<const arrow::Int64Array&>(*old_rows->column(metadata));
    std::vector<int64_t> row_ids;
    for (int64_t row = 0; row < ids.length(); ++row)
      row_ids.push_back(ids.IsNull(row) ? KeyedRowsWriter::kNewRow : ids.Value(row));
    DELENDA_TRY(writer_->Write(new_rows, read::Selection(new_rows->num_rows(), true), row_ids));
    change_.rows_updated += row_ids.size();
    if (session_.hooks().progress)
      session_.hooks().progress({.stage = "merge", .done = change_.rows_updated + change_.rows_added, .total = 0});
    return {};
  }

  Result<void> InsertOthers(const KeyedRows& rows, const std::vector<bool>& matched) {
    for (const auto& batch : rows.batches) {
      const auto columns = DELENDA_TRY(rows.keys.ColumnsOf(source_.schema(), *batch));
      const auto numbers = DELENDA_TRY(rows.keys.Find(columns, batch->num_rows()));
      auto inserted = DELENDA_TRY(clauses_->Inserted(*batch));
      inserted &= read::Selection::Where(batch->num_rows(), [&](int64_t row) {
        return !matched[static_cast<size_t>(numbers[static_cast<size_t>(row)])];
      });
      const std::vector<int64_t> new_ids(static_cast<size_t>(inserted.Count()), KeyedRowsWriter::kNewRow);
      DELENDA_TRY(writer_->Write(batch, inserted, new_ids));
      change_.rows_added += new_ids.size();
    }
    return {};
  }

  commit::TableSession& session_;
  KeyedSource& source_;
  const MergeOptions& options_;
  std::optional<MergeClauses> clauses_;
  std::optional<KeyedRowsWriter> writer_;
  std::shared_ptr<const plan::ScanPlan> plan_;
  JoinedDeletes joined_;
  RowChange change_;
};

}  // namespace

Result<RowChange> MergeRows(commit::TableSession& session, io::FileIO& files, const MergeOptions& options) {
  DELENDA_TRY(session.Refresh());
  // Before rows are read: the answers would come late.
  DELENDA_TRY(CheckDeletes(session, options.branch));
  auto key = DELENDA_TRY(KeyColumns(session.schema(), options.key));
  auto source = DELENDA_TRY(KeyedSource::Open(files, session.schema(),
                                              {.files = options.files,
                                               .format = options.format,
                                               .key = std::move(key),
                                               .looked_at = MergeClauses::SourceColumns(options),
                                               .ignore_unknown_columns = options.ignore_unknown_columns,
                                               .is_unique = true,
                                               .memory_budget = options.memory_budget,
                                               .temp_folder = options.temp_folder}));
  DELENDA_TRY(MergeClauses::Make(options, source.key(), session.schema(), source.schema()));
  DELENDA_TRY(source.Read(session.hooks()));
  return RunUntilCommitted(session, [&] { return Merger(session, source, options).Run(); });
}

}  // namespace delenda::ops
