#include "delenda/plan/scan_planner.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/name_mapping_json.h"
#include "delenda/plan/delete_index.h"
#include "delenda/plan/key_fields.h"
#include "delenda/plan/output_columns.h"
#include "delenda/plan/partition_filter.h"

namespace delenda::plan {
namespace {

using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;

// A delete that names another spelling of a data file's path.
struct AliasMatch {
  uint32_t delete_index = 0;
  size_t task = SIZE_MAX;  // within the manifest; SIZE_MAX: the entry was pruned
  std::string path;
  bool applies = false;
};

struct DataManifestResult {
  std::vector<FileTask> tasks;
  std::vector<uint32_t> named;        // deletes whose exact path is live in the manifest
  std::vector<uint32_t> applied_dvs;  // of these, DVs that apply
  std::vector<AliasMatch> aliases;
  uint64_t live = 0, pruned = 0;
};

class Planner {
 public:
  Planner(const iceberg::TableMetadata& metadata, io::FileIO& io, const ScanRequest& request, Executor& executor,
          const Hooks& hooks)
      : metadata_(metadata), io_(io), request_(request), executor_(executor), hooks_(hooks) {}

  Result<ScanPlan> Run() {
    const auto selected = DELENDA_TRY(SelectSnapshot(metadata_, request_.snapshot));
    plan_.schema = *selected.schema;
    plan_.filter = DELENDA_TRY(BindText(request_.where, plan_.schema));
    plan_.specs = BindSpecs(metadata_, plan_.schema);
    projected_ = ProjectFilter(*plan_.filter, plan_.specs);
    ColumnChoice choice{.select = request_.select, .select_all = request_.select_all};
    if (request_.with_metadata) choice.append = {"_file", "_pos"};
    plan_.columns = DELENDA_TRY(ChooseColumns(choice, plan_.schema, plan_.specs));
    if (selected.snapshot == nullptr) return std::move(plan_);
    plan_.snapshot_id = selected.snapshot->snapshot_id;
    DELENDA_TRY(WithContext(PlanSnapshot(*selected.snapshot), "snapshot",
                            static_cast<uint64_t>(selected.snapshot->snapshot_id)));
    return std::move(plan_);
  }

 private:
  Result<void> PlanSnapshot(const iceberg::Snapshot& snapshot) {
    const auto manifests = DELENDA_TRY(ReadManifests(io_, snapshot, schemas_));
    std::vector<const ManifestFile*> data, deletes;
    for (const auto& manifest : manifests) {
      const bool is_data = manifest.content == ManifestContent::kData;
      (is_data ? plan_.metrics.data_manifests : plan_.metrics.delete_manifests) += 1;
      if (manifest.added_files == 0 && manifest.existing_files == 0) continue;  // DELETED entries only
      if (DELENDA_TRY(MayMatchPartitions(manifest, *plan_.filter, projected_, plan_.specs)))
        (is_data ? data : deletes).push_back(&manifest);
    }
    plan_.metrics.data_manifests_read = data.size();
    plan_.metrics.delete_manifests_read = deletes.size();
    total_manifests_ = data.size() + deletes.size();
    // A table without deletes pays nothing for the index.
    DeleteIndex index = DELENDA_TRY(ReadDeletes(deletes));
    std::vector<DataManifestResult> results(data.size());
    DELENDA_TRY(executor_.ParallelFor(
        data.size(),
        [&](size_t i) -> Result<void> {
          results[i] = DELENDA_TRY(ReadDataManifest(*data[i], index));
          Advance();
          return {};
        },
        hooks_.cancel));
    return Combine(std::move(results), std::move(index));
  }

  void Advance() {
    const uint64_t done = done_manifests_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (hooks_.progress) hooks_.progress({.stage = "plan", .done = done, .total = total_manifests_});
  }

  using DeleteEntries = std::vector<std::pair<ContentFile, std::optional<std::string>>>;

  Result<DeleteIndex> ReadDeletes(const std::vector<const ManifestFile*>& manifests) {
    std::vector<DeleteEntries> found(manifests.size());
    DELENDA_TRY(executor_.ParallelFor(
        manifests.size(),
        [&](size_t i) -> Result<void> {
          found[i] = DELENDA_TRY(ReadDeleteManifest(*manifests[i]));
          Advance();
          return {};
        },
        hooks_.cancel));
    DeleteEntries all;
    for (auto& entries : found) std::ranges::move(entries, std::back_inserter(all));
    plan_.metrics.delete_files_live = all.size();
    return DeleteIndex::Make(std::move(all), UnpartitionedSpecs(plan_.specs));
  }

  Result<DeleteEntries> ReadDeleteManifest(const ManifestFile& manifest) {
    DeleteEntries entries;
    auto reader = DELENDA_TRY(ManifestReader::Open(io_, manifest, plan_.specs, schemas_, {.bounds = true}));
    PartitionFilter partitions(plan_.filter, projected_.at(reader.spec().spec.spec_id), reader.spec());
    while (DELENDA_TRY(reader.NextBlock())) {
      for (size_t row = 0; row < reader.rows(); ++row) {
        if (!reader.IsLive(row)) continue;
        // A delete of another partition applies to no file that is read. Unpartitioned ones pass every filter.
        if (!partitions.For(reader.Partition(row)).may_match) continue;
        ContentFile file = reader.File(row);
        DELENDA_TRY(WithContext(CheckSupported(file), "manifest", manifest.path));
        entries.emplace_back(std::move(file), reader.FileScope(row));
      }
    }
    return entries;
  }

  Result<DataManifestResult> ReadDataManifest(const ManifestFile& manifest, const DeleteIndex& index) {
    DataManifestResult result;
    const bool filtered = plan_.filter->op != Op::kTrue;
    auto reader = DELENDA_TRY(ManifestReader::Open(io_, manifest, plan_.specs, schemas_, {.bounds = filtered}));
    PartitionFilter partitions(plan_.filter, projected_.at(reader.spec().spec.spec_id), reader.spec());
    while (DELENDA_TRY(reader.NextBlock())) {
      if (hooks_.cancel.cancelled()) return Cancelled("planning was cancelled");
      for (size_t row = 0; row < reader.rows(); ++row) {
        if (!reader.IsLive(row)) continue;
        ++result.live;
        DeleteIndex::Match match;
        // Before pruning: a delete whose file is live but pruned must not count as one without a file.
        if (!index.empty()) match = FindDeletes(reader, row, index, result);
        const PartitionDecision& decision = partitions.For(reader.Partition(row));
        const bool keep =
            decision.may_match &&
            (decision.residual->op == Op::kTrue ||
             CouldMatch(*decision.residual, [&](const BoundColumn& column) { return reader.Stats(row, column); }));
        if (!keep) {
          ++result.pruned;
          continue;
        }
        for (auto& alias : std::span(result.aliases).last(match.aliases.size())) alias.task = result.tasks.size();
        FileTask task;
        task.file = reader.File(row);
        DELENDA_TRY(WithContext(CheckSupported(task.file), "manifest", manifest.path));
        task.dv = match.dv;
        task.position_deletes = std::move(match.positions);
        task.equality_deletes = std::move(match.equality);
        task.residual = decision.residual;
        task.length = static_cast<uint64_t>(task.file.file_size);
        result.tasks.push_back(std::move(task));
      }
    }
    return result;
  }

  static DeleteIndex::Match FindDeletes(const ManifestReader& reader, size_t row, const DeleteIndex& index,
                                        DataManifestResult& result) {
    const DataFileKey key{.path = reader.Path(row),
                          .spec_id = reader.spec().spec.spec_id,
                          .partition = reader.Partition(row).get(),
                          .data_sequence_number = reader.DataSequenceNumber(row)};
    auto match = index.Find(key);
    result.named.insert(result.named.end(), match.named.begin(), match.named.end());
    if (match.dv) result.applied_dvs.push_back(*match.dv);
    for (const uint32_t at : match.aliases) {
      result.aliases.push_back(
          {.delete_index = at, .task = SIZE_MAX, .path = std::string(key.path), .applies = index.Applies(at, key)});
    }
    return match;
  }

  Result<void> Combine(std::vector<DataManifestResult> results, DeleteIndex index) {
    std::vector<bool> named(index.deletes().size()), applied(index.deletes().size());
    std::vector<AliasMatch> aliases;
    size_t tasks = 0;
    for (const auto& result : results) tasks += result.tasks.size();
    plan_.tasks.reserve(tasks);
    for (auto& result : results) {
      plan_.metrics.data_files_live += result.live;
      plan_.metrics.data_files_pruned += result.pruned;
      for (const uint32_t at : result.named) named[at] = true;
      for (const uint32_t at : result.applied_dvs) applied[at] = true;
      for (auto& alias : result.aliases) {
        if (alias.task != SIZE_MAX) alias.task += plan_.tasks.size();
        aliases.push_back(std::move(alias));
      }
      std::ranges::move(result.tasks, std::back_inserter(plan_.tasks));
    }
    DELENDA_TRY(CheckNoFileTwice());
    plan_.deletes = std::move(index).TakeDeletes();
    DELENDA_TRY(ApplyAliases(aliases, named, applied));
    DELENDA_TRY(CheckDangling(named, applied));
    KeepUsedDeletes();
    plan_.key_fields = DELENDA_TRY(FindKeyFields(plan_.deletes, plan_.schema, metadata_));
    plan_.name_mapping = DELENDA_TRY(iceberg::NameMappingOf(metadata_.properties));
    if (request_.split_size > 0) Split();
    return {};
  }

  // A data file that is live twice, as when a manifest stands in the list twice, would give each of its rows twice.
  Result<void> CheckNoFileTwice() const {
    std::unordered_set<std::string_view> paths;
    paths.reserve(plan_.tasks.size());
    for (const auto& task : plan_.tasks) {
      if (!paths.insert(task.file.path).second)
        return Corrupt("data file {} is live twice in the snapshot", task.file.path);
    }
    return {};
  }

  // Deletes that name no live path exactly, but another spelling of one: dropping them would return deleted rows.
  Result<void> ApplyAliases(const std::vector<AliasMatch>& aliases, const std::vector<bool>& named,
                            std::vector<bool>& applied) {
    std::map<uint32_t, std::string_view> reached;
    for (const auto& alias : aliases) {
      const ContentFile& deletes = plan_.deletes[alias.delete_index];
      if (named[alias.delete_index] || !alias.applies) continue;
      const auto [first, is_new] = reached.emplace(alias.delete_index, alias.path);
      if (!is_new) return Corrupt("{} can't be told to delete from {} or {}", deletes.path, first->second, alias.path);
      plan_.warnings.push_back(
          fmt::format("a delete in {} names {} by another spelling of its path: applied", deletes.path, alias.path));
      applied[alias.delete_index] = true;
      if (alias.task == SIZE_MAX) continue;
      FileTask& task = plan_.tasks[alias.task];
      if (!deletes.IsDeletionVector()) {
        if (!task.dv) task.position_deletes.push_back(alias.delete_index);
        continue;
      }
      if (task.dv)
        return Corrupt("two deletion vectors reach {}: in {} and {}", alias.path, plan_.deletes[*task.dv].path,
                       deletes.path);
      task.dv = alias.delete_index;
      task.position_deletes.clear();
    }
    return {};
  }

  // Every DV that was not pruned must have found its data file. One that did not may have a wrong path, sequence number
  // or partition: the rows that it deletes would come back silently.
  Result<void> CheckDangling(const std::vector<bool>& named, const std::vector<bool>& applied) {
    for (size_t i = 0; i < plan_.deletes.size(); ++i) {
      const ContentFile& dv = plan_.deletes[i];
      if (!dv.IsDeletionVector() || applied[i]) continue;
      const std::string what = fmt::format(
          "the deletion vector at {} of {} (sequence number {}) matches no data file: {} {}", *dv.content_offset,
          dv.path, dv.data_sequence_number, *dv.referenced_data_file,
          named[i] ? "is live with a newer sequence number or in another partition" : "is not live in the snapshot");
      if (!request_.allow_dangling_dvs) return Corrupt("{}; --allow-dangling-dvs reads the table without it", what);
      plan_.warnings.push_back(what);
    }
    return {};
  }

  // The plan holds the deletes that its tasks refer to, in the order of their first use.
  void KeepUsedDeletes() {
    constexpr uint32_t kUnused = UINT32_MAX;
    std::vector<uint32_t> moved_to(plan_.deletes.size(), kUnused);
    std::vector<ContentFile> used;
    const auto keep = [&](uint32_t& at) {
      if (moved_to[at] == kUnused) {
        moved_to[at] = static_cast<uint32_t>(used.size());
        used.push_back(std::move(plan_.deletes[at]));
      }
      at = moved_to[at];
    };
    for (auto& task : plan_.tasks) {
      if (task.dv) keep(*task.dv);
      for (auto& at : task.position_deletes) keep(at);
      for (auto& at : task.equality_deletes) keep(at);
    }
    plan_.deletes = std::move(used);
  }

  void Split() {
    std::vector<FileTask> split;
    for (auto& task : plan_.tasks) {
      const auto size = static_cast<uint64_t>(task.file.file_size);
      std::vector<uint64_t> starts = {0};
      const auto add_start = [&](uint64_t at) {
        if (at < size && at - starts.back() >= request_.split_size) starts.push_back(at);
      };
      if (!task.file.split_offsets.empty() && std::ranges::is_sorted(task.file.split_offsets) &&
          task.file.split_offsets.front() >= 0) {
        for (const int64_t offset : task.file.split_offsets) add_start(static_cast<uint64_t>(offset));
      } else {
        for (uint64_t at = request_.split_size; at < size && at >= request_.split_size; at += request_.split_size)
          add_start(at);
      }
      for (size_t i = 0; i < starts.size(); ++i) {
        FileTask part = i + 1 == starts.size() ? std::move(task) : task;
        part.start = starts[i];
        part.length = (i + 1 == starts.size() ? size : starts[i + 1]) - starts[i];
        split.push_back(std::move(part));
      }
    }
    plan_.tasks = std::move(split);
  }

  const iceberg::TableMetadata& metadata_;
  io::FileIO& io_;
  const ScanRequest& request_;
  Executor& executor_;
  const Hooks& hooks_;

  ScanPlan plan_;
  ProjectedFilters projected_;
  avro::SchemaCache schemas_;
  std::atomic<uint64_t> done_manifests_ = 0;
  uint64_t total_manifests_ = 0;
};

}  // namespace

Result<ScanPlan> PlanScan(const iceberg::TableMetadata& metadata, io::FileIO& io, const ScanRequest& request,
                          Executor& executor, const Hooks& hooks) {
  return Planner(metadata, io, request, executor, hooks).Run();
}

}  // namespace delenda::plan
