// Writing manifest lists of format version 2 and 3 (Iceberg spec, "Manifest Lists").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/avro/writer.h"
#include "delenda/iceberg/manifest_list.h"

namespace delenda::iceberg {

struct ManifestListOptions {
  int32_t format_version = 3;  // 2 or 3
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_snapshot_id = std::nullopt;
  int64_t sequence_number = 0;  // of the commit
  int64_t first_row_id = 0;     // version 3: the table's next-row-id; the snapshot's first-row-id
  avro::WriteOptions avro = {};
};

struct WrittenManifestList {
  Bytes bytes;
  // As written: with the sequence numbers and first row ids that were given out.
  std::vector<ManifestFile> manifests;
  // Version 3: the table's next-row-id after the commit. The snapshot's added-rows is next_row_id - first_row_id.
  int64_t next_row_id = 0;
};

// `manifests` in the order in which they are to be listed. Unassigned sequence numbers become the commit's. In version
// 3 every data manifest without a first row id gets one (spec, "First Row ID Assignment"), which reserves ids for all
// its live rows.
//
// InvalidArgument: an unassigned number in a manifest of another snapshot (it would be read as newer than it is); a
// first row id of a delete manifest or in version 2; row ids overflow; a path twice. ValidationFailed: a manifest
// without length, spec id or counts, as version 1 has them: it must be rewritten first.
Result<WrittenManifestList> WriteManifestList(std::vector<ManifestFile> manifests, const ManifestListOptions& options);

}  // namespace delenda::iceberg
