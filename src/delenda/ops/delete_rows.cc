#include "delenda/ops/delete_rows.h"

#include <arrow/record_batch.h>

#include <memory>
#include <utility>

#include "delenda/commit/intent.h"
#include "delenda/ops/changed_files.h"
#include "delenda/plan/scan_task.h"
#include "delenda/plan/shard.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {
namespace {

// Every row that no vector deletes matches. (Which rows equality deletes cover only reading tells.)
bool IsWholeFile(const plan::FileTask& task) { return task.residual->op == Op::kTrue && task.equality_deletes.empty(); }

Result<std::variant<RowChange, commit::LookAgain>> TryDelete(const commit::TableSession& session,
                                                             const DeleteOptions& options) {
  DELENDA_TRY(CheckDeletes(session, options.branch));
  commit::Intent intent;
  intent.operation = commit::Operation::kDelete;
  intent.branch = options.branch;
  intent.base_snapshot_id = session.head(options.branch);
  intent.isolation = DELENDA_TRY(session.IsolationOf("delete"));
  const auto plan = DELENDA_TRY(
      session.Plan(options.branch, {.select = {"_file", "_pos"}, .select_all = false, .where = options.where}));
  intent.conflict_filter = plan->filter;
  ChangedFiles changed(*plan);
  std::vector<plan::FileTask> rest;
  for (const plan::FileTask& task : plan->tasks) {
    if (IsWholeFile(task))
      changed.AddWhole(task.file);
    else
      rest.push_back(task);
  }
  if (!rest.empty()) {
    auto reading = std::make_shared<const plan::ScanPlan>(DELENDA_TRY(plan::PlanOf(*plan, std::move(rest))));
    const auto stream = DELENDA_TRY(read::OpenScan(
        std::move(reading), session.io(), {.threads = session.executor().threads(), .hooks = session.hooks()}));
    while (const auto batch = DELENDA_TRY(stream->Next())) DELENDA_TRY(changed.Add(*batch, 0));
  }
  RowChange change;
  change.is_dry_run = options.dry_run;
  intent.deletes = DELENDA_TRY(changed.Deletes(session));
  CountChanged(intent.deletes, change);
  change.rows_deleted = DeletedRows(intent.deletes);
  if (options.dry_run || intent.deletes.empty()) return change;
  write::StagedFiles staged(session.io());
  return CommitChange(session, intent, staged, change);
}

}  // namespace

Result<RowChange> DeleteRows(commit::TableSession& session, const DeleteOptions& options) {
  return RunUntilCommitted(session, [&] { return TryDelete(session, options); });
}

}  // namespace delenda::ops
