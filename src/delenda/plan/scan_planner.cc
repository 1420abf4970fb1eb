#include "delenda/plan/scan_planner.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/plan/delete_index.h"

namespace delenda::plan {
namespace {

using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;

// All partition fields that any spec ever had, by field id: a file's tuple fills those of its own spec.
Type PartitionColumnType(const std::map<int32_t, BoundSpec>& specs) {
  std::map<int32_t, Field> fields;
  for (const auto& [id, spec] : specs) {
    for (size_t i = 0; i < spec.spec.fields.size(); ++i) {
      const PartitionField& field = spec.spec.fields[i];
      fields[field.field_id] = {.id = field.field_id, .name = field.name, .type = spec.result_types[i]};
    }
  }
  std::vector<Field> all;
  for (auto& [id, field] : fields) all.push_back(std::move(field));
  return Type::Struct(std::move(all));
}

// A column that the reader makes; ids from the spec, "Reserved Field IDs". Nothing: no metadata column has the name.
std::optional<OutputColumn> MetadataColumn(std::string_view name, const std::map<int32_t, BoundSpec>& specs) {
  using enum OutputColumn::Kind;
  const auto column = [&](OutputColumn::Kind kind, int32_t id, Type type, bool required) {
    return OutputColumn{.kind = kind,
                        .field = {.id = id, .name = std::string(name), .type = std::move(type), .required = required}};
  };
  if (name == "_file") return column(kFilePath, 2147483646, TypeKind::kString, true);
  if (name == "_pos") return column(kPosition, 2147483645, TypeKind::kLong, true);
  if (name == "_deleted") return column(kDeleted, 2147483644, TypeKind::kBoolean, true);
  if (name == "_spec_id") return column(kSpecId, 2147483643, TypeKind::kInt, true);
  if (name == "_partition") return column(kPartition, 2147483642, PartitionColumnType(specs), false);
  if (name == "_row_id") return column(kRowId, 2147483540, TypeKind::kLong, false);
  if (name == "_last_updated_sequence_number") return column(kLastUpdated, 2147483539, TypeKind::kLong, false);
  return std::nullopt;
}

Result<std::vector<OutputColumn>> ChooseColumns(const ScanRequest& request, const Schema& schema,
                                                const std::map<int32_t, BoundSpec>& specs) {
  std::vector<OutputColumn> columns;
  std::set<int32_t> chosen;
  const auto add = [&](OutputColumn column) {
    if (!chosen.insert(column.field.id).second) return false;
    columns.push_back(std::move(column));
    return true;
  };
  if (request.select_all) {
    for (const auto& field : schema.fields()) add({.kind = OutputColumn::Kind::kField, .field = field});
  }
  for (const auto& name : request.select_all ? std::vector<std::string>() : request.select) {
    const bool in_schema = std::ranges::any_of(schema.fields(), [&](const Field& field) { return field.name == name; });
    OutputColumn column;
    if (auto made = MetadataColumn(name, specs); made && !in_schema) {
      column = *std::move(made);
    } else {
      const auto selected = DELENDA_TRY(schema.Select({name}));
      column.field = selected.fields().front();
    }
    if (!add(std::move(column))) return InvalidArgument("column '{}' is selected twice", name);
  }
  if (request.with_metadata) {
    add(*MetadataColumn("_file", specs));
    add(*MetadataColumn("_pos", specs));
  }
  return columns;
}

// What the filter says about one partition.
struct PartitionDecision {
  bool may_match = false;
  ExprRef residual;
};

// The filter's answers per partition, each computed once: many files share few partitions.
class PartitionFilter {
 public:
  PartitionFilter(const ExprRef& filter, const ExprRef& projected, const BoundSpec& spec)
      : filter_(filter), projected_(projected), spec_(spec) {}

  const PartitionDecision& For(const std::shared_ptr<const PartitionTuple>& tuple) {
    const auto [found, is_new] = decisions_.try_emplace(tuple);
    PartitionDecision& decision = found->second;
    if (is_new && filter_->op == Op::kTrue)
      decision = {.may_match = true, .residual = filter_};
    else if (is_new) {
      decision.may_match = EvaluateRow(*projected_, [&](const BoundColumn& column) -> const Datum& {
                             return ValueOf(*tuple, column);
                           }) == Truth::kTrue;
      if (decision.may_match) decision.residual = ResidualFor(*filter_, spec_, *tuple);
      decision.may_match = decision.may_match && decision.residual->op != Op::kFalse;
    }
    return decision;
  }

 private:
  const Datum& ValueOf(const PartitionTuple& tuple, const BoundColumn& column) const {
    static const Datum kNull;
    for (size_t i = 0; i < tuple.values.size(); ++i) {
      if (spec_.spec.fields[i].field_id == column.field_id) return tuple.values[i];
    }
    return kNull;
  }

  const ExprRef& filter_;
  const ExprRef& projected_;
  const BoundSpec& spec_;
  std::unordered_map<std::shared_ptr<const PartitionTuple>, PartitionDecision> decisions_;
};

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
    for (const auto& [id, spec] : plan_.specs) projected_.emplace(id, ProjectInclusive(*plan_.filter, spec));
    plan_.columns = DELENDA_TRY(ChooseColumns(request_, plan_.schema, plan_.specs));
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
      if (DELENDA_TRY(MayMatch(manifest))) (is_data ? data : deletes).push_back(&manifest);
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

  Result<bool> MayMatch(const ManifestFile& manifest) const {
    if (manifest.added_files == 0 && manifest.existing_files == 0) return false;  // DELETED entries only
    if (!manifest.spec_id || manifest.partitions.empty()) return plan_.filter->op != Op::kFalse;
    const auto spec = plan_.specs.find(*manifest.spec_id);
    if (spec == plan_.specs.end())
      return Corrupt("manifest {} has partition spec {}, which the table does not have", manifest.path,
                     *manifest.spec_id);
    const auto& fields = spec->second.spec.fields;
    return CouldMatch(*projected_.at(*manifest.spec_id), [&](const BoundColumn& column) -> std::optional<ColumnStats> {
      const auto field = std::ranges::find(fields, column.field_id, &PartitionField::field_id);
      const auto at = static_cast<size_t>(field - fields.begin());
      if (field == fields.end() || at >= manifest.partitions.size()) return std::nullopt;
      return SummaryStats(manifest.partitions[at], column.type);
    });
  }

  static ColumnStats SummaryStats(const iceberg::FieldSummary& summary, const Type& type) {
    ColumnStats stats;
    if (summary.lower) stats.lower = PruningBound(type, AsBytes(*summary.lower));
    if (summary.upper) stats.upper = PruningBound(type, AsBytes(*summary.upper));
    if (!summary.contains_null) stats.null_count = 0;
    if (summary.contains_nan == false) stats.nan_count = 0;
    return stats;
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
    std::set<int32_t> unpartitioned;
    for (const auto& [id, spec] : plan_.specs) {
      if (spec.spec.IsUnpartitioned()) unpartitioned.insert(id);
    }
    return DeleteIndex::Make(std::move(all), unpartitioned);
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
    DELENDA_TRY(FindKeyFields());
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

  // The key fields of equality deletes, from the snapshot's schema or, dropped since, from the newest one that had
  // them.
  Result<void> FindKeyFields() {
    for (const ContentFile& file : plan_.deletes) {
      for (const int32_t id : file.equality_ids) {
        if (plan_.key_fields.contains(id)) continue;
        auto key = FindKeyField(plan_.schema, id);
        for (auto schema = metadata_.schemas.rbegin(); !key && schema != metadata_.schemas.rend(); ++schema)
          key = FindKeyField(*schema, id);
        if (!key) return Corrupt("equality delete file {}: no schema of the table has key field {}", file.path, id);
        if (key->type.is_nested())
          return Corrupt("equality delete file {}: key field {} is a {}", file.path, id, key->type.ToString());
        plan_.key_fields.emplace(id, *std::move(key));
      }
    }
    return {};
  }

  static std::optional<KeyField> FindKeyField(const Schema& schema, int32_t id) {
    const Schema::Path path = schema.FindById(id);
    if (path.empty()) return std::nullopt;
    KeyField key{.column = *path.front(), .path = {}, .type = path.back()->type};
    for (const Field* field : path) {
      if (field != path.back() && field->type.kind() != TypeKind::kStruct)
        return std::nullopt;  // lists and maps hold no keys
      key.path.push_back(field->id);
    }
    key.column.required = false;
    return key;
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
  std::map<int32_t, ExprRef> projected_;  // the filter on each spec's partition fields
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
