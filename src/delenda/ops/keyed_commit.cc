#include "delenda/ops/keyed_commit.h"

#include <utility>
#include <vector>

#include "delenda/commit/intent.h"
#include "delenda/ops/key_scan.h"
#include "delenda/ops/new_rows.h"

namespace delenda::ops {

Result<std::variant<RowChange, commit::LookAgain>> CommitKeyedChange(const commit::TableSession& session,
                                                                     const std::string& branch, KeyedSource& source,
                                                                     std::shared_ptr<const plan::ScanPlan> plan,
                                                                     JoinedDeletes& deleted, KeyedRowsWriter& writer,
                                                                     RowChange change) {
  // Nothing hangs on it: the keys decide at any level. But a wrong word must not pass.
  DELENDA_TRY(session.IsolationOf("merge"));
  commit::Intent intent;
  intent.branch = branch;
  intent.base_snapshot_id = session.head(branch);
  intent.deletes = deleted.Take();
  CountChanged(intent.deletes, change);
  change.rows_deleted = DeletedRows(intent.deletes) - change.rows_updated;
  if (change.is_dry_run || (intent.deletes.empty() && change.rows_added == 0)) return change;
  intent.added_files = DELENDA_TRY(writer.Finish());
  CountAdded(intent.added_files, change);
  intent.operation = intent.added_files.empty() ? commit::Operation::kDelete
                     : intent.deletes.empty()   ? commit::Operation::kAppend
                                                : commit::Operation::kOverwrite;
  // Of rows that others add only those with the same keys matter, and these always.
  intent.isolation = commit::Isolation::kSnapshot;
  AddedKeyCheck check(session, KeyParts::Of(source), std::move(plan));
  intent.touches_added = [&](const std::vector<ContentFile>& added) { return check.Touches(added); };
  return CommitChange(session, intent, *writer.staged(), change);
}

}  // namespace delenda::ops
