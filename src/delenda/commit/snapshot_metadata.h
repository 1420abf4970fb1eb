// The table metadata that has one more snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "delenda/base/result.h"
#include "delenda/commit/intent.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/iceberg/table_metadata.h"

namespace delenda::commit {

struct NewSnapshot {
  int64_t snapshot_id = 0;
  Operation operation = Operation::kAppend;
  std::map<std::string, std::string> summary;
  std::string manifest_list;
  int64_t next_row_id = 0;  // version 3: of the table, after the snapshot
};

// The version that follows `base` (NextMetadata), with the snapshot as head of the branch, which is made if it does not
// exist (main) — other branches must exist.
Result<iceberg::TableMetadata> WithSnapshot(const iceberg::LoadedTable& base, const std::string& branch,
                                            const NewSnapshot& snapshot);

}  // namespace delenda::commit
