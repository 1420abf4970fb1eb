// Writing the files of a new snapshot: vectors, manifests, the manifest list.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
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

// Where files of a table go: properties write.data.path and write.metadata.path, else below the table's location.
std::string DataFolder(const iceberg::TableMetadata& metadata);
std::string MetadataFolder(const iceberg::TableMetadata& metadata);

// Writes the vectors into one Puffin file and returns their entries, each with the spec and partition of its data file.
// Every path is entered into `staged` before it is written.
Result<std::vector<ContentFile>> WriteVectors(const std::vector<NewVector>& vectors,
                                              const iceberg::TableMetadata& metadata, io::FileIO& io,
                                              write::StagedFiles& staged);

// The manifests of the snapshot that follows `state` by `changes`: new ones for what is added, one for each spec; the
// parent's, rewritten where a file of theirs is removed (it stays as DELETED in the new snapshot) or where they lack
// what the format asks for; the others as they are, unless nothing in them is live.
// `new_deletes`: entries of WriteVectors. InvalidArgument as ManifestWriter; Corrupt: a file that is to be removed is
// in no manifest.
Result<std::vector<iceberg::ManifestFile>> WriteManifests(const iceberg::TableMetadata& metadata,
                                                          const BranchState& state, const Changes& changes,
                                                          const std::vector<ContentFile>& new_deletes,
                                                          int64_t snapshot_id, io::FileIO& io,
                                                          write::StagedFiles& staged, Executor& executor,
                                                          const Hooks& hooks);

}  // namespace delenda::commit
