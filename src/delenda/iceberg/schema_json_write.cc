// Writing schemas and partition specs as JSON.
#include <cmath>
#include <string>
#include <utility>

#include "delenda/iceberg/schema_json.h"

namespace delenda::iceberg {
namespace {

Result<void> TypeToJson(const Type& type, json::Writer& out);

// spec, "JSON single-value serialization".
Result<void> DefaultToJson(const Type& type, const Datum& value, json::Writer& out) {
  const auto write_real = [&](double real) -> Result<void> {
    // JSON has no such numbers, and no other form of them is defined.
    if (!std::isfinite(real)) return NotSupported("a default of {} has no JSON form", DatumToText(type, value));
    out.Double(real);
    return {};
  };
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (const auto* boolean = std::get_if<bool>(&value)) return out.Bool(*boolean), Result<void>();
      break;
    case TypeKind::kInt:
    case TypeKind::kLong:
      if (const auto* integer = std::get_if<int64_t>(&value)) return out.Int(*integer), Result<void>();
      break;
    case TypeKind::kFloat:
      if (const auto* real = std::get_if<float>(&value)) {
        if (!std::isfinite(*real)) return write_real(static_cast<double>(*real));
        // The shortest text of the float; that of the double it widens to would show digits that nobody gave.
        std::string text = fmt::format("{}", *real);
        if (text.find_first_of(".e") == std::string::npos) text += ".0";
        out.Raw(text);
        return {};
      }
      break;
    case TypeKind::kDouble:
      if (const auto* real = std::get_if<double>(&value)) return write_real(*real);
      break;
    case TypeKind::kString:
      if (const auto* text = std::get_if<std::string>(&value)) return out.String(*text), Result<void>();
      break;
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampTzNs:
      if (std::holds_alternative<int64_t>(value)) {
        std::string text = DatumToText(type, value);
        if (text.ends_with('Z')) text.replace(text.size() - 1, 1, "+00:00");
        out.String(text);
        return {};
      }
      break;
    case TypeKind::kBinary:
    case TypeKind::kFixed: {
      std::string text = DatumToText(type, value);
      for (char& c : text) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
      out.String(text);
      return {};
    }
    default:
      if (!type.is_nested() && !IsNull(value)) {
        out.String(DatumToText(type, value));
        return {};
      }
  }
  return InvalidArgument("a default is no value of type {}", type.ToString());
}

Result<void> FieldsToJson(const std::vector<Field>& fields, json::Writer& out) {
  out.Key("fields").BeginArray();
  for (const Field& field : fields) {
    out.BeginObject();
    out.Member("id", field.id).Member("name", std::string_view(field.name)).Member("required", field.required);
    out.Key("type");
    DELENDA_TRY(TypeToJson(field.type, out));
    if (field.initial_default) {
      out.Key("initial-default");
      DELENDA_TRY(DefaultToJson(field.type, *field.initial_default, out));
    }
    if (field.write_default) {
      out.Key("write-default");
      DELENDA_TRY(DefaultToJson(field.type, *field.write_default, out));
    }
    out.EndObject();
  }
  out.EndArray();
  return {};
}

Result<void> TypeToJson(const Type& type, json::Writer& out) {
  switch (type.kind()) {
    case TypeKind::kStruct:
      out.BeginObject().Member("type", "struct");
      DELENDA_TRY(FieldsToJson(type.fields(), out));
      break;
    case TypeKind::kList: {
      const Field& element = type.fields()[0];
      out.BeginObject().Member("type", "list").Member("element-id", element.id).Key("element");
      DELENDA_TRY(TypeToJson(element.type, out));
      out.Member("element-required", element.required);
      break;
    }
    case TypeKind::kMap: {
      const Field& key = type.fields()[0];
      const Field& value = type.fields()[1];
      out.BeginObject().Member("type", "map").Member("key-id", key.id).Key("key");
      DELENDA_TRY(TypeToJson(key.type, out));
      out.Member("value-id", value.id).Key("value");
      DELENDA_TRY(TypeToJson(value.type, out));
      out.Member("value-required", value.required);
      break;
    }
    default: out.String(type.ToString()); return {};
  }
  out.EndObject();
  return {};
}

}  // namespace

Result<void> SchemaToJson(const Schema& schema, json::Writer& out) {
  out.BeginObject().Member("type", "struct").Member("schema-id", schema.id());
  if (!schema.identifier_ids().empty()) {
    out.Key("identifier-field-ids").BeginArray();
    for (const int32_t id : schema.identifier_ids()) out.Int(id);
    out.EndArray();
  }
  DELENDA_TRY(FieldsToJson(schema.fields(), out));
  out.EndObject();
  return {};
}

Result<void> PartitionFieldsToJson(const PartitionSpec& spec, json::Writer& out) {
  out.BeginArray();
  for (const PartitionField& field : spec.fields) {
    if (field.transform.kind() == Transform::Kind::kUnknown) {
      return NotSupported("partition transform '{}' is not known to this version: it can't be written",
                          field.transform.ToString());
    }
    out.BeginObject().Member("name", std::string_view(field.name));
    out.Member("transform", std::string_view(field.transform.ToString()));
    out.Member("source-id", field.source_id).Member("field-id", field.field_id).EndObject();
  }
  out.EndArray();
  return {};
}

Result<void> PartitionSpecToJson(const PartitionSpec& spec, json::Writer& out) {
  out.BeginObject().Member("spec-id", spec.spec_id).Key("fields");
  DELENDA_TRY(PartitionFieldsToJson(spec, out));
  out.EndObject();
  return {};
}

}  // namespace delenda::iceberg
