#include "delenda/plan/scan_planner.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "delenda/base/large_pages.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/name_mapping_json.h"
#include "delenda/plan/delete_index.h"
#include "delenda/plan/key_fields.h"
#include "delenda/plan/manifest_parts.h"
#include "delenda/plan/output_columns.h"
#include "delenda/plan/partition_filter.h"
#include "delenda/plan/path_slots.h"

namespace delenda::plan {
namespace {

using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;
using BlocksRef = std::shared_ptr<const iceberg::ManifestBlocks>;

// A delete that names another spelling of a data file's path.
struct AliasMatch {
  uint32_t delete_index = 0;
  size_t task = SIZE_MAX;  // within the part; SIZE_MAX: the entry was pruned
  std::string path;
  bool applies = false;
};

// What a part of a data manifest (iceberg/manifest_blocks.h) comes to.
struct DataPart {
  std::vector<FileTask> tasks;
  std::vector<uint64_t> hashes;       // of the tasks' paths
  std::vector<uint32_t> inheriting;   // tasks whose first row id counts from that of the part
  int64_t row_ids = 0;                // that the part's files take by inheritance
  std::vector<uint32_t> named;        // deletes whose exact path is live in the part
  std::vector<uint32_t> applied_dvs;  // DVs that apply to a live file of the part
  std::vector<AliasMatch> aliases;
  uint64_t live = 0, pruned = 0;
};

// One thread's tools for the entries of manifests of one spec.
struct EntryReader {
  EntryReader(ManifestReader opened, const ExprRef& filter, const ExprRef& projected, const KeyPartitions* keys,
              const OnePartition* only)
      : reader(std::move(opened)), partitions(filter, projected, reader.spec(), keys, only) {}

  ManifestReader reader;
  PartitionFilter partitions;
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
    if (request_.keys) {
      for (const auto& [id, spec] : plan_.specs) keys_in_.emplace(id, request_.keys->InPartitionsOf(spec));
    }
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
      if (!DELENDA_TRY(MayMatchPartitions(manifest, *plan_.filter, projected_, plan_.specs))) continue;
      // One of a spec that the table does not have is for its reader to refuse.
      const auto spec = manifest.spec_id ? plan_.specs.find(*manifest.spec_id) : plan_.specs.end();
      if (spec != plan_.specs.end() && !MayHoldWanted(manifest, spec->second)) continue;
      (is_data ? data : deletes).push_back(&manifest);
    }
    plan_.metrics.data_manifests_read = data.size();
    plan_.metrics.delete_manifests_read = deletes.size();
    total_manifests_ = data.size() + deletes.size();
    // A table without deletes pays nothing for the index.
    DeleteIndex index = DELENDA_TRY(ReadDeletes(deletes));
    DELENDA_TRY(ReadDataManifests(data, index));
    return Combine(std::move(index));
  }

  // By its partitions: keys, and the one partition that is asked for.
  bool MayHoldWanted(const ManifestFile& manifest, const BoundSpec& spec) const {
    const KeyPartitions* keys = KeysIn(spec.spec.spec_id);
    if (keys != nullptr && !MayHoldKeys(manifest, spec, *keys)) return false;
    const OnePartition* only = OnlyPartition(manifest.content, spec);
    return only == nullptr || (only->spec_id == spec.spec.spec_id && MayHoldPartition(manifest, spec, *only->tuple));
  }
  // Null: all partitions of the spec are wanted. Equality deletes of unpartitioned specs apply in every one.
  const OnePartition* OnlyPartition(ManifestContent content, const BoundSpec& spec) const {
    const bool is_global = content == ManifestContent::kDeletes && spec.spec.IsUnpartitioned();
    return request_.partition && !is_global ? &*request_.partition : nullptr;
  }
  // Null: partitions of the spec are not asked for keys.
  const KeyPartitions* KeysIn(int32_t spec_id) const {
    const auto found = keys_in_.find(spec_id);
    return found == keys_in_.end() ? nullptr : &found->second;
  }
  // Every file is kept.
  bool KeepsAll() const { return plan_.filter->op == Op::kTrue && !request_.keys && !request_.partition; }

  void Advance() {
    const uint64_t done = done_manifests_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (hooks_.progress) hooks_.progress({.stage = "plan", .done = done, .total = total_manifests_});
  }

  // Reads all parts of the manifests: `read` fills a Part from the block that the reader holds, `take` gets all Parts
  // in order.
  template <typename Part>
  Result<void> ReadParts(const std::vector<const ManifestFile*>& manifests,
                         const std::function<ManifestReader::Options(const ManifestFile&)>& options,
                         const std::function<Result<void>(EntryReader&, size_t block, size_t blocks_left, Part&)>& read,
                         const std::function<Result<void>(const ManifestFile&, Part)>& take) {
    std::map<int32_t, IdlePool<EntryReader>> readers;
    for (const auto& [id, spec] : plan_.specs) readers[id];
    const auto reader_of = [&](const BlocksRef& blocks) -> Result<std::unique_ptr<EntryReader>> {
      const int32_t spec = blocks->spec().spec.spec_id;
      if (auto idle = readers.at(spec).Take()) {
        DELENDA_TRY(idle->reader.Switch(blocks));
        return idle;
      }
      return std::make_unique<EntryReader>(DELENDA_TRY(ManifestReader::Make(blocks, options(blocks->manifest()))),
                                           plan_.filter, projected_.at(spec), KeysIn(spec),
                                           OnlyPartition(blocks->manifest().content, blocks->spec()));
    };
    const ManifestParts work{
        .manifests = manifests,
        .open = [&](size_t i) { return iceberg::ManifestBlocks::Open(io_, *manifests[i], plan_.specs, schemas_); },
        .read = [&](size_t i, const BlocksRef& blocks, iceberg::ManifestBlocks::Part cut) -> Result<InOrder::Step> {
          auto entries = DELENDA_TRY(reader_of(blocks));
          Part part;
          for (size_t block = cut.begin; block < cut.end; ++block)
            DELENDA_TRY(read(*entries, block, cut.end - block, part));
          readers.at(blocks->spec().spec.spec_id).Give(std::move(entries));
          return InOrder::Step([&take, &manifest = *manifests[i], part = std::move(part)]() mutable {
            return take(manifest, std::move(part));
          });
        },
        .done = [&](size_t) { Advance(); }};
    return ReadManifestParts(work, executor_, hooks_.cancel);
  }

  Result<DeleteIndex> ReadDeletes(const std::vector<const ManifestFile*>& manifests) {
    using Part = std::vector<DeleteEntry>;
    const bool keeps_most = KeepsAll();
    DeleteIndex index;
    // The bounds of a position delete file's paths say which file it covers.
    const auto options = [](const ManifestFile&) {
      return ManifestReader::Options{.bounds = true, .bounds_of = {kDeletePathFieldId}, .split_offsets = false};
    };
    const auto read = [&](EntryReader& entries, size_t block, size_t blocks_left, Part& part) -> Result<void> {
      ManifestReader& reader = entries.reader;
      std::optional<int64_t> no_row_ids;
      DELENDA_TRY(reader.ReadBlock(block, no_row_ids));
      if (part.empty() && keeps_most) part.reserve(reader.rows() * blocks_left);
      for (size_t row = 0; row < reader.rows(); ++row) {
        if (!reader.IsLive(row)) continue;
        // A delete of another partition applies to no file that is read. Unpartitioned ones pass every filter.
        if (!entries.partitions.For(reader.Partition(row)).may_match) continue;
        auto& [file, scope] = part.emplace_back();
        reader.FillFile(row, file);
        // Only equality deletes reach from an unpartitioned spec into the one partition that is asked for: a vector
        // would look like one that has lost its data file, and the table like a broken one.
        const bool reaches = !request_.partition || request_.partition->spec_id == file.spec_id ||
                             file.content == FileContent::kEqualityDeletes;
        if (!reaches) {
          part.pop_back();
          continue;
        }
        scope = reader.FileScope(row);
        DELENDA_TRY(WithContext(CheckSupported(file), "manifest", reader.manifest().path));
      }
      return {};
    };
    const auto take = [&](const ManifestFile&, Part part) -> Result<void> {
      for (auto& entry : part) index.Append(std::move(entry));
      return {};
    };
    index.Reserve(LikelyEntries(manifests));
    DELENDA_TRY(ReadParts<Part>(manifests, options, read, take));
    plan_.metrics.delete_files_live = index.deletes().size();
    DELENDA_TRY(index.Finish(UnpartitionedSpecs(plan_.specs)));
    return index;
  }

  // How many live entries the manifests will bring, for reserving memory; 0 when a filter will prune most. The numbers
  // come from the manifest list: more than the manifests' bytes can hold are not believed.
  size_t LikelyEntries(const std::vector<const ManifestFile*>& manifests) const {
    constexpr uint64_t kLeastBytes = 16;  // of an entry, deflated: its path alone has more
    constexpr uint64_t kMost = 1 << 20;
    if (!KeepsAll()) return 0;
    uint64_t sum = 0;
    for (const ManifestFile* manifest : manifests) {
      uint64_t entries = 0;
      for (const auto& count : {manifest->added_files, manifest->existing_files})
        entries += static_cast<uint64_t>(std::clamp<int64_t>(count.value_or(0), 0, kMost));
      sum += std::min(entries, manifest->length.value_or(0) / kLeastBytes);
    }
    return static_cast<size_t>(std::min(sum, kMost));
  }

  Result<void> ReadDataManifests(const std::vector<const ManifestFile*>& manifests, const DeleteIndex& index) {
    const bool keeps_most = KeepsAll();
    const auto options = [&](const ManifestFile& manifest) {
      ManifestReader::Options wanted;
      wanted.bounds_of = BoundsToPruneBy(manifest);
      wanted.bounds = !wanted.bounds_of.empty();
      wanted.metrics = request_.with_metrics;
      wanted.split_offsets = request_.split_size > 0;
      return wanted;
    };
    const auto read = [&](EntryReader& entries, size_t block, size_t blocks_left, DataPart& part) -> Result<void> {
      if (hooks_.cancel.cancelled()) return Cancelled("planning was cancelled");
      const ManifestFile& manifest = entries.reader.manifest();
      std::optional<int64_t> row_ids;
      if (manifest.first_row_id) row_ids = part.row_ids;
      DELENDA_TRY(entries.reader.ReadBlock(block, row_ids));
      part.row_ids = row_ids.value_or(0);
      if (part.tasks.empty() && keeps_most) {
        const size_t likely = entries.reader.rows() * blocks_left;
        part.tasks.reserve(likely);
        part.hashes.reserve(likely);
        if (row_ids) part.inheriting.reserve(likely);
      }
      for (size_t row = 0; row < entries.reader.rows(); ++row) {
        if (entries.reader.IsLive(row))
          DELENDA_TRY(WithContext(AddDataFile(entries, row, index, part), "manifest", manifest.path));
      }
      return {};
    };
    const auto take = [&](const ManifestFile& manifest, DataPart part) -> Result<void> {
      return WithContext(TakeDataFiles(manifest, std::move(part)), "manifest", manifest.path);
    };
    ReserveLarge(plan_.tasks, LikelyEntries(manifests));
    found_.hashes.reserve(plan_.tasks.capacity());
    found_.named.resize(index.deletes().size());
    found_.applied.resize(index.deletes().size());
    return ReadParts<DataPart>(manifests, options, read, take);
  }

  // Parts come in the order of the manifests.
  Result<void> TakeDataFiles(const ManifestFile& manifest, DataPart part) {
    if (manifest.first_row_id) {
      // Parts are read out of order, so the first row ids that files inherit begin at 0 in each.
      if (&manifest != found_.row_ids_of) found_.next_row_id = *manifest.first_row_id;
      found_.row_ids_of = &manifest;
      const int64_t first = found_.next_row_id;
      if (__builtin_add_overflow(first, part.row_ids, &found_.next_row_id)) return Corrupt("row ids overflow");
      for (const uint32_t at : part.inheriting) *part.tasks[at].file.first_row_id += first;
    }
    plan_.metrics.data_files_live += part.live;
    plan_.metrics.data_files_pruned += part.pruned;
    for (const uint32_t at : part.named) found_.named[at] = true;
    for (const uint32_t at : part.applied_dvs) found_.named[at] = found_.applied[at] = true;
    for (auto& alias : part.aliases) {
      if (alias.task != SIZE_MAX) alias.task += plan_.tasks.size();
      found_.aliases.push_back(std::move(alias));
    }
    std::ranges::move(part.tasks, std::back_inserter(plan_.tasks));
    found_.hashes.insert(found_.hashes.end(), part.hashes.begin(), part.hashes.end());
    return {};
  }

  // Field ids of the columns whose bounds can decide what the files' partitions leave of filter and keys. Identity
  // partitions leave nothing of a predicate on their column.
  std::vector<int32_t> BoundsToPruneBy(const ManifestFile& manifest) const {
    std::vector<int32_t> columns = plan_.filter->LeafColumns();
    if (request_.keys) {
      for (const auto& key : request_.keys->columns()) columns.push_back(key.column.field_id);
      std::ranges::sort(columns);
      const auto repeated = std::ranges::unique(columns);
      columns.erase(repeated.begin(), repeated.end());
    }
    const auto spec = manifest.spec_id ? plan_.specs.find(*manifest.spec_id) : plan_.specs.end();
    if (spec == plan_.specs.end()) return columns;
    for (const PartitionField& field : spec->second.spec.fields) {
      if (field.transform.kind() == Transform::Kind::kIdentity) std::erase(columns, field.source_id);
    }
    return columns;
  }

  // One live entry of a data manifest.
  Result<void> AddDataFile(EntryReader& entries, size_t row, const DeleteIndex& index, DataPart& part) const {
    const ManifestReader& reader = entries.reader;
    ++part.live;
    DeleteIndex::Match match;
    // Before pruning: a delete whose file is live but pruned must not count as one without a file.
    if (!index.empty()) match = FindDeletes(reader, row, index, part);
    const PartitionDecision& decision = entries.partitions.For(reader.Partition(row));
    const auto stats = [&](const BoundColumn& column) { return reader.Stats(row, column); };
    const bool keep = decision.may_match &&
                      (decision.residual->op == Op::kTrue || CouldMatch(*decision.residual, stats)) &&
                      (!request_.keys || request_.keys->CouldHold(stats));
    if (!keep) {
      ++part.pruned;
      return {};
    }
    for (auto& alias : std::span(part.aliases).last(match.aliases.size())) alias.task = part.tasks.size();
    if (reader.InheritsRowId(row)) part.inheriting.push_back(static_cast<uint32_t>(part.tasks.size()));
    part.hashes.push_back(HashLocation(reader.Path(row)));
    FileTask& task = part.tasks.emplace_back();
    reader.FillFile(row, task.file);
    DELENDA_TRY(CheckSupported(task.file));
    task.dv = match.dv;
    task.position_deletes = std::move(match.positions);
    task.equality_deletes = std::move(match.equality);
    task.residual = decision.residual;
    task.length = static_cast<uint64_t>(task.file.file_size);
    return {};
  }

  static DeleteIndex::Match FindDeletes(const ManifestReader& reader, size_t row, const DeleteIndex& index,
                                        DataPart& result) {
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

  Result<void> Combine(DeleteIndex index) {
    DELENDA_TRY(CheckNoFileTwice(found_.hashes));
    plan_.deletes = std::move(index).TakeDeletes();
    DELENDA_TRY(ApplyAliases(found_.aliases, found_.named, found_.applied));
    DELENDA_TRY(CheckDangling(found_.named, found_.applied));
    KeepUsedDeletes();
    plan_.key_fields = DELENDA_TRY(FindKeyFields(plan_.deletes, plan_.schema, metadata_));
    plan_.name_mapping = DELENDA_TRY(iceberg::NameMappingOf(metadata_.properties));
    if (request_.split_size > 0) Split();
    return {};
  }

  // A data file that is live twice, as when a manifest stands in the list twice, would give each of its rows twice.
  Result<void> CheckNoFileTwice(const std::vector<uint64_t>& hashes) const {
    if (hashes.size() >= PathSlots::kNone) return NotSupported("a plan of {} data files", hashes.size());
    PathSlots paths(hashes.size());
    for (uint32_t i = 0; i < hashes.size(); ++i) {
      const std::string& path = plan_.tasks[i].file.path;
      if (paths.FindOrAdd(hashes[i], i, [&](uint32_t other) { return plan_.tasks[other].file.path == path; }) !=
          PathSlots::kNone)
        return Corrupt("data file {} is live twice in the snapshot", path);
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
    if (plan_.deletes.empty()) return;
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
  // What the data manifests brought beside the tasks.
  struct {
    std::vector<uint64_t> hashes;      // of the tasks' paths
    std::vector<bool> named, applied;  // by the delete's index
    std::vector<AliasMatch> aliases;
    const ManifestFile* row_ids_of = nullptr;
    int64_t next_row_id = 0;  // for the files of that manifest
  } found_;
  ProjectedFilters projected_;                // the filter on each spec's partition fields
  std::map<int32_t, KeyPartitions> keys_in_;  // the keys in each spec's partitions, by spec id
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
