// The table metadata that has one more snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "delenda/base/result.h"
#include "delenda/commit/intent.h"
#include "delenda/iceberg/table_metadata.h"

namespace delenda::commit {

struct NewSnapshot {
  int64_t snapshot_id = 0;
  Operation operation = Operation::kAppend;
  std::map<std::string, std::string> summary;
  std::string manifest_list;
  int64_t next_row_id = 0;  // version 3: of the table, after the snapshot
};

// `base` with the snapshot as head of the branch, which is made if it does not exist (main) — other branches must
// exist. `base_path`: its file, for the metadata log, which keeps write.metadata.previous-versions-max entries (100).
// Everything else of `base` is kept: statistics, other refs, members that are not known here.
Result<iceberg::TableMetadata> WithSnapshot(const iceberg::TableMetadata& base, const std::string& base_path,
                                            const std::string& branch, const NewSnapshot& snapshot);

// The metadata file is to be compressed (property write.metadata.compression-codec = gzip).
bool WritesGzip(const iceberg::TableMetadata& metadata);

// A number that a table's property gives, or `otherwise`. InvalidArgument names the property if it is none.
Result<int64_t> NumberProperty(const std::map<std::string, std::string>& properties, const std::string& name,
                               int64_t otherwise);

}  // namespace delenda::commit
