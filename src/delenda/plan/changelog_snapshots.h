// The snapshots of a range that change rows, with the manifests that they list.
#pragma once

#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"

namespace delenda::plan {

// A snapshot of the range that is no replace, and what it lists.
struct ChangelogSnapshot {
  const iceberg::Snapshot* snapshot = nullptr;
  std::vector<iceberg::ManifestFile> manifests;
};

// `snapshots`: oldest first. Their manifest lists are read, and those of their parents where these are kept: a snapshot
// must account for every file of its parent, live or DELETED, in the manifests that it wrote in place of its parent's.
//
// Corrupt: a list names a manifest twice (its files would be told twice), or a snapshot dropped files without DELETED
// entries, as the spec wants them ("Manifest Entry Fields"): rows would be missing among the deleted ones, and a new
// deletion vector would seem to delete all that the dropped one had deleted before.
Result<std::vector<ChangelogSnapshot>> ReadChangelogSnapshots(const iceberg::TableMetadata& metadata,
                                                              const std::vector<const iceberg::Snapshot*>& snapshots,
                                                              io::FileIO& io, avro::SchemaCache& schemas,
                                                              Executor& executor, const Hooks& hooks);

}  // namespace delenda::plan
