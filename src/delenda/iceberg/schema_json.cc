#include "delenda/iceberg/schema_json.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace delenda::iceberg {
namespace {

// Schemas nest by structs, lists and maps; a deeper one is no table's and could exhaust the stack.
constexpr int kMaxTypeDepth = 64;

Result<Type> TypeFromJson(const json::Value& value, int depth);

// spec, "JSON single-value serialization": only primitive defaults; struct, list and map defaults are null or empty by
// the spec.
Result<Datum> DefaultFromJson(const Type& type, const json::Value& value) {
  const auto from_text = [&](std::string_view text) -> Result<Datum> {
    auto datum = DatumFromText(type, text);
    if (!datum) return value.Fail(datum.error().message());
    return datum;
  };
  switch (value.kind()) {
    case json::Kind::kBool:
      return type.kind() == TypeKind::kBoolean ? Datum(DELENDA_TRY(value.As<bool>()))
                                               : Result<Datum>(value.Fail("is no value of the type"));
    case json::Kind::kInteger:
    case json::Kind::kFloat:
      if (type.kind() == TypeKind::kFloat) return Datum(static_cast<float>(DELENDA_TRY(value.As<double>())));
      if (type.kind() == TypeKind::kDouble) return Datum(DELENDA_TRY(value.As<double>()));
      return from_text(std::to_string(DELENDA_TRY(value.As<int64_t>())));
    case json::Kind::kString: {
      const auto text = DELENDA_TRY(value.As<std::string_view>());
      if (type.kind() == TypeKind::kString) return Datum(std::string(text));
      return from_text(text);
    }
    default: return value.Fail(fmt::format("a default of type {} is not supported", type.ToString()));
  }
}

Result<Field> FieldFromJson(const json::Value& value, int depth) {
  Field field;
  field.id = DELENDA_TRY(value.Get<int32_t>("id"));
  field.name = DELENDA_TRY(value.Get<std::string>("name"));
  field.required = DELENDA_TRY(value.Get<bool>("required"));
  field.type = DELENDA_TRY(TypeFromJson(DELENDA_TRY(value.Member("type")), depth));
  if (field.type.is_nested()) return field;  // a nested field's default is null or {}: its children carry their own
  if (const auto initial = DELENDA_TRY(value.Optional<json::Value>("initial-default"))) {
    field.initial_default = DELENDA_TRY(DefaultFromJson(field.type, *initial));
  }
  if (const auto write = DELENDA_TRY(value.Optional<json::Value>("write-default"))) {
    field.write_default = DELENDA_TRY(DefaultFromJson(field.type, *write));
  }
  return field;
}

Result<Type> TypeFromJson(const json::Value& value, int depth) {
  if (depth > kMaxTypeDepth) return value.Fail(fmt::format("types nest deeper than {}", kMaxTypeDepth));
  if (value.is_string()) return Type::Parse(DELENDA_TRY(value.As<std::string_view>()));
  const auto kind = DELENDA_TRY(value.Get<std::string_view>("type"));
  const auto child = [&](const char* key, const char* id, const char* required, const char* name) -> Result<Field> {
    Field field;
    field.id = DELENDA_TRY(value.Get<int32_t>(id));
    field.name = name;
    field.required = required == nullptr || DELENDA_TRY(value.Get<bool>(required));
    field.type = DELENDA_TRY(TypeFromJson(DELENDA_TRY(value.Member(key)), depth + 1));
    return field;
  };
  if (kind == "list") return Type::List(DELENDA_TRY(child("element", "element-id", "element-required", "element")));
  if (kind == "map") {
    auto key = DELENDA_TRY(child("key", "key-id", nullptr, "key"));
    return Type::Map(std::move(key), DELENDA_TRY(child("value", "value-id", "value-required", "value")));
  }
  if (kind != "struct") return value.Fail(fmt::format("expected a type, found '{}'", kind));
  std::vector<Field> fields;
  for (const auto field : DELENDA_TRY(value.Get<json::Array>("fields")))
    fields.push_back(DELENDA_TRY(FieldFromJson(field, depth + 1)));
  return Type::Struct(std::move(fields));
}

}  // namespace

Result<Schema> SchemaFromJson(const json::Value& value) {
  const Type root = DELENDA_TRY(TypeFromJson(value, 0));
  if (root.kind() != TypeKind::kStruct) return value.Fail("expected a struct");
  std::vector<int32_t> identifiers;
  if (const auto ids = DELENDA_TRY(value.Optional<json::Array>("identifier-field-ids"))) {
    for (const auto id : *ids) identifiers.push_back(DELENDA_TRY(id.As<int32_t>()));
  }
  const int32_t schema_id = DELENDA_TRY(value.Optional<int32_t>("schema-id"))
  .value_or(0);
  auto schema = Schema::Make(schema_id, root.fields(), std::move(identifiers));
  if (!schema) return value.Fail(schema.error().message());
  return schema;
}

Result<PartitionSpec> PartitionSpecFromJson(const json::Value& value) {
  PartitionSpec spec;
  json::Value fields = value;
  if (!value.is_array()) {
    spec.spec_id = DELENDA_TRY(value.Get<int32_t>("spec-id"));
    fields = DELENDA_TRY(value.Member("fields"));
  }
  int32_t next_id = 1000;  // version 1 wrote no field ids: they count up from 1000
  for (const auto item : DELENDA_TRY(fields.As<json::Array>())) {
    PartitionField field;
    field.name = DELENDA_TRY(item.Get<std::string>("name"));
    auto transform = Transform::Parse(DELENDA_TRY(item.Get<std::string_view>("transform")));
    if (!transform) return item.Fail(transform.error().message());
    field.transform = *std::move(transform);
    field.field_id = DELENDA_TRY(item.Optional<int32_t>("field-id"))
    .value_or(next_id);
    next_id = field.field_id + 1;
    if (const auto source = DELENDA_TRY(item.Optional<int32_t>("source-id"))) {
      field.source_id = *source;
    } else {
      // Multi-argument transforms (version 3) list their sources; none is known yet, so the transform prunes nothing.
      const auto sources = DELENDA_TRY(item.Get<json::Array>("source-ids"));
      if (sources.empty()) return item.Fail("source-ids is empty");
      field.source_id = DELENDA_TRY((*sources.begin()).As<int32_t>());
    }
    spec.fields.push_back(std::move(field));
  }
  return spec;
}

}  // namespace delenda::iceberg
