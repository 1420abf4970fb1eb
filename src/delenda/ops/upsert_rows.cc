#include "delenda/ops/upsert_rows.h"

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
#include "delenda/ops/keyed_change.h"
#include "delenda/ops/keyed_rows_writer.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/ops/row_condition.h"

namespace delenda::ops {
namespace {

class Upserter final : public KeyedChange {
 public:
  Upserter(const commit::TableSession& session, KeyedSource& source, const UpsertOptions& options)
      : KeyedChange(session, source, options.branch, options.dry_run, "upsert"), options_(options) {}

 private:
  Result<KeyScanColumns> Begin() override {
    if (!options_.delete_when.empty())
      deletes_ = DELENDA_TRY(RowCondition::Make(options_.delete_when, source_.schema()));
    return KeyScanColumns::kKey;
  }

  Result<void> SeeTable(const KeyedRows& part, const KeyScan::Batch& table, int metadata, Seen& seen) override {
    for (const int64_t number : table.numbers) {
      if (!options_.strict || MatchOf(number).rows < 2) continue;
      const read::RowRef ref = part.row_of[static_cast<size_t>(number)];
      return ValidationFailed("the table has more than one row with the key {}; without strict they would become one",
                              KeyText(source_, *part.batches[ref.batch], ref.row));
    }
    return seen.gone.Add(*table.rows, metadata + 1);
  }

  Result<void> SeeSource(const std::shared_ptr<arrow::RecordBatch>& batch,
                         const std::vector<int64_t>& numbers) override {
    read::Selection written(batch->num_rows(), true);
    if (deletes_) {
      written = DELENDA_TRY(deletes_->Matches(*batch));
      written.Invert();
    }
    std::vector<int64_t> row_ids;
    uint64_t updates = 0;
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      if (!written.Kept(row)) continue;
      const Match& match = MatchOf(numbers[static_cast<size_t>(row)]);
      if (match.rows > 0) ++updates;
      row_ids.push_back(match.row_id);
    }
    return Write(batch, written, row_ids, updates);
  }

  const UpsertOptions& options_;
  std::optional<RowCondition> deletes_;
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
      {.branch = options.branch, .most_tries = options.most_tries, .key_memory = options.rows.memory_budget});
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
  KeyedSourceOptions wanted{.rows = options.rows, .is_unique = options.strict};
  wanted.rows.key = DELENDA_TRY(KeyColumns(session.schema(), options.rows.key));
  if (!options.delete_when.empty()) wanted.looked_at = ColumnNames(*DELENDA_TRY(ParseExpression(options.delete_when)));
  auto source = DELENDA_TRY(KeyedSource::Open(files, session.schema(), std::move(wanted)));
  if (!options.delete_when.empty()) DELENDA_TRY(RowCondition::Make(options.delete_when, source.schema()));
  DELENDA_TRY(source.Read(session.hooks()));
  if (options.via == UpsertVia::kEqualityDeletes) return UpsertByKeyFiles(session, source, options);
  return RunUntilCommitted(session, [&] { return Upserter(session, source, options).Run(); });
}

}  // namespace delenda::ops
