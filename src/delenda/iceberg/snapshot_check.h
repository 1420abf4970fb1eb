// Checks of one snapshot: its manifest list against its manifests, and these against their own rules (Iceberg spec,
// "Manifests", "Manifest Lists", "Row Lineage").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/finding.h"

namespace delenda::iceberg {

struct SnapshotSource {
  const TableMetadata& metadata;
  const std::map<int32_t, BoundSpec>& specs;
  io::FileIO& io;
  avro::SchemaCache& schemas;
  Executor& executor;
  const Hooks& hooks;
};

// The live files of a snapshot, as far as its manifests could be read.
struct SnapshotContents {
  std::vector<ManifestFile> manifests;  // in the order of the list
  std::vector<ContentFile> data;
  std::vector<ContentFile> deletes;
  std::vector<std::optional<std::string>> scopes;  // per delete: the one data file that a position delete file is about
  bool all_data = true;                            // every data manifest was read
  bool all_deletes = true;                         // every delete manifest was read
  Findings findings;
};

// Reads every manifest of the snapshot, in parallel. What is broken becomes a finding and the rest is read all the
// same; errors of storage, cancellation and what is not supported (encryption) are returned.
//
// EXAMPLE  the list says of m1: 2 added files, min sequence number 5; m1 holds a.parquet (ADDED, 4) and a.parquet
//          (EXISTING, 6)  →  findings manifest-counts, manifest-sequence, data-file-twice; data = {a, a}
Result<SnapshotContents> CheckSnapshot(const SnapshotSource& source, const Snapshot& snapshot);

// The live files of one manifest, with metrics. For a manifest that CheckSnapshot could read.
Result<std::vector<ContentFile>> ReadFilesWithMetrics(const SnapshotSource& source, const ManifestFile& manifest);

// The deletion vectors of a snapshot that are not in any of `kept`, manifests of its child: those that the child may
// have replaced or dropped.
Result<std::vector<ContentFile>> ReadReplacedVectors(const SnapshotSource& source, const Snapshot& snapshot,
                                                     const std::vector<ManifestFile>& kept);

}  // namespace delenda::iceberg
