// The commit loop: refresh, rebase, write, publish, again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/commit/intent.h"
#include "delenda/commit/rebase.h"
#include "delenda/commit/retry.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/write/staged_files.h"

namespace delenda::commit {

struct Committed {
  std::optional<int64_t> snapshot_id;  // not set: there was nothing to do, so no snapshot was made
  std::string metadata_path;           // of the table's state afterwards
  uint64_t deleted_rows = 0;           // by this commit, after merging: rows that others deleted first are not counted
  uint64_t restored_rows = 0;
  uint64_t attempts = 1;
  uint64_t new_vectors = 0;    // data files that got a deletion vector, or another one
  uint64_t dropped_files = 0;  // data files that went: none of their rows is left, or they were rewritten
  uint64_t merged_files = 0;   // data files whose vector holds what others deleted since the base, too
};

// Where and how to commit.
struct CommitContext {
  std::shared_ptr<io::FileIO> io;
  catalog::CommitPoint* point = nullptr;
  Executor* executor = nullptr;
  Hooks hooks = {};
};

// Makes the intent a snapshot of its branch. On each attempt the table is read anew, the intent rebased onto it, and
// everything that depends on the parent written again: vectors, manifests, row ids, sequence number. `staged`: the
// intent's data files; given to the table when the commit succeeded, or may have; deleted by their owner otherwise.
//
// EXAMPLE  attempt 1 builds snapshot 13 on 12; another writer publishes its 13 first: CommitConflict, what attempt 1
//          wrote is deleted. Attempt 2 merges its vectors with those of the other's 13 and publishes 14.
//
// LookAgain: the operation must be evaluated again (commit/rebase.h); nothing was changed.
// Errors: CommitConflict: retries are used up. CommitStateUnknown: the answer was lost and the table can't be read; all
// files are kept. NotSupported: the table's format version does not allow the change. Others as Rebase, WriteManifests.
Result<std::variant<Committed, LookAgain>> Commit(const Intent& intent, write::StagedFiles& staged,
                                                  const CommitContext& context);

}  // namespace delenda::commit
