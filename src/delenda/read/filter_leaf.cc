// Leaves of a filter on whole arrays. The order of values is that of CompareDatum.
#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <string_view>
#include <utility>

#include "delenda/read/filter_evaluator.h"

namespace delenda::read {
namespace {

// How a column's values are seen while they are compared.
struct IntegerView {
  using Value = int64_t;
  static Value Literal(const Datum& datum) { return std::get<int64_t>(datum); }
  static int Compare(Value a, Value b) { return a < b ? -1 : a > b; }
};

template <typename T>
struct FloatView {
  using Value = T;
  static Value Literal(const Datum& datum) { return std::get<T>(datum); }
  // NaN equals NaN and is above every number; -0.0 equals 0.0.
  static int Compare(Value a, Value b) {
    if (a < b) return -1;
    if (a > b) return 1;
    if (a == b) return 0;
    return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  }
};

struct DecimalView {
  using Value = Int128;
  static Value Literal(const Datum& datum) { return std::get<Int128>(datum); }
  static int Compare(Value a, Value b) { return a < b ? -1 : a > b; }
};

struct BytesView {
  using Value = std::string_view;
  static Value Literal(const Datum& datum) { return std::get<std::string>(datum); }
  static int Compare(Value a, Value b) { return a.compare(b); }  // as unsigned bytes
};

struct BooleanView {
  using Value = uint8_t;
  static Value Literal(const Datum& datum) { return std::get<bool>(datum) ? 1 : 0; }
  static int Compare(Value a, Value b) { return static_cast<int>(a) - static_cast<int>(b); }
};

template <typename View, typename At>
Result<Selection> CompareAll(const Expr& leaf, int64_t rows, const At& at) {
  using Value = typename View::Value;
  if (leaf.op == Op::kIn || leaf.op == Op::kNotIn) {
    std::vector<Value> values;
    for (const Datum& datum : leaf.values) values.push_back(View::Literal(datum));
    const auto below = [](const Value& a, const Value& b) { return View::Compare(a, b) < 0; };
    std::ranges::sort(values, below);
    const bool in = leaf.op == Op::kIn;
    return Selection::Where(
        rows, [&](int64_t row) { return std::binary_search(values.begin(), values.end(), at(row), below) == in; });
  }
  const Value literal = View::Literal(leaf.values.front());
  switch (leaf.op) {
    case Op::kLess: return Selection::Where(rows, [&](int64_t row) { return View::Compare(at(row), literal) < 0; });
    case Op::kLessEqual:
      return Selection::Where(rows, [&](int64_t row) { return View::Compare(at(row), literal) <= 0; });
    case Op::kGreater: return Selection::Where(rows, [&](int64_t row) { return View::Compare(at(row), literal) > 0; });
    case Op::kGreaterEqual:
      return Selection::Where(rows, [&](int64_t row) { return View::Compare(at(row), literal) >= 0; });
    case Op::kEqual: return Selection::Where(rows, [&](int64_t row) { return View::Compare(at(row), literal) == 0; });
    case Op::kNotEqual:
      return Selection::Where(rows, [&](int64_t row) { return View::Compare(at(row), literal) != 0; });
    case Op::kStartsWith:
    case Op::kNotStartsWith:
      if constexpr (std::is_same_v<View, BytesView>) {
        const bool starts = leaf.op == Op::kStartsWith;
        return Selection::Where(rows, [&](int64_t row) { return at(row).starts_with(literal) == starts; });
      } else {
        return Selection(rows, leaf.op == Op::kNotStartsWith);
      }
    default: return InternalError("an operator of the filter is no comparison");
  }
}

template <typename ArrayType>
Result<Selection> CompareIntegers(const Expr& leaf, const arrow::Array& column) {
  const auto* values = static_cast<const ArrayType&>(column).raw_values();
  return CompareAll<IntegerView>(leaf, column.length(),
                                 [values](int64_t row) { return static_cast<int64_t>(values[row]); });
}

template <typename ArrayType, typename T>
Result<Selection> CompareFloats(const Expr& leaf, const arrow::Array& column) {
  const T* values = static_cast<const ArrayType&>(column).raw_values();
  return CompareAll<FloatView<T>>(leaf, column.length(), [values](int64_t row) { return values[row]; });
}

template <typename ArrayType>
Result<Selection> CompareBytes(const Expr& leaf, const arrow::Array& column) {
  const auto& array = static_cast<const ArrayType&>(column);
  return CompareAll<BytesView>(leaf, column.length(),
                               [&](int64_t row) { return std::string_view(array.GetView(row)); });
}

Result<Selection> CompareDecimals(const Expr& leaf, const arrow::Array& column) {
  const auto& array = static_cast<const arrow::Decimal128Array&>(column);
  return CompareAll<DecimalView>(leaf, column.length(), [&](int64_t row) {
    Int128 value;
    std::memcpy(&value, array.GetValue(row), sizeof(value));  // unscaled, little-endian
    return value;
  });
}

template <typename ArrayType>
Selection NanRows(const arrow::Array& column) {
  const auto* values = static_cast<const ArrayType&>(column).raw_values();
  return Selection::Where(column.length(), [values](int64_t row) { return std::isnan(values[row]); });
}

// The alternative of Datum that values of the array have (see datum.h).
template <typename T>
bool LiteralsAre(const Expr& leaf) {
  return std::ranges::all_of(leaf.values, [](const Datum& datum) { return std::holds_alternative<T>(datum); });
}

Result<Selection> Compare(const Expr& leaf, const arrow::Array& column) {
  switch (column.type_id()) {
    case arrow::Type::BOOL:
      if (LiteralsAre<bool>(leaf)) {
        const auto& array = static_cast<const arrow::BooleanArray&>(column);
        return CompareAll<BooleanView>(leaf, column.length(),
                                       [&](int64_t row) { return static_cast<uint8_t>(array.Value(row) ? 1 : 0); });
      }
      break;
    case arrow::Type::INT32:
      if (LiteralsAre<int64_t>(leaf)) return CompareIntegers<arrow::Int32Array>(leaf, column);
      break;
    case arrow::Type::INT64:
      if (LiteralsAre<int64_t>(leaf)) return CompareIntegers<arrow::Int64Array>(leaf, column);
      break;
    case arrow::Type::DATE32:
      if (LiteralsAre<int64_t>(leaf)) return CompareIntegers<arrow::Date32Array>(leaf, column);
      break;
    case arrow::Type::TIME64:
      if (LiteralsAre<int64_t>(leaf)) return CompareIntegers<arrow::Time64Array>(leaf, column);
      break;
    case arrow::Type::TIMESTAMP:
      if (LiteralsAre<int64_t>(leaf)) return CompareIntegers<arrow::TimestampArray>(leaf, column);
      break;
    case arrow::Type::FLOAT:
      if (LiteralsAre<float>(leaf)) return CompareFloats<arrow::FloatArray, float>(leaf, column);
      break;
    case arrow::Type::DOUBLE:
      if (LiteralsAre<double>(leaf)) return CompareFloats<arrow::DoubleArray, double>(leaf, column);
      break;
    case arrow::Type::DECIMAL128:
      if (LiteralsAre<Int128>(leaf)) return CompareDecimals(leaf, column);
      break;
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      if (LiteralsAre<std::string>(leaf)) return CompareBytes<arrow::BinaryArray>(leaf, column);
      break;
    case arrow::Type::FIXED_SIZE_BINARY:
      if (LiteralsAre<std::string>(leaf)) return CompareBytes<arrow::FixedSizeBinaryArray>(leaf, column);
      break;
    case arrow::Type::NA: return Selection(column.length());  // no row has a value
    default: break;
  }
  return InternalError("the filter compares column {} of type {} with a literal of another type", leaf.column.name,
                       column.type()->ToString());
}

}  // namespace

Result<Selection> EvaluateLeafOnArray(const Expr& leaf, const arrow::Array& column, const Selection& valid) {
  Selection result = valid;
  switch (leaf.op) {
    case Op::kNotNull: return result;
    case Op::kIsNull: result.Invert(); return result;
    case Op::kIsNan:
    case Op::kNotNan: {
      Selection nan(column.length());
      if (column.type_id() == arrow::Type::FLOAT) nan = NanRows<arrow::FloatArray>(column);
      if (column.type_id() == arrow::Type::DOUBLE) nan = NanRows<arrow::DoubleArray>(column);
      result &= nan;
      if (leaf.op == Op::kNotNan) result.Invert();  // true for NULL too: the test is two-valued
      return result;
    }
    default: break;
  }
  if (leaf.values.empty()) return leaf.op == Op::kNotIn ? std::move(result) : Selection(column.length());
  result &= DELENDA_TRY(Compare(leaf, column));
  return result;
}

}  // namespace delenda::read
