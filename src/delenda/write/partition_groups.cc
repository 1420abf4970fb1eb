#include "delenda/write/partition_groups.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/model/transform_values.h"

namespace delenda::write {
namespace {

// The values of one partition field: each distinct one once, and which a row has.
struct FieldCodes {
  std::vector<Datum> values;
  std::vector<uint32_t> code_of_row;
};

// Numbers keys in the order in which they come. The last key is remembered: rows of one partition often lie together.
template <typename Key>
class KeyNumbers {
 public:
  uint32_t Number(const Key& key) {
    if (last_ && *last_ == key) return last_number_;
    const auto [found, added] = numbers_.try_emplace(key, static_cast<uint32_t>(numbers_.size()));
    last_ = key;
    last_number_ = found->second;
    return last_number_;
  }
  size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<Key, uint32_t> numbers_;
  std::optional<Key> last_;
  uint32_t last_number_ = 0;
};

// Codes of the rows whose values `key` gives; `value` makes the partition value of a key seen first. NULL is a value of
// its own.
template <typename Key, typename KeyOf, typename ValueOf>
Result<FieldCodes> Encode(const arrow::Array& array, KeyOf&& key, ValueOf&& value) {
  FieldCodes codes;
  codes.code_of_row.resize(static_cast<size_t>(array.length()));
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  KeyNumbers<Key> numbers;
  std::vector<uint32_t> code_of_number;
  uint32_t null_code = kNone;
  const bool has_nulls = array.null_count() != 0;
  for (int64_t i = 0; i < array.length(); ++i) {
    auto& code = codes.code_of_row[static_cast<size_t>(i)];
    if (has_nulls && array.IsNull(i)) {
      if (null_code == kNone) {
        null_code = static_cast<uint32_t>(codes.values.size());
        codes.values.emplace_back();
      }
      code = null_code;
      continue;
    }
    const Key k = key(i);
    const uint32_t number = numbers.Number(k);
    if (number == code_of_number.size()) {
      code_of_number.push_back(static_cast<uint32_t>(codes.values.size()));
      codes.values.push_back(DELENDA_TRY(value(k)));
    }
    code = code_of_number[number];
  }
  return codes;
}

// Different keys may have one partition value (two texts with one prefix).
void MergeEqualValues(FieldCodes& codes) {
  struct Hash {
    size_t operator()(const Datum& value) const { return HashPartitionValue(value); }
  };
  struct Equal {
    bool operator()(const Datum& a, const Datum& b) const { return SamePartitionValue(a, b); }
  };
  std::unordered_map<Datum, uint32_t, Hash, Equal> seen;
  std::vector<Datum> values;
  std::vector<uint32_t> merged;
  for (const Datum& value : codes.values) {
    const auto [found, added] = seen.try_emplace(value, static_cast<uint32_t>(values.size()));
    if (added) values.push_back(value);
    merged.push_back(found->second);
  }
  if (values.size() == codes.values.size()) return;
  codes.values = std::move(values);
  for (uint32_t& code : codes.code_of_row) code = merged[code];
}

template <typename ArrayType>
Result<FieldCodes> EncodeIntegers(const Transform& transform, const Type& source, const arrow::Array& array) {
  const auto* raw = static_cast<const ArrayType&>(array).raw_values();
  return Encode<int64_t>(
      array, [&](int64_t i) { return TransformedInteger(transform, source, raw[i]); },
      [](int64_t value) -> Result<Datum> { return Datum(value); });
}

template <typename ArrayType>
Result<FieldCodes> EncodeBytes(const Transform& transform, const Type& source, const arrow::Array& array) {
  const auto& values = static_cast<const ArrayType&>(array);
  if (transform.kind() == Transform::Kind::kBucket) {
    return Encode<int64_t>(
        array, [&](int64_t i) { return BucketOfBytes(transform, values.GetView(i)); },
        [](int64_t value) -> Result<Datum> { return Datum(value); });
  }
  return Encode<std::string_view>(
      array,
      [&](int64_t i) {
        const std::string_view value = values.GetView(i);
        return transform.kind() == Transform::Kind::kTruncate ? TruncatedPrefix(source, value, transform.parameter())
                                                              : value;
      },
      [](std::string_view value) -> Result<Datum> { return Datum(std::string(value)); });
}

// By their bits: -0.0 and 0.0 are two partitions; NaNs of other bits are merged afterwards.
template <typename ArrayType, typename Bits>
Result<FieldCodes> EncodeFloats(const arrow::Array& array) {
  const auto* raw = static_cast<const ArrayType&>(array).raw_values();
  return Encode<Bits>(
      array, [&](int64_t i) { return std::bit_cast<Bits>(raw[i]); },
      [](Bits bits) -> Result<Datum> {
        using Value = std::remove_cvref_t<decltype(raw[0])>;
        const auto value = std::bit_cast<Value>(bits);
        return Datum(value != value ? std::numeric_limits<Value>::quiet_NaN() : value);
      });
}

Result<FieldCodes> EncodeDecimals(const Transform& transform, const Type& source, const arrow::Array& array) {
  const auto& values = static_cast<const arrow::Decimal128Array&>(array);
  return Encode<std::string_view>(
      array, [&](int64_t i) { return values.GetView(i); },
      [&](std::string_view bytes) {
        Int128 unscaled = 0;
        std::memcpy(&unscaled, bytes.data(), sizeof(unscaled));  // Arrow's decimals lie in the machine's order
        return transform.Apply(source, Datum(unscaled));
      });
}

Result<FieldCodes> EncodeField(const Transform& transform, const Type& source, const arrow::Array& array) {
  if (transform.kind() == Transform::Kind::kUnknown) {
    return NotSupported("partition transform '{}' is not known to this version: rows cannot be added to such a spec",
                        transform.ToString());
  }
  if (!TransformTakes(transform.kind(), source)) {
    return InvalidArgument("partition transform {} does not take values of type {}", transform.ToString(),
                           source.ToString());
  }
  if (transform.kind() == Transform::Kind::kVoid || array.type_id() == arrow::Type::NA) {
    return FieldCodes{{Datum()}, std::vector<uint32_t>(static_cast<size_t>(array.length()), 0)};
  }
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return Encode<bool>(
          array, [&](int64_t i) { return static_cast<const arrow::BooleanArray&>(array).Value(i); },
          [](bool value) -> Result<Datum> { return Datum(value); });
    case arrow::Type::INT32: return EncodeIntegers<arrow::Int32Array>(transform, source, array);
    case arrow::Type::INT64: return EncodeIntegers<arrow::Int64Array>(transform, source, array);
    case arrow::Type::DATE32: return EncodeIntegers<arrow::Date32Array>(transform, source, array);
    case arrow::Type::TIME64: return EncodeIntegers<arrow::Time64Array>(transform, source, array);
    case arrow::Type::TIMESTAMP: return EncodeIntegers<arrow::TimestampArray>(transform, source, array);
    case arrow::Type::FLOAT: return EncodeFloats<arrow::FloatArray, uint32_t>(array);
    case arrow::Type::DOUBLE: return EncodeFloats<arrow::DoubleArray, uint64_t>(array);
    case arrow::Type::DECIMAL128: return EncodeDecimals(transform, source, array);
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return EncodeBytes<arrow::BinaryArray>(transform, source, array);
    case arrow::Type::FIXED_SIZE_BINARY: return EncodeBytes<arrow::FixedSizeBinaryArray>(transform, source, array);
    default: return InternalError("a batch has {} for a partition source", array.type()->ToString());
  }
}

Result<std::shared_ptr<arrow::Array>> SourceColumn(const PartitionField& field, const Schema& schema,
                                                   const arrow::RecordBatch& batch) {
  const Schema::Path path = schema.FindById(field.source_id);
  if (path.empty()) {
    // Only void may go on without its column (spec, "Partition Evolution").
    if (field.transform.kind() == Transform::Kind::kVoid) return batch.column(0);
    return NotSupported("partition field {}: its source column (field {}) is no longer in the schema", field.name,
                        field.source_id);
  }
  if (!HasOneValueARow(path))
    return NotSupported("partition field {}: its source {} lies in a list or map", field.name, FullName(path));
  const auto index = [](const std::vector<Field>& fields, const Field* wanted) {
    return static_cast<int>(std::ranges::find(fields, wanted->id, &Field::id) - fields.begin());
  };
  std::shared_ptr<arrow::Array> array = batch.column(index(schema.fields(), path[0]));
  for (size_t depth = 1; depth < path.size(); ++depth) {
    array = DELENDA_TRY(parquet::ToResult(static_cast<const arrow::StructArray&>(*array).GetFlattenedField(
                                              index(path[depth - 1]->type.fields(), path[depth])),
                                          parquet::StatusSource::kCompute));
  }
  return array;
}

}  // namespace

Result<PartitionGroups> GroupByPartition(const BoundSpec& spec, const Schema& schema, const arrow::RecordBatch& batch) {
  PartitionGroups groups;
  const auto rows = static_cast<size_t>(batch.num_rows());
  groups.group_of_row.assign(rows, 0);
  if (rows == 0) return groups;
  std::vector<FieldCodes> fields;
  for (size_t i = 0; i < spec.spec.fields.size(); ++i) {
    const PartitionField& field = spec.spec.fields[i];
    const auto array = DELENDA_TRY(SourceColumn(field, schema, batch));
    fields.push_back(DELENDA_TRY(
        WithContext(EncodeField(field.transform, spec.source_types[i], *array), "partition field", field.name)));
    MergeEqualValues(fields.back());
  }
  // One field after the other: a group of what came before and a code of this field make a new group, numbered in the
  // order of the rows.
  std::vector<size_t> first_rows(1, 0);
  for (const FieldCodes& field : fields) {
    if (field.values.size() == 1) continue;
    KeyNumbers<uint64_t> numbers;
    first_rows.clear();
    for (size_t row = 0; row < rows; ++row) {
      uint32_t& group = groups.group_of_row[row];
      group = numbers.Number(uint64_t{group} << 32 | field.code_of_row[row]);
      if (group == first_rows.size()) first_rows.push_back(row);
    }
  }
  for (const size_t row : first_rows) {
    PartitionTuple& tuple = groups.tuples.emplace_back();
    for (const FieldCodes& field : fields) tuple.values.push_back(field.values[field.code_of_row[row]]);
  }
  return groups;
}

}  // namespace delenda::write
