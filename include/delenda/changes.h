// What changed between two snapshots of a table: which changes to read, and what reading them would touch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/result.h"
#include "delenda/rows.h"
#include "delenda/scan.h"

namespace delenda {

struct ChangeOptions {
  // The state that the changes start from. No member set: the table before its first snapshot. An id may be that of an
  // expired snapshot if the oldest snapshot that is kept is its child.
  SnapshotChoice from = {};
  bool from_inclusive = false;  // the changes of `from` itself belong to the range
  SnapshotChoice to = {};       // inclusive; no member set: the head of `branch`, else the current snapshot
  // `to` must be the head of this branch or one of its ancestors.
  std::optional<std::string> branch = {};
  // Names of top-level columns of the table's current schema and of metadata columns (as in ScanOptions, without
  // _deleted). Not set: all columns of the table.
  std::optional<std::vector<std::string>> columns = {};
  std::string where = {};      // which rows, as in ScanOptions
  bool with_metadata = false;  // append _file, _pos and _row_id
  // Read position and equality delete files too. Without it ranges that have some are NotSupported: changes are told
  // from deletion vectors alone.
  bool resolve_deletes = false;
};

// The deletes of one data file at one snapshot: indexes into ChangePlanInfo::deletes.
struct DeleteStateInfo {
  std::optional<uint32_t> dv = {};
  std::vector<uint32_t> position_deletes = {};
  std::vector<uint32_t> equality_deletes = {};
};

// Rows of one data file that one snapshot changed. D(s) are the positions that a state deletes.
struct ChangeTaskInfo {
  enum class Kind : uint8_t {
    kAddedRows,        // the snapshot added the file: all rows but D(after) were inserted
    kDeletedDataFile,  // the snapshot removed the file: all rows but D(before) were deleted
    kDeletedRows,      // D(after) without D(before) were deleted
    kRestoredRows,     // D(before) without D(after) were inserted again
  };
  Kind kind = Kind::kAddedRows;
  uint64_t change_ordinal = 0;  // of the snapshot among those of the range that are no rearrangement, oldest first
  int64_t commit_snapshot_id = 0;
  int64_t commit_timestamp_ms = 0;  // since 1970-01-01 UTC
  DataFileInfo file = {};           // its own lists of deletes are empty
  DeleteStateInfo before = {};      // in the parent snapshot
  DeleteStateInfo after = {};       // in the snapshot
  uint64_t estimated_rows = 0;      // that changed: an upper bound
  uint64_t estimated_bytes = 0;     // that reading them may touch
};

// What reading changes would touch: tasks with their deletes, each delete listed once however many tasks refer to it.
struct ChangePlanInfo {
  std::optional<int64_t> from_snapshot_id = {};  // exclusive; not set: from the first snapshot on
  std::optional<int64_t> to_snapshot_id = {};    // inclusive; not set: the table has no snapshot yet
  int32_t schema_id = 0;
  std::vector<DeleteInfo> deletes = {};
  // By ordinal; within a snapshot those that delete before those that insert.
  std::vector<ChangeTaskInfo> tasks = {};
  uint64_t changelog_snapshots = 0;
  uint64_t replace_snapshots = 0;  // in the range: they only rearranged rows
  uint64_t delete_manifests_read = 0;
  uint64_t data_manifests_read = 0;
};

// Which deletes and inserts of one snapshot are told as the two images of one row.
enum class ChangeUpdates : uint8_t {
  kLineage,  // those with the same _row_id; rows without one stay DELETE and INSERT
  kNone,     // none
  kKey,      // those with the same values in ChangeReadOptions::key_columns
};

enum class ChangeDialect : uint8_t {
  // _change_type: INSERT, DELETE, UPDATE_BEFORE, UPDATE_AFTER (string); _change_ordinal: which of the range's
  // snapshots, oldest first (int); _commit_snapshot_id (long); _commit_timestamp (timestamp with time zone).
  kIceberg,
  // As Delta's change data feed has it. _change_type: insert, delete, update_preimage, update_postimage;
  // _commit_version (long): the sequence number of the snapshot, which, like a version of Delta, belongs to one commit
  // and grows from commit to commit, whatever the range; _commit_timestamp.
  kDelta,
};

struct ChangeReadOptions {
  ChangeOptions range = {};
  // Keep the rows that a copy-on-write rewrite deletes and inserts unchanged: with ChangeUpdates::kNone exactly the
  // rows that the tasks of the plan stand for. Else they are left out: pairs with the same _row_id, last update and
  // values, and, where rows have no lineage, rows that are equal in all columns of the table, selected or not.
  bool raw = false;
  ChangeUpdates updates = ChangeUpdates::kLineage;
  std::vector<std::string> key_columns = {};  // for ChangeUpdates::kKey: top-level columns
  // One change at most for each row of the range, by key if there is one, else by _row_id: what was inserted and
  // deleted again vanishes, a chain of updates becomes one.
  bool net = false;
  ChangeDialect dialect = ChangeDialect::kIceberg;
  // _change_ordinal of the range's first snapshot: numbers a range on from the one before it.
  int32_t first_ordinal = 0;
  bool verify_footers = false;  // as in ScanOptions
  // Bytes that rows may take while they wait for their pair; more go to files without a name in `temp_folder` (empty:
  // TMPDIR, else /tmp). Batches on their way come on top.
  uint64_t pairing_memory = uint64_t{256} << 20;
  std::string temp_folder = {};
};

// The changes of one snapshot of a range; reading them is up to the caller. Copies share everything.
class SnapshotChanges {
 public:
  int64_t snapshot_id() const;
  int32_t ordinal() const;
  // Errors as Table::Changes.
  Result<RowStream> Read() const;

  class Impl;  // private to the library
  explicit SnapshotChanges(std::shared_ptr<const Impl> impl);

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace delenda
