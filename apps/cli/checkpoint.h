// How far `changes --follow` came: a small JSON file that is always whole.
#pragma once

#include <delenda/result.h>

#include <cstdint>
#include <optional>
#include <string>

namespace delenda::cli {

// The output file, and how much of it is stored for good.
struct OutputPosition {
  uint64_t device = 0, inode = 0;  // a file of the same name may be another one
  uint64_t bytes = 0;
};

// EXAMPLE  {"version": 1, "table-uuid": "9c12d441-…", "branch": "main", "snapshot-id": 5013, "next-ordinal": 3,
//           "output": {"device": 2049, "inode": 77, "bytes": 10240}}
struct Checkpoint {
  std::string table_uuid;              // empty: an old version 1 table, which has none
  std::string branch;                  // empty: the current state, whatever the branch is called
  std::optional<int64_t> snapshot_id;  // whose changes came last; none: no snapshot's so far
  int32_t next_ordinal = 0;            // of the next snapshot
  std::optional<OutputPosition> output;

  // Nothing: there is no such file. Corrupt if it is no checkpoint; NotSupported for one of a later version.
  static Result<std::optional<Checkpoint>> Read(const std::string& path);
  // Replaces the file: after a crash it holds the old text or the new one. The new text is stored when this returns.
  Result<void> Write(const std::string& path) const;
};

}  // namespace delenda::cli
