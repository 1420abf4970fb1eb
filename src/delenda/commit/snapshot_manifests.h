// Writing the manifests of a new snapshot.
#pragma once

#include <cstdint>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/commit/branch_state.h"
#include "delenda/commit/rebase.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/write/staged_files.h"

namespace delenda::commit {

// The manifests of the snapshot that follows `state` by `changes`: new ones for what is added, for each spec; the
// parent's, rewritten where a file of theirs is removed (it stays as DELETED in the new snapshot) or where they lack
// what the format asks for; the others as they are, unless nothing in them is live. Where they have become many, small
// ones are merged (commit/manifest_merge.h): entries keep their sequence numbers and first row ids.
// `new_deletes`: entries of WriteVectors, and new equality deletes. Every path is entered into `staged` before it is
// written. InvalidArgument as ManifestWriter; Corrupt: a file that is to be removed is in no manifest.
//
// EXAMPLE  parent {m1: a b} {d1: vector of a}; changes: append c, another vector for a
//          →  {new: c ADDED} {new: vector of a ADDED} {m1} {d1 rewritten: vector of a DELETED}
Result<std::vector<iceberg::ManifestFile>> WriteManifests(const iceberg::TableMetadata& metadata,
                                                          const BranchState& state, const Changes& changes,
                                                          const std::vector<ContentFile>& new_deletes,
                                                          int64_t snapshot_id, io::FileIO& io,
                                                          write::StagedFiles& staged, Executor& executor,
                                                          const Hooks& hooks);

}  // namespace delenda::commit
