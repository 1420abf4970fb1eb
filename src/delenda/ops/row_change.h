// What an operation did to a table's rows, and how hard it tried.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "delenda/base/result.h"
#include "delenda/commit/committer.h"
#include "delenda/commit/intent.h"
#include "delenda/commit/table_session.h"
#include "delenda/write/staged_files.h"

namespace delenda::ops {

struct RowChange {
  bool is_dry_run = false;
  std::optional<int64_t> snapshot_id;  // not set: nothing was to be changed, or a dry run
  uint64_t rows_added = 0;
  uint64_t rows_deleted = 0;
  uint64_t rows_updated = 0;
  uint64_t files_added = 0;             // data files
  uint64_t files_dropped = 0;           // data files of which no row is left
  uint64_t files_changed = 0;           // data files that got a new deletion vector
  uint64_t files_merged = 0;            // of these: whose vector holds what others deleted meanwhile, too
  uint64_t bytes_added = 0;             // of data files
  uint64_t rows_converted = 0;          // that delete files deleted and vectors delete now
  uint64_t delete_files_converted = 0;  // that vectors took the place of
  uint64_t delete_files_added = 0;      // equality deletes
  uint64_t attempts = 1;                // of the last commit
  uint64_t looked_again = 0;  // how often the operation was evaluated anew, since others changed what it had read
};

// Runs `attempt` on the newest version of the table until it has committed: whenever others changed what it read, it is
// evaluated again, so that the result is that of running after them. CommitConflict when it was evaluated again
// `most_looks` times: the message holds the last reason.
inline constexpr uint64_t kMostLooks = 50;
Result<RowChange> RunUntilCommitted(commit::TableSession& session,
                                    const std::function<Result<std::variant<RowChange, commit::LookAgain>>()>& attempt,
                                    uint64_t most_looks = kMostLooks);

// The end of an attempt: commits the intent, and puts what the commit did into `change`. Others may have deleted rows
// of a pure delete first: those are not counted.
Result<std::variant<RowChange, commit::LookAgain>> CommitChange(const commit::TableSession& session,
                                                                const commit::Intent& intent,
                                                                write::StagedFiles& staged, RowChange change);

}  // namespace delenda::ops
