#include "delenda/read/arrow_type.h"

#include <arrow/type.h>

#include <utility>

#include "delenda/formats/parquet/parquet_file.h"

namespace delenda::read {
namespace {

Result<std::shared_ptr<arrow::DataType>> NestedType(const Type& type) {
  arrow::FieldVector fields;
  for (const Field& field : type.fields()) fields.push_back(DELENDA_TRY(ToArrowField(field)));
  if (type.kind() == TypeKind::kStruct) return arrow::struct_(std::move(fields));
  if (type.kind() == TypeKind::kList && fields.size() == 1) return arrow::list(fields[0]);
  if (type.kind() == TypeKind::kMap && fields.size() == 2) {
    return std::make_shared<arrow::MapType>(fields[0]->WithNullable(false), fields[1]);
  }
  return InternalError("a malformed nested type");
}

}  // namespace

Result<std::shared_ptr<arrow::DataType>> ToArrowType(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return arrow::boolean();
    case TypeKind::kInt: return arrow::int32();
    case TypeKind::kLong: return arrow::int64();
    case TypeKind::kFloat: return arrow::float32();
    case TypeKind::kDouble: return arrow::float64();
    case TypeKind::kDecimal:
      // Out of these bounds Arrow would abort.
      if (type.precision() < 1 || type.precision() > 38 || type.scale() < 0 || type.scale() > type.precision()) break;
      return arrow::decimal128(type.precision(), type.scale());
    case TypeKind::kDate: return arrow::date32();
    case TypeKind::kTime: return arrow::time64(arrow::TimeUnit::MICRO);
    case TypeKind::kTimestamp: return arrow::timestamp(arrow::TimeUnit::MICRO);
    case TypeKind::kTimestampTz: return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case TypeKind::kTimestampNs: return arrow::timestamp(arrow::TimeUnit::NANO);
    case TypeKind::kTimestampTzNs: return arrow::timestamp(arrow::TimeUnit::NANO, "UTC");
    case TypeKind::kString: return arrow::utf8();
    case TypeKind::kUuid:
    case TypeKind::kFixed:
      if (type.length() < 0) break;
      return arrow::fixed_size_binary(type.length());
    case TypeKind::kBinary: return arrow::binary();
    case TypeKind::kUnknown: return arrow::null();
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap: return NestedType(type);
    case TypeKind::kVariant:
    case TypeKind::kGeometry:
    case TypeKind::kGeography: break;
  }
  return NotSupported("columns of type {} cannot be read yet: leave them out of the selection", type.ToString());
}

Result<std::shared_ptr<arrow::Field>> ToArrowField(const Field& field) {
  Result<std::shared_ptr<arrow::DataType>> type = ToArrowType(field.type);
  if (!type) {
    type.error().Add("column", field.name);
    return std::unexpected(std::move(type).error());
  }
  return arrow::field(field.name, std::move(*type), !field.required,
                      field.id < 0 ? nullptr : parquet::FieldIdMetadata(field.id));
}

Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const std::vector<plan::OutputColumn>& columns) {
  arrow::FieldVector fields;
  for (const plan::OutputColumn& column : columns) fields.push_back(DELENDA_TRY(ToArrowField(column.field)));
  return arrow::schema(std::move(fields));
}

}  // namespace delenda::read
