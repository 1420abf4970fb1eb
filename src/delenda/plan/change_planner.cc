#include "delenda/plan/change_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/name_mapping_json.h"
#include "delenda/io/location.h"
#include "delenda/plan/change_delete_index.h"
#include "delenda/plan/changed_files.h"
#include "delenda/plan/key_fields.h"
#include "delenda/plan/output_columns.h"
#include "delenda/plan/partition_filter.h"
#include "delenda/plan/snapshot_range.h"

namespace delenda::plan {
namespace {

using iceberg::EntryStatus;
using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;

class ChangePlanner {
 public:
  ChangePlanner(const iceberg::TableMetadata& metadata, io::FileIO& io, const ChangeRequest& request,
                Executor& executor, const Hooks& hooks)
      : metadata_(metadata), io_(io), request_(request), executor_(executor), hooks_(hooks) {}

  Result<ChangePlan> Run() {
    plan_.schema = metadata_.CurrentSchema();
    plan_.filter = DELENDA_TRY(BindText(request_.where, plan_.schema));
    plan_.specs = BindSpecs(metadata_, plan_.schema);
    projected_ = ProjectFilter(*plan_.filter, plan_.specs);
    DELENDA_TRY(Choose());
    auto range = DELENDA_TRY(SelectRange(metadata_, request_));
    plan_.from_snapshot_id = range.from_snapshot_id;
    plan_.to_snapshot_id = range.to_snapshot_id;
    plan_.warnings = std::move(range.warnings);
    plan_.metrics.replace_snapshots =
        std::erase_if(range.snapshots, [](const auto* snapshot) { return snapshot->operation == "replace"; });
    plan_.metrics.changelog_snapshots = range.snapshots.size();
    snapshots_ = DELENDA_TRY(ReadChangelogSnapshots(metadata_, range.snapshots, io_, schemas_, executor_, hooks_));
    const ChangeDeleteIndex deletes = DELENDA_TRY(ReadDeletes());
    const auto changed = deletes.FindChanged();
    const ChangedFilesInput input{.snapshots = snapshots_,
                                  .deletes = deletes,
                                  .changed_deletes = changed,
                                  .specs = plan_.specs,
                                  .filter = plan_.filter,
                                  .projected = projected_,
                                  .io = io_,
                                  .schemas = schemas_,
                                  .executor = executor_,
                                  .hooks = hooks_};
    ChangedFiles finder(input);
    const auto files = DELENDA_TRY(finder.Find());
    plan_.metrics.data_manifests_read = finder.manifests_read();
    DELENDA_TRY(MakeTasks(files, deletes, changed));
    plan_.key_fields = DELENDA_TRY(FindKeyFields(plan_.deletes, plan_.schema, metadata_));
    plan_.name_mapping = DELENDA_TRY(iceberg::NameMappingOf(metadata_.properties));
    return std::move(plan_);
  }

 private:
  Result<void> Choose() {
    ColumnChoice choice{.select = request_.select, .select_all = request_.select_all};
    if (request_.with_metadata) choice.append = {"_file", "_pos", "_row_id"};
    plan_.columns = DELENDA_TRY(ChooseColumns(choice, plan_.schema, plan_.specs));
    for (const auto& column : plan_.columns) {
      if (column.kind == OutputColumn::Kind::kDeleted)
        return InvalidArgument("changes have no column _deleted: a deleted row is a change of its own");
    }
    return {};
  }

  // Every delete manifest of the changelog snapshots, each once.
  Result<ChangeDeleteIndex> ReadDeletes() {
    std::vector<const ManifestFile*> manifests;
    std::vector<int64_t> listed_by;  // the first snapshot that lists it
    std::unordered_map<std::string_view, uint32_t> numbers;
    std::vector<IndexedSnapshot> indexed;
    for (const auto& [snapshot, listed] : snapshots_) {
      changelog_ids_.insert(snapshot->snapshot_id);
      IndexedSnapshot& own = indexed.emplace_back();
      own.snapshot_id = snapshot->snapshot_id;
      for (const auto& manifest : listed) {
        if (manifest.content != ManifestContent::kDeletes) continue;
        if (metadata_.format_version < 3 && !request_.resolve_deletes) {
          auto error = NotSupported("Delete files are only supported in changelog scans of format version 3 tables");
          error.error().Add("manifest", manifest.path).Add("snapshot", static_cast<uint64_t>(snapshot->snapshot_id));
          return error;
        }
        const auto [number, is_new] = numbers.try_emplace(manifest.path, static_cast<uint32_t>(manifests.size()));
        if (is_new) {
          manifests.push_back(&manifest);
          listed_by.push_back(snapshot->snapshot_id);
        }
        own.delete_manifests.push_back(number->second);
      }
    }
    ChangeDeleteIndex index(std::move(indexed), UnpartitionedSpecs(plan_.specs));
    // Some at a time: the index keeps a delete that stands in many manifests once.
    const size_t batch = 4 * executor_.threads();
    for (size_t begin = 0; begin < manifests.size(); begin += batch) {
      const size_t count = std::min(batch, manifests.size() - begin);
      std::vector<std::vector<ListedDelete>> entries(count);
      DELENDA_TRY(executor_.ParallelFor(
          count,
          [&](size_t i) -> Result<void> {
            entries[i] = DELENDA_TRY(ReadDeleteManifest(*manifests[begin + i], listed_by[begin + i]));
            return {};
          },
          hooks_.cancel));
      for (size_t i = 0; i < count; ++i) {
        DELENDA_TRY(WithContext(index.Add(static_cast<uint32_t>(begin + i), std::move(entries[i])), "manifest",
                                manifests[begin + i]->path));
      }
      if (hooks_.progress) hooks_.progress({.stage = "plan", .done = begin + count, .total = manifests.size()});
    }
    plan_.metrics.delete_manifests_read = manifests.size();
    return index;
  }

  Result<std::vector<ListedDelete>> ReadDeleteManifest(const ManifestFile& manifest, int64_t listed_by) {
    std::vector<ListedDelete> entries;
    auto reader =
        DELENDA_TRY(ManifestReader::Open(io_, manifest, plan_.specs, schemas_, {.bounds = request_.resolve_deletes}));
    PartitionFilter partitions(plan_.filter, projected_.at(reader.spec().spec.spec_id), reader.spec());
    while (DELENDA_TRY(reader.NextBlock())) {
      for (size_t row = 0; row < reader.rows(); ++row) {
        const int64_t snapshot_id = reader.SnapshotId(row);
        // What another snapshot removed is part of no state that counts.
        if (!reader.IsLive(row) && !changelog_ids_.contains(snapshot_id)) continue;
        ListedDelete entry{.file = reader.File(row),
                           .file_scope = reader.FileScope(row),
                           .status = reader.Status(row),
                           .snapshot_id = snapshot_id};
        // Before the filter is asked: a range is refused or not whatever rows of it are wanted.
        if (!entry.file.IsDeletionVector() && !request_.resolve_deletes) return Refuse(entry, manifest, listed_by);
        DELENDA_TRY(WithContext(CheckSupported(entry.file), "manifest", manifest.path));
        if (partitions.For(reader.Partition(row)).may_match) entries.push_back(std::move(entry));
      }
    }
    return entries;
  }

  // Without its positions, rows that it deleted would be told as inserted, or not be told as deleted.
  static std::unexpected<Error> Refuse(const ListedDelete& entry, const ManifestFile& manifest, int64_t listed_by) {
    const bool is_live = entry.status != EntryStatus::kDeleted;
    auto error = NotSupported(
        "the range has {} that {} snapshot {}: {}. Changes are told from deletion vectors alone; convert the table's "
        "deletes into deletion vectors, or have them resolved (--resolve-deletes)",
        FileContentName(entry.file.content), is_live ? "are live in" : "were removed by",
        is_live ? listed_by : entry.snapshot_id, entry.file.path);
    error.error().Add("manifest", manifest.path);
    return error;
  }

  Result<void> MakeTasks(const std::vector<ChangedFile>& files, const ChangeDeleteIndex& deletes,
                         const std::vector<std::vector<ChangeDeleteIndex::Changed>>& changed) {
    auto begin = files.begin();
    for (uint32_t number = 0; number < snapshots_.size(); ++number) {
      const auto end = std::ranges::find_if(begin, files.end(), [&](const auto& f) { return f.snapshot != number; });
      DELENDA_TRY(WithContext(MakeTasksOf(number, std::span<const ChangedFile>(begin, end), deletes, changed[number]),
                              "snapshot", static_cast<uint64_t>(snapshots_[number].snapshot->snapshot_id)));
      begin = end;
    }
    return {};
  }

  Result<void> MakeTasksOf(uint32_t number, std::span<const ChangedFile> files, const ChangeDeleteIndex& deletes,
                           const std::vector<ChangeDeleteIndex::Changed>& changed) {
    std::set<std::string_view> paths;
    DELENDA_TRY(CheckFiles(files, paths));
    DELENDA_TRY(CheckDangling(deletes, changed, paths));
    std::vector<ChangeTask> inserts;  // they come after those that delete
    std::map<uint32_t, std::string_view> reached;
    for (const ChangedFile& found : files) {
      if (found.is_pruned) continue;
      const ContentFile& file = found.file;
      auto states = DELENDA_TRY(deletes.Find(number,
                                             {.path = file.path,
                                              .spec_id = file.spec_id,
                                              .partition = file.partition.get(),
                                              .data_sequence_number = file.data_sequence_number},
                                             paths));
      for (const uint32_t alias : states.applied_aliases) {
        const ContentFile& delete_file = deletes.file(alias);
        const auto [first, is_new] = reached.emplace(alias, file.path);
        if (!is_new)
          return Corrupt("{} can't be told to delete from {} or {}", delete_file.path, first->second, file.path);
        plan_.warnings.push_back(fmt::format("a delete in {} names {} by another spelling of its path: applied",
                                             delete_file.path, file.path));
      }
      ChangeTask task;
      task.change_ordinal = number;
      task.commit_snapshot_id = snapshots_[number].snapshot->snapshot_id;
      task.commit_timestamp_ms = snapshots_[number].snapshot->timestamp_ms;
      task.residual = found.residual;
      switch (found.role) {
        case ChangedFile::Role::kAdded:
          states.before = {};
          task.kind = ChangeTask::Kind::kAddedRows;
          break;
        case ChangedFile::Role::kRemoved:
          states.after = {};
          task.kind = ChangeTask::Kind::kDeletedDataFile;
          break;
        case ChangedFile::Role::kKept: {
          const bool deletes_more = !Includes(states.before, states.after);
          const bool deletes_less = !Includes(states.after, states.before);
          if (!deletes_more && !deletes_less) continue;
          task.kind = deletes_more ? ChangeTask::Kind::kDeletedRows : ChangeTask::Kind::kRestoredRows;
          if (!deletes_more || !deletes_less) break;
          ChangeTask restored = task;
          restored.kind = ChangeTask::Kind::kRestoredRows;
          restored.file = file;
          Finish(restored, states, deletes);
          inserts.push_back(std::move(restored));
          break;
        }
      }
      task.file = file;
      Finish(task, states, deletes);
      const bool is_insert = task.kind == ChangeTask::Kind::kAddedRows || task.kind == ChangeTask::Kind::kRestoredRows;
      (is_insert ? inserts : plan_.tasks).push_back(std::move(task));
    }
    std::ranges::move(inserts, std::back_inserter(plan_.tasks));
    return {};
  }

  // A file that a snapshot holds or removes twice would have each of its rows told twice.
  static Result<void> CheckFiles(std::span<const ChangedFile> files, std::set<std::string_view>& paths) {
    std::unordered_set<std::string_view> live, removed;
    for (const ChangedFile& found : files) {
      const bool is_removed = found.role == ChangedFile::Role::kRemoved;
      paths.insert(found.file.path);
      if (!(is_removed ? removed : live).insert(found.file.path).second)
        return Corrupt("data file {} is {} twice", found.file.path, is_removed ? "removed" : "live");
    }
    return {};
  }

  // A DV that came in without a data file of its name may have a wrong path: the rows that it deletes would not be
  // told.
  static Result<void> CheckDangling(const ChangeDeleteIndex& deletes,
                                    const std::vector<ChangeDeleteIndex::Changed>& changed,
                                    const std::set<std::string_view>& paths) {
    std::optional<std::set<std::string>> spellings;
    for (const auto& [index, added] : changed) {
      const ContentFile& dv = deletes.file(index);
      if (!added || !dv.IsDeletionVector() || paths.contains(*dv.referenced_data_file)) continue;
      if (!spellings) {
        spellings.emplace();
        for (const auto path : paths) spellings->insert(io::CanonicalLocation(path));
      }
      if (spellings->contains(io::CanonicalLocation(*dv.referenced_data_file))) continue;
      return Corrupt(
          "the deletion vector at {} of {} (sequence number {}) matches no data file: {} is not live in the snapshot",
          *dv.content_offset, dv.path, dv.data_sequence_number, *dv.referenced_data_file);
    }
    return {};
  }

  static bool Includes(const DeleteState& larger, const DeleteState& smaller) {
    const auto includes = [](const std::vector<uint32_t>& all, const std::vector<uint32_t>& some) {
      return std::ranges::all_of(some, [&](uint32_t index) { return std::ranges::find(all, index) != all.end(); });
    };
    return (!smaller.dv || smaller.dv == larger.dv) && includes(larger.position_deletes, smaller.position_deletes) &&
           includes(larger.equality_deletes, smaller.equality_deletes);
  }

  // States that name deletes of the plan, and estimates.
  void Finish(ChangeTask& task, const ChangeDeleteIndex::States& states, const ChangeDeleteIndex& deletes) {
    task.before = Keep(states.before, deletes);
    task.after = Keep(states.after, deletes);
    const auto rows = static_cast<uint64_t>(task.file.record_count);
    const bool deletes_more = task.kind == ChangeTask::Kind::kDeletedRows;
    const bool is_whole = task.kind == ChangeTask::Kind::kAddedRows || task.kind == ChangeTask::Kind::kDeletedDataFile;
    if (is_whole) {
      const DeleteState& state = task.kind == ChangeTask::Kind::kAddedRows ? task.after : task.before;
      task.estimated_rows = rows - std::min(rows, AtLeast(state));
    } else {
      // Those that only one of the states deletes; the other one's rows are not among them.
      const DeleteState& changed = deletes_more ? task.after : task.before;
      const DeleteState& unchanged = deletes_more ? task.before : task.after;
      task.estimated_rows = std::min(AtMost(changed, rows), rows - std::min(rows, AtLeast(unchanged)));
    }
    const auto size = static_cast<uint64_t>(task.file.file_size);
    const double share =
        is_whole || rows == 0 ? 1.0 : static_cast<double>(task.estimated_rows) / static_cast<double>(rows);
    uint64_t bytes = is_whole ? size : static_cast<uint64_t>(static_cast<double>(size) * share);
    std::set<uint32_t> used;
    for (const DeleteState* state : {&task.before, &task.after}) {
      if (state->dv) used.insert(*state->dv);
      used.insert(state->position_deletes.begin(), state->position_deletes.end());
      used.insert(state->equality_deletes.begin(), state->equality_deletes.end());
    }
    for (const uint32_t index : used) {
      const ContentFile& file = plan_.deletes[index];
      bytes = Sum(bytes, static_cast<uint64_t>(std::max<int64_t>(0, file.content_size.value_or(file.file_size))));
    }
    task.estimated_bytes = bytes;
  }

  static uint64_t Sum(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
  }

  // Bounds of what a state deletes of one file.
  uint64_t AtLeast(const DeleteState& state) const {
    return state.dv ? static_cast<uint64_t>(plan_.deletes[*state.dv].record_count) : 0;
  }
  uint64_t AtMost(const DeleteState& state, uint64_t rows) const {
    if (!state.equality_deletes.empty()) return rows;
    uint64_t most = AtLeast(state);
    for (const uint32_t index : state.position_deletes)
      most = Sum(most, static_cast<uint64_t>(plan_.deletes[index].record_count));
    return std::min(most, rows);
  }

  DeleteState Keep(const DeleteState& state, const ChangeDeleteIndex& deletes) {
    const auto keep = [&](uint32_t index) {
      const auto [at, is_new] = kept_.try_emplace(index, static_cast<uint32_t>(plan_.deletes.size()));
      if (is_new) plan_.deletes.push_back(deletes.file(index));
      return at->second;
    };
    DeleteState kept;
    if (state.dv) kept.dv = keep(*state.dv);
    for (const uint32_t index : state.position_deletes) kept.position_deletes.push_back(keep(index));
    for (const uint32_t index : state.equality_deletes) kept.equality_deletes.push_back(keep(index));
    return kept;
  }

  const iceberg::TableMetadata& metadata_;
  io::FileIO& io_;
  const ChangeRequest& request_;
  Executor& executor_;
  const Hooks& hooks_;

  ChangePlan plan_;
  std::vector<ChangelogSnapshot> snapshots_;  // oldest first: a snapshot's place is its ordinal
  std::unordered_set<int64_t> changelog_ids_;
  ProjectedFilters projected_;
  avro::SchemaCache schemas_;
  std::unordered_map<uint32_t, uint32_t> kept_;  // index in the delete index → in the plan
};

}  // namespace

Result<ChangePlan> PlanChanges(const iceberg::TableMetadata& metadata, io::FileIO& io, const ChangeRequest& request,
                               Executor& executor, const Hooks& hooks) {
  return ChangePlanner(metadata, io, request, executor, hooks).Run();
}

}  // namespace delenda::plan
