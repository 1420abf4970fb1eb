#include "delenda/ops/delete_rows.h"

#include <utility>

#include "delenda/commit/intent.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/match_rows.h"

namespace delenda::ops {

Result<RowChange> DeleteRows(commit::TableSession& session, const DeleteOptions& options) {
  return RunUntilCommitted(session, [&]() -> Result<std::variant<RowChange, commit::LookAgain>> {
    DELENDA_TRY(CheckDeletes(session, options.branch));
    commit::Intent intent;
    intent.operation = commit::Operation::kDelete;
    intent.branch = options.branch;
    intent.base_snapshot_id = session.head(options.branch);
    intent.isolation = DELENDA_TRY(session.IsolationOf("delete"));
    auto matched = DELENDA_TRY(MatchRows(session, options.branch, options.where));
    intent.conflict_filter = matched.filter;
    RowChange change;
    change.is_dry_run = options.dry_run;
    for (auto& file : matched.files) {
      const PositionSet deleted = file.before.Union(file.matched);
      const bool drops = deleted.cardinality() == static_cast<uint64_t>(file.file.record_count);
      ++(drops ? change.files_dropped : change.files_changed);
      intent.deletes.push_back({.file = std::move(file.file), .before = std::move(file.before), .deleted = deleted});
    }
    change.rows_deleted = matched.rows;
    if (options.dry_run || intent.deletes.empty()) return change;
    write::StagedFiles staged(session.io());
    auto outcome = DELENDA_TRY(session.Commit(intent, staged));
    if (auto* again = std::get_if<commit::LookAgain>(&outcome)) return std::move(*again);
    const auto& committed = std::get<commit::Committed>(outcome);
    change.snapshot_id = committed.snapshot_id;
    // Others may have deleted some of the rows first.
    change.rows_deleted = committed.deleted_rows;
    change.files_changed = committed.new_vectors;
    change.files_dropped = committed.dropped_files;
    change.attempts = committed.attempts;
    return change;
  });
}

}  // namespace delenda::ops
