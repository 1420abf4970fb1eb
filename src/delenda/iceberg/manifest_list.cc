#include "delenda/iceberg/manifest_list.h"

#include <utility>

namespace delenda::iceberg {
namespace {

using avro::Column;
using avro::Storage;

// spec, "Manifest Lists": field ids of manifest_file.
const avro::Projection& ManifestListProjection() {
  static const avro::Projection kProjection{
      .fields = {
          {500, "manifest_path", {}},
          {501, "manifest_length", {}},
          {502, "partition_spec_id", {}},
          {517, "content", {}},
          {515, "sequence_number", {}},
          {516, "min_sequence_number", {}},
          {503, "added_snapshot_id", {}},
          {504, "added_files_count", {}},
          {505, "existing_files_count", {}},
          {506, "deleted_files_count", {}},
          {512, "added_rows_count", {}},
          {513, "existing_rows_count", {}},
          {514, "deleted_rows_count", {}},
          {519, "key_metadata", {}},
          {520, "first_row_id", {}},
          {507,
           "partitions",
           {{509, "contains_null", {}}, {518, "contains_nan", {}}, {510, "lower_bound", {}}, {511, "upper_bound", {}}}},
      }};
  return kProjection;
}

std::optional<int64_t> OptionalInt(const Column& column, size_t row) {
  if (column.IsNull(row)) return std::nullopt;
  return column.Int(row);
}

std::optional<std::string> OptionalText(const Column& column, size_t row) {
  if (column.IsNull(row)) return std::nullopt;
  return std::string(column.Text(row));
}

Result<std::vector<ManifestFile>> DecodeManifestList(Bytes bytes, avro::SchemaCache& schemas) {
  auto reader = DELENDA_TRY(avro::Reader::Open(std::move(bytes), {.schemas = &schemas}));
  const auto columns = DELENDA_TRY(reader.ReadAll(ManifestListProjection()));
  const Column& path = *DELENDA_TRY(columns.Required({500}, Storage::kText));
  const Column& length = *DELENDA_TRY(columns.Required({501}, Storage::kInt));
  const Column& spec_id = *DELENDA_TRY(columns.Required({502}, Storage::kInt));
  const Column& content = *DELENDA_TRY(columns.Optional({517}, Storage::kInt));
  const Column& sequence = *DELENDA_TRY(columns.Optional({515}, Storage::kInt));
  const Column& min_sequence = *DELENDA_TRY(columns.Optional({516}, Storage::kInt));
  const Column& added_snapshot = *DELENDA_TRY(columns.Optional({503}, Storage::kInt));
  const Column& added_files = *DELENDA_TRY(columns.Optional({504}, Storage::kInt));
  const Column& existing_files = *DELENDA_TRY(columns.Optional({505}, Storage::kInt));
  const Column& deleted_files = *DELENDA_TRY(columns.Optional({506}, Storage::kInt));
  const Column& added_rows = *DELENDA_TRY(columns.Optional({512}, Storage::kInt));
  const Column& existing_rows = *DELENDA_TRY(columns.Optional({513}, Storage::kInt));
  const Column& deleted_rows = *DELENDA_TRY(columns.Optional({514}, Storage::kInt));
  const Column& key_metadata = *DELENDA_TRY(columns.Optional({519}, Storage::kText));
  const Column& first_row_id = *DELENDA_TRY(columns.Optional({520}, Storage::kInt));
  const Column& partitions = *DELENDA_TRY(columns.Optional({507}, Storage::kList));
  const Column& contains_null = *DELENDA_TRY(columns.Optional({507, 509}, Storage::kInt));
  const Column& contains_nan = *DELENDA_TRY(columns.Optional({507, 518}, Storage::kInt));
  const Column& lower = *DELENDA_TRY(columns.Optional({507, 510}, Storage::kText));
  const Column& upper = *DELENDA_TRY(columns.Optional({507, 511}, Storage::kText));

  std::vector<ManifestFile> manifests(columns.rows());
  for (size_t row = 0; row < manifests.size(); ++row) {
    ManifestFile& manifest = manifests[row];
    if (path.IsNull(row) || length.IsNull(row) || spec_id.IsNull(row)) {
      return Corrupt("manifest list entry {} lacks its path, length or partition spec", row);
    }
    manifest.path = path.Text(row);
    if (length.Int(row) < 0) return Corrupt("manifest {} has length {}", manifest.path, length.Int(row));
    manifest.length = static_cast<uint64_t>(length.Int(row));
    manifest.spec_id = static_cast<int32_t>(spec_id.Int(row));
    const int64_t kind = content.IsNull(row) ? 0 : content.Int(row);
    // A content that is not known must not pass for data: its deletes would be read as rows, or its rows be lost.
    if (kind != 0 && kind != 1)
      return Corrupt("manifest {} has content {}: expected 0 (data) or 1 (deletes)", manifest.path, kind);
    manifest.content = static_cast<ManifestContent>(kind);
    manifest.sequence_number = sequence.IsNull(row) ? 0 : sequence.Int(row);
    manifest.min_sequence_number = min_sequence.IsNull(row) ? 0 : min_sequence.Int(row);
    manifest.added_snapshot_id = added_snapshot.IsNull(row) ? 0 : added_snapshot.Int(row);
    manifest.added_files = OptionalInt(added_files, row);
    manifest.existing_files = OptionalInt(existing_files, row);
    manifest.deleted_files = OptionalInt(deleted_files, row);
    manifest.added_rows = OptionalInt(added_rows, row);
    manifest.existing_rows = OptionalInt(existing_rows, row);
    manifest.deleted_rows = OptionalInt(deleted_rows, row);
    manifest.first_row_id = OptionalInt(first_row_id, row);
    if (!key_metadata.IsNull(row)) return NotSupported("manifest {} is encrypted", manifest.path);
    if (partitions.IsNull(row)) continue;
    manifest.partitions_listed = true;
    for (uint32_t i = partitions.Begin(row); i < partitions.End(row); ++i) {
      manifest.partitions.push_back(
          {.contains_null = contains_null.IsNull(i) || contains_null.Int(i) != 0,
           .contains_nan = contains_nan.IsNull(i) ? std::nullopt : std::optional(contains_nan.Int(i) != 0),
           .lower = OptionalText(lower, i),
           .upper = OptionalText(upper, i)});
    }
  }
  return manifests;
}

}  // namespace

Result<std::vector<ManifestFile>> ReadManifests(io::FileIO& io, const Snapshot& snapshot, avro::SchemaCache& schemas) {
  if (snapshot.manifest_list.empty()) {
    std::vector<ManifestFile> manifests;
    for (const auto& path : snapshot.manifests) {
      ManifestFile manifest;
      manifest.path = path;
      manifest.added_snapshot_id = snapshot.snapshot_id;
      manifests.push_back(std::move(manifest));
    }
    return manifests;
  }
  const auto read = [&]() -> Result<std::vector<ManifestFile>> {
    auto manifests =
        DELENDA_TRY(DecodeManifestList(DELENDA_TRY(io::ReadWholeFile(io, snapshot.manifest_list)), schemas));
    // A list that lost its blocks is a valid Avro file: it must not pass for an empty table.
    const auto files = snapshot.summary.find("total-data-files");
    if (manifests.empty() && files != snapshot.summary.end() && files->second != "0") {
      return Corrupt("the manifest list holds no manifest; the snapshot's summary says {} data files", files->second);
    }
    return manifests;
  };
  auto manifests = read();
  if (!manifests) {
    manifests.error()
        .Add("manifest list", snapshot.manifest_list)
        .Add("snapshot", static_cast<uint64_t>(snapshot.snapshot_id));
  }
  return manifests;
}

}  // namespace delenda::iceberg
