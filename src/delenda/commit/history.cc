#include "delenda/commit/history.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/io/ranges.h"
#include "delenda/model/partition.h"
#include "delenda/plan/delete_index.h"

namespace delenda::commit {
namespace {

using iceberg::EntryStatus;
using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;
using iceberg::Snapshot;

// Oldest first; nothing: `base` is no ancestor.
std::optional<std::vector<const Snapshot*>> SnapshotsSince(const iceberg::TableMetadata& metadata,
                                                           std::optional<int64_t> base, const Snapshot& head) {
  std::vector<const Snapshot*> since;
  const Snapshot* at = &head;
  while (at->snapshot_id != base) {
    since.push_back(at);
    if (since.size() > metadata.snapshots.size()) return std::nullopt;  // a circle of parents
    if (!at->parent_id) {
      if (base) return std::nullopt;
      break;
    }
    at = metadata.FindSnapshot(*at->parent_id);
    if (at == nullptr) return std::nullopt;
  }
  std::ranges::reverse(since);
  return since;
}

// What one manifest tells of the snapshot that wrote it.
struct ManifestChanges {
  std::vector<ContentFile> added, removed;
};

Result<ManifestChanges> ReadChanges(io::FileIO& io, const ManifestFile& manifest,
                                    const std::map<int32_t, BoundSpec>& specs, avro::SchemaCache& schemas) {
  ManifestChanges changes;
  const bool is_data = manifest.content == ManifestContent::kData;
  auto reader =
      DELENDA_TRY(ManifestReader::Open(io, manifest, specs, schemas, {.bounds = is_data, .metrics = is_data}));
  while (DELENDA_TRY(reader.NextBlock())) {
    for (size_t row = 0; row < reader.rows(); ++row) {
      if (reader.SnapshotId(row) != manifest.added_snapshot_id) continue;
      if (reader.Status(row) == EntryStatus::kAdded) changes.added.push_back(reader.File(row));
      if (reader.Status(row) == EntryStatus::kDeleted) changes.removed.push_back(reader.File(row));
    }
  }
  return changes;
}

Result<PositionSet> LoadVector(io::FileIO& io, const ContentFile& vector) {
  const auto load = [&]() -> Result<PositionSet> {
    DELENDA_TRY(plan::CheckDeletionVector(vector));
    const auto file = DELENDA_TRY(io.Open(vector.path, static_cast<uint64_t>(vector.file_size)));
    const Bytes blob = DELENDA_TRY(io::ReadRange(*file, {.offset = static_cast<uint64_t>(*vector.content_offset),
                                                         .length = static_cast<uint64_t>(*vector.content_size)}));
    return dv::DecodeIcebergBlob(blob, static_cast<uint64_t>(vector.record_count));
  };
  return WithContext(load(), "file", vector.path);
}

// Did a vector lose bits, other than with its data file?
Result<bool> RestoredRows(io::FileIO& io, const std::vector<ManifestChanges>& deletes,
                          const std::vector<ManifestChanges>& data) {
  std::map<std::string_view, const ContentFile*> added;
  for (const auto& changes : deletes) {
    for (const auto& file : changes.added) {
      if (file.IsDeletionVector() && file.referenced_data_file) added[*file.referenced_data_file] = &file;
    }
  }
  const auto is_removed = [&](std::string_view path) {
    return std::ranges::any_of(data, [&](const ManifestChanges& changes) {
      return std::ranges::any_of(changes.removed, [&](const ContentFile& file) { return file.path == path; });
    });
  };
  for (const auto& changes : deletes) {
    for (const auto& file : changes.removed) {
      if (!file.IsDeletionVector() || !file.referenced_data_file) continue;
      if (is_removed(*file.referenced_data_file)) continue;
      const auto found = added.find(*file.referenced_data_file);
      if (found == added.end() || found->second->record_count < file.record_count) return true;
      const PositionSet before = DELENDA_TRY(LoadVector(io, file));
      if (!DELENDA_TRY(LoadVector(io, *found->second)).ContainsAll(before)) return true;
    }
  }
  return false;
}

}  // namespace

Result<History> ReadHistory(const iceberg::TableMetadata& metadata, std::optional<int64_t> base_snapshot_id,
                            const Snapshot& head, io::FileIO& io, Executor& executor, const Hooks& hooks) {
  History history;
  const auto snapshots = SnapshotsSince(metadata, base_snapshot_id, head);
  if (!snapshots) return history;
  avro::SchemaCache schemas;
  const auto specs = iceberg::BindSpecs(metadata, metadata.CurrentSchema());
  for (const Snapshot* snapshot : *snapshots) {
    const auto listed = iceberg::ReadManifests(io, *snapshot, schemas);
    if (!listed) {
      // Expired meanwhile: its list is deleted.
      if (listed.error().kind() == ErrorKind::kNotFound) return History{};
      return std::unexpected(listed.error());
    }
    std::vector<const ManifestFile*> own;
    for (const auto& manifest : *listed) {
      if (manifest.added_snapshot_id == snapshot->snapshot_id) own.push_back(&manifest);
    }
    std::vector<ManifestChanges> changes(own.size());
    DELENDA_TRY(executor.ParallelFor(
        own.size(),
        [&](size_t i) -> Result<void> {
          changes[i] = DELENDA_TRY(ReadChanges(io, *own[i], specs, schemas));
          return {};
        },
        hooks.cancel));
    std::vector<ManifestChanges> data, deletes;
    for (size_t i = 0; i < own.size(); ++i)
      (own[i]->content == ManifestContent::kData ? data : deletes).push_back(std::move(changes[i]));

    const bool is_replace = snapshot->operation == "replace";
    const bool adds_files = std::ranges::any_of(data, [](const auto& one) { return !one.added.empty(); });
    const bool removes_files = std::ranges::any_of(data, [](const auto& one) { return !one.removed.empty(); });
    const bool adds_deletes = std::ranges::any_of(deletes, [](const auto& one) { return !one.added.empty(); });
    if (is_replace && removes_files) history.has_moved_rows = true;
    if (!is_replace && adds_files && (removes_files || adds_deletes)) {
      history.is_pure = false;
      history.has_moved_rows = history.has_moved_rows || removes_files;
    }
    for (const auto& one : deletes) {
      history.has_new_equality_deletes =
          history.has_new_equality_deletes || std::ranges::any_of(one.added, [](const ContentFile& file) {
            return file.content == FileContent::kEqualityDeletes;
          });
    }
    history.has_restored_rows = history.has_restored_rows || DELENDA_TRY(RestoredRows(io, deletes, data));
    auto& added = is_replace ? history.replacing_files : history.added_files;
    for (auto& one : data) std::ranges::move(one.added, std::back_inserter(added));
  }
  history.is_known = true;
  return history;
}

}  // namespace delenda::commit
