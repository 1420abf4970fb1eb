#include "delenda/commit/table_writer.h"

#include <fmt/format.h>

#include <utility>

#include "delenda/base/uuid.h"
#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/puffin/puffin_writer.h"
#include "delenda/io/location.h"

namespace delenda::commit {
namespace {

std::string FolderFrom(const iceberg::TableMetadata& metadata, const char* property, std::string_view standard) {
  const auto found = metadata.properties.find(property);
  if (found == metadata.properties.end() || found->second.empty()) return io::Join(metadata.location, standard);
  std::string_view folder = found->second;
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  return std::string(folder);
}

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
  std::vector<std::pair<Bytes, const NewVector*>> blobs;
  for (const NewVector& vector : vectors) {
    const auto records = static_cast<uint64_t>(vector.data_file.record_count);
    DELENDA_TRY(WithContext(dv::CheckWithinFile(vector.positions, records), "file", vector.data_file.path));
    blobs.emplace_back(DELENDA_TRY(dv::EncodeIcebergBlob(vector.positions)), &vector);
  }
  // The smaller ones first: DuckDB 1.5, having read a vector of half a kilobyte or more, takes it again in place of a
  // smaller one that follows in the manifest and lies in the same file, and so deletes rows that nobody deleted.
  std::ranges::stable_sort(blobs, {}, [](const auto& blob) { return blob.first.size(); });
  puffin::PuffinWriter writer;
  writer.SetProperty("created-by", fmt::format("delenda {}", DELENDA_VERSION));
  for (auto& [blob, of] : blobs) {
    const NewVector& vector = *of;
    const uint64_t cardinality = vector.positions.cardinality();
    const auto place = DELENDA_TRY(writer.AddDeletionVector(blob, vector.data_file.path, cardinality));
    blob = {};
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

}  // namespace delenda::commit
