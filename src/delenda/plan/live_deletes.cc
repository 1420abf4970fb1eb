#include "delenda/plan/live_deletes.h"

#include <iterator>
#include <utility>

#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"

namespace delenda::plan {

Result<std::vector<ContentFile>> LiveDeletes(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot,
                                             io::FileIO& io, Executor& executor, const Hooks& hooks) {
  avro::SchemaCache schemas;
  auto manifests = DELENDA_TRY(iceberg::ReadManifests(io, snapshot, schemas));
  std::erase_if(manifests, [](const iceberg::ManifestFile& manifest) {
    return manifest.content == iceberg::ManifestContent::kData;
  });
  const auto specs = iceberg::BindSpecs(metadata, metadata.CurrentSchema());
  std::vector<std::vector<ContentFile>> found(manifests.size());
  DELENDA_TRY(executor.ParallelFor(
      manifests.size(),
      [&](size_t i) -> Result<void> {
        auto reader = DELENDA_TRY(iceberg::ManifestReader::Open(io, manifests[i], specs, schemas, {}));
        while (DELENDA_TRY(reader.NextBlock())) {
          for (size_t row = 0; row < reader.rows(); ++row) {
            if (reader.IsLive(row)) found[i].push_back(reader.File(row));
          }
        }
        return {};
      },
      hooks.cancel));
  std::vector<ContentFile> files;
  for (auto& of_manifest : found) std::ranges::move(of_manifest, std::back_inserter(files));
  return files;
}

}  // namespace delenda::plan
