#include "delenda/iceberg/new_table.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <utility>

#include "delenda/base/uuid.h"

namespace delenda::iceberg {
namespace {

// Reserved by the reference implementation: it shows parts of the metadata under these names.
constexpr std::array<std::string_view, 9> kReservedProperties = {"format-version",
                                                                 "uuid",
                                                                 "snapshot-count",
                                                                 "current-snapshot-id",
                                                                 "current-schema",
                                                                 "default-partition-spec",
                                                                 "default-sort-order",
                                                                 "current-snapshot-summary",
                                                                 "current-snapshot-timestamp-ms"};

// spec, "Reserved Field IDs", and those of changes.
constexpr std::array<std::string_view, 11> kReservedColumns = {"_file",
                                                               "_pos",
                                                               "_deleted",
                                                               "_spec_id",
                                                               "_partition",
                                                               "_change_type",
                                                               "_change_ordinal",
                                                               "_commit_snapshot_id",
                                                               "_row_id",
                                                               "_last_updated_sequence_number",
                                                               "_commit_timestamp"};

bool NeedsVersion3(const Type& type) {
  return type.is_nanos() || type.kind() == TypeKind::kUnknown || type.kind() == TypeKind::kVariant ||
         type.kind() == TypeKind::kGeometry || type.kind() == TypeKind::kGeography;
}

int32_t HighestId(const std::vector<Field>& fields) {
  int32_t highest = 0;
  for (const Field& field : fields) highest = std::max({highest, field.id, HighestId(field.type.fields())});
  return highest;
}

Result<void> CheckVersion2(const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (NeedsVersion3(field.type))
      return InvalidArgument("column '{}' is of type {}, which needs format version 3", field.name,
                             field.type.ToString());
    if (field.initial_default || field.write_default)
      return InvalidArgument("column '{}' has a default, which needs format version 3", field.name);
    DELENDA_TRY(CheckVersion2(field.type.fields()));
  }
  return {};
}

Result<void> CheckIdentifiers(const Schema& schema) {
  for (const int32_t id : schema.identifier_ids()) {
    const Schema::Path path = schema.FindById(id);
    if (path.empty()) return InvalidArgument("identifier field {} is no field of the schema", id);
    const std::string name = FullName(path);
    const Type& type = path.back()->type;
    if (type.is_nested() || type.is_float())
      return InvalidArgument("'{}' can't be a key: it is of type {}", name, type.ToString());
    if (!HasOneValueARow(path)) return InvalidArgument("'{}' can't be a key: it lies within a list or map", name);
    for (const Field* field : path) {
      if (!field->required)
        return InvalidArgument("'{}' can't be a key: '{}' is optional; make it NOT NULL", name, field->name);
    }
  }
  return {};
}

Result<void> CheckNew(const NewTable& table) {
  if (table.format_version != 2 && table.format_version != 3)
    return InvalidArgument("tables of format version {} are not made: 2 and 3 are", table.format_version);
  if (table.location.empty()) return InvalidArgument("a table needs a location");
  if (table.schema.fields().empty()) return InvalidArgument("a table needs at least one column");
  for (const Field& field : table.schema.fields()) {
    if (field.name.empty()) return InvalidArgument("a column without name");
    // Readers would give the table's column for the one that they add: deletes would find other rows.
    if (std::ranges::find(kReservedColumns, field.name) != kReservedColumns.end())
      return InvalidArgument("a column can't be named '{}': readers add one of that name", field.name);
  }
  if (table.format_version < 3) DELENDA_TRY(CheckVersion2(table.schema.fields()));
  for (const auto& [name, value] : table.properties) {
    if (std::ranges::find(kReservedProperties, name) != kReservedProperties.end())
      return InvalidArgument("'{}' is a part of the metadata and no property{}", name,
                             name == "format-version" ? ": state it as the table's format version" : "");
  }
  return CheckIdentifiers(table.schema);
}

// `ids` and all that they lie in.
std::vector<Field> Required(const std::vector<Field>& fields, const std::set<int32_t>& ids) {
  std::vector<Field> result = fields;
  for (Field& field : result) {
    if (ids.contains(field.id)) field.required = true;
    if (field.type.kind() == TypeKind::kStruct) field.type = Type::Struct(Required(field.type.fields(), ids));
  }
  return result;
}

}  // namespace

Result<Schema> WithIdentifiers(const Schema& schema, const std::vector<std::string>& columns, bool make_required) {
  std::vector<int32_t> identifiers;
  std::set<int32_t> required;
  for (const std::string& column : columns) {
    const Schema::Path path = schema.FindByName(column);
    if (path.empty()) return NotFound("key: there is no column '{}': columns are {}", column, schema.ColumnNames());
    if (std::ranges::find(identifiers, path.back()->id) == identifiers.end()) identifiers.push_back(path.back()->id);
    for (const Field* field : path) required.insert(field->id);
  }
  return Schema::Make(schema.id(), make_required ? Required(schema.fields(), required) : schema.fields(),
                      std::move(identifiers));
}

Result<TableMetadata> MakeNewTable(const NewTable& table) {
  DELENDA_TRY(CheckNew(table));
  TableMetadata metadata;
  metadata.format_version = table.format_version;
  metadata.table_uuid = RandomUuid();
  metadata.location = table.location;
  metadata.last_updated_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  metadata.last_column_id = HighestId(table.schema.fields());
  metadata.schemas = {table.schema};
  metadata.current_schema_id = table.schema.id();
  metadata.specs = {table.spec};
  metadata.default_spec_id = table.spec.spec_id;
  for (const PartitionField& field : table.spec.fields)
    metadata.last_partition_id = std::max(metadata.last_partition_id, field.field_id);
  metadata.sort_orders = {{.order_id = 0, .json = R"({"order-id":0,"fields":[]})"}};
  metadata.properties = table.properties;
  metadata.properties.try_emplace("write.parquet.compression-codec", "zstd");
  if (table.format_version >= 3) metadata.next_row_id = 0;
  return metadata;
}

}  // namespace delenda::iceberg
