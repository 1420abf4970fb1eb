#include "delenda/api/snapshot_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"

namespace delenda::api {
namespace {

struct ManifestFiles {
  std::vector<ContentFile> files;
  std::vector<std::optional<std::string>> scopes;
};

Result<ManifestFiles> ReadManifest(io::FileIO& io, const iceberg::ManifestFile& manifest,
                                   const std::map<int32_t, BoundSpec>& specs, avro::SchemaCache& schemas) {
  const bool is_deletes = manifest.content == iceberg::ManifestContent::kDeletes;
  ManifestFiles found;
  auto reader = DELENDA_TRY(iceberg::ManifestReader::Open(io, manifest, specs, schemas, {.bounds = is_deletes}));
  while (DELENDA_TRY(reader.NextBlock())) {
    for (size_t row = 0; row < reader.rows(); ++row) {
      if (!reader.IsLive(row)) continue;
      found.files.push_back(reader.File(row));
      if (is_deletes) found.scopes.push_back(reader.FileScope(row));
    }
  }
  return found;
}

}  // namespace

Result<SnapshotFiles> ReadSnapshotFiles(const Table::Impl& table, const SnapshotChoice& at, WhichFiles which) {
  const iceberg::TableMetadata& metadata = table.loaded.metadata;
  const auto selected = DELENDA_TRY(iceberg::SelectSnapshot(metadata, table.Select(at)));
  SnapshotFiles result;
  result.schema_id = selected.schema->id();
  result.specs = iceberg::BindSpecs(metadata, *selected.schema);
  if (selected.snapshot == nullptr) return result;
  result.snapshot_id = selected.snapshot->snapshot_id;

  avro::SchemaCache schemas;
  auto manifests = DELENDA_TRY(iceberg::ReadManifests(*table.io, *selected.snapshot, schemas));
  for (const auto& manifest : manifests) {
    (manifest.content == iceberg::ManifestContent::kData ? result.data_manifests : result.delete_manifests) += 1;
  }
  if (which == WhichFiles::kDeletes) {
    std::erase_if(manifests, [](const auto& manifest) { return manifest.content == iceberg::ManifestContent::kData; });
  }
  std::vector<ManifestFiles> found(manifests.size());
  const auto read_one = [&](size_t i) -> Result<void> {
    found[i] = DELENDA_TRY(ReadManifest(*table.io, manifests[i], result.specs, schemas));
    return {};
  };
  DELENDA_TRY(table.executor.ParallelFor(manifests.size(), read_one, table.options.hooks.cancel));
  for (size_t i = 0; i < manifests.size(); ++i) {
    const bool is_data = manifests[i].content == iceberg::ManifestContent::kData;
    std::ranges::move(found[i].files, std::back_inserter(is_data ? result.data : result.deletes));
    std::ranges::move(found[i].scopes, std::back_inserter(result.scopes));
  }
  return result;
}

}  // namespace delenda::api
