#include "delenda/write/datum_builder.h"

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/builder_time.h>

#include <string>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::write {
namespace {

using parquet::ToResult;

template <typename Builder, typename Value>
Result<void> AppendAs(arrow::ArrayBuilder& builder, const Value& value) {
  return ToResult(static_cast<Builder&>(builder).Append(value), parquet::StatusSource::kCompute);
}

}  // namespace

Result<void> AppendDatum(arrow::ArrayBuilder& builder, const Type& type, const Datum& value) {
  if (IsNull(value)) return ToResult(builder.AppendNull(), parquet::StatusSource::kCompute);
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (const bool* v = std::get_if<bool>(&value)) return AppendAs<arrow::BooleanBuilder>(builder, *v);
      break;
    case TypeKind::kInt:
      if (const int64_t* v = std::get_if<int64_t>(&value)) {
        return AppendAs<arrow::Int32Builder>(builder, static_cast<int32_t>(*v));
      }
      break;
    case TypeKind::kDate:
      if (const int64_t* v = std::get_if<int64_t>(&value)) {
        return AppendAs<arrow::Date32Builder>(builder, static_cast<int32_t>(*v));
      }
      break;
    case TypeKind::kLong:
      if (const int64_t* v = std::get_if<int64_t>(&value)) return AppendAs<arrow::Int64Builder>(builder, *v);
      break;
    case TypeKind::kTime:
      if (const int64_t* v = std::get_if<int64_t>(&value)) return AppendAs<arrow::Time64Builder>(builder, *v);
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      if (const int64_t* v = std::get_if<int64_t>(&value)) return AppendAs<arrow::TimestampBuilder>(builder, *v);
      break;
    case TypeKind::kFloat:
      if (const float* v = std::get_if<float>(&value)) return AppendAs<arrow::FloatBuilder>(builder, *v);
      break;
    case TypeKind::kDouble:
      if (const double* v = std::get_if<double>(&value)) return AppendAs<arrow::DoubleBuilder>(builder, *v);
      if (const float* v = std::get_if<float>(&value)) {  // a default from before a promotion
        return AppendAs<arrow::DoubleBuilder>(builder, static_cast<double>(*v));
      }
      break;
    case TypeKind::kDecimal:
      if (const Int128* v = std::get_if<Int128>(&value)) {
        return AppendAs<arrow::Decimal128Builder>(
            builder, arrow::Decimal128(static_cast<int64_t>(*v >> 64), static_cast<uint64_t>(*v)));
      }
      break;
    case TypeKind::kString:
    case TypeKind::kBinary:
      if (const auto* v = std::get_if<std::string>(&value)) return AppendAs<arrow::BinaryBuilder>(builder, *v);
      break;
    case TypeKind::kUuid:
    case TypeKind::kFixed:
      if (const auto* v = std::get_if<std::string>(&value)) return AppendAs<arrow::FixedSizeBinaryBuilder>(builder, *v);
      break;
    default: break;
  }
  return InternalError("a value that is not of type {}", type.ToString());
}

}  // namespace delenda::write
