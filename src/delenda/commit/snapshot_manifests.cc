#include "delenda/commit/snapshot_manifests.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "delenda/base/uuid.h"
#include "delenda/commit/manifest_merge.h"
#include "delenda/commit/table_writer.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_writer.h"
#include "delenda/io/location.h"

namespace delenda::commit {
namespace {

using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;
using iceberg::ManifestWriter;

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
  bool HasAny(ManifestContent content) const {
    return content == ManifestContent::kData ? !data_paths.empty() : !deletes.empty();
  }
  size_t size() const { return data_paths.size() + deletes.size(); }
};

// Version 1 leaves out what later versions ask for.
bool IsComplete(const ManifestFile& manifest) {
  return manifest.length && manifest.spec_id && manifest.added_files && manifest.existing_files &&
         manifest.deleted_files && manifest.added_rows && manifest.existing_rows && manifest.deleted_rows;
}

// A manifest that the snapshot could have: the parent's, or one of new files.
struct Source {
  const ManifestFile* parents = nullptr;
  bool is_touched = false;  // may hold a file that is to be removed
  std::vector<const ContentFile*> added;
  iceberg::WrittenManifest written;  // of `added`; not stored yet
};

// A manifest that the snapshot will have.
struct Target {
  std::vector<Source*> sources;
  std::string path;  // empty: the one source's manifest is taken as it is
  bool always = false;
  size_t found = 0;  // removed files
  std::optional<ManifestFile> stored;
};

class SnapshotManifests {
 public:
  SnapshotManifests(const iceberg::TableMetadata& metadata, const BranchState& state, const Changes& changes,
                    int64_t snapshot_id, io::FileIO& io)
      : metadata_(metadata),
        state_(state),
        removed_(changes),
        snapshot_id_(snapshot_id),
        io_(io),
        folder_(MetadataFolder(metadata)) {}

  // Manifests of at most about the target size, for each spec.
  Result<void> AddNew(ManifestContent content, const std::vector<ContentFile>& files,
                      const ManifestMergePolicy& policy) {
    std::map<int32_t, std::vector<const ContentFile*>> by_spec;
    for (const auto& file : files) by_spec[file.spec_id].push_back(&file);
    for (auto& [spec_id, of_spec] : by_spec) {
      for (size_t next = 0; next < of_spec.size();) {
        auto source = std::make_unique<Source>();
        auto writer = DELENDA_TRY(NewWriter(content, spec_id, NewPath()));
        do {
          DELENDA_TRY(writer.Add(*of_spec[next]));
          source->added.push_back(of_spec[next++]);
        } while (next < of_spec.size() && std::cmp_less(writer.size(), policy.target_bytes));
        source->written = DELENDA_TRY(std::move(writer).Finish());
        sources_.push_back(std::move(source));
      }
    }
    return {};
  }

  void AddParents() {
    for (size_t i = 0; i < state_.manifests().size(); ++i) {
      const ManifestFile& manifest = state_.manifests()[i];
      if (manifest.added_files == 0 && manifest.existing_files == 0) continue;
      auto source = std::make_unique<Source>();
      source->parents = &manifest;
      // Data files that only get another vector stay in their manifests: those need not be read again.
      source->is_touched = removed_.HasAny(manifest.content) && state_.touched_manifests().contains(i);
      sources_.push_back(std::move(source));
    }
  }

  // What will be written, with the paths of all files.
  std::vector<Target> Plan(const ManifestMergePolicy& policy, write::StagedFiles& staged) const {
    std::vector<Target> targets;
    std::vector<ManifestSize> sizes;
    std::vector<Source*> sized;
    for (const auto& source : sources_) {
      const ManifestFile& manifest = source->parents != nullptr ? *source->parents : source->written.file;
      if (IsComplete(manifest)) {
        sizes.push_back({.content = manifest.content,
                         .spec_id = *manifest.spec_id,
                         .bytes = *manifest.length,
                         .is_new = source->parents == nullptr});
        sized.push_back(source.get());
      } else {
        targets.push_back({.sources = {source.get()}, .path = NewPath(), .always = true, .stored = {}});
      }
    }
    for (const auto& group : GroupManifests(sizes, policy)) {
      Target& target = targets.emplace_back();
      for (const size_t member : group) target.sources.push_back(sized[member]);
      const Source& first = *target.sources.front();
      target.always = group.size() > 1;
      if (target.always || first.is_touched) {
        target.path = NewPath();
      } else if (first.parents == nullptr) {
        target.path = first.written.file.path;
      }
    }
    for (const Target& target : targets) {
      if (!target.path.empty()) staged.Add(target.path);
    }
    return targets;
  }

  Result<void> Write(Target& target) const {
    const Source& first = *target.sources.front();
    if (target.path.empty()) return {};
    if (!target.always && first.parents == nullptr) {
      target.stored = first.written.file;
      return io::WriteWholeFile(io_, target.path, first.written.bytes);
    }
    auto writer = DELENDA_TRY(WriterLike(first, target.path));
    for (const Source* source : target.sources) {
      for (const ContentFile* file : source->added) DELENDA_TRY(writer.Add(*file));
      if (source->parents != nullptr) DELENDA_TRY(Copy(*source->parents, writer, target.found));
    }
    if (target.found == 0 && !target.always) return {};  // the manifest stays as it is
    auto written = DELENDA_TRY(std::move(writer).Finish());
    DELENDA_TRY(io::WriteWholeFile(io_, target.path, written.bytes));
    target.stored = std::move(written.file);
    return {};
  }

  const Removed& removed() const { return removed_; }

 private:
  std::string NewPath() const { return io::Join(folder_, RandomUuid() + "-m0.avro"); }

  Result<ManifestWriter> NewWriter(ManifestContent content, int32_t spec_id, const std::string& path) const {
    const auto spec = state_.specs().find(spec_id);
    if (spec == state_.specs().end()) return InvalidArgument("the table has no partition spec {}", spec_id);
    return ManifestWriter::Make(
        metadata_.CurrentSchema(), spec->second,
        {.format_version = metadata_.format_version, .content = content, .snapshot_id = snapshot_id_, .path = path});
  }

  // Of the content and spec of what is to be written.
  Result<ManifestWriter> WriterLike(const Source& source, const std::string& path) const {
    const ManifestFile& manifest = source.parents != nullptr ? *source.parents : source.written.file;
    if (manifest.spec_id) return NewWriter(manifest.content, *manifest.spec_id, path);
    avro::SchemaCache schemas;
    const auto reader = DELENDA_TRY(ManifestReader::Open(io_, manifest, state_.specs(), schemas, {}));
    return NewWriter(manifest.content, reader.spec().spec.spec_id, path);
  }

  Result<void> Copy(const ManifestFile& manifest, ManifestWriter& writer, size_t& found) const {
    avro::SchemaCache schemas;
    auto reader = DELENDA_TRY(ManifestReader::Open(io_, manifest, state_.specs(), schemas, {.metrics = true}));
    while (DELENDA_TRY(reader.NextBlock())) {
      for (size_t row = 0; row < reader.rows(); ++row) {
        // What an earlier snapshot removed is that one's to tell.
        if (!reader.IsLive(row)) continue;
        const ContentFile file = reader.File(row);
        if (removed_.Has(manifest.content, file)) {
          ++found;
          DELENDA_TRY(writer.Remove(file));
        } else {
          DELENDA_TRY(writer.Keep(file, reader.SnapshotId(row)));
        }
      }
    }
    return {};
  }

  const iceberg::TableMetadata& metadata_;
  const BranchState& state_;
  Removed removed_;
  int64_t snapshot_id_;
  io::FileIO& io_;
  std::string folder_;
  std::vector<std::unique_ptr<Source>> sources_;  // newest first
};

}  // namespace

Result<std::vector<ManifestFile>> WriteManifests(const iceberg::TableMetadata& metadata, const BranchState& state,
                                                 const Changes& changes, const std::vector<ContentFile>& new_deletes,
                                                 int64_t snapshot_id, io::FileIO& io, write::StagedFiles& staged,
                                                 Executor& executor, const Hooks& hooks) {
  const auto policy = DELENDA_TRY(ManifestMergePolicy::From(metadata.properties));
  SnapshotManifests all(metadata, state, changes, snapshot_id, io);
  DELENDA_TRY(all.AddNew(ManifestContent::kData, changes.added_files, policy));
  DELENDA_TRY(all.AddNew(ManifestContent::kDeletes, new_deletes, policy));
  all.AddParents();
  std::vector<Target> targets = all.Plan(policy, staged);
  DELENDA_TRY(executor.ParallelFor(
      targets.size(), [&](size_t i) -> Result<void> { return all.Write(targets[i]); }, hooks.cancel));
  size_t found = 0;
  std::vector<ManifestFile> manifests;
  for (Target& target : targets) {
    found += target.found;
    manifests.push_back(target.stored ? *std::move(target.stored) : *target.sources.front()->parents);
  }
  // A file that stays although it was to go would give its rows twice, or bring deleted rows back.
  if (found != all.removed().size())
    return Corrupt("{} files were to be removed, {} of them were found in the manifests", all.removed().size(), found);
  return manifests;
}

}  // namespace delenda::commit
