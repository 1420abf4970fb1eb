#include "delenda/read/row_group_blooms.h"

#include <arrow/type.h>

#include <limits>
#include <optional>
#include <string>

#include "delenda/base/bytes.h"
#include "delenda/read/column_adapter.h"

namespace delenda::read {
namespace {

constexpr size_t kMostKeys = 1000;

template <typename T>
std::string PlainNumber(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};  // little-endian, as the build checks
}

// The units in which a file stores values are those of the table's type: 5 is 5.
bool SameUnits(const Type& table, const arrow::DataType& stored) {
  switch (table.kind()) {
    case TypeKind::kInt:
    case TypeKind::kLong: return stored.id() == arrow::Type::INT32 || stored.id() == arrow::Type::INT64;
    case TypeKind::kDate: return stored.id() == arrow::Type::DATE32;
    case TypeKind::kTime:
      return stored.id() == arrow::Type::TIME64 &&
             static_cast<const arrow::Time64Type&>(stored).unit() == arrow::TimeUnit::MICRO;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: {
      const bool nanos = table.is_nanos();
      return stored.id() == arrow::Type::TIMESTAMP && static_cast<const arrow::TimestampType&>(stored).unit() ==
                                                          (nanos ? arrow::TimeUnit::NANO : arrow::TimeUnit::MICRO);
    }
    case TypeKind::kString:
    case TypeKind::kBinary: return stored.id() == arrow::Type::STRING || stored.id() == arrow::Type::BINARY;
    case TypeKind::kUuid:
    case TypeKind::kFixed: return stored.id() == arrow::Type::FIXED_SIZE_BINARY;
    default: return false;  // floats and decimals have several forms of one value
  }
}

// The value in PLAIN encoding; nothing: the physical type cannot hold it.
std::optional<std::string> PlainValue(const Datum& value, ::parquet::Type::type physical) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* number = std::get_if<int64_t>(&value);
  if (number == nullptr) return std::nullopt;
  if (physical == ::parquet::Type::INT64) return PlainNumber(*number);
  if (*number < std::numeric_limits<int32_t>::min() || *number > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return PlainNumber(static_cast<int32_t>(*number));
}

}  // namespace

Result<bool> BloomFiltersCouldHold(const parquet::ParquetFile& file, size_t row_group, const SortedKeys& keys,
                                   const StatsSource& stats) {
  for (const SortedKeys::Column& key : keys.columns()) {
    const auto leaf = FindLeaf(file, key.column.path);
    if (!leaf || !SameUnits(key.column.type, *leaf->type)) continue;
    const parquet::Leaf& described = file.leaves()[static_cast<size_t>(leaf->leaf)];
    if (described.repeated || !file.HasSmallBloomFilter(row_group, leaf->leaf)) continue;
    // 12 bytes of day and time of day: the filter holds these, and would deny every key.
    if (described.physical == ::parquet::Type::INT96) continue;
    const ColumnStats known = stats(key.column).value_or(ColumnStats());
    if ((key.values.has_null() && known.null_count != 0) || key.values.has_nan()) continue;
    const auto [first, last] = key.values.Between(known);
    if (last - first > kMostKeys) continue;
    const auto filter = file.ReadBloomFilter(row_group, leaf->leaf);
    if (!filter && filter.error().kind() == ErrorKind::kCorrupt) continue;
    if (!filter) return std::unexpected(filter.error());
    bool could = false;
    for (size_t i = first; i < last && !could; ++i) {
      const auto plain = PlainValue(key.values.At(i), described.physical);
      could = plain && filter->MayHold(*plain);
    }
    if (!could) return false;
  }
  return true;
}

}  // namespace delenda::read
