// The data files that the snapshots of a range changed, looked up in as few data manifests as can hold them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/plan/change_delete_index.h"
#include "delenda/plan/changelog_snapshots.h"
#include "delenda/plan/partition_filter.h"

namespace delenda::plan {

// A data file that a snapshot added or removed, or kept while its deletes may have changed.
struct ChangedFile {
  enum class Role : uint8_t { kRemoved, kKept, kAdded };
  uint32_t snapshot = 0;  // its number among the changelog snapshots
  Role role = Role::kKept;
  // The filter lets none of its rows pass: it has no task, and of `file` only the path is there.
  bool is_pruned = false;
  ContentFile file;
  ExprRef residual;
  // Where the entry stands: the manifest in the snapshot's list, the row in it.
  uint32_t manifest = 0;
  uint64_t row = 0;
};

// What finding needs of its planner; all outlives it.
struct ChangedFilesInput {
  const std::vector<ChangelogSnapshot>& snapshots;
  const ChangeDeleteIndex& deletes;
  const std::vector<std::vector<ChangeDeleteIndex::Changed>>& changed_deletes;  // by snapshot number
  const std::map<int32_t, BoundSpec>& specs;
  const ExprRef& filter;
  const ProjectedFilters& projected;
  io::FileIO& io;
  avro::SchemaCache& schemas;
  Executor& executor;
  const Hooks& hooks;
};

// First the data manifests that the snapshots themselves wrote: their ADDED and DELETED entries, and files that they
// carry over and whose deletes changed. Then, for deletes that have not found their file yet, the other data manifests
// of that snapshot that can hold it by partition and sequence number. Each manifest is read once for all snapshots.
class ChangedFiles {
 public:
  explicit ChangedFiles(const ChangedFilesInput& input) : input_(input) {}

  // By snapshot, in the order of the manifests.
  Result<std::vector<ChangedFile>> Find();
  uint64_t manifests_read() const { return manifests_read_; }

 private:
  // Highest sequence numbers of deletes that are not of one file.
  struct Scoped {
    int64_t positions = -1, equality = -1;
  };
  // What is looked for in one snapshot.
  struct Wanted {
    std::unordered_map<PartitionKey, Scoped, PartitionKeyHash> partitions;
    int64_t global_equality = -1;
    int64_t highest = -1;     // sequence number of any
    bool has_scoped = false;  // deletes that may be of any number of files
  };
  // A data manifest, and the snapshots that list it.
  struct Source {
    const iceberg::ManifestFile* manifest = nullptr;
    std::vector<std::pair<uint32_t, uint32_t>> listed_by;  // snapshot number, place in its list
    std::vector<uint32_t> lookups;                         // numbers of snapshots whose deletes may be of its files
    bool has_changes = false;                              // may hold ADDED or DELETED entries of a snapshot
    bool is_read = false;
  };

  Result<void> ListSources();
  std::vector<Wanted> CollectWanted(bool only_open) const;
  bool MayHold(const Source& source, const Wanted& wanted) const;
  void AddLookups(const std::vector<Wanted>& wanted);
  Result<void> Read(const std::vector<Source*>& sources, const std::vector<Wanted>& wanted);
  Result<std::vector<ChangedFile>> ReadSource(const Source& source, const std::vector<Wanted>& wanted) const;

  const ChangedFilesInput& input_;
  std::vector<Source> sources_;
  std::unordered_map<std::string, std::vector<uint32_t>> wanted_paths_;  // canonical path → snapshot numbers
  std::vector<std::unordered_set<std::string>> found_paths_;             // canonical, by snapshot number
  std::vector<ChangedFile> found_;
  uint64_t manifests_read_ = 0;
  std::atomic<uint64_t> done_ = 0;
};

}  // namespace delenda::plan
