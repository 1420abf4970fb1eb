// What the metadata of a table says about its past and its names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace delenda {

struct SnapshotInfo {
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_id = {};
  int64_t sequence_number = 0;
  int64_t timestamp_ms = 0;    // since 1970-01-01 UTC
  std::string operation = {};  // "append", "delete", "overwrite", "replace"
  std::map<std::string, std::string> summary = {};
  std::optional<int32_t> schema_id = {};
  bool is_current = false;
};

// One change of the current snapshot: from this time on it was this one.
struct HistoryEntry {
  int64_t timestamp_ms = 0;
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_id = {};
  bool is_retained = false;          // the snapshot is still there: it can be read
  bool is_current_ancestor = false;  // false: it was rolled back
};

struct RefInfo {
  std::string name = {};
  bool is_branch = true;  // else a tag
  int64_t snapshot_id = 0;
  std::optional<int32_t> min_snapshots_to_keep = {};
  std::optional<int64_t> max_snapshot_age_ms = {};
  std::optional<int64_t> max_ref_age_ms = {};
};

}  // namespace delenda
