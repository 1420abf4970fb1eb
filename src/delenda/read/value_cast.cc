#include "delenda/read/value_cast.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::read {
namespace {

bool IsIntegerUpTo32(arrow::Type::type id) {
  return id == arrow::Type::INT8 || id == arrow::Type::INT16 || id == arrow::Type::INT32 || id == arrow::Type::UINT8 ||
         id == arrow::Type::UINT16;
}

bool IsVariableBytes(arrow::Type::type id) { return id == arrow::Type::STRING || id == arrow::Type::BINARY; }

std::shared_ptr<arrow::Array> Relabel(const std::shared_ptr<arrow::Array>& array,
                                      const std::shared_ptr<arrow::DataType>& arrow_type) {
  std::shared_ptr<arrow::ArrayData> data = array->data()->Copy();
  data->type = arrow_type;
  return arrow::MakeArray(data);
}

// The same bytes mean the same values in both types.
bool SameBytes(const arrow::DataType& from, const arrow::DataType& to) {
  if (IsVariableBytes(from.id()) && IsVariableBytes(to.id())) return true;
  if (from.id() == arrow::Type::TIMESTAMP && to.id() == arrow::Type::TIMESTAMP) {
    return static_cast<const arrow::TimestampType&>(from).unit() == static_cast<const arrow::TimestampType&>(to).unit();
  }
  if (from.id() == arrow::Type::DECIMAL128 && to.id() == arrow::Type::DECIMAL128) {
    const auto& a = static_cast<const arrow::Decimal128Type&>(from);
    const auto& b = static_cast<const arrow::Decimal128Type&>(to);
    return a.scale() == b.scale() && a.precision() <= b.precision();
  }
  return false;
}

}  // namespace

bool CanReadAs(const arrow::DataType& file, const Type& table) {
  const arrow::Type::type id = file.id();
  if (id == arrow::Type::NA) return !table.is_nested();
  switch (table.kind()) {
    case TypeKind::kBoolean: return id == arrow::Type::BOOL;
    case TypeKind::kInt: return IsIntegerUpTo32(id);
    case TypeKind::kLong: return IsIntegerUpTo32(id) || id == arrow::Type::INT64 || id == arrow::Type::UINT32;
    case TypeKind::kFloat: return id == arrow::Type::FLOAT;
    case TypeKind::kDouble: return id == arrow::Type::FLOAT || id == arrow::Type::DOUBLE;
    case TypeKind::kDecimal: {
      if (id != arrow::Type::DECIMAL128) return false;
      const auto& decimal = static_cast<const arrow::Decimal128Type&>(file);
      return decimal.scale() == table.scale() && decimal.precision() <= table.precision();
    }
    case TypeKind::kDate: return id == arrow::Type::DATE32;
    case TypeKind::kTime: return id == arrow::Type::TIME32 || id == arrow::Type::TIME64;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNs: return id == arrow::Type::TIMESTAMP || id == arrow::Type::DATE32;
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampTzNs: return id == arrow::Type::TIMESTAMP;
    case TypeKind::kString:
    case TypeKind::kBinary: return IsVariableBytes(id);
    case TypeKind::kUuid:
    case TypeKind::kFixed:
      return id == arrow::Type::FIXED_SIZE_BINARY &&
             static_cast<const arrow::FixedSizeBinaryType&>(file).byte_width() == table.length();
    default: return false;
  }
}

Result<std::shared_ptr<arrow::Array>> CastValues(const std::shared_ptr<arrow::Array>& array, const Type& table,
                                                 const std::shared_ptr<arrow::DataType>& arrow_type) {
  const arrow::DataType& from = *array->type();
  if (from.Equals(*arrow_type)) return array;
  if (from.id() == arrow::Type::NA) return parquet::ToResult(arrow::MakeArrayOfNull(arrow_type, array->length()));
  if (SameBytes(from, *arrow_type)) return Relabel(array, arrow_type);
  if (!CanReadAs(from, table)) return InternalError("{} read as {}", from.ToString(), table.ToString());
  if (table.is_timestamp() && from.id() == arrow::Type::TIMESTAMP) {
    // Only the unit changes: with or without zone the file's numbers are instants or wall-clock times as the table
    // says.
    const auto& target = static_cast<const arrow::TimestampType&>(*arrow_type);
    const auto source = arrow::timestamp(static_cast<const arrow::TimestampType&>(from).unit(), target.timezone());
    return parquet::ToResult(
        arrow::compute::Cast(*Relabel(array, source), arrow_type, arrow::compute::CastOptions::Safe()));
  }
  return parquet::ToResult(arrow::compute::Cast(*array, arrow_type, arrow::compute::CastOptions::Safe()));
}

}  // namespace delenda::read
