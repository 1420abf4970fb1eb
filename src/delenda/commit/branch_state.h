// The files of a branch's head that a commit touches, as they are now.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/partition.h"
#include "delenda/plan/scan_task.h"

namespace delenda::commit {

// Tells delete files apart: vectors share their Puffin file.
struct DeleteKey {
  std::string path;
  int64_t offset = -1;  // of a vector in its file; -1: the whole file

  explicit DeleteKey(const ContentFile& file) : path(file.path), offset(file.content_offset.value_or(-1)) {}
  auto operator<=>(const DeleteKey&) const = default;
};

// Everything that a commit needs to know of the snapshot that it builds on.
class BranchState {
 public:
  // Reads the manifest list of the branch's head and, if anything is wanted, the manifests whose partitions can hold
  // it: `data_files` by path, `delete_files` by key.
  //
  // Corrupt: two vectors for one data file, broken metadata. ValidationFailed: a delete names a wanted data file by
  // another spelling of its path; merging it would lose its rows.
  static Result<BranchState> Load(const iceberg::TableMetadata& metadata, const std::string& branch, io::FileIO& io,
                                  const std::vector<ContentFile>& data_files,
                                  const std::vector<ContentFile>& delete_files, Executor& executor, const Hooks& hooks);

  const iceberg::Snapshot* head() const { return head_; }  // null: the branch has no snapshot yet
  const std::vector<iceberg::ManifestFile>& manifests() const { return manifests_; }
  const std::map<int32_t, BoundSpec>& specs() const { return plan_->specs; }
  // Which of manifests() hold a wanted file, or a delete of one; by index.
  const std::set<size_t>& touched_manifests() const { return touched_; }

  // A wanted data file that is live, with the deletes that apply to it. Null: it is gone.
  const plan::FileTask* Find(std::string_view path) const;
  // What a new vector for a live data file takes the place of: its vector, and position delete files that cover no
  // other data file.
  std::vector<ContentFile> Superseded(std::string_view path) const;
  // A wanted delete file is live.
  bool IsLive(const DeleteKey& key) const { return live_deletes_.contains(key); }

  // The positions that are deleted in each of these live data files by its vector or position delete files.
  Result<std::map<std::string, PositionSet>> LoadDeleted(const std::vector<const plan::FileTask*>& files,
                                                         std::shared_ptr<io::FileIO> io) const;

 private:
  const iceberg::Snapshot* head_ = nullptr;
  std::vector<iceberg::ManifestFile> manifests_;
  std::set<size_t> touched_;
  std::shared_ptr<plan::ScanPlan> plan_ = std::make_shared<plan::ScanPlan>();
  std::map<std::string, size_t, std::less<>> task_of_;
  std::map<std::string, std::vector<uint32_t>, std::less<>> named_;  // deletes that name just this data file
  std::set<DeleteKey> live_deletes_;
};

}  // namespace delenda::commit
