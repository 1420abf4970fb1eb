// An intent, brought to the state that its branch has now.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/commit/branch_state.h"
#include "delenda/commit/intent.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"

namespace delenda::commit {

// The deleted positions of a live data file after the commit: all of them, not only those that are new.
struct NewVector {
  ContentFile data_file;
  PositionSet positions;
};

// What the next snapshot adds to its parent and takes from it.
struct Changes {
  std::vector<ContentFile> added_files;
  std::vector<ContentFile> removed_files;  // data files, as they are at the parent
  std::vector<NewVector> vectors;
  std::vector<ContentFile> added_delete_files;    // equality deletes
  std::vector<ContentFile> removed_delete_files;  // vectors and delete files, as they are at the parent
  uint64_t deleted_rows = 0;                      // live at the parent, and not afterwards
  uint64_t restored_rows = 0;                     // the other way round

  bool empty() const {
    return added_files.empty() && removed_files.empty() && vectors.empty() && added_delete_files.empty() &&
           removed_delete_files.empty();
  }
};

// The operation must be evaluated again on the new state: what it read has changed in a way that might change what it
// does. `reason` is for the user, if it happens too often.
struct LookAgain {
  std::string reason;
};

// The merge rule, for every data file: with B deleted at the base, W now and L as the operation wants it, the result is
// (W ∪ (L \ B)) \ (B \ L). Where (L \ B) and (W \ B) meet, both sides deleted a row: fine for pure deletes, but if one
// of them updated it, the row lives on in a new copy, and so the operation has to look again.
//
// EXAMPLE  B {1}, L {1, 3}, W {1, 5} → vector {1, 3, 5}, 1 row deleted.
//          B {1}, L {1, 3}, W {1, 3}, the other commit a pure delete → no vector, 0 rows deleted.
//          The same, but the other commit updated row 3 → LookAgain.
//          L covers all rows of the file → the file is removed, with its vector.
//
// Errors: Corrupt, storage. ValidationFailed: rows that a position delete file of several data files deletes can't be
// brought back.
Result<std::variant<Changes, LookAgain>> Rebase(const Intent& intent, const iceberg::TableMetadata& metadata,
                                                const BranchState& state, std::shared_ptr<io::FileIO> io,
                                                Executor& executor, const Hooks& hooks);

}  // namespace delenda::commit
