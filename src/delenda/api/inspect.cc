#include "delenda/inspect.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "delenda/api/plan_info.h"
#include "delenda/api/snapshot_files.h"
#include "delenda/api/table_impl.h"
#include "delenda/formats/dv/dv_codec.h"
#include "delenda/io/location.h"
#include "delenda/io/ranges.h"
#include "delenda/plan/delete_index.h"

namespace delenda {
namespace {

using api::SnapshotFiles;

// Snapshots from the current one back to the oldest that is kept.
std::set<int64_t> CurrentAncestors(const iceberg::TableMetadata& metadata) {
  std::set<int64_t> ancestors;
  for (auto id = metadata.current_snapshot_id; id && ancestors.insert(*id).second;) {
    const iceberg::Snapshot* snapshot = metadata.FindSnapshot(*id);
    id = snapshot != nullptr ? snapshot->parent_id : std::nullopt;
  }
  return ancestors;
}

// spec, "Scan Planning": an equality delete applies to older data files of its partition; of all, if its spec has none.
bool EqualityDeleteApplies(const ContentFile& deletes, const BoundSpec& spec, const ContentFile& data) {
  if (data.data_sequence_number >= deletes.data_sequence_number) return false;
  return spec.spec.IsUnpartitioned() || (deletes.spec_id == data.spec_id && *deletes.partition == *data.partition);
}

Result<PlanInfo> AttachDeletes(SnapshotFiles files) {
  PlanInfo info;
  info.snapshot_id = files.snapshot_id;
  info.schema_id = files.schema_id;
  info.data_manifests = info.data_manifests_read = files.data_manifests;
  info.delete_manifests = info.delete_manifests_read = files.delete_manifests;
  info.files_live = files.data.size();

  std::vector<std::pair<ContentFile, std::optional<std::string>>> positional;
  std::vector<ContentFile> equality;
  for (size_t i = 0; i < files.deletes.size(); ++i) {
    ContentFile& file = files.deletes[i];
    if (file.content == FileContent::kEqualityDeletes)
      equality.push_back(std::move(file));
    else
      positional.emplace_back(std::move(file), std::move(files.scopes[i]));
  }
  const auto index = DELENDA_TRY(plan::DeleteIndex::Make(std::move(positional)));
  for (const auto& file : index.deletes()) info.deletes.push_back(api::ToDeleteInfo(file, files.specs));
  for (const auto& file : equality) info.deletes.push_back(api::ToDeleteInfo(file, files.specs));

  for (const auto& data : files.data) {
    DataFileInfo file = api::ToDataFileInfo(data, files.specs);
    auto match = index.Find({.path = data.path,
                             .spec_id = data.spec_id,
                             .partition = data.partition.get(),
                             .data_sequence_number = data.data_sequence_number});
    file.dv = match.dv;
    file.position_deletes = std::move(match.positions);
    for (size_t i = 0; i < equality.size(); ++i) {
      const auto spec = files.specs.find(equality[i].spec_id);
      if (spec == files.specs.end() || !EqualityDeleteApplies(equality[i], spec->second, data)) continue;
      file.equality_deletes.push_back(static_cast<uint32_t>(index.deletes().size() + i));
    }
    info.files.push_back(std::move(file));
  }
  return info;
}

// The one file of the snapshot that `wanted` means: its exact path, the place that it is mapped to, or the end of its
// path.
Result<std::string> FindFile(const Table::Impl& table, const SnapshotFiles& files, std::string_view wanted) {
  std::set<std::string_view> paths;
  for (const auto& file : files.data) paths.insert(file.path);
  for (const auto& file : files.deletes) {
    if (!file.IsDeletionVector()) continue;
    paths.insert(file.path);
    if (file.referenced_data_file) paths.insert(*file.referenced_data_file);
  }
  const std::string canonical = io::CanonicalLocation(wanted);
  std::vector<std::string_view> exact, ending;
  for (const auto path : paths) {
    const bool is_exact =
        path == wanted || io::CanonicalLocation(path) == canonical || io::MapLocation(table.mappings, path) == wanted;
    if (is_exact) exact.push_back(path);
    const bool is_end = path.ends_with(wanted) && path.size() > wanted.size() &&
                        (wanted.starts_with('/') || path[path.size() - wanted.size() - 1] == '/');
    if (is_end) ending.push_back(path);
  }
  const auto& found = exact.empty() ? ending : exact;
  if (found.empty()) {
    return NotFound("the snapshot has no data file or Puffin file '{}': `inspect TABLE files` lists them", wanted);
  }
  if (found.size() > 1) {
    std::string list;
    for (size_t i = 0; i < std::min<size_t>(found.size(), 3); ++i)
      list += fmt::format("{}{}", i > 0 ? ", " : "", found[i]);
    return InvalidArgument("'{}' fits {} files ({}{}): give more of the path", wanted, found.size(), list,
                           found.size() > 3 ? ", …" : "");
  }
  return std::string(found.front());
}

Result<DvInfo> DecodeDv(io::FileIO& io, const ContentFile& dv, const ContentFile* data) {
  if (!dv.referenced_data_file || !dv.content_offset || !dv.content_size || *dv.content_offset < 0 ||
      *dv.content_size < 0 || dv.record_count < 0) {
    return Corrupt("a deletion vector lacks its referenced data file, offset, size or cardinality");
  }
  const io::ByteRange range = {.offset = static_cast<uint64_t>(*dv.content_offset),
                               .length = static_cast<uint64_t>(*dv.content_size)};
  const auto file = DELENDA_TRY(io.Open(dv.path));
  const Bytes blob = DELENDA_TRY(io::ReadRange(*file, range));
  const PositionSet positions = DELENDA_TRY(dv::DecodeIcebergBlob(blob, static_cast<uint64_t>(dv.record_count)));
  DvInfo info{.data_file = *dv.referenced_data_file,
              .container = dv.path,
              .offset = range.offset,
              .size = range.length,
              .cardinality = positions.cardinality(),
              .runs = {}};
  if (data != nullptr && data->record_count >= 0) {
    info.data_file_rows = static_cast<uint64_t>(data->record_count);
    DELENDA_TRY(dv::CheckWithinFile(positions, info.data_file_rows));
  }
  positions.ForEachRun([&info](PositionRun run) { info.runs.push_back({.begin = run.begin, .end = run.end}); });
  return info;
}

}  // namespace

std::vector<uint64_t> DvInfo::Positions() const {
  std::vector<uint64_t> positions;
  positions.reserve(cardinality);
  for (const auto& run : runs) {
    for (uint64_t position = run.begin; position < run.end; ++position) positions.push_back(position);
  }
  return positions;
}

std::vector<SnapshotInfo> Table::Snapshots() const {
  const iceberg::TableMetadata& metadata = impl_->loaded.metadata;
  std::vector<SnapshotInfo> result;
  for (const auto& snapshot : metadata.snapshots) {
    result.push_back({.snapshot_id = snapshot.snapshot_id,
                      .parent_id = snapshot.parent_id,
                      .sequence_number = snapshot.sequence_number,
                      .timestamp_ms = snapshot.timestamp_ms,
                      .operation = snapshot.operation,
                      .summary = snapshot.summary,
                      .schema_id = snapshot.schema_id,
                      .is_current = metadata.current_snapshot_id == snapshot.snapshot_id});
  }
  // By time: clocks of writers differ, so the sequence number decides where there is one.
  std::ranges::sort(result, [](const SnapshotInfo& a, const SnapshotInfo& b) {
    return std::tuple(a.sequence_number, a.timestamp_ms, a.snapshot_id) <
           std::tuple(b.sequence_number, b.timestamp_ms, b.snapshot_id);
  });
  return result;
}

std::vector<HistoryEntry> Table::History() const {
  const iceberg::TableMetadata& metadata = impl_->loaded.metadata;
  const std::set<int64_t> ancestors = CurrentAncestors(metadata);
  std::vector<HistoryEntry> result;
  for (const auto& entry : metadata.snapshot_log) {
    const iceberg::Snapshot* snapshot = metadata.FindSnapshot(entry.snapshot_id);
    result.push_back({.timestamp_ms = entry.timestamp_ms,
                      .snapshot_id = entry.snapshot_id,
                      .parent_id = snapshot != nullptr ? snapshot->parent_id : std::nullopt,
                      .is_retained = snapshot != nullptr,
                      .is_current_ancestor = ancestors.contains(entry.snapshot_id)});
  }
  return result;
}

std::vector<RefInfo> Table::Refs() const {
  std::vector<RefInfo> result;
  for (const auto& [name, ref] : impl_->loaded.metadata.refs) {
    result.push_back({.name = name,
                      .is_branch = ref.is_branch,
                      .snapshot_id = ref.snapshot_id,
                      .min_snapshots_to_keep = ref.min_snapshots_to_keep,
                      .max_snapshot_age_ms = ref.max_snapshot_age_ms,
                      .max_ref_age_ms = ref.max_ref_age_ms});
  }
  return result;
}

Result<PlanInfo> Table::Files(const SnapshotChoice& at) const {
  return AttachDeletes(DELENDA_TRY(api::ReadSnapshotFiles(*impl_, at, api::WhichFiles::kAll)));
}

Result<std::vector<DeleteInfo>> Table::Deletes(const SnapshotChoice& at) const {
  const SnapshotFiles files = DELENDA_TRY(api::ReadSnapshotFiles(*impl_, at, api::WhichFiles::kDeletes));
  std::vector<DeleteInfo> result;
  for (size_t i = 0; i < files.deletes.size(); ++i) {
    DeleteInfo info = api::ToDeleteInfo(files.deletes[i], files.specs);
    if (!info.referenced_data_file) info.referenced_data_file = files.scopes[i];
    result.push_back(std::move(info));
  }
  return result;
}

Result<std::vector<DvInfo>> Table::DeletionVectors(std::string_view file, const SnapshotChoice& at) const {
  const SnapshotFiles files = DELENDA_TRY(api::ReadSnapshotFiles(*impl_, at, api::WhichFiles::kAll));
  const std::string path = DELENDA_TRY(FindFile(*impl_, files, file));
  std::map<std::string_view, const ContentFile*> data;
  for (const auto& one : files.data) data.emplace(one.path, &one);
  std::vector<DvInfo> result;
  for (const auto& dv : files.deletes) {
    if (!dv.IsDeletionVector() || (dv.path != path && dv.referenced_data_file != path)) continue;
    const auto found = data.find(dv.referenced_data_file.value_or(""));
    auto info = WithContext(DecodeDv(*impl_->io, dv, found != data.end() ? found->second : nullptr), "file", dv.path);
    result.push_back(DELENDA_TRY(std::move(info)));
  }
  if (result.empty()) return NotFound("{} has no deletion vector in this snapshot", path);
  return result;
}

}  // namespace delenda
