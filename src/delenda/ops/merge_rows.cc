#include "delenda/ops/merge_rows.h"

#include <arrow/array.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include <memory>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/ops/keyed_change.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/merge_clauses.h"
#include "delenda/read/row_gather.h"

namespace delenda::ops {
namespace {

class Merger final : public KeyedChange {
 public:
  Merger(const commit::TableSession& session, KeyedSource& source, const MergeOptions& options)
      : KeyedChange(session, source, options.branch, options.dry_run, "merge"), options_(options) {}

 private:
  Result<KeyScanColumns> Begin() override {
    clauses_ = DELENDA_TRY(MergeClauses::Make(options_, source_.key(), session_.schema(), source_.schema()));
    return clauses_->looks_at_matched() ? KeyScanColumns::kAll : KeyScanColumns::kKey;
  }

  // Deletes and updates rows of the table.
  Result<void> SeeTable(const KeyedRows& part, const KeyScan::Batch& table, int metadata, Seen& seen) override {
    const auto pool = arrow::default_memory_pool();
    const auto places = DELENDA_TRY(
        parquet::ToResult(table.rows->SelectColumns({metadata + 1, metadata + 2}), parquet::StatusSource::kCompute));
    // Were a row gone that stays, one with its key might be inserted.
    if (!clauses_->looks_at_matched()) return seen.kept.Add(*places, 0);
    std::vector<read::RowRef> refs;
    for (const int64_t number : table.numbers) refs.push_back(part.row_of[static_cast<size_t>(number)]);
    const auto brought = DELENDA_TRY(read::GatherRows(part.batches, refs, pool));
    const auto decided = DELENDA_TRY(clauses_->Decide(*table.rows, *brought));
    read::Selection gone = decided.deleted;
    gone |= decided.updated;
    const auto gone_places = DELENDA_TRY(read::KeepRows(places, gone, pool));
    gone.Invert();
    const auto kept_places = DELENDA_TRY(read::KeepRows(places, gone, pool));
    if (kept_places != nullptr && clauses_->inserts()) DELENDA_TRY(seen.kept.Add(*kept_places, 0));
    if (gone_places == nullptr) return {};
    DELENDA_TRY(seen.gone.Add(*gone_places, 0));
    // Values are computed for rows that get them and no others: those of others might not be computable.
    const auto old_rows = DELENDA_TRY(read::KeepRows(table.rows, decided.updated, pool));
    if (old_rows == nullptr) return {};
    const auto brought_rows = DELENDA_TRY(read::KeepRows(brought, decided.updated, pool));
    const auto new_rows = DELENDA_TRY(clauses_->Update(*old_rows, *brought_rows));
    const auto& ids = static_cast<const arrow::Int64Array&>(*old_rows->column(metadata));
    std::vector<int64_t> row_ids;
    for (int64_t row = 0; row < ids.length(); ++row)
      row_ids.push_back(ids.IsNull(row) ? KeyedRowsWriter::kNewRow : ids.Value(row));
    return Write(new_rows, read::Selection(new_rows->num_rows(), true), row_ids, row_ids.size());
  }

  // Inserts those whose keys the table lacks.
  Result<void> SeeSource(const std::shared_ptr<arrow::RecordBatch>& batch,
                         const std::vector<int64_t>& numbers) override {
    if (!clauses_->inserts()) return {};
    auto inserted = DELENDA_TRY(clauses_->Inserted(*batch));
    inserted &= read::Selection::Where(
        batch->num_rows(), [&](int64_t row) { return MatchOf(numbers[static_cast<size_t>(row)]).rows == 0; });
    const std::vector<int64_t> new_ids(static_cast<size_t>(inserted.Count()), KeyedRowsWriter::kNewRow);
    return Write(batch, inserted, new_ids, 0);
  }

  const MergeOptions& options_;
  std::optional<MergeClauses> clauses_;
};

}  // namespace

Result<RowChange> MergeRows(commit::TableSession& session, io::FileIO& files, const MergeOptions& options) {
  DELENDA_TRY(session.Refresh());
  // Before rows are read: the answers would come late.
  DELENDA_TRY(CheckDeletes(session, options.branch));
  KeyedSourceOptions wanted{.rows = options.rows, .looked_at = MergeClauses::SourceColumns(options), .is_unique = true};
  wanted.rows.key = DELENDA_TRY(KeyColumns(session.schema(), options.rows.key));
  auto source = DELENDA_TRY(KeyedSource::Open(files, session.schema(), std::move(wanted)));
  DELENDA_TRY(MergeClauses::Make(options, source.key(), session.schema(), source.schema()));
  DELENDA_TRY(source.Read(session.hooks()));
  return RunUntilCommitted(session, [&] { return Merger(session, source, options).Run(); });
}

}  // namespace delenda::ops
