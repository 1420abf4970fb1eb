// Manifest lists: which manifests make up a snapshot (Iceberg spec, "Manifest Lists").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/avro/reader.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"

namespace delenda::iceberg {

enum class ManifestContent : uint8_t { kData = 0, kDeletes = 1 };

// Summary of one partition field over all files of a manifest. Bounds in binary single-value form, of the transform's
// result type.
struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower, upper;
};

struct ManifestFile {
  std::string path;
  std::optional<uint64_t> length;  // not known in version 1 tables that name manifests in the metadata file
  std::optional<int32_t> spec_id;  // likewise: then the manifest's own header has it
  ManifestContent content = ManifestContent::kData;
  int64_t sequence_number = 0;  // 0 in version 1
  int64_t min_sequence_number = 0;
  int64_t added_snapshot_id = 0;
  std::optional<int64_t> added_files, existing_files, deleted_files;
  std::optional<int64_t> added_rows, existing_rows, deleted_rows;
  std::vector<FieldSummary> partitions;  // empty: unknown
  bool partitions_listed = false;        // an empty list was written (unpartitioned), not none
  std::optional<int64_t> first_row_id;   // version 3, data manifests
};

// The manifests of a snapshot, in the order of the list. Errors carry the file.
Result<std::vector<ManifestFile>> ReadManifests(io::FileIO& io, const Snapshot& snapshot, avro::SchemaCache& schemas);

}  // namespace delenda::iceberg
