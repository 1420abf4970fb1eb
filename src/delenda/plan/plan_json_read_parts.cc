// Reading the parts that all plans have.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "delenda/iceberg/name_mapping_json.h"
#include "delenda/iceberg/schema_json.h"
#include "delenda/plan/plan_json_names.h"
#include "delenda/plan/plan_json_parts.h"

namespace delenda::plan {

using json::Value;

Result<void> PlanPartsReader::Read(const Value& root) {
  parts_.schema = DELENDA_TRY(iceberg::SchemaFromJson(DELENDA_TRY(root.Member("schema"))));
  for (const auto column : DELENDA_TRY(root.Get<json::Array>("columns")))
    parts_.columns.push_back(DELENDA_TRY(ReadColumn(column)));
  parts_.filter = DELENDA_TRY(ReadFilter(DELENDA_TRY(root.Member("filter"))));
  for (const auto spec : DELENDA_TRY(root.Get<json::Array>("partitionSpecs"))) DELENDA_TRY(ReadSpec(spec));
  for (const auto key : DELENDA_TRY(root.Get<json::Array>("keyFields"))) DELENDA_TRY(ReadKeyField(key));
  if (const auto mapping = DELENDA_TRY(root.Optional<Value>(names::kNameMapping)))
    parts_.name_mapping = DELENDA_TRY(iceberg::NameMappingFromJson(*mapping));
  for (const auto file : DELENDA_TRY(root.Get<json::Array>("deleteFiles")))
    parts_.deletes.push_back(DELENDA_TRY(ReadDelete(file)));
  return {};
}

Result<OutputColumn> PlanPartsReader::ReadColumn(const Value& value) const {
  OutputColumn column;
  const auto kind = DELENDA_TRY(value.Get<std::string_view>("kind"));
  if (kind == names::kField) {
    const auto id = DELENDA_TRY(value.Get<int32_t>("id"));
    for (const Field& field : parts_.schema.fields()) {
      if (field.id != id) continue;
      column.field = field;
      return column;
    }
    return value.Fail(fmt::format("the schema has no top-level field {}", id));
  }
  for (const auto& [known, name] : names::kMetadataColumns) {
    if (name != kind) continue;
    column.kind = known;
    column.field = DELENDA_TRY(ReadField(value));
    return column;
  }
  return NotSupported("{}: columns of kind '{}' are not known to this version", value.Path(), kind);
}

Result<Field> PlanPartsReader::ReadField(const Value& value) {
  const Value type = DELENDA_TRY(value.Member("struct"));
  const auto schema = DELENDA_TRY(iceberg::SchemaFromJson(type));
  if (schema.fields().size() != 1) return type.Fail("expected one field");
  return schema.fields().front();
}

Result<void> PlanPartsReader::ReadKeyField(const Value& value) {
  KeyField key;
  const auto id = DELENDA_TRY(value.Get<int32_t>("id"));
  key.column = DELENDA_TRY(ReadField(value));
  key.type = DELENDA_TRY(ReadType(value, "type"));
  const auto path = DELENDA_TRY(value.Get<json::Array>("path"));
  // The path must lead through the column's structs to the key, or other values would be compared.
  const Field* at = nullptr;
  for (const auto step : path) {
    const auto step_id = DELENDA_TRY(step.As<int32_t>());
    const Field* next = nullptr;
    if (at == nullptr) {
      next = key.column.id == step_id ? &key.column : nullptr;
    } else if (at->type.kind() == TypeKind::kStruct) {
      for (const Field& child : at->type.fields()) {
        if (child.id == step_id) next = &child;
      }
    }
    if (next == nullptr) return step.Fail("is no step within the column");
    at = next;
    key.path.push_back(step_id);
  }
  if (at == nullptr || at->id != id) return path.value().Fail(fmt::format("does not lead to field {}", id));
  if (!parts_.key_fields.emplace(id, std::move(key)).second)
    return value.Fail(fmt::format("key field {} stands there twice", id));
  return {};
}

Result<ExprRef> PlanPartsReader::ReadFilter(const Value& value) {
  const auto text = DELENDA_TRY(value.As<std::string>());
  const auto [known, is_new] = filters_.try_emplace(text);
  if (is_new) {
    auto bound = BindText(text, parts_.schema);
    if (!bound) return value.Fail(bound.error().message());
    known->second = *std::move(bound);
  }
  return known->second;
}

Result<void> PlanPartsReader::ReadSpec(const Value& value) {
  BoundSpec bound;
  bound.spec.spec_id = DELENDA_TRY(value.Get<int32_t>("specId"));
  for (const auto item : DELENDA_TRY(value.Get<json::Array>("fields"))) {
    PartitionField field;
    field.name = DELENDA_TRY(item.Get<std::string>("name"));
    auto transform = Transform::Parse(DELENDA_TRY(item.Get<std::string_view>("transform")));
    if (!transform) return item.Fail(transform.error().message());
    field.transform = *std::move(transform);
    field.source_id = DELENDA_TRY(item.Get<int32_t>("sourceId"));
    field.field_id = DELENDA_TRY(item.Get<int32_t>("fieldId"));
    bound.spec.fields.push_back(std::move(field));
    bound.source_types.push_back(DELENDA_TRY(ReadType(item, "sourceType")));
    bound.result_types.push_back(DELENDA_TRY(ReadType(item, "resultType")));
  }
  const int32_t id = bound.spec.spec_id;
  if (!parts_.specs.emplace(id, std::move(bound)).second)
    return value.Fail(fmt::format("partition spec {} stands there twice", id));
  return {};
}

Result<Type> PlanPartsReader::ReadType(const Value& value, std::string_view key) {
  const Value member = DELENDA_TRY(value.Member(key));
  auto type = Type::Parse(DELENDA_TRY(member.As<std::string_view>()));
  if (!type) return member.Fail(type.error().message());
  return type;
}

Result<Datum> PlanPartsReader::ReadValue(const Type& type, const Value& value) {
  const auto from_text = [&](const Type& of, const Value& text) -> Result<Datum> {
    auto datum = DatumFromText(of, DELENDA_TRY(text.As<std::string_view>()));
    if (!datum) return text.Fail(datum.error().message());
    return datum;
  };
  if (value.is_null()) return Datum();
  if (value.is_string()) return from_text(type, value);
  const auto kinds = DELENDA_TRY(value.As<json::Object>());
  if (kinds.size() != 1) return value.Fail("expected one kind of value");
  const Value only = *kinds.begin();
  const std::pair<std::string_view, Type> known[] = {
      {names::kBoolean, TypeKind::kBoolean}, {names::kLong, TypeKind::kLong},         {names::kFloat, TypeKind::kFloat},
      {names::kDouble, TypeKind::kDouble},   {names::kDecimal, Type::Decimal(38, 0)}, {names::kHex, TypeKind::kBinary}};
  for (const auto& [name, of] : known) {
    if (only.key() == name) return from_text(of, only);
  }
  return value.Fail("expected a kind of value that is known");
}

Result<int64_t> PlanPartsReader::ReadCount(const Value& value, std::string_view key) {
  const Value member = DELENDA_TRY(value.Member(key));
  const auto count = DELENDA_TRY(member.As<int64_t>());
  if (count < 0) return member.Fail("is negative");
  return count;
}

Result<ContentFile> PlanPartsReader::ReadFile(const Value& value) const {
  ContentFile file;
  file.path = DELENDA_TRY(value.Get<std::string>("path"));
  file.format = FileFormatFromName(DELENDA_TRY(value.Get<std::string_view>("format")));
  file.file_size = DELENDA_TRY(ReadCount(value, "fileSize"));
  file.spec_id = DELENDA_TRY(value.Get<int32_t>("specId"));
  const auto spec = parts_.specs.find(file.spec_id);
  if (spec == parts_.specs.end()) return value.Fail(fmt::format("there is no partition spec {}", file.spec_id));
  const auto values = DELENDA_TRY(value.Get<json::Array>("partitionValues"));
  if (values.size() != spec->second.spec.fields.size()) {
    return values.value().Fail(
        fmt::format("expected {} values, found {}", spec->second.spec.fields.size(), values.size()));
  }
  auto tuple = std::make_shared<PartitionTuple>();
  for (const auto item : values)
    tuple->values.push_back(DELENDA_TRY(ReadValue(spec->second.result_types[tuple->values.size()], item)));
  file.partition = std::move(tuple);
  file.data_sequence_number = DELENDA_TRY(value.Get<int64_t>("sequenceNumber"));
  file.file_sequence_number = DELENDA_TRY(value.Get<int64_t>("fileSequenceNumber"));
  return file;
}

Result<ContentFile> PlanPartsReader::ReadDelete(const Value& value) const {
  auto file = DELENDA_TRY(ReadFile(value));
  const auto content = DELENDA_TRY(value.Get<std::string_view>("content"));
  const bool is_vector = content == names::kDeletionVector;
  if (!is_vector && content != names::kPositionDeletes && content != names::kEqualityDeletes)
    return value.Fail(fmt::format("deletes of kind '{}' are not known", content));
  file.content = content == names::kEqualityDeletes ? FileContent::kEqualityDeletes : FileContent::kPositionDeletes;
  // A vector read as a file of positions, or the other way round, would delete other rows.
  if (is_vector != file.IsDeletionVector())
    return value.Fail(fmt::format("{} in a {} file", content, FileFormatName(file.format)));
  file.record_count = DELENDA_TRY(ReadCount(value, is_vector ? "cardinality" : "recordCount"));
  if (is_vector) {
    file.content_offset = DELENDA_TRY(ReadCount(value, "contentOffset"));
    file.content_size = DELENDA_TRY(ReadCount(value, "contentSize"));
    file.referenced_data_file = DELENDA_TRY(value.Get<std::string>("referencedDataFile"));
  } else {
    file.content_offset = DELENDA_TRY(value.Optional<int64_t>("contentOffset"));
    file.content_size = DELENDA_TRY(value.Optional<int64_t>("contentSize"));
    file.referenced_data_file = DELENDA_TRY(value.Optional<std::string>("referencedDataFile"));
  }
  if (file.content == FileContent::kEqualityDeletes) {
    const auto ids = DELENDA_TRY(value.Get<json::Array>("equalityIds"));
    for (const auto id : ids) {
      file.equality_ids.push_back(DELENDA_TRY(id.As<int32_t>()));
      if (!parts_.key_fields.contains(file.equality_ids.back())) return id.Fail("is not among the key fields");
    }
    // No key column would be equal to every row.
    if (ids.empty()) return ids.value().Fail("is empty");
  }
  return file;
}

Result<uint32_t> PlanPartsReader::ReadIndex(const Value& value, std::string_view kind) const {
  const auto index = DELENDA_TRY(value.As<uint64_t>());
  if (index >= parts_.deletes.size()) return value.Fail(fmt::format("there is no delete file {}", index));
  const ContentFile& file = parts_.deletes[index];
  const bool is_kind = kind == names::kDeletionVector ? file.IsDeletionVector()
                       : kind == names::kEqualityDeletes
                           ? file.content == FileContent::kEqualityDeletes
                           : file.content == FileContent::kPositionDeletes && !file.IsDeletionVector();
  if (!is_kind) return value.Fail(fmt::format("delete file {} is of another kind", index));
  return static_cast<uint32_t>(index);
}

Result<std::vector<uint32_t>> PlanPartsReader::ReadIndexes(const Value& value, std::string_view key) const {
  std::vector<uint32_t> indexes;
  for (const auto item : DELENDA_TRY(value.Get<json::Array>(key))) indexes.push_back(DELENDA_TRY(ReadIndex(item, key)));
  return indexes;
}

Result<ContentFile> PlanPartsReader::ReadDataFile(const Value& value) const {
  ContentFile file = DELENDA_TRY(ReadFile(value));
  file.content = FileContent::kData;
  file.record_count = DELENDA_TRY(ReadCount(value, "recordCount"));
  file.first_row_id = DELENDA_TRY(value.Optional<int64_t>("firstRowId"));
  return file;
}

}  // namespace delenda::plan
