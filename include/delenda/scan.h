// What to read of a table, and what reading it would touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace delenda {

// Which state of the table; at most one member is set. None: the current one.
struct SnapshotChoice {
  std::optional<int64_t> snapshot_id = {};
  std::optional<std::string> ref = {};   // branch or tag
  std::optional<int64_t> as_of_ms = {};  // what was current at this time, in milliseconds since 1970-01-01 UTC
};

struct ScanOptions {
  SnapshotChoice at = {};
  // Names of top-level columns, and of metadata columns: _file (location of the data file), _pos (0-based ordinal of
  // the row in it), _row_id and _last_updated_sequence_number (row lineage), _spec_id, _partition, and _deleted, with
  // which deleted rows are returned too, marked. Not set: all columns of the table.
  std::optional<std::vector<std::string>> columns = {};
  // Which rows, in a SQL-like form: "region = 'eu' AND (amount > 10.5 OR note IS NULL)". Empty: all.
  std::string where = {};
  std::optional<uint64_t> limit = {};
  bool with_metadata = false;  // append _file and _pos
  bool ordered = false;        // rows in the order of the plan, then by position; else batches come as they are ready
  uint64_t split_size = 0;     // cut large files into tasks of about this many bytes; 0: one task a file
  // Compare the footer of every Puffin file with what the manifests say of its deletion vectors.
  bool verify_footers = false;
  // A deletion vector that belongs to no data file is a warning, not an error. For repair only: rows that someone
  // deleted may be returned.
  bool allow_dangling_dvs = false;
};

struct CountInfo {
  uint64_t rows = 0;
  uint64_t files_by_metadata = 0;  // data files that were counted from the manifests alone
  uint64_t files_read = 0;         // data files whose deletes or rows had to be read
  uint64_t files_pruned = 0;       // data files that the filter ruled out by partition values or bounds
};

// Requests to storage since the table was opened.
struct IoStats {
  uint64_t requests = 0;  // what an object store would answer: reads, lists, stats and opens of unknown size
  uint64_t opens = 0;
  uint64_t reads = 0;
  uint64_t stats = 0;
  uint64_t lists = 0;
  uint64_t bytes_read = 0;
};

// A delete file, or one deletion vector of a Puffin file.
struct DeleteInfo {
  enum class Kind : uint8_t { kDeletionVector, kPositionDeletes, kEqualityDeletes };
  Kind kind = Kind::kDeletionVector;
  std::string format = {};  // "parquet", "puffin", ...
  std::string path = {};
  std::optional<int64_t> content_offset = {};  // deletion vectors: where in the Puffin file
  std::optional<int64_t> content_size = {};
  int64_t file_size = 0;     // bytes of the whole file
  int64_t record_count = 0;  // of a deletion vector: its cardinality
  std::optional<std::string> referenced_data_file = {};
  std::vector<int32_t> equality_ids = {};  // field ids
  int32_t spec_id = 0;
  std::string partition = {};  // "region=eu/day=2024-02-29"; empty: unpartitioned
  int64_t data_sequence_number = 0;
  int64_t file_sequence_number = 0;
};

// A data file, or a part of one, and the deletes that apply to it.
struct DataFileInfo {
  std::string path = {};
  std::string format = {};
  int64_t record_count = 0;  // rows in the file, deleted ones included
  int64_t file_size = 0;     // bytes
  uint64_t start = 0;        // the task's row groups begin in [start, start + length)
  uint64_t length = 0;
  int32_t spec_id = 0;
  std::string partition = {};
  int64_t data_sequence_number = 0;
  int64_t file_sequence_number = 0;
  std::optional<int64_t> first_row_id = {};
  std::optional<uint32_t> dv = {};              // index into the list of deletes
  std::vector<uint32_t> position_deletes = {};  // indexes into the list of deletes
  std::vector<uint32_t> equality_deletes = {};  // indexes into the list of deletes
  std::string residual = {};                    // what is left of the filter for the rows of this file; empty: nothing

  // How many rows are deleted, if metadata alone tells: no deletes, or a deletion vector and nothing else.
  std::optional<uint64_t> DeletedRows(const std::vector<DeleteInfo>& deletes) const;
};

// What a scan would read: files with their deletes, each delete listed once however many files refer to it.
struct PlanInfo {
  std::optional<int64_t> snapshot_id = {};  // not set: the table has no snapshot yet
  int32_t schema_id = 0;
  std::vector<DeleteInfo> deletes = {};
  std::vector<DataFileInfo> files = {};
  uint64_t data_manifests = 0, data_manifests_read = 0;
  uint64_t delete_manifests = 0, delete_manifests_read = 0;
  uint64_t files_live = 0;    // data files in the manifests that were read
  uint64_t files_pruned = 0;  // of these, ruled out by the filter
};

}  // namespace delenda
