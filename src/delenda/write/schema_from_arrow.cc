#include "delenda/write/schema_from_arrow.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/key_value_metadata.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace delenda::write {
namespace {

bool IsUuidField(const arrow::Field& field) {
  if (field.type()->id() == arrow::Type::EXTENSION) {
    return static_cast<const arrow::ExtensionType&>(*field.type()).extension_name() == "arrow.uuid";
  }
  if (field.type()->id() != arrow::Type::FIXED_SIZE_BINARY || !field.metadata()) return false;
  const auto name = field.metadata()->Get("ARROW:extension:name");
  return name.ok() && *name == "arrow.uuid" &&
         static_cast<const arrow::FixedSizeBinaryType&>(*field.type()).byte_width() == 16;
}

// Gives the ids from 1 on, those of a level before those below it.
class FreshIds {
 public:
  Result<std::vector<Field>> Fields(const arrow::FieldVector& source) {
    std::vector<Field> fields;
    for (const auto& field : source) {
      fields.push_back({.id = next_++, .name = field->name(), .type = Type(), .required = !field->nullable()});
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      fields[i].type = DELENDA_TRY(WithContext(FieldType(*source[i]), "column", fields[i].name));
    }
    return fields;
  }

  std::vector<Field> Fields(const std::vector<Field>& source) {
    std::vector<Field> fields = source;
    for (Field& field : fields) {
      ids_[field.id] = next_;
      field.id = next_++;
    }
    for (Field& field : fields) {
      if (!field.type.is_nested()) continue;
      std::vector<Field> children = Fields(field.type.fields());
      if (field.type.kind() == TypeKind::kStruct) {
        field.type = Type::Struct(std::move(children));
      } else if (field.type.kind() == TypeKind::kList) {
        field.type = Type::List(std::move(children[0]));
      } else {
        field.type = Type::Map(std::move(children[0]), std::move(children[1]));
      }
    }
    return fields;
  }
  Result<int32_t> New(int32_t old_id) const {
    const auto found = ids_.find(old_id);
    if (found == ids_.end()) return InvalidArgument("identifier field {} is no field of the schema", old_id);
    return found->second;
  }

 private:
  Result<Type> FieldType(const arrow::Field& field) {
    if (IsUuidField(field)) return Type(TypeKind::kUuid);
    return TypeOf(*field.type());
  }

  Result<Type> TypeOf(const arrow::DataType& type) {
    switch (type.id()) {
      case arrow::Type::NA: return Type(TypeKind::kUnknown);
      case arrow::Type::BOOL: return Type(TypeKind::kBoolean);
      case arrow::Type::INT8:
      case arrow::Type::INT16:
      case arrow::Type::INT32:
      case arrow::Type::UINT8:
      case arrow::Type::UINT16: return Type(TypeKind::kInt);
      case arrow::Type::UINT32:
      case arrow::Type::INT64: return Type(TypeKind::kLong);
      case arrow::Type::UINT64:
        return NotSupported("type uint64: no integer type of tables holds all its values; cast it to int64 or decimal");
      case arrow::Type::HALF_FLOAT:
      case arrow::Type::FLOAT: return Type(TypeKind::kFloat);
      case arrow::Type::DOUBLE: return Type(TypeKind::kDouble);
      case arrow::Type::DECIMAL32:
      case arrow::Type::DECIMAL64:
      case arrow::Type::DECIMAL128:
      case arrow::Type::DECIMAL256: return DecimalType(static_cast<const arrow::DecimalType&>(type));
      case arrow::Type::DATE32:
      case arrow::Type::DATE64: return Type(TypeKind::kDate);
      case arrow::Type::TIME32:
      case arrow::Type::TIME64: return Type(TypeKind::kTime);
      case arrow::Type::TIMESTAMP: {
        const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
        const bool nanos = timestamp.unit() == arrow::TimeUnit::NANO;
        if (timestamp.timezone().empty()) return Type(nanos ? TypeKind::kTimestampNs : TypeKind::kTimestamp);
        return Type(nanos ? TypeKind::kTimestampTzNs : TypeKind::kTimestampTz);
      }
      case arrow::Type::STRING:
      case arrow::Type::LARGE_STRING:
      case arrow::Type::STRING_VIEW: return Type(TypeKind::kString);
      case arrow::Type::BINARY:
      case arrow::Type::LARGE_BINARY:
      case arrow::Type::BINARY_VIEW: return Type(TypeKind::kBinary);
      case arrow::Type::FIXED_SIZE_BINARY:
        return Type::Fixed(static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
      case arrow::Type::DICTIONARY: return TypeOf(*static_cast<const arrow::DictionaryType&>(type).value_type());
      case arrow::Type::EXTENSION: return TypeOf(*static_cast<const arrow::ExtensionType&>(type).storage_type());
      case arrow::Type::STRUCT: return Type::Struct(DELENDA_TRY(Fields(type.fields())));
      case arrow::Type::LIST:
      case arrow::Type::LARGE_LIST:
      case arrow::Type::FIXED_SIZE_LIST: {
        std::vector<Field> element = DELENDA_TRY(Fields({type.field(0)->WithName("element")}));
        return Type::List(std::move(element[0]));
      }
      case arrow::Type::MAP: {
        const auto& map = static_cast<const arrow::MapType&>(type);
        std::vector<Field> entry = DELENDA_TRY(
            Fields({map.key_field()->WithName("key")->WithNullable(false), map.item_field()->WithName("value")}));
        return Type::Map(std::move(entry[0]), std::move(entry[1]));
      }
      default: return NotSupported("type {}: tables have no such type", type.ToString());
    }
  }

  static Result<Type> DecimalType(const arrow::DecimalType& type) {
    if (type.precision() > 38 || type.scale() < 0 || type.scale() > type.precision()) {
      return NotSupported("type {}: decimals of tables have at most 38 digits, and a scale from 0 to their precision",
                          type.ToString());
    }
    return Type::Decimal(type.precision(), type.scale());
  }

  int32_t next_ = 1;
  std::map<int32_t, int32_t> ids_;
};

}  // namespace

Result<Schema> SchemaFromArrow(const arrow::Schema& source) {
  FreshIds ids;
  return Schema::Make(0, DELENDA_TRY(ids.Fields(source.fields())));
}

Result<Schema> WithFreshIds(const Schema& schema) {
  FreshIds ids;
  std::vector<Field> fields = ids.Fields(schema.fields());
  std::vector<int32_t> identifiers;
  for (const int32_t id : schema.identifier_ids()) identifiers.push_back(DELENDA_TRY(ids.New(id)));
  return Schema::Make(schema.id(), std::move(fields), std::move(identifiers));
}

}  // namespace delenda::write
