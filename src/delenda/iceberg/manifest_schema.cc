#include "delenda/iceberg/manifest_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "delenda/formats/json/writer.h"

namespace delenda::iceberg {
namespace {

// What a column of the fixed part holds.
enum class Shape : uint8_t {
  kInt,
  kLong,
  kBoolean,
  kString,
  kBytes,
  kPartition,  // record r102, by the spec
  kCounts,     // map from int to long, as an array of key-value records
  kBounds,     // map from int to bytes, likewise
  kLongs,
  kInts,
  kSummaries,  // array of record r508
};

struct SchemaColumn {
  int32_t id;
  const char* name;
  bool required;
  Shape shape;
  const char* doc = nullptr;
  int32_t first_inner_id = 0;  // of keys or elements; values have the next one
};

constexpr std::array kEntryColumns = {
    SchemaColumn{0, "status", true, Shape::kInt},
    SchemaColumn{1, "snapshot_id", false, Shape::kLong},
    SchemaColumn{3, "sequence_number", false, Shape::kLong},
    SchemaColumn{4, "file_sequence_number", false, Shape::kLong},
};

constexpr std::array kFileColumns = {
    SchemaColumn{134, "content", true, Shape::kInt,
                 "Contents of the file: 0=data, 1=position deletes, 2=equality deletes"},
    SchemaColumn{100, "file_path", true, Shape::kString, "Location URI with FS scheme"},
    SchemaColumn{101, "file_format", true, Shape::kString, "File format name: avro, orc, or parquet"},
    SchemaColumn{102, "partition", true, Shape::kPartition, "Partition data tuple, schema based on the partition spec"},
    SchemaColumn{103, "record_count", true, Shape::kLong, "Number of records in the file"},
    SchemaColumn{104, "file_size_in_bytes", true, Shape::kLong, "Total file size in bytes"},
    SchemaColumn{108, "column_sizes", false, Shape::kCounts, "Map of column id to total size on disk", 117},
    SchemaColumn{109, "value_counts", false, Shape::kCounts, "Map of column id to total count, including null and NaN",
                 119},
    SchemaColumn{110, "null_value_counts", false, Shape::kCounts, "Map of column id to null value count", 121},
    SchemaColumn{137, "nan_value_counts", false, Shape::kCounts,
                 "Map of column id to number of NaN values in the column", 138},
    SchemaColumn{125, "lower_bounds", false, Shape::kBounds, "Map of column id to lower bound", 126},
    SchemaColumn{128, "upper_bounds", false, Shape::kBounds, "Map of column id to upper bound", 129},
    SchemaColumn{131, "key_metadata", false, Shape::kBytes, "Encryption key metadata blob"},
    SchemaColumn{132, "split_offsets", false, Shape::kLongs, "Splittable offsets", 133},
    SchemaColumn{135, "equality_ids", false, Shape::kInts, "Equality comparison field IDs", 136},
    SchemaColumn{140, "sort_order_id", false, Shape::kInt, "Sort order ID"},
    SchemaColumn{142, "first_row_id", false, Shape::kLong,
                 "The first row ID assigned to the first row in the data file"},
    SchemaColumn{143, "referenced_data_file", false, Shape::kString,
                 "Fully qualified location (URI with FS scheme) of a data file that all deletes reference"},
    SchemaColumn{144, "content_offset", false, Shape::kLong, "The offset in the file where the content starts"},
    SchemaColumn{145, "content_size_in_bytes", false, Shape::kLong,
                 "The length of referenced content stored in the file"},
};

constexpr std::array kListColumns = {
    SchemaColumn{500, "manifest_path", true, Shape::kString, "Location URI with FS scheme"},
    SchemaColumn{501, "manifest_length", true, Shape::kLong, "Total file size in bytes"},
    SchemaColumn{502, "partition_spec_id", true, Shape::kInt, "Spec ID used to write"},
    SchemaColumn{517, "content", true, Shape::kInt, "Contents of the manifest: 0=data, 1=deletes"},
    SchemaColumn{515, "sequence_number", true, Shape::kLong, "Sequence number when the manifest was added"},
    SchemaColumn{516, "min_sequence_number", true, Shape::kLong, "Lowest sequence number in the manifest"},
    SchemaColumn{503, "added_snapshot_id", true, Shape::kLong, "Snapshot ID that added the manifest"},
    SchemaColumn{504, "added_files_count", true, Shape::kInt, "Added entry count"},
    SchemaColumn{505, "existing_files_count", true, Shape::kInt, "Existing entry count"},
    SchemaColumn{506, "deleted_files_count", true, Shape::kInt, "Deleted entry count"},
    SchemaColumn{512, "added_rows_count", true, Shape::kLong, "Added rows count"},
    SchemaColumn{513, "existing_rows_count", true, Shape::kLong, "Existing rows count"},
    SchemaColumn{514, "deleted_rows_count", true, Shape::kLong, "Deleted rows count"},
    SchemaColumn{507, "partitions", false, Shape::kSummaries, "Summary for each partition", 508},
    SchemaColumn{519, "key_metadata", false, Shape::kBytes, "Encryption key metadata blob"},
    SchemaColumn{520, "first_row_id", false, Shape::kLong, "Starting row ID to assign to new rows in ADDED data files"},
};

constexpr std::array kSummaryColumns = {
    SchemaColumn{509, "contains_null", true, Shape::kBoolean, "True if any file has a null partition value"},
    SchemaColumn{518, "contains_nan", false, Shape::kBoolean, "True if any file has a nan partition value"},
    SchemaColumn{510, "lower_bound", false, Shape::kBytes, "Partition lower bound for all files"},
    SchemaColumn{511, "upper_bound", false, Shape::kBytes, "Partition upper bound for all files"},
};

// Columns that came with format version 3.
bool IsSince3(int32_t id) { return id == 142 || id == 144 || id == 145 || id == 520; }

class SchemaText {
 public:
  void BeginRecord(std::string_view name) {
    out_.BeginObject().Member("type", "record").Member("name", name).Key("fields").BeginArray();
  }
  void EndRecord() { out_.EndArray().EndObject(); }

  void Columns(auto&& columns, int32_t format_version) {
    for (const SchemaColumn& column : columns) {
      if (format_version < 3 && IsSince3(column.id)) continue;
      out_.BeginObject().Member("name", column.name).Key("type");
      if (!column.required) out_.BeginArray().String("null");
      ColumnType(column);
      if (!column.required) out_.EndArray();
      if (column.doc != nullptr) out_.Member("doc", column.doc);
      if (!column.required) out_.Key("default").Null();
      out_.Member("field-id", column.id).EndObject();
    }
  }

  Result<void> PartitionColumns(const BoundSpec& spec) {
    std::set<std::string> names;
    for (size_t i = 0; i < spec.spec.fields.size(); ++i) {
      const PartitionField& field = spec.spec.fields[i];
      std::string name = AvroName(field.name);
      const bool is_odd = name != field.name;
      // Two odd names may become one, which Avro forbids within a record.
      if (!names.insert(name).second) {
        name += fmt::format("_{}", field.field_id);
        names.insert(name);
      }
      out_.BeginObject().Member("name", std::string_view(name)).Key("type");
      const Type& type = spec.result_types[i];
      if (type.kind() == TypeKind::kFixed && field.transform.kind() != Transform::Kind::kVoid) {
        // The reference implementation (1.12) puts a length before them, against the schema that it writes; files of
        // the one form are garbled by readers of the other.
        return NotSupported("partition field '{}' is of type {}: engines disagree on how its values are written",
                            field.name, type.ToString());
      }
      const bool always_null = type.kind() == TypeKind::kUnknown;
      if (!always_null) out_.BeginArray().String("null");
      DELENDA_TRY(PartitionType(type));
      if (!always_null) out_.EndArray();
      out_.Key("default").Null();
      if (is_odd || name != field.name) out_.Member("iceberg-field-name", std::string_view(field.name));
      out_.Member("field-id", field.field_id).EndObject();
    }
    return {};
  }

  // Where the partition record goes, as text.
  void SetPartition(std::string json) { partition_ = std::move(json); }
  json::Writer& out() { return out_; }
  std::string Finish() && { return std::move(out_).Finish(); }

 private:
  void ColumnType(const SchemaColumn& column) {
    const auto array = [&](const char* items) {
      out_.BeginObject().Member("type", "array").Member("items", items).Member("element-id", column.first_inner_id);
      out_.EndObject();
    };
    const auto map = [&](const char* value) {
      const int32_t key_id = column.first_inner_id;
      out_.BeginObject().Member("type", "array").Key("items");
      BeginRecord(fmt::format("k{}_v{}", key_id, key_id + 1));
      out_.BeginObject().Member("name", "key").Member("type", "int").Member("field-id", key_id).EndObject();
      out_.BeginObject().Member("name", "value").Member("type", value).Member("field-id", key_id + 1).EndObject();
      EndRecord();
      out_.Member("logicalType", "map").EndObject();
    };
    switch (column.shape) {
      case Shape::kInt: out_.String("int"); break;
      case Shape::kLong: out_.String("long"); break;
      case Shape::kBoolean: out_.String("boolean"); break;
      case Shape::kString: out_.String("string"); break;
      case Shape::kBytes: out_.String("bytes"); break;
      case Shape::kPartition: out_.Raw(partition_); break;
      case Shape::kCounts: map("long"); break;
      case Shape::kBounds: map("bytes"); break;
      case Shape::kLongs: array("long"); break;
      case Shape::kInts: array("int"); break;
      case Shape::kSummaries:
        out_.BeginObject().Member("type", "array").Key("items");
        BeginRecord("r508");
        Columns(kSummaryColumns, 3);
        EndRecord();
        out_.Member("element-id", column.first_inner_id).EndObject();
        break;
    }
  }

  // A fixed is a named type: its definition stands at the first use, later ones name it.
  bool NamedBefore(const std::string& name) {
    if (named_.insert(name).second) return false;
    out_.String(name);
    return true;
  }

  // spec, "Appendix A: Avro".
  Result<void> PartitionType(const Type& type) {
    const auto logical = [&](const char* base, const char* logical_type) -> json::Writer& {
      return out_.BeginObject().Member("type", base).Member("logicalType", logical_type);
    };
    switch (type.kind()) {
      case TypeKind::kUnknown: out_.String("null"); return {};
      case TypeKind::kBoolean: out_.String("boolean"); return {};
      case TypeKind::kInt: out_.String("int"); return {};
      case TypeKind::kLong: out_.String("long"); return {};
      case TypeKind::kFloat: out_.String("float"); return {};
      case TypeKind::kDouble: out_.String("double"); return {};
      case TypeKind::kString: out_.String("string"); return {};
      case TypeKind::kBinary: out_.String("bytes"); return {};
      case TypeKind::kDate: logical("int", "date").EndObject(); return {};
      case TypeKind::kTime: logical("long", "time-micros").EndObject(); return {};
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampTz:
        logical("long", "timestamp-micros").Member("adjust-to-utc", type.kind() == TypeKind::kTimestampTz).EndObject();
        return {};
      case TypeKind::kTimestampNs:
      case TypeKind::kTimestampTzNs:
        logical("long", "timestamp-nanos").Member("adjust-to-utc", type.kind() == TypeKind::kTimestampTzNs).EndObject();
        return {};
      case TypeKind::kUuid:
        if (NamedBefore("uuid_fixed")) return {};
        out_.BeginObject().Member("type", "fixed").Member("name", "uuid_fixed").Member("size", 16);
        out_.Member("logicalType", "uuid").EndObject();
        return {};
      case TypeKind::kFixed: {
        const std::string name = fmt::format("fixed_{}", type.length());
        if (NamedBefore(name)) return {};
        out_.BeginObject().Member("type", "fixed").Member("name", std::string_view(name)).Member("size", type.length());
        out_.EndObject();
        return {};
      }
      case TypeKind::kDecimal: {
        const std::string name = fmt::format("decimal_{}_{}", type.precision(), type.scale());
        if (NamedBefore(name)) return {};
        out_.BeginObject().Member("type", "fixed").Member("name", std::string_view(name));
        out_.Member("size", DecimalBytes(type.precision())).Member("logicalType", "decimal");
        out_.Member("precision", type.precision()).Member("scale", type.scale()).EndObject();
        return {};
      }
      default: return NotSupported("a partition value of type {} has no Avro form", type.ToString());
    }
  }

  json::Writer out_;
  std::string partition_;
  std::set<std::string> named_;
};

}  // namespace

int DecimalBytes(int precision) {
  // The fewest bytes that hold 10^precision - 1 with its sign.
  Int128 largest = 1;
  for (int i = 0; i < precision; ++i) largest *= 10;
  largest -= 1;
  int bytes = 1;
  while (bytes < 16 && (largest >> (bytes * 8 - 1)) != 0) ++bytes;
  return bytes;
}

std::string AvroName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string made;
  if (!name.empty() && is_digit(name[0])) made += '_';
  for (size_t i = 0; i < name.size();) {
    const auto lead = static_cast<unsigned char>(name[i]);
    if (is_letter(name[i]) || is_digit(name[i])) {
      made += name[i++];
      continue;
    }
    // Names are valid UTF-8 (they come from JSON).
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (size_t k = 1; k < length && i + k < name.size(); ++k) {
      code = (code << 6) | (static_cast<unsigned char>(name[i + k]) & 0x3f);
    }
    i += std::min(length, name.size() - i);
    if (code > 0xffff) {
      code -= 0x10000;
      made += fmt::format("_x{:X}_x{:X}", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
    } else {
      made += fmt::format("_x{:X}", code);
    }
  }
  return made.empty() ? "_" : made;
}

Result<std::string> ManifestEntrySchema(int32_t format_version, const BoundSpec& spec) {
  SchemaText partition;
  partition.BeginRecord("r102");
  DELENDA_TRY(partition.PartitionColumns(spec));
  partition.EndRecord();

  SchemaText text;
  text.SetPartition(std::move(partition).Finish());
  text.BeginRecord("manifest_entry");
  text.Columns(kEntryColumns, format_version);
  text.out().BeginObject().Member("name", "data_file").Key("type");
  text.BeginRecord("r2");
  text.Columns(kFileColumns, format_version);
  text.EndRecord();
  text.out().Member("field-id", 2).EndObject();
  text.EndRecord();
  return std::move(text).Finish();
}

std::string ManifestFileSchema(int32_t format_version) {
  SchemaText text;
  text.BeginRecord("manifest_file");
  text.Columns(kListColumns, format_version);
  text.EndRecord();
  return std::move(text).Finish();
}

}  // namespace delenda::iceberg
