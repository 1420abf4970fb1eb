#include "delenda/read/row_key.h"

#include <arrow/array.h>
#include <arrow/array/data.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

namespace delenda::read {
namespace {

using Kind = KeyValues::Kind;

constexpr uint64_t kNullHash = 0x9AE16A3B2F90404FU;
constexpr uint64_t kListHash = 0xC3A5C85C97CB3127U;

uint64_t CombineHashes(uint64_t hash, uint64_t value) {
  value *= 0x9DDFEA08EB382D69U;
  value ^= value >> 32;
  hash = (hash ^ value) * 0xD6E8FEB86659FD93U;
  return hash ^ hash >> 29;
}

bool BitAt(const uint8_t* bits, int64_t index) { return (bits[index >> 3] >> (index & 7) & 1) != 0; }

template <typename T>
T LoadAt(const uint8_t* values, int64_t index) {
  T value;
  std::memcpy(&value, values + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// Bits that are equal for equal values.
template <typename Float, typename Bits>
Bits FloatBits(const uint8_t* values, int64_t index) {
  const Float value = LoadAt<Float>(values, index);
  return std::bit_cast<Bits>(std::isnan(value) ? std::numeric_limits<Float>::quiet_NaN() : value);
}

bool ValidAt(const KeyValues& column, int64_t row) {
  return column.kind != Kind::kNull && (column.validity == nullptr || BitAt(column.validity, column.offset + row));
}

struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

// Of a string's bytes or a list's elements.
template <typename Offset>
Extent ExtentAt(const KeyValues& column, int64_t row) {
  const auto* offsets = static_cast<const Offset*>(column.offsets) + column.offset + row;
  return {offsets[0], offsets[1]};
}

uint64_t HashBytes(const uint8_t* bytes, int64_t size) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
}

bool EqualBytes(const uint8_t* left, const uint8_t* right, int64_t size) {
  return size == 0 || std::memcmp(left, right, static_cast<size_t>(size)) == 0;
}

uint64_t HashAt(const KeyValues& column, int64_t row);

uint64_t HashElements(const KeyValues& elements, Extent extent) {
  uint64_t hash = kListHash ^ static_cast<uint64_t>(extent.size());
  for (int64_t i = extent.begin; i < extent.end; ++i) hash = CombineHashes(hash, HashAt(elements, i));
  return hash;
}

uint64_t HashAt(const KeyValues& column, int64_t row) {
  if (!ValidAt(column, row)) return kNullHash;
  const int64_t at = column.offset + row;
  switch (column.kind) {
    case Kind::kNull: return kNullHash;
    case Kind::kBool: return BitAt(column.values, at) ? 1 : 2;
    case Kind::kFloat: return FloatBits<float, uint32_t>(column.values, at);
    case Kind::kDouble: return FloatBits<double, uint64_t>(column.values, at);
    case Kind::kFixed:
      switch (column.width) {
        case 4: return LoadAt<uint32_t>(column.values, at);
        case 8: return LoadAt<uint64_t>(column.values, at);
        default: return HashBytes(column.values + at * column.width, column.width);
      }
    case Kind::kBinary: {
      const Extent extent = ExtentAt<int32_t>(column, row);
      return HashBytes(column.values + extent.begin, extent.size());
    }
    case Kind::kLargeBinary: {
      const Extent extent = ExtentAt<int64_t>(column, row);
      return HashBytes(column.values + extent.begin, extent.size());
    }
    case Kind::kList: return HashElements(column.children[0], ExtentAt<int32_t>(column, row));
    case Kind::kLargeList: return HashElements(column.children[0], ExtentAt<int64_t>(column, row));
    case Kind::kStruct: {
      uint64_t hash = kListHash;
      for (const KeyValues& child : column.children) hash = CombineHashes(hash, HashAt(child, at));
      return hash;
    }
  }
  return 0;
}

bool EqualAt(const KeyValues& left, int64_t left_row, const KeyValues& right, int64_t right_row);

bool EqualElements(const KeyValues& left, Extent left_extent, const KeyValues& right, Extent right_extent) {
  if (left_extent.size() != right_extent.size()) return false;
  for (int64_t i = 0; i < left_extent.size(); ++i) {
    if (!EqualAt(left, left_extent.begin + i, right, right_extent.begin + i)) return false;
  }
  return true;
}

template <typename Offset>
bool EqualStrings(const KeyValues& left, int64_t left_row, const KeyValues& right, int64_t right_row) {
  const Extent a = ExtentAt<Offset>(left, left_row);
  const Extent b = ExtentAt<Offset>(right, right_row);
  return a.size() == b.size() && EqualBytes(left.values + a.begin, right.values + b.begin, a.size());
}

bool EqualAt(const KeyValues& left, int64_t left_row, const KeyValues& right, int64_t right_row) {
  const bool valid = ValidAt(left, left_row);
  if (valid != ValidAt(right, right_row)) return false;
  if (!valid) return true;
  const int64_t a = left.offset + left_row;
  const int64_t b = right.offset + right_row;
  switch (left.kind) {
    case Kind::kNull: return true;
    case Kind::kBool: return BitAt(left.values, a) == BitAt(right.values, b);
    case Kind::kFloat: return FloatBits<float, uint32_t>(left.values, a) == FloatBits<float, uint32_t>(right.values, b);
    case Kind::kDouble:
      return FloatBits<double, uint64_t>(left.values, a) == FloatBits<double, uint64_t>(right.values, b);
    case Kind::kFixed:
      switch (left.width) {
        case 4: return LoadAt<uint32_t>(left.values, a) == LoadAt<uint32_t>(right.values, b);
        case 8: return LoadAt<uint64_t>(left.values, a) == LoadAt<uint64_t>(right.values, b);
        default: return EqualBytes(left.values + a * left.width, right.values + b * right.width, left.width);
      }
    case Kind::kBinary: return EqualStrings<int32_t>(left, left_row, right, right_row);
    case Kind::kLargeBinary: return EqualStrings<int64_t>(left, left_row, right, right_row);
    case Kind::kList:
      return EqualElements(left.children[0], ExtentAt<int32_t>(left, left_row), right.children[0],
                           ExtentAt<int32_t>(right, right_row));
    case Kind::kLargeList:
      return EqualElements(left.children[0], ExtentAt<int64_t>(left, left_row), right.children[0],
                           ExtentAt<int64_t>(right, right_row));
    case Kind::kStruct:
      for (size_t i = 0; i < left.children.size(); ++i) {
        if (!EqualAt(left.children[i], a, right.children[i], b)) return false;
      }
      return true;
  }
  return false;
}

// `width`: of kFixed.
Kind KindOf(const arrow::DataType& type, uint32_t& width) {
  switch (type.id()) {
    case arrow::Type::NA: return Kind::kNull;
    case arrow::Type::BOOL: return Kind::kBool;
    case arrow::Type::FLOAT: return Kind::kFloat;
    case arrow::Type::DOUBLE: return Kind::kDouble;
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return Kind::kBinary;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY: return Kind::kLargeBinary;
    case arrow::Type::LIST:
    case arrow::Type::MAP: return Kind::kList;
    case arrow::Type::LARGE_LIST: return Kind::kLargeList;
    case arrow::Type::STRUCT: return Kind::kStruct;
    default:
      width = static_cast<uint32_t>(static_cast<const arrow::FixedWidthType&>(type).bit_width()) / 8;
      return Kind::kFixed;
  }
}

KeyValues ValuesOf(const arrow::ArrayData& data) {
  KeyValues values;
  values.kind = KindOf(*data.type, values.width);
  values.offset = data.offset;
  if (values.kind == Kind::kNull) return values;
  if (data.buffers[0] != nullptr && data.null_count != 0) values.validity = data.buffers[0]->data();
  const auto buffer = [&](size_t index) { return data.buffers[index] ? data.buffers[index]->data() : nullptr; };
  switch (values.kind) {
    case Kind::kBinary:
    case Kind::kLargeBinary:
      values.offsets = buffer(1);
      values.values = buffer(2);
      break;
    case Kind::kList:
    case Kind::kLargeList: values.offsets = buffer(1); break;
    case Kind::kStruct: break;
    default: values.values = buffer(1);
  }
  for (const auto& child : data.child_data) values.children.push_back(ValuesOf(*child));
  return values;
}

template <typename HashOne>
void CombineAll(const KeyValues& column, std::span<uint64_t> hashes, HashOne&& hash_one) {
  for (size_t row = 0; row < hashes.size(); ++row) {
    const auto at = static_cast<int64_t>(row);
    hashes[row] = CombineHashes(hashes[row], ValidAt(column, at) ? hash_one(column.offset + at) : kNullHash);
  }
}

}  // namespace

Result<void> RowKeys::CheckComparable(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::NA:
    case arrow::Type::BOOL:
    case arrow::Type::UINT8:
    case arrow::Type::INT8:
    case arrow::Type::UINT16:
    case arrow::Type::INT16:
    case arrow::Type::UINT32:
    case arrow::Type::INT32:
    case arrow::Type::UINT64:
    case arrow::Type::INT64:
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::FIXED_SIZE_BINARY:
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
    case arrow::Type::DURATION:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256: return {};
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::MAP:
    case arrow::Type::STRUCT:
      for (const auto& field : type.fields()) DELENDA_TRY(CheckComparable(*field->type()));
      return {};
    default: return NotSupported("rows cannot be compared by a column of type {}", type.ToString());
  }
}

RowKeys::RowKeys(std::shared_ptr<arrow::RecordBatch> batch, const std::vector<int>& columns)
    : batch_(std::move(batch)) {
  columns_.reserve(columns.size());
  for (const int column : columns) columns_.push_back(ValuesOf(*batch_->column_data(column)));
}

void RowKeys::Hash(std::span<uint64_t> hashes) const {
  std::ranges::fill(hashes, kListHash);
  for (const KeyValues& column : columns_) {
    // The kinds of nearly every key without a switch for each row; the values are those of HashAt.
    if (column.kind == Kind::kFixed && column.width == 8)
      CombineAll(column, hashes, [&](int64_t at) { return LoadAt<uint64_t>(column.values, at); });
    else if (column.kind == Kind::kFixed && column.width == 4)
      CombineAll(column, hashes, [&](int64_t at) -> uint64_t { return LoadAt<uint32_t>(column.values, at); });
    else
      for (size_t row = 0; row < hashes.size(); ++row)
        hashes[row] = CombineHashes(hashes[row], HashAt(column, static_cast<int64_t>(row)));
  }
}

bool RowKeys::Equal(const RowKeys& left, int64_t left_row, const RowKeys& right, int64_t right_row) {
  for (size_t i = 0; i < left.columns_.size(); ++i) {
    if (!EqualAt(left.columns_[i], left_row, right.columns_[i], right_row)) return false;
  }
  return true;
}

size_t PartOfHash(uint64_t hash, int depth, size_t parts) {
  return (CombineHashes(static_cast<uint64_t>(depth) + 1, hash) >> 32) % parts;
}

std::string KeyText(const arrow::RecordBatch& batch, const std::vector<int>& columns, int64_t row) {
  std::string text = "(";
  for (const int column : columns) {
    if (text.size() > 1) text += ", ";
    const auto value = batch.column(column)->GetScalar(row);
    const bool known = value.ok() && (*value)->is_valid;
    text += fmt::format("{} = {}", batch.schema()->field(column)->name(), known ? (*value)->ToString() : "NULL");
  }
  return text + ")";
}

}  // namespace delenda::read
