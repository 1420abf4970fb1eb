#include "delenda/ops/row_change.h"

#include <fmt/format.h>

namespace delenda::ops {

Result<RowChange> RunUntilCommitted(commit::TableSession& session,
                                    const std::function<Result<std::variant<RowChange, commit::LookAgain>>()>& attempt,
                                    uint64_t most_looks) {
  for (uint64_t looked_again = 0;; ++looked_again) {
    DELENDA_TRY(session.Refresh());
    auto outcome = DELENDA_TRY(attempt());
    if (auto* change = std::get_if<RowChange>(&outcome)) {
      change->looked_again = looked_again;
      return *change;
    }
    const auto& reason = std::get<commit::LookAgain>(outcome).reason;
    if (looked_again >= most_looks) {
      return CommitConflict(
          "others changed the rows that this operation reads in all of {} tries (the last time: {}); nothing was "
          "changed: run it again when the table is quieter",
          looked_again + 1, reason);
    }
    if (session.hooks().log) session.hooks().log(LogLevel::kInfo, fmt::format("looking again: {}", reason));
  }
}

Result<std::variant<RowChange, commit::LookAgain>> CommitChange(const commit::TableSession& session,
                                                                const commit::Intent& intent,
                                                                write::StagedFiles& staged, RowChange change) {
  auto outcome = DELENDA_TRY(session.Commit(intent, staged));
  if (auto* again = std::get_if<commit::LookAgain>(&outcome)) return std::move(*again);
  const auto& committed = std::get<commit::Committed>(outcome);
  change.snapshot_id = committed.snapshot_id;
  if (intent.IsPureDelete()) change.rows_deleted = committed.deleted_rows;
  change.files_changed = committed.new_vectors;
  change.files_merged = committed.merged_files;
  change.files_dropped = committed.dropped_files;
  change.attempts = committed.attempts;
  return change;
}

}  // namespace delenda::ops
