#include "delenda/read/constant_array.h"

#include <arrow/array/builder_base.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <limits>
#include <string>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::read {
namespace {

using ScalarRef = std::shared_ptr<arrow::Scalar>;

Result<ScalarRef> IntegerScalar(const Type& type, const std::shared_ptr<arrow::DataType>& arrow_type, int64_t value) {
  const bool narrow = type.kind() == TypeKind::kInt || type.kind() == TypeKind::kDate;
  if (narrow && (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())) {
    return Corrupt("value {} does not fit type {}", value, type.ToString());
  }
  switch (type.kind()) {
    case TypeKind::kInt: return std::make_shared<arrow::Int32Scalar>(static_cast<int32_t>(value));
    case TypeKind::kLong: return std::make_shared<arrow::Int64Scalar>(value);
    case TypeKind::kDate: return std::make_shared<arrow::Date32Scalar>(static_cast<int32_t>(value));
    case TypeKind::kTime: return std::make_shared<arrow::Time64Scalar>(value, arrow_type);
    default: return std::make_shared<arrow::TimestampScalar>(value, arrow_type);
  }
}

Result<ScalarRef> BinaryScalar(const Type& type, const std::shared_ptr<arrow::DataType>& arrow_type,
                               const std::string& value) {
  if (type.kind() == TypeKind::kString) return std::make_shared<arrow::StringScalar>(value);
  std::shared_ptr<arrow::Buffer> buffer = arrow::Buffer::FromString(value);
  if (type.kind() == TypeKind::kBinary) return std::make_shared<arrow::BinaryScalar>(std::move(buffer));
  if (value.size() != static_cast<size_t>(type.length()))
    return Corrupt("a value of {} bytes for type {}", value.size(), type.ToString());
  return std::make_shared<arrow::FixedSizeBinaryScalar>(std::move(buffer), arrow_type);
}

// Null if the value is not one of the type.
Result<ScalarRef> ToScalar(const Type& type, const std::shared_ptr<arrow::DataType>& arrow_type, const Datum& value) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (const bool* v = std::get_if<bool>(&value)) return std::make_shared<arrow::BooleanScalar>(*v);
      break;
    case TypeKind::kInt:
    case TypeKind::kLong:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      if (const int64_t* v = std::get_if<int64_t>(&value)) return IntegerScalar(type, arrow_type, *v);
      break;
    case TypeKind::kFloat:
      if (const float* v = std::get_if<float>(&value)) return std::make_shared<arrow::FloatScalar>(*v);
      break;
    case TypeKind::kDouble:
      if (const double* v = std::get_if<double>(&value)) return std::make_shared<arrow::DoubleScalar>(*v);
      if (const float* v = std::get_if<float>(&value)) return std::make_shared<arrow::DoubleScalar>(*v);
      break;
    case TypeKind::kDecimal:
      if (const Int128* v = std::get_if<Int128>(&value)) {
        const arrow::Decimal128 unscaled(static_cast<int64_t>(*v >> 64), static_cast<uint64_t>(*v));
        return std::make_shared<arrow::Decimal128Scalar>(unscaled, arrow_type);
      }
      break;
    case TypeKind::kString:
    case TypeKind::kBinary:
    case TypeKind::kFixed:
    case TypeKind::kUuid:
      if (const std::string* v = std::get_if<std::string>(&value)) return BinaryScalar(type, arrow_type, *v);
      break;
    default: break;
  }
  return ScalarRef();
}

}  // namespace

Result<std::shared_ptr<arrow::Array>> ConstantArray(const Type& type,
                                                    const std::shared_ptr<arrow::DataType>& arrow_type,
                                                    const Datum& value, int64_t rows) {
  if (IsNull(value))
    return parquet::ToResult(arrow::MakeArrayOfNull(arrow_type, rows), parquet::StatusSource::kCompute);
  ScalarRef scalar = DELENDA_TRY(ToScalar(type, arrow_type, value));
  if (!scalar) return Corrupt("a default or partition value is not of its column's type {}", type.ToString());
  return parquet::ToResult(arrow::MakeArrayFromScalar(*scalar, rows), parquet::StatusSource::kCompute);
}

Result<std::shared_ptr<arrow::Array>> ArrayOfValues(const Type& type,
                                                    const std::shared_ptr<arrow::DataType>& arrow_type,
                                                    std::span<const Datum> values) {
  constexpr auto kBuilding = parquet::StatusSource::kCompute;
  const auto builder = DELENDA_TRY(parquet::ToResult(arrow::MakeBuilder(arrow_type), kBuilding));
  DELENDA_TRY(parquet::ToResult(builder->Reserve(static_cast<int64_t>(values.size())), kBuilding));
  for (const Datum& value : values) {
    if (IsNull(value)) {
      DELENDA_TRY(parquet::ToResult(builder->AppendNull(), kBuilding));
      continue;
    }
    const ScalarRef scalar = DELENDA_TRY(ToScalar(type, arrow_type, value));
    if (!scalar) return Corrupt("a value is not of its column's type {}", type.ToString());
    DELENDA_TRY(parquet::ToResult(builder->AppendScalar(*scalar), kBuilding));
  }
  return parquet::ToResult(builder->Finish(), kBuilding);
}

}  // namespace delenda::read
