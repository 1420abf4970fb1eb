#include "delenda/commit/table_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "delenda/base/uuid.h"
#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/puffin/puffin_writer.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_writer.h"
#include "delenda/io/location.h"

namespace delenda::commit {
namespace {

using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;
using iceberg::ManifestWriter;

std::string FolderFrom(const iceberg::TableMetadata& metadata, const char* property, std::string_view standard) {
  const auto found = metadata.properties.find(property);
  if (found == metadata.properties.end() || found->second.empty()) return io::Join(metadata.location, standard);
  std::string_view folder = found->second;
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  return std::string(folder);
}

// What is to be taken out of the parent's manifests.
struct Removed {
  std::set<std::string, std::less<>> data_paths;
  std::set<DeleteKey> deletes;

  explicit Removed(const Changes& changes) {
    for (const auto& file : changes.removed_files) data_paths.insert(file.path);
    for (const auto& file : changes.removed_delete_files) deletes.insert(DeleteKey(file));
  }
  bool Has(ManifestContent content, const ContentFile& file) const {
    return content == ManifestContent::kData ? data_paths.contains(file.path) : deletes.contains(DeleteKey(file));
  }
};

class ManifestSet {
 public:
  ManifestSet(const iceberg::TableMetadata& metadata, const BranchState& state, int64_t snapshot_id, io::FileIO& io)
      : metadata_(metadata), state_(state), snapshot_id_(snapshot_id), io_(io), folder_(MetadataFolder(metadata)) {}

  Result<ManifestWriter> NewWriter(ManifestContent content, int32_t spec_id, const std::string& path) const {
    const auto spec = state_.specs().find(spec_id);
    if (spec == state_.specs().end()) return InvalidArgument("the table has no partition spec {}", spec_id);
    return ManifestWriter::Make(
        metadata_.CurrentSchema(), spec->second,
        {.format_version = metadata_.format_version, .content = content, .snapshot_id = snapshot_id_, .path = path});
  }

  std::string NewPath() const { return io::Join(folder_, RandomUuid() + "-m0.avro"); }

  Result<ManifestFile> Store(ManifestWriter writer, const std::string& path) const {
    const auto written = DELENDA_TRY(std::move(writer).Finish());
    DELENDA_TRY(io::WriteWholeFile(io_, path, written.bytes));
    return written.file;
  }

  // Nothing: the manifest stays as it is.
  Result<std::optional<ManifestFile>> Rewrite(const ManifestFile& manifest, const Removed& removed, bool always,
                                              const std::string& path, size_t& found) const {
    avro::SchemaCache schemas;
    auto reader = DELENDA_TRY(ManifestReader::Open(io_, manifest, state_.specs(), schemas, {.metrics = true}));
    auto writer = DELENDA_TRY(NewWriter(manifest.content, reader.spec().spec.spec_id, path));
    found = 0;
    while (DELENDA_TRY(reader.NextBlock())) {
      for (size_t row = 0; row < reader.rows(); ++row) {
        // What an earlier snapshot removed is that one's to tell.
        if (!reader.IsLive(row)) continue;
        const ContentFile file = reader.File(row);
        if (removed.Has(manifest.content, file)) {
          ++found;
          DELENDA_TRY(writer.Remove(file));
        } else {
          DELENDA_TRY(writer.Keep(file, reader.SnapshotId(row)));
        }
      }
    }
    if (found == 0 && !always) return std::nullopt;
    return DELENDA_TRY(Store(std::move(writer), path));
  }

  // One manifest for each spec.
  Result<void> WriteAdded(ManifestContent content, const std::vector<ContentFile>& files, write::StagedFiles& staged,
                          std::vector<ManifestFile>& manifests) const {
    std::map<int32_t, std::vector<const ContentFile*>> by_spec;
    for (const auto& file : files) by_spec[file.spec_id].push_back(&file);
    for (const auto& [spec_id, of_spec] : by_spec) {
      const std::string path = NewPath();
      auto writer = DELENDA_TRY(NewWriter(content, spec_id, path));
      for (const ContentFile* file : of_spec) DELENDA_TRY(writer.Add(*file));
      staged.Add(path);
      manifests.push_back(DELENDA_TRY(Store(std::move(writer), path)));
    }
    return {};
  }

 private:
  const iceberg::TableMetadata& metadata_;
  const BranchState& state_;
  int64_t snapshot_id_;
  io::FileIO& io_;
  std::string folder_;
};

}  // namespace

std::string DataFolder(const iceberg::TableMetadata& metadata) {
  return FolderFrom(metadata, "write.data.path", "data");
}

std::string MetadataFolder(const iceberg::TableMetadata& metadata) {
  return FolderFrom(metadata, "write.metadata.path", "metadata");
}

Result<std::vector<ContentFile>> WriteVectors(const std::vector<NewVector>& vectors,
                                              const iceberg::TableMetadata& metadata, io::FileIO& io,
                                              write::StagedFiles& staged) {
  std::vector<ContentFile> entries;
  if (vectors.empty()) return entries;
  const std::string path = io::Join(DataFolder(metadata), RandomUuid() + "-deletes.puffin");
  puffin::PuffinWriter writer;
  writer.SetProperty("created-by", fmt::format("delenda {}", DELENDA_VERSION));
  for (const NewVector& vector : vectors) {
    const auto records = static_cast<uint64_t>(vector.data_file.record_count);
    DELENDA_TRY(WithContext(dv::CheckWithinFile(vector.positions, records), "file", vector.data_file.path));
    const uint64_t cardinality = vector.positions.cardinality();
    const auto place = DELENDA_TRY(writer.AddDeletionVector(DELENDA_TRY(dv::EncodeIcebergBlob(vector.positions)),
                                                            vector.data_file.path, cardinality));
    ContentFile& entry = entries.emplace_back();
    entry.content = FileContent::kPositionDeletes;
    entry.format = FileFormat::kPuffin;
    entry.path = path;
    // Of the data file: under any other spec or partition readers would not apply it.
    entry.spec_id = vector.data_file.spec_id;
    entry.partition = vector.data_file.partition;
    entry.record_count = static_cast<int64_t>(cardinality);
    entry.referenced_data_file = vector.data_file.path;
    entry.content_offset = static_cast<int64_t>(place.offset);
    entry.content_size = static_cast<int64_t>(place.length);
  }
  const Bytes file = DELENDA_TRY(std::move(writer).Finish());
  for (auto& entry : entries) entry.file_size = static_cast<int64_t>(file.size());
  staged.Add(path);
  DELENDA_TRY(io::WriteWholeFile(io, path, file));
  return entries;
}

Result<std::vector<ManifestFile>> WriteManifests(const iceberg::TableMetadata& metadata, const BranchState& state,
                                                 const Changes& changes, const std::vector<ContentFile>& new_deletes,
                                                 int64_t snapshot_id, io::FileIO& io, write::StagedFiles& staged,
                                                 Executor& executor, const Hooks& hooks) {
  const ManifestSet set(metadata, state, snapshot_id, io);
  const Removed removed(changes);
  std::vector<ManifestFile> manifests;
  DELENDA_TRY(set.WriteAdded(ManifestContent::kData, changes.added_files, staged, manifests));
  DELENDA_TRY(set.WriteAdded(ManifestContent::kDeletes, new_deletes, staged, manifests));

  struct Edit {
    const ManifestFile* manifest = nullptr;
    bool always = false;
    std::string path;
    size_t found = 0;
    std::optional<ManifestFile> written;
  };
  std::vector<Edit> edits;
  for (size_t i = 0; i < state.manifests().size(); ++i) {
    const ManifestFile& manifest = state.manifests()[i];
    if (manifest.added_files == 0 && manifest.existing_files == 0) continue;
    const bool incomplete = !manifest.length || !manifest.spec_id || !manifest.added_files ||
                            !manifest.existing_files || !manifest.deleted_files || !manifest.added_rows ||
                            !manifest.existing_rows || !manifest.deleted_rows;
    Edit& edit = edits.emplace_back();
    edit.manifest = &manifest;
    edit.always = incomplete;
    if (incomplete ||
        (state.touched_manifests().contains(i) && !(removed.data_paths.empty() && removed.deletes.empty())))
      edit.path = set.NewPath();
  }
  for (const Edit& edit : edits) {
    if (!edit.path.empty()) staged.Add(edit.path);
  }
  DELENDA_TRY(executor.ParallelFor(
      edits.size(),
      [&](size_t i) -> Result<void> {
        Edit& edit = edits[i];
        if (edit.path.empty()) return {};
        edit.written = DELENDA_TRY(set.Rewrite(*edit.manifest, removed, edit.always, edit.path, edit.found));
        return {};
      },
      hooks.cancel));
  size_t found = 0;
  for (Edit& edit : edits) {
    found += edit.found;
    manifests.push_back(edit.written ? *std::move(edit.written) : *edit.manifest);
  }
  // A file that stays although it was to go would give its rows twice, or bring deleted rows back.
  if (found != removed.data_paths.size() + removed.deletes.size())
    return Corrupt("{} files were to be removed, {} of them were found in the manifests",
                   removed.data_paths.size() + removed.deletes.size(), found);
  return manifests;
}

}  // namespace delenda::commit
