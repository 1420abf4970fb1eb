// All files of a snapshot as the manifests list them, without the checks of a scan: for looking at tables, broken ones
// too.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delenda/api/table_impl.h"
#include "delenda/base/result.h"
#include "delenda/model/content_file.h"

namespace delenda::api {

struct SnapshotFiles {
  std::optional<int64_t> snapshot_id;
  int32_t schema_id = 0;
  std::map<int32_t, BoundSpec> specs;
  std::vector<ContentFile> data;  // live entries, in the order of the manifests
  std::vector<ContentFile> deletes;
  std::vector<std::optional<std::string>> scopes;  // per delete: the one data file that a position delete file is about
  uint64_t data_manifests = 0, delete_manifests = 0;
};

enum class WhichFiles : uint8_t { kAll, kDeletes };

Result<SnapshotFiles> ReadSnapshotFiles(const Table::Impl& table, const SnapshotChoice& at, WhichFiles which);

}  // namespace delenda::api
