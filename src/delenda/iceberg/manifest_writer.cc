#include "delenda/iceberg/manifest_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "delenda/formats/json/writer.h"
#include "delenda/iceberg/manifest_schema.h"
#include "delenda/iceberg/schema_json.h"

namespace delenda::iceberg {
namespace {

// As the reference implementation spells them.
std::string_view FormatNameInManifest(FileFormat format) {
  switch (format) {
    case FileFormat::kParquet: return "PARQUET";
    case FileFormat::kAvro: return "AVRO";
    case FileFormat::kOrc: return "ORC";
    case FileFormat::kPuffin: return "PUFFIN";
    case FileFormat::kOther: break;
  }
  return {};
}

bool FitsInt(const Datum& value, int64_t least, int64_t most) {
  const auto* integer = std::get_if<int64_t>(&value);
  return integer != nullptr && *integer >= least && *integer <= most;
}

bool IsPartitionValue(const Type& type, const Datum& value) {
  if (IsNull(value)) return true;
  const auto* text = std::get_if<std::string>(&value);
  switch (type.kind()) {
    case TypeKind::kBoolean: return std::holds_alternative<bool>(value);
    case TypeKind::kInt:
    case TypeKind::kDate:
      return FitsInt(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: return std::holds_alternative<int64_t>(value);
    case TypeKind::kFloat: return std::holds_alternative<float>(value);
    case TypeKind::kDouble: return std::holds_alternative<double>(value);
    case TypeKind::kString: return text != nullptr && IsValidUtf8(*text);
    case TypeKind::kBinary: return text != nullptr;
    case TypeKind::kUuid:
    case TypeKind::kFixed: return text != nullptr && text->size() == static_cast<size_t>(type.length());
    case TypeKind::kDecimal: {
      const auto* unscaled = std::get_if<Int128>(&value);
      if (unscaled == nullptr) return false;
      const Int128 rest = *unscaled >> (DecimalBytes(type.precision()) * 8 - 1);
      return rest == 0 || rest == -1;
    }
    default: return false;
  }
}

void EncodeValue(const Type& type, const Datum& value, avro::Encoder& out) {
  if (type.kind() == TypeKind::kUnknown) return;  // Avro's null: no bytes
  if (IsNull(value)) return out.Null();
  out.Branch(1);
  if (const auto* boolean = std::get_if<bool>(&value)) return out.Boolean(*boolean);
  if (const auto* integer = std::get_if<int64_t>(&value)) return out.Int(*integer);
  if (const auto* real = std::get_if<float>(&value)) return out.Float(*real);
  if (const auto* real = std::get_if<double>(&value)) return out.Double(*real);
  if (const auto* unscaled = std::get_if<Int128>(&value)) {
    std::string bytes(static_cast<size_t>(DecimalBytes(type.precision())), '\0');
    Int128 rest = *unscaled;
    for (size_t i = bytes.size(); i-- > 0; rest >>= 8) bytes[i] = static_cast<char>(rest & 0xff);
    return out.Fixed(bytes);
  }
  const auto& text = std::get<std::string>(value);
  const bool is_fixed = type.kind() == TypeKind::kUuid || type.kind() == TypeKind::kFixed;
  return is_fixed ? out.Fixed(text) : out.Text(text);
}

// -0.0 before 0.0: readers that tell them apart must not find a value outside the bounds.
bool IsBelow(const Datum& a, const Datum& b) {
  const auto order = CompareDatum(a, b);
  if (order != 0) return order < 0;
  if (const auto* real = std::get_if<float>(&a)) return std::signbit(*real) && !std::signbit(std::get<float>(b));
  if (const auto* real = std::get_if<double>(&a)) return std::signbit(*real) && !std::signbit(std::get<double>(b));
  return false;
}

template <typename T>
void EncodeOptional(const std::optional<T>& value, avro::Encoder& out) {
  if (!value) return out.Null();
  out.Branch(1);
  if constexpr (std::is_integral_v<T>) {
    out.Int(*value);
  } else {
    out.Text(*value);
  }
}

template <typename Map>
void EncodeMap(const Map& map, avro::Encoder& out) {
  out.Branch(1);
  out.BeginItems(map.size());
  for (const auto& [key, value] : map) {
    out.Int(key);
    if constexpr (std::is_integral_v<typename Map::mapped_type>) {
      out.Int(value);
    } else {
      out.Text(value);
    }
  }
  out.EndItems();
}

template <typename T>
void EncodeList(const std::vector<T>& list, avro::Encoder& out) {
  if (list.empty()) return out.Null();
  out.Branch(1);
  out.BeginItems(list.size());
  for (const T item : list) out.Int(item);
  out.EndItems();
}

}  // namespace

Result<ManifestWriter> ManifestWriter::Make(const Schema& schema, const BoundSpec& spec,
                                            ManifestWriterOptions options) {
  if (options.format_version != 2 && options.format_version != 3) {
    return InvalidArgument("manifests of format version {} are not written: 2 and 3 are", options.format_version);
  }
  if (options.path.empty() || !IsValidUtf8(options.path)) return InvalidArgument("a manifest's path must be UTF-8");
  json::Writer schema_json;
  DELENDA_TRY(SchemaToJson(schema, schema_json));
  json::Writer fields_json;
  DELENDA_TRY(PartitionFieldsToJson(spec.spec, fields_json));
  const std::string avro_schema = DELENDA_TRY(ManifestEntrySchema(options.format_version, spec));
  auto avro =
      DELENDA_TRY(avro::Writer::Make(avro_schema,
                                     {{"schema", std::move(schema_json).Finish()},
                                      {"schema-id", std::to_string(schema.id())},
                                      {"partition-spec", std::move(fields_json).Finish()},
                                      {"partition-spec-id", std::to_string(spec.spec.spec_id)},
                                      {"format-version", std::to_string(options.format_version)},
                                      {"content", options.content == ManifestContent::kData ? "data" : "deletes"}},
                                     options.avro));
  ManifestWriter writer(std::move(avro), spec, std::move(options));
  ManifestFile& manifest = writer.manifest_;
  manifest.path = writer.options_.path;
  manifest.spec_id = spec.spec.spec_id;
  manifest.content = writer.options_.content;
  manifest.sequence_number = kUnassignedSequenceNumber;
  manifest.added_snapshot_id = writer.options_.snapshot_id;
  manifest.added_files = manifest.existing_files = manifest.deleted_files = 0;
  manifest.added_rows = manifest.existing_rows = manifest.deleted_rows = 0;
  writer.summaries_.resize(spec.spec.fields.size());
  return writer;
}

Result<void> ManifestWriter::Add(const ContentFile& file, std::optional<int64_t> data_sequence_number) {
  return Write({.status = EntryStatus::kAdded, .data_sequence_number = data_sequence_number}, file);
}

Result<void> ManifestWriter::Keep(const ContentFile& file, int64_t added_snapshot_id) {
  return Write({.status = EntryStatus::kExisting,
                .snapshot_id = added_snapshot_id,
                .data_sequence_number = file.data_sequence_number,
                .file_sequence_number = file.file_sequence_number},
               file);
}

Result<void> ManifestWriter::Remove(const ContentFile& file) {
  return Write({.status = EntryStatus::kDeleted,
                .data_sequence_number = file.data_sequence_number,
                .file_sequence_number = file.file_sequence_number},
               file);
}

Result<void> ManifestWriter::CheckDeletionVector(const ContentFile& file) const {
  if (options_.format_version < 3) return InvalidArgument("a deletion vector in a manifest of format version 2");
  if (!file.content_offset || !file.content_size || *file.content_offset < 0 || *file.content_size <= 0) {
    return InvalidArgument("a deletion vector without the place of its blob (content_offset, content_size_in_bytes)");
  }
  if (!file.referenced_data_file || file.referenced_data_file->empty()) {
    return InvalidArgument("a deletion vector without its data file (referenced_data_file)");
  }
  if (file.sort_order_id) return InvalidArgument("a deletion vector with a sort order");
  return {};
}

Result<void> ManifestWriter::CheckPartition(const PartitionTuple& tuple) const {
  if (tuple.values.size() != spec_.spec.fields.size()) {
    return InvalidArgument("{} partition values: spec {} has {} fields", tuple.values.size(), spec_.spec.spec_id,
                           spec_.spec.fields.size());
  }
  for (size_t i = 0; i < tuple.values.size(); ++i) {
    if (!IsPartitionValue(spec_.result_types[i], tuple.values[i])) {
      return InvalidArgument("partition field '{}': the value is not of type {}", spec_.spec.fields[i].name,
                             spec_.result_types[i].ToString());
    }
  }
  return {};
}

Result<void> ManifestWriter::Check(const ManifestEntry& entry, const ContentFile& file) const {
  const bool deletes = options_.content == ManifestContent::kDeletes;
  if ((file.content != FileContent::kData) != deletes) {
    return InvalidArgument("{} in a manifest of {} files", FileContentName(file.content), deletes ? "delete" : "data");
  }
  if (file.path.empty() || !IsValidUtf8(file.path)) return InvalidArgument("a file's path must be UTF-8");
  if (FormatNameInManifest(file.format).empty()) return InvalidArgument("a file of unknown format");
  if (file.format == FileFormat::kPuffin && !file.IsDeletionVector()) {
    return InvalidArgument("{} in a Puffin file", FileContentName(file.content));
  }
  if (file.record_count < 0 || file.file_size < 0) {
    return InvalidArgument("record count {}, size {}: neither may be negative", file.record_count, file.file_size);
  }
  if (file.spec_id != spec_.spec.spec_id || !file.partition) {
    return InvalidArgument("a file of partition spec {} in a manifest of spec {}", file.spec_id, spec_.spec.spec_id);
  }
  if (file.IsDeletionVector()) {
    DELENDA_TRY(CheckDeletionVector(file));
  } else {
    if (file.content_offset || file.content_size) {
      return InvalidArgument("content_offset or content_size_in_bytes of a file that is no deletion vector");
    }
    // spec, "Position Delete Files": they must not be added to tables of version 3, whose readers and writers count on
    // at most one vector per data file.
    if (file.content == FileContent::kPositionDeletes && options_.format_version >= 3 &&
        entry.status == EntryStatus::kAdded) {
      return ValidationFailed("a new position delete file in a table of format version 3: write a deletion vector");
    }
  }
  if (file.referenced_data_file &&
      (file.content != FileContent::kPositionDeletes || !IsValidUtf8(*file.referenced_data_file))) {
    return InvalidArgument("referenced_data_file of {}", FileContentName(file.content));
  }
  if (file.equality_ids.empty() != (file.content != FileContent::kEqualityDeletes)) {
    return InvalidArgument("{} with {} equality ids", FileContentName(file.content), file.equality_ids.size());
  }
  if (file.first_row_id && (deletes || options_.format_version < 3 || *file.first_row_id < 0)) {
    return InvalidArgument("first_row_id {} of {} in format version {}", *file.first_row_id,
                           FileContentName(file.content), options_.format_version);
  }

  const bool inherits = !entry.data_sequence_number || !entry.file_sequence_number;
  // A number that is inherited by an older file would be the one of this commit: deletes of before would not apply any
  // more, or this commit's equality deletes not hit it.
  if (inherits && entry.status != EntryStatus::kAdded) {
    return InvalidArgument("an entry that is not ADDED needs its data and file sequence numbers");
  }
  if (!entry.data_sequence_number && entry.snapshot_id && *entry.snapshot_id != options_.snapshot_id) {
    return InvalidArgument("an entry of snapshot {} without sequence number in a manifest of snapshot {}",
                           *entry.snapshot_id, options_.snapshot_id);
  }
  if (entry.data_sequence_number.value_or(0) < 0 || entry.file_sequence_number.value_or(0) < 0) {
    return InvalidArgument("a negative sequence number");
  }
  if (file.partition != last_partition_) DELENDA_TRY(CheckPartition(*file.partition));
  return {};
}

Result<void> ManifestWriter::Count(const ManifestEntry& entry, const ContentFile& file) {
  auto& files = entry.status == EntryStatus::kAdded      ? manifest_.added_files
                : entry.status == EntryStatus::kExisting ? manifest_.existing_files
                                                         : manifest_.deleted_files;
  auto& rows = entry.status == EntryStatus::kAdded      ? manifest_.added_rows
               : entry.status == EntryStatus::kExisting ? manifest_.existing_rows
                                                        : manifest_.deleted_rows;
  if (*files == std::numeric_limits<int32_t>::max()) return InvalidArgument("too many entries for one manifest");
  int64_t sum = 0;
  if (__builtin_add_overflow(*rows, file.record_count, &sum)) return InvalidArgument("the manifest's rows overflow");
  rows = sum;
  ++*files;
  if (entry.status != EntryStatus::kDeleted && entry.data_sequence_number) {
    min_sequence_number_ =
        std::min(min_sequence_number_.value_or(*entry.data_sequence_number), *entry.data_sequence_number);
  }
  return {};
}

void ManifestWriter::Summarise(const PartitionTuple& tuple) {
  for (size_t i = 0; i < tuple.values.size(); ++i) {
    Summary& summary = summaries_[i];
    const Datum& value = tuple.values[i];
    if (IsNull(value)) {
      summary.contains_null = true;
    } else if (IsNan(value)) {
      summary.contains_nan = true;
    } else {
      if (!summary.lower || IsBelow(value, *summary.lower)) summary.lower = value;
      if (!summary.upper || IsBelow(*summary.upper, value)) summary.upper = value;
    }
  }
}

void ManifestWriter::EncodePartition(const PartitionTuple& tuple) {
  for (size_t i = 0; i < tuple.values.size(); ++i) EncodeValue(spec_.result_types[i], tuple.values[i], avro_.row());
}

void ManifestWriter::EncodeFile(const ContentFile& file) {
  avro::Encoder& out = avro_.row();
  out.Int(static_cast<int64_t>(file.content));
  out.Text(file.path);
  out.Text(FormatNameInManifest(file.format));
  EncodePartition(*file.partition);
  out.Int(file.record_count);
  out.Int(file.file_size);
  if (file.metrics) {
    EncodeMap(file.metrics->column_sizes, out);
    EncodeMap(file.metrics->value_counts, out);
    EncodeMap(file.metrics->null_counts, out);
    EncodeMap(file.metrics->nan_counts, out);
    EncodeMap(file.metrics->lower_bounds, out);
    EncodeMap(file.metrics->upper_bounds, out);
  } else {
    for (int map = 0; map < 6; ++map) out.Null();
  }
  out.Null();  // key_metadata
  EncodeList(file.split_offsets, out);
  EncodeList(file.equality_ids, out);
  EncodeOptional(file.sort_order_id, out);
  if (options_.format_version >= 3) EncodeOptional(file.first_row_id, out);
  EncodeOptional(file.referenced_data_file, out);
  if (options_.format_version >= 3) {
    EncodeOptional(file.content_offset, out);
    EncodeOptional(file.content_size, out);
  }
}

Result<void> ManifestWriter::Write(const ManifestEntry& entry, const ContentFile& file) {
  const auto write = [&]() -> Result<void> {
    DELENDA_TRY(Check(entry, file));
    DELENDA_TRY(Count(entry, file));
    if (file.partition != last_partition_) {
      Summarise(*file.partition);
      last_partition_ = file.partition;
    }
    avro::Encoder& out = avro_.row();
    out.Int(static_cast<int64_t>(entry.status));
    EncodeOptional(std::optional(entry.snapshot_id.value_or(options_.snapshot_id)), out);
    EncodeOptional(entry.data_sequence_number, out);
    EncodeOptional(entry.file_sequence_number, out);
    EncodeFile(file);
    return avro_.EndRow();
  };
  return WithContext(write(), "file", file.path);
}

Result<WrittenManifest> ManifestWriter::Finish() && {
  // Entries without a number get the commit's, which is above all others.
  manifest_.min_sequence_number = min_sequence_number_.value_or(kUnassignedSequenceNumber);
  manifest_.partitions_listed = entries() > 0 || summaries_.empty();
  if (entries() > 0) {
    for (size_t i = 0; i < summaries_.size(); ++i) {
      const Summary& summary = summaries_[i];
      FieldSummary field{.contains_null = summary.contains_null,
                         .contains_nan = summary.contains_nan,
                         .lower = std::nullopt,
                         .upper = std::nullopt};
      if (summary.lower) {
        field.lower = std::string(AsText(DELENDA_TRY(DatumToBound(spec_.result_types[i], *summary.lower))));
        field.upper = std::string(AsText(DELENDA_TRY(DatumToBound(spec_.result_types[i], *summary.upper))));
      }
      manifest_.partitions.push_back(std::move(field));
    }
  }
  Bytes bytes = DELENDA_TRY(std::move(avro_).Finish());
  manifest_.length = bytes.size();
  return WrittenManifest{.bytes = std::move(bytes), .file = std::move(manifest_)};
}

}  // namespace delenda::iceberg
