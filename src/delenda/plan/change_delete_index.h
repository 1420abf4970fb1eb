// The deletes of a range of snapshots: which of them each snapshot and its parent had, and which of these apply to a
// data file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/model/content_file.h"
#include "delenda/plan/change_task.h"
#include "delenda/plan/delete_index.h"

namespace delenda::plan {

// One entry of a delete manifest.
struct ListedDelete {
  ContentFile file;
  std::optional<std::string> file_scope;  // of a position delete file, when its bounds say so
  iceberg::EntryStatus status = iceberg::EntryStatus::kAdded;
  int64_t snapshot_id = 0;  // that added (DELETED: removed) the file
};

// A changelog snapshot as the index looks at it: its place in the list of them is its number here.
struct IndexedSnapshot {
  int64_t snapshot_id = 0;
  std::vector<uint32_t> delete_manifests;  // numbers, as given to Add
};

// Deletes by the snapshots that list them. One that stands in many manifests is kept once, so that the memory is that
// of the distinct deletes and a few bytes for each entry.
//
// A snapshot has the deletes that are live in its manifests. Its parent had the same ones, without those that the
// snapshot added and with those that it removed (its own ADDED and DELETED entries): so the parent need not be read,
// nor be kept by the table, and what a replace snapshot in between did is in it.
//
// EXAMPLE  manifest 0: v1 ADDED by snapshot 2.  manifest 1: v1 DELETED by 3, v2 ADDED by 3.
//          Snapshots: 2 lists {0}, 3 lists {1}.  2: before {}, after {v1}.  3: before {v1}, after {v2}.
class ChangeDeleteIndex {
 public:
  ChangeDeleteIndex(std::vector<IndexedSnapshot> snapshots, std::set<int32_t> unpartitioned_specs);

  // The entries of one manifest. Corrupt: an incomplete deletion vector or equality delete.
  Result<void> Add(uint32_t manifest, std::vector<ListedDelete> entries);

  bool empty() const { return deletes_.empty(); }
  const ContentFile& file(uint32_t index) const { return deletes_[index].file; }
  // The one data file that a delete is of; none: it is of a partition or the table.
  const std::optional<std::string>& scope(uint32_t index) const { return deletes_[index].scope; }
  bool IsGlobal(uint32_t index) const;

  // Deletes that a snapshot has and its parent had not, or the other way round.
  struct Changed {
    uint32_t index = 0;
    bool added = false;
  };
  // By snapshot number.
  std::vector<std::vector<Changed>> FindChanged() const;

  // What applies to a data file, as indexes of this index: in the parent of a snapshot and in the snapshot.
  struct States {
    DeleteState before, after;
    std::vector<uint32_t> applied_aliases;  // applied although they name another spelling of the path
  };
  // `live_paths`: data files of the snapshot and its parent, at least those that share the canonical form of their path
  // with a delete. A delete whose own spelling is among them is not applied to another one.
  // Corrupt: two DVs in one state; a DV that names the file but has an older sequence number or another partition.
  Result<States> Find(uint32_t snapshot, const DataFileKey& file, const std::set<std::string_view>& live_paths) const;

 private:
  struct Occurrence {
    uint32_t manifest = 0;
    iceberg::EntryStatus status = iceberg::EntryStatus::kAdded;
    int64_t snapshot_id = 0;
  };
  struct KnownDelete {
    ContentFile file;
    std::optional<std::string> scope;
    std::vector<Occurrence> occurrences;
  };
  struct Presence {
    bool before = false, after = false;
  };
  struct Identity {
    std::string path;
    int64_t offset = -1;
    bool operator==(const Identity&) const = default;
  };
  struct IdentityHash {
    size_t operator()(const Identity& identity) const {
      return std::hash<std::string>()(identity.path) * 31 + static_cast<size_t>(identity.offset);
    }
  };
  using PartitionKey = std::pair<int32_t, size_t>;  // spec and hash of the tuple: candidates, to be compared

  Result<uint32_t> Intern(ListedDelete& entry);
  Presence PresenceIn(const KnownDelete& known, uint32_t snapshot) const;
  Result<void> AddDv(DeleteState& state, uint32_t index, std::string_view path) const;

  std::vector<IndexedSnapshot> snapshots_;
  std::vector<std::vector<bool>> lists_;  // by snapshot number, by manifest number
  std::unordered_map<int64_t, uint32_t> number_of_;
  std::set<int32_t> unpartitioned_specs_;
  std::vector<KnownDelete> deletes_;
  std::unordered_map<Identity, std::vector<uint32_t>, IdentityHash> by_identity_;
  std::unordered_map<std::string, std::vector<uint32_t>> by_canonical_path_;
  std::map<PartitionKey, std::vector<uint32_t>> positions_by_partition_, equality_by_partition_;
  std::vector<uint32_t> global_equality_;
};

}  // namespace delenda::plan
