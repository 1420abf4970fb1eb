#include "delenda/ops/update_rows.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <memory>
#include <utility>

#include "delenda/commit/intent.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/ops/assignments.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/new_rows.h"
#include "delenda/read/scan_stream.h"
#include "delenda/write/partitioned_writer.h"

namespace delenda::ops {
namespace {

class Updater {
 public:
  Updater(commit::TableSession& session, const UpdateOptions& options) : session_(session), options_(options) {}

  Result<std::variant<RowChange, commit::LookAgain>> Run() {
    DELENDA_TRY(CheckDeletes(session_, options_.branch));
    const Schema& schema = session_.schema();
    if (options_.set.empty()) return InvalidArgument("an update needs at least one column to set");
    const auto assignments = DELENDA_TRY(ParseAssignments(options_.set, schema, schema));
    std::vector<std::string> select;
    for (const Field& field : schema.fields()) select.push_back(field.name);
    for (const char* name : {"_row_id", "_file", "_pos"}) select.emplace_back(name);
    const auto plan = DELENDA_TRY(
        session_.Plan(options_.branch, {.select = std::move(select), .select_all = false, .where = options_.where}));
    const auto staged = std::make_shared<write::StagedFiles>(session_.io());
    auto writer = DELENDA_TRY(write::PartitionedWriter::Make(DELENDA_TRY(NewFiles(session_, staged, true))));
    const auto schema_of_rows = DELENDA_TRY(writer.target().BatchSchema());
    const auto stream = DELENDA_TRY(
        read::OpenScan(plan, session_.io(), {.threads = session_.executor().threads(), .hooks = session_.hooks()}));
    ChangedFiles changed(*plan);
    RowChange change;
    change.is_dry_run = options_.dry_run;
    const int columns = static_cast<int>(schema.fields().size());
    while (const auto batch = DELENDA_TRY(stream->Next())) {
      arrow::ArrayVector values(batch->columns().begin(), batch->columns().begin() + columns + 1);
      for (const auto& assignment : assignments)
        values[assignment.column] = DELENDA_TRY(assignment.value.Evaluate(*batch));
      // NULL: the commit's own number is inherited, which says that it updated the row.
      values.push_back(DELENDA_TRY(parquet::ToResult(arrow::MakeArrayOfNull(arrow::int64(), batch->num_rows()),
                                                     parquet::StatusSource::kCompute)));
      const auto rows = arrow::RecordBatch::Make(schema_of_rows, batch->num_rows(), std::move(values));
      if (!options_.dry_run) DELENDA_TRY(writer.Write(*rows));
      DELENDA_TRY(changed.Add(*batch, columns + 1));
      change.rows_updated += static_cast<uint64_t>(batch->num_rows());
      if (session_.hooks().progress)
        session_.hooks().progress({.stage = "update", .done = change.rows_updated, .total = 0});
    }
    commit::Intent intent;
    intent.operation = commit::Operation::kOverwrite;
    intent.branch = options_.branch;
    intent.base_snapshot_id = session_.head(options_.branch);
    intent.isolation = DELENDA_TRY(session_.IsolationOf("update"));
    intent.conflict_filter = plan->filter;
    intent.deletes = DELENDA_TRY(changed.Deletes(session_));
    CountChanged(intent.deletes, change);
    if (options_.dry_run || intent.deletes.empty()) return change;
    intent.added_files = DELENDA_TRY(writer.Finish());
    CountAdded(intent.added_files, change);
    return CommitChange(session_, intent, *staged, change);
  }

 private:
  commit::TableSession& session_;
  const UpdateOptions& options_;
};

}  // namespace

Result<RowChange> UpdateRows(commit::TableSession& session, const UpdateOptions& options) {
  return RunUntilCommitted(session, [&] { return Updater(session, options).Run(); });
}

}  // namespace delenda::ops
