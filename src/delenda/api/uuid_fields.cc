#include "delenda/api/uuid_fields.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <string>
#include <utility>

namespace delenda::api {
namespace {

bool HoldsUuid(const Type& type) {
  if (type.kind() == TypeKind::kUuid) return true;
  for (const Field& field : type.fields()) {
    if (HoldsUuid(field.type)) return true;
  }
  return false;
}

std::shared_ptr<arrow::Field> MarkUuids(const Field& field, const std::shared_ptr<arrow::Field>& arrow_field) {
  if (!HoldsUuid(field.type)) return arrow_field;
  if (field.type.kind() == TypeKind::kUuid) {
    const std::vector<std::string> keys = {"ARROW:extension:name", "ARROW:extension:metadata"};
    const std::vector<std::string> values = {"arrow.uuid", ""};
    return arrow_field->WithMergedMetadata(arrow::key_value_metadata(keys, values));
  }
  const auto& children = field.type.fields();
  const arrow::DataType& type = *arrow_field->type();
  switch (type.id()) {
    case arrow::Type::STRUCT: {
      if (static_cast<size_t>(type.num_fields()) != children.size()) return arrow_field;
      arrow::FieldVector marked;
      for (size_t i = 0; i < children.size(); ++i) {
        marked.push_back(MarkUuids(children[i], type.field(static_cast<int>(i))));
      }
      return arrow_field->WithType(arrow::struct_(std::move(marked)));
    }
    case arrow::Type::LIST: return arrow_field->WithType(arrow::list(MarkUuids(children[0], type.field(0))));
    case arrow::Type::MAP: {
      const auto& map = static_cast<const arrow::MapType&>(type);
      return arrow_field->WithType(std::make_shared<arrow::MapType>(MarkUuids(children[0], map.key_field()),
                                                                    MarkUuids(children[1], map.item_field())));
    }
    default: return arrow_field;
  }
}

}  // namespace

std::shared_ptr<arrow::Schema> WithUuids(const std::shared_ptr<arrow::Schema>& schema,
                                         const std::vector<plan::OutputColumn>& columns) {
  arrow::FieldVector fields = schema->fields();
  for (size_t i = 0; i < fields.size() && i < columns.size(); ++i) fields[i] = MarkUuids(columns[i].field, fields[i]);
  if (fields == schema->fields()) return schema;
  return arrow::schema(std::move(fields), schema->metadata());
}

}  // namespace delenda::api
