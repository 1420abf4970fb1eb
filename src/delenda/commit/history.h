// What others committed to a branch since an operation read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/expression.h"

namespace delenda::commit {

// The commits between a base snapshot (exclusive) and the head of its branch (inclusive), taken together.
struct History {
  // False: the base is no ancestor of the head, or a snapshot between them can't be read any more. Nothing is known.
  bool is_known = false;
  // No commit both removed rows and added some: what was deleted since is gone, and was not updated. (Commits of
  // operation "replace" change no rows.)
  bool is_pure = true;
  // Data files were removed by a commit that kept their rows: their rows live on in other files.
  bool has_moved_rows = false;
  bool has_new_equality_deletes = false;
  // A vector was taken away from a file that stayed, or replaced by one that lacks some of its bits: rows came back.
  bool has_restored_rows = false;
  // Data files that were added with new rows, with metrics; also those that are gone again.
  std::vector<ContentFile> added_files;
  // The same of commits that changed no rows: files with rows that were there before.
  std::vector<ContentFile> replacing_files;
};

// EXAMPLE  base 4; 5 appended c.parquet; 6 updated rows of a.parquet (new vector, new copies in d.parquet)
//          →  is_pure false (6), added_files {c, d}
//
// Reads the manifest list of each snapshot and the manifests that it wrote. Errors: Corrupt metadata, storage.
Result<History> ReadHistory(const iceberg::TableMetadata& metadata, std::optional<int64_t> base_snapshot_id,
                            const iceberg::Snapshot& head, io::FileIO& io, Executor& executor, const Hooks& hooks);

}  // namespace delenda::commit
