#include "delenda/iceberg/manifest_list_writer.h"

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "delenda/iceberg/manifest_schema.h"
#include "delenda/iceberg/manifest_writer.h"

namespace delenda::iceberg {
namespace {

Result<void> AssignSequenceNumbers(ManifestFile& manifest, const ManifestListOptions& options) {
  for (int64_t* number : {&manifest.sequence_number, &manifest.min_sequence_number}) {
    if (*number == kUnassignedSequenceNumber) {
      if (manifest.added_snapshot_id != options.snapshot_id) {
        return InvalidArgument("a manifest of snapshot {} without sequence number in the list of snapshot {}",
                               manifest.added_snapshot_id, options.snapshot_id);
      }
      *number = options.sequence_number;
    }
    if (*number < 0 || *number > options.sequence_number) {
      return InvalidArgument("sequence number {} of a manifest in a commit with number {}", *number,
                             options.sequence_number);
    }
  }
  return {};
}

Result<void> AssignFirstRowId(ManifestFile& manifest, const ManifestListOptions& options, int64_t& next_row_id) {
  if (manifest.first_row_id && (manifest.content == ManifestContent::kDeletes || options.format_version < 3)) {
    return InvalidArgument("first row id {} of a manifest that must have none", *manifest.first_row_id);
  }
  if (options.format_version < 3 || manifest.content == ManifestContent::kDeletes || manifest.first_row_id) return {};
  manifest.first_row_id = next_row_id;
  if (__builtin_add_overflow(next_row_id, *manifest.added_rows, &next_row_id) ||
      __builtin_add_overflow(next_row_id, *manifest.existing_rows, &next_row_id)) {
    return InvalidArgument("row ids overflow");
  }
  return {};
}

Result<void> CheckManifest(const ManifestFile& manifest) {
  if (manifest.path.empty() || !IsValidUtf8(manifest.path)) return InvalidArgument("a manifest's path must be UTF-8");
  if (!manifest.length || !manifest.spec_id) return ValidationFailed("a manifest without length or partition spec");
  for (const auto& count : {manifest.added_files, manifest.existing_files, manifest.deleted_files, manifest.added_rows,
                            manifest.existing_rows, manifest.deleted_rows}) {
    if (!count) return ValidationFailed("a manifest without counts, which format version 2 and later require");
    if (*count < 0) return InvalidArgument("a manifest with the count {}", *count);
  }
  return {};
}

void PutText(const std::optional<std::string>& text, avro::Encoder& out) {
  if (!text) return out.Null();
  out.Branch(1);
  out.Text(*text);
}

void PutSummaries(const ManifestFile& manifest, avro::Encoder& out) {
  const std::vector<FieldSummary>& summaries = manifest.partitions;
  // Unknown ones must not become an empty list: readers look for a summary of every field in it.
  if (summaries.empty() && !manifest.partitions_listed) return out.Null();
  out.Branch(1);
  out.BeginItems(summaries.size());
  for (const FieldSummary& summary : summaries) {
    out.Boolean(summary.contains_null);
    if (summary.contains_nan) {
      out.Branch(1);
      out.Boolean(*summary.contains_nan);
    } else {
      out.Null();
    }
    PutText(summary.lower, out);
    PutText(summary.upper, out);
  }
  out.EndItems();
}

void PutManifest(const ManifestFile& manifest, int32_t format_version, avro::Encoder& out) {
  out.Text(manifest.path);
  out.Int(static_cast<int64_t>(*manifest.length));
  out.Int(*manifest.spec_id);
  out.Int(static_cast<int64_t>(manifest.content));
  out.Int(manifest.sequence_number);
  out.Int(manifest.min_sequence_number);
  out.Int(manifest.added_snapshot_id);
  out.Int(*manifest.added_files);
  out.Int(*manifest.existing_files);
  out.Int(*manifest.deleted_files);
  out.Int(*manifest.added_rows);
  out.Int(*manifest.existing_rows);
  out.Int(*manifest.deleted_rows);
  PutSummaries(manifest, out);
  out.Null();  // key_metadata
  if (format_version < 3) return;
  if (manifest.first_row_id) {
    out.Branch(1);
    out.Int(*manifest.first_row_id);
  } else {
    out.Null();
  }
}

}  // namespace

Result<WrittenManifestList> WriteManifestList(std::vector<ManifestFile> manifests, const ManifestListOptions& options) {
  if (options.format_version != 2 && options.format_version != 3) {
    return InvalidArgument("manifest lists of format version {} are not written: 2 and 3 are", options.format_version);
  }
  if (options.sequence_number < 0 || options.first_row_id < 0) {
    return InvalidArgument("sequence number {}, first row id {}: neither may be negative", options.sequence_number,
                           options.first_row_id);
  }
  avro::Writer::Metadata metadata = {
      {"snapshot-id", std::to_string(options.snapshot_id)},
      {"parent-snapshot-id", options.parent_snapshot_id ? std::to_string(*options.parent_snapshot_id) : "null"},
      {"sequence-number", std::to_string(options.sequence_number)},
      {"format-version", std::to_string(options.format_version)}};
  if (options.format_version >= 3) metadata.emplace_back("first-row-id", std::to_string(options.first_row_id));
  auto writer = DELENDA_TRY(avro::Writer::Make(ManifestFileSchema(options.format_version), metadata, options.avro));

  WrittenManifestList list;
  list.next_row_id = options.first_row_id;
  std::unordered_set<std::string_view> paths;
  for (ManifestFile& manifest : manifests) {
    const auto put = [&]() -> Result<void> {
      DELENDA_TRY(CheckManifest(manifest));
      // Its rows would be read twice.
      if (!paths.insert(manifest.path).second) return InvalidArgument("a manifest is listed twice");
      DELENDA_TRY(AssignSequenceNumbers(manifest, options));
      DELENDA_TRY(AssignFirstRowId(manifest, options, list.next_row_id));
      PutManifest(manifest, options.format_version, writer.row());
      return writer.EndRow();
    };
    DELENDA_TRY(WithContext(put(), "manifest", manifest.path));
  }
  list.bytes = DELENDA_TRY(std::move(writer).Finish());
  list.manifests = std::move(manifests);
  return list;
}

}  // namespace delenda::iceberg
