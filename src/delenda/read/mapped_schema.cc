#include "delenda/read/mapped_schema.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <string_view>
#include <unordered_map>
#include <utility>

namespace delenda::read {
namespace {

using FieldRef = std::shared_ptr<arrow::Field>;

std::shared_ptr<arrow::DataType> MappedType(const arrow::DataType& type, const std::vector<MappedField>& mapping);

// The field under the name that the mapping knows it by.
FieldRef Mapped(const FieldRef& field, std::string_view name,
                const std::unordered_map<std::string_view, const MappedField*>& mapping) {
  const auto found = mapping.find(name);
  // Without an id of its own nothing in it is a field of the table either: it is never looked at.
  if (found == mapping.end() || !found->second->id) return field;
  FieldRef mapped = field->WithMetadata(parquet::FieldIdMetadata(*found->second->id));
  if (auto type = MappedType(*field->type(), found->second->fields)) mapped = mapped->WithType(std::move(type));
  return mapped;
}

std::unordered_map<std::string_view, const MappedField*> ByName(const std::vector<MappedField>& mapping) {
  std::unordered_map<std::string_view, const MappedField*> by_name;
  for (const MappedField& field : mapping) {
    for (const std::string& name : field.names) by_name.emplace(name, &field);
  }
  return by_name;
}

// Null if the type is not nested.
std::shared_ptr<arrow::DataType> MappedType(const arrow::DataType& type, const std::vector<MappedField>& mapping) {
  const auto by_name = ByName(mapping);
  switch (type.id()) {
    case arrow::Type::STRUCT: {
      arrow::FieldVector fields;
      for (const FieldRef& field : type.fields()) fields.push_back(Mapped(field, field->name(), by_name));
      return arrow::struct_(std::move(fields));
    }
    case arrow::Type::LIST: return arrow::list(Mapped(type.field(0), "element", by_name));
    case arrow::Type::MAP: {
      const auto& map = static_cast<const arrow::MapType&>(type);
      return std::make_shared<arrow::MapType>(Mapped(map.key_field(), "key", by_name),
                                              Mapped(map.item_field(), "value", by_name), map.keys_sorted());
    }
    default: return nullptr;
  }
}

}  // namespace

parquet::IdAssigner AssignIdsBy(const std::optional<NameMapping>& mapping) {
  if (!mapping) return nullptr;
  return [mapping = &*mapping](const arrow::Schema& schema) {
    const auto by_name = ByName(mapping->fields);
    arrow::FieldVector fields;
    for (const FieldRef& field : schema.fields()) fields.push_back(Mapped(field, field->name(), by_name));
    return arrow::schema(std::move(fields));
  };
}

}  // namespace delenda::read
