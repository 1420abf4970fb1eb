#include "delenda/commit/branch_state.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "delenda/iceberg/manifest.h"
#include "delenda/io/location.h"
#include "delenda/plan/delete_index.h"
#include "delenda/plan/partition_filter.h"
#include "delenda/read/delete_loader.h"

namespace delenda::commit {
namespace {

using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;

// What is looked for, and the partitions where it can be.
struct WantedFiles {
  std::set<std::string, std::less<>> data_paths, canonical_data_paths;
  std::set<DeleteKey> deletes;
  std::unordered_set<PartitionKey, PartitionKeyHash> partitions;

  void AddPartition(const ContentFile& file) {
    partitions.insert({.spec_id = file.spec_id, .tuple = file.partition.get()});
  }
  bool HasPartition(int32_t spec_id, const PartitionTuple& tuple) const {
    return partitions.contains({.spec_id = spec_id, .tuple = &tuple});
  }
};

bool MayHoldWanted(const ManifestFile& manifest, const WantedFiles& wanted, const std::map<int32_t, BoundSpec>& specs) {
  if (manifest.added_files == 0 && manifest.existing_files == 0) return false;  // DELETED entries only
  if (!manifest.spec_id) return true;
  const auto spec = specs.find(*manifest.spec_id);
  return spec != specs.end() && std::ranges::any_of(wanted.partitions, [&](const PartitionKey& partition) {
           return partition.spec_id == *manifest.spec_id &&
                  plan::MayHoldPartition(manifest, spec->second, *partition.tuple);
         });
}

struct FoundDelete {
  ContentFile file;
  std::optional<std::string> scope;
  bool is_wanted = false;
};
struct FoundInManifest {
  std::vector<ContentFile> data;
  std::vector<FoundDelete> deletes;
};

Result<FoundInManifest> ReadManifest(io::FileIO& io, const ManifestFile& manifest, const WantedFiles& wanted,
                                     const std::map<int32_t, BoundSpec>& specs, avro::SchemaCache& schemas) {
  FoundInManifest found;
  const bool is_data = manifest.content == ManifestContent::kData;
  auto reader = DELENDA_TRY(ManifestReader::Open(io, manifest, specs, schemas, {.bounds = !is_data}));
  const int32_t spec_id = reader.spec().spec.spec_id;
  while (DELENDA_TRY(reader.NextBlock())) {
    for (size_t row = 0; row < reader.rows(); ++row) {
      if (!reader.IsLive(row)) continue;
      if (is_data) {
        if (wanted.data_paths.contains(reader.Path(row))) found.data.push_back(reader.File(row));
        continue;
      }
      FoundDelete entry{.file = reader.File(row), .scope = {}};
      entry.scope = entry.file.referenced_data_file ? entry.file.referenced_data_file : reader.FileScope(row);
      entry.is_wanted = wanted.deletes.contains(DeleteKey(entry.file));
      // Equality deletes do not change which positions a vector holds: readers apply them beside it.
      const bool may_apply =
          entry.file.content == FileContent::kPositionDeletes && wanted.HasPartition(spec_id, *reader.Partition(row)) &&
          (!entry.scope || wanted.canonical_data_paths.contains(io::CanonicalLocation(*entry.scope)));
      if (may_apply || entry.is_wanted) found.deletes.push_back(std::move(entry));
    }
  }
  return found;
}

}  // namespace

Result<BranchState> BranchState::Load(const iceberg::TableMetadata& metadata, const std::string& branch, io::FileIO& io,
                                      const std::vector<ContentFile>& data_files,
                                      const std::vector<ContentFile>& delete_files, Executor& executor,
                                      const Hooks& hooks) {
  BranchState state;
  state.plan_->schema = metadata.CurrentSchema();
  state.plan_->specs = iceberg::BindSpecs(metadata, state.plan_->schema);
  const auto ref = metadata.refs.find(branch);
  if (ref == metadata.refs.end()) return state;
  if (!ref->second.is_branch) return InvalidArgument("'{}' is a tag: only branches can be changed", branch);
  state.head_ = metadata.FindSnapshot(ref->second.snapshot_id);
  if (state.head_ == nullptr)
    return Corrupt("branch {} points to snapshot {}, which the table does not have", branch, ref->second.snapshot_id);
  avro::SchemaCache schemas;
  state.manifests_ = DELENDA_TRY(iceberg::ReadManifests(io, *state.head_, schemas));

  WantedFiles wanted;
  for (const auto& file : data_files) {
    wanted.data_paths.insert(file.path);
    wanted.canonical_data_paths.insert(io::CanonicalLocation(file.path));
    wanted.AddPartition(file);
  }
  for (const auto& file : delete_files) {
    wanted.deletes.insert(DeleteKey(file));
    wanted.AddPartition(file);
  }
  std::vector<size_t> reading;
  for (size_t i = 0; i < state.manifests_.size(); ++i) {
    if (MayHoldWanted(state.manifests_[i], wanted, state.plan_->specs)) reading.push_back(i);
  }
  std::vector<FoundInManifest> found(reading.size());
  DELENDA_TRY(executor.ParallelFor(
      reading.size(),
      [&](size_t i) -> Result<void> {
        found[i] = DELENDA_TRY(ReadManifest(io, state.manifests_[reading[i]], wanted, state.plan_->specs, schemas));
        return {};
      },
      hooks.cancel));

  std::vector<std::pair<ContentFile, std::optional<std::string>>> deletes;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i].data.empty() || !found[i].deletes.empty()) state.touched_.insert(reading[i]);
    for (auto& entry : found[i].deletes) {
      if (entry.is_wanted) state.live_deletes_.insert(DeleteKey(entry.file));
      if (entry.file.content != FileContent::kPositionDeletes) continue;
      deletes.emplace_back(std::move(entry.file), std::move(entry.scope));
    }
  }
  const auto index = DELENDA_TRY(plan::DeleteIndex::Make(std::move(deletes)));
  for (auto& manifest : found) {
    for (auto& file : manifest.data) {
      auto match = index.Find({.path = file.path,
                               .spec_id = file.spec_id,
                               .partition = file.partition.get(),
                               .data_sequence_number = file.data_sequence_number});
      if (!match.aliases.empty())
        return ValidationFailed(
            "{} names the data file {} by another spelling of its path: rewrite the data file first",
            index.deletes()[match.aliases.front()].path, file.path);
      if (!state.task_of_.emplace(file.path, state.plan_->tasks.size()).second)
        return Corrupt("data file {} is live twice", file.path);
      // A vector beside the one that replaces it would be the second for its data file.
      auto& named = state.named_[file.path];
      named = std::move(match.named);
      if (match.dv) named.push_back(*match.dv);
      plan::FileTask& task = state.plan_->tasks.emplace_back();
      task.file = std::move(file);
      task.dv = match.dv;
      task.position_deletes = std::move(match.positions);
      task.residual = Expr::True();
    }
  }
  state.plan_->deletes = index.deletes();
  return state;
}

const plan::FileTask* BranchState::Find(std::string_view path) const {
  const auto found = task_of_.find(path);
  return found == task_of_.end() ? nullptr : &plan_->tasks[found->second];
}

std::vector<ContentFile> BranchState::Superseded(std::string_view path) const {
  std::vector<ContentFile> files;
  const auto found = named_.find(path);
  if (found == named_.end()) return files;
  for (const uint32_t index : found->second) files.push_back(plan_->deletes[index]);
  return files;
}

Result<std::map<std::string, PositionSet>> BranchState::LoadDeleted(const std::vector<const plan::FileTask*>& files,
                                                                    std::shared_ptr<io::FileIO> io) const {
  std::vector<read::DeleteLoader::Need> needs;
  for (const plan::FileTask* task : files)
    needs.push_back({.file = &task->file, .dv = task->dv, .position_deletes = task->position_deletes});
  const auto loader = DELENDA_TRY(read::DeleteLoader::Make(*plan_, needs, std::move(io), false, {}));
  std::map<std::string, PositionSet> deleted;
  for (const auto& need : needs) deleted.emplace(need.file->path, DELENDA_TRY(loader->Load(need)));
  return deleted;
}

}  // namespace delenda::commit
