// Writing the parts that all plans have.
#include "delenda/plan/plan_json_parts.h"

#include "delenda/base/bytes.h"
#include "delenda/iceberg/name_mapping_json.h"
#include "delenda/iceberg/schema_json.h"
#include "delenda/plan/plan_json_names.h"

namespace delenda::plan {
namespace {

std::string_view ContentKeyword(const ContentFile& file) {
  if (file.IsDeletionVector()) return names::kDeletionVector;
  return file.content == FileContent::kEqualityDeletes ? names::kEqualityDeletes : names::kPositionDeletes;
}

// The text of a value, if the value can be read back from it.
std::optional<std::string> ReadableText(const Type& type, const Datum& value) {
  std::string text = DatumToText(type, value);
  if (IsNull(value) || !IsValidUtf8(text)) return std::nullopt;
  const auto read = DatumFromText(type, text);
  if (!read || read->index() != value.index() || !SamePartitionValue(*read, value)) return std::nullopt;
  return text;
}

}  // namespace

Result<void> PlanPartsWriter::Write() {
  json_.Key("schema");
  DELENDA_TRY(iceberg::SchemaToJson(parts_.schema, json_));
  DELENDA_TRY(WriteColumns());
  DELENDA_TRY(WriteFilter("filter", parts_.filter ? parts_.filter : Expr::True()));
  DELENDA_TRY(WriteSpecs());
  DELENDA_TRY(WriteKeyFields());
  if (parts_.name_mapping) {
    json_.Key(names::kNameMapping);
    iceberg::NameMappingToJson(*parts_.name_mapping, json_);
  }
  json_.Key("deleteFiles").BeginArray();
  for (const auto& file : parts_.deletes) DELENDA_TRY(WriteDelete(file));
  json_.EndArray();
  return {};
}

Result<void> PlanPartsWriter::WriteText(std::string_view key, std::string_view text) {
  if (!IsValidUtf8(text)) return NotSupported("a {} that is not UTF-8 can't be put in the JSON form of a plan", key);
  json_.Member(key, text);
  return {};
}

Result<void> PlanPartsWriter::WriteFilter(std::string_view key, const ExprRef& filter) {
  const auto [known, is_new] = filters_.try_emplace(filter.get());
  if (is_new) {
    std::string text = filter->ToString();
    const auto bound = BindText(text, parts_.schema);
    // A filter that came back as another one would select other rows.
    if (!bound || (*bound)->ToString() != text) {
      return NotSupported("the filter \"{}\" can't be put in the JSON form of a plan: {}", text,
                          bound ? "it reads back as " + (*bound)->ToString() : bound.error().message());
    }
    known->second = std::move(text);
  }
  return WriteText(key, known->second);
}

Result<void> PlanPartsWriter::WriteField(const Field& field) {
  json_.Key("struct");
  return iceberg::SchemaToJson(DELENDA_TRY(Schema::Make(0, {field})), json_);
}

Result<void> PlanPartsWriter::WriteKeyFields() {
  json_.Key("keyFields").BeginArray();
  for (const auto& [id, key] : parts_.key_fields) {
    if (key.type.is_nested()) return NotSupported("equality deletes by a key of type {}", key.type.ToString());
    json_.BeginObject().Member("id", id);
    DELENDA_TRY(WriteField(key.column));
    json_.Key("path").BeginArray();
    for (const int32_t step : key.path) json_.Int(step);
    json_.EndArray();
    DELENDA_TRY(WriteText("type", key.type.ToString()));
    json_.EndObject();
  }
  json_.EndArray();
  return {};
}

Result<void> PlanPartsWriter::WriteColumns() {
  json_.Key("columns").BeginArray();
  for (const auto& column : parts_.columns) {
    json_.BeginObject();
    if (column.kind == OutputColumn::Kind::kField) {
      json_.Member("kind", names::kField).Member("id", column.field.id);
    } else {
      std::string_view kind;
      for (const auto& [known, name] : names::kMetadataColumns) {
        if (known == column.kind) kind = name;
      }
      if (kind.empty()) return NotSupported("column {} can't be put in the JSON form of a plan", column.field.name);
      json_.Member("kind", kind);
      DELENDA_TRY(WriteField(column.field));
    }
    json_.EndObject();
  }
  json_.EndArray();
  return {};
}

Result<void> PlanPartsWriter::WriteSpecs() {
  // A partition's source and values are primitive. Other types come from metadata that names a wrong source, whose
  // values nobody can use.
  const auto type_text = [](const std::vector<Type>& types, size_t i) {
    return i < types.size() && !types[i].is_nested() ? types[i].ToString() : Type().ToString();
  };
  json_.Key("partitionSpecs").BeginArray();
  for (const auto& [id, bound] : parts_.specs) {
    json_.BeginObject().Member("specId", id).Key("fields").BeginArray();
    for (size_t i = 0; i < bound.spec.fields.size(); ++i) {
      const PartitionField& field = bound.spec.fields[i];
      json_.BeginObject();
      DELENDA_TRY(WriteText("name", field.name));
      DELENDA_TRY(WriteText("transform", field.transform.ToString()));
      json_.Member("sourceId", field.source_id).Member("fieldId", field.field_id);
      DELENDA_TRY(WriteText("sourceType", type_text(bound.source_types, i)));
      DELENDA_TRY(WriteText("resultType", type_text(bound.result_types, i)));
      json_.EndObject();
    }
    json_.EndArray().EndObject();
  }
  json_.EndArray();
  return {};
}

void PlanPartsWriter::WriteValue(const Datum& value, const std::optional<std::string>& text) {
  if (IsNull(value)) {
    json_.Null();
    return;
  }
  if (text) {
    json_.String(*text);
    return;
  }
  json_.BeginObject();
  if (const auto* boolean = std::get_if<bool>(&value))
    json_.Member(names::kBoolean, *boolean ? "true" : "false");
  else if (std::holds_alternative<int64_t>(value))
    json_.Member(names::kLong, DatumToText(TypeKind::kLong, value));
  else if (std::holds_alternative<float>(value))
    json_.Member(names::kFloat, DatumToText(TypeKind::kFloat, value));
  else if (std::holds_alternative<double>(value))
    json_.Member(names::kDouble, DatumToText(TypeKind::kDouble, value));
  else if (std::holds_alternative<Int128>(value))
    json_.Member(names::kDecimal, DatumToText(Type::Decimal(38, 0), value));
  else
    json_.Member(names::kHex, DatumToText(TypeKind::kBinary, value));
  json_.EndObject();
}

Result<const PlanPartsWriter::PartitionTexts*> PlanPartsWriter::TextsOf(const ContentFile& file) {
  const auto [texts, is_new] = partitions_[file.spec_id].try_emplace(file.partition.get());
  if (!is_new) return &texts->second;
  const auto spec = parts_.specs.find(file.spec_id);
  const auto& values = file.partition->values;
  if (spec == parts_.specs.end() || values.size() != spec->second.spec.fields.size()) {
    return Corrupt("{} lies in a partition that its partition spec {} does not fit", file.path, file.spec_id);
  }
  texts->second.all = PartitionText(spec->second, *file.partition);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& types = spec->second.result_types;
    texts->second.values.push_back(ReadableText(i < types.size() ? types[i] : Type(), values[i]));
  }
  return &texts->second;
}

Result<void> PlanPartsWriter::WriteFile(const ContentFile& file) {
  DELENDA_TRY(WriteText("path", file.path));
  json_.Member("format", FileFormatName(file.format)).Member("fileSize", file.file_size);
  json_.Member(file.IsDeletionVector() ? "cardinality" : "recordCount", file.record_count);
  json_.Member("specId", file.spec_id);
  const PartitionTexts& texts = *DELENDA_TRY(TextsOf(file));
  const auto& values = file.partition->values;
  if (!values.empty() && IsValidUtf8(texts.all)) json_.Member("partition", texts.all);
  json_.Key("partitionValues").BeginArray();
  for (size_t i = 0; i < values.size(); ++i) WriteValue(values[i], texts.values[i]);
  json_.EndArray()
      .Member("sequenceNumber", file.data_sequence_number)
      .Member("fileSequenceNumber", file.file_sequence_number);
  return {};
}

Result<void> PlanPartsWriter::WriteDelete(const ContentFile& file) {
  json_.BeginObject().Member("content", ContentKeyword(file));
  DELENDA_TRY(WriteFile(file));
  if (file.content_offset) json_.Member("contentOffset", *file.content_offset);
  if (file.content_size) json_.Member("contentSize", *file.content_size);
  if (file.referenced_data_file) DELENDA_TRY(WriteText("referencedDataFile", *file.referenced_data_file));
  if (file.content == FileContent::kEqualityDeletes) {
    json_.Key("equalityIds").BeginArray();
    for (const int32_t id : file.equality_ids) json_.Int(id);
    json_.EndArray();
  }
  json_.EndObject();
  return {};
}

void PlanPartsWriter::WriteIndexes(std::string_view key, const std::vector<uint32_t>& indexes) {
  json_.Key(key).BeginArray();
  for (const uint32_t index : indexes) json_.Uint(index);
  json_.EndArray();
}

}  // namespace delenda::plan
