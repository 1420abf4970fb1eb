#include "delenda/read/row_group_stats.h"

#include <arrow/type.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace delenda::read {
namespace {

template <typename T>
std::optional<T> LoadPlain(std::string_view bytes) {
  if (bytes.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

std::optional<int64_t> IntegerBound(::parquet::Type::type physical, std::string_view bytes) {
  if (physical == ::parquet::Type::INT32) return LoadPlain<int32_t>(bytes);
  if (physical == ::parquet::Type::INT64) return LoadPlain<int64_t>(bytes);
  return std::nullopt;
}

// Big-endian two's complement of up to 16 bytes.
std::optional<Int128> BigEndianBound(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 16) return std::nullopt;
  Int128 value = static_cast<int8_t>(bytes[0]) < 0 ? -1 : 0;
  for (const char c : bytes) value = value * 256 + static_cast<uint8_t>(c);
  return value;
}

std::optional<Datum> DecodeBound(const Type& table, const FileLeaf& file, ::parquet::Type::type physical,
                                 std::string_view bytes) {
  const arrow::Type::type stored = file.type->id();
  switch (table.kind()) {
    case TypeKind::kBoolean:
      if (const auto v = LoadPlain<uint8_t>(bytes); v && stored == arrow::Type::BOOL) return Datum(*v != 0);
      break;
    case TypeKind::kInt:
    case TypeKind::kLong:
      if (stored != arrow::Type::INT32 && stored != arrow::Type::INT64) break;  // unsigned numbers have another order
      if (const auto v = IntegerBound(physical, bytes)) return Datum(*v);
      break;
    case TypeKind::kDate:
      if (const auto v = IntegerBound(physical, bytes); v && stored == arrow::Type::DATE32) return Datum(*v);
      break;
    case TypeKind::kTime:
      if (stored != arrow::Type::TIME64 ||
          static_cast<const arrow::Time64Type&>(*file.type).unit() != arrow::TimeUnit::MICRO)
        break;
      if (const auto v = IntegerBound(physical, bytes)) return Datum(*v);
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: {
      const bool nanos = table.is_nanos();
      const auto unit = nanos ? arrow::TimeUnit::NANO : arrow::TimeUnit::MICRO;
      if (stored != arrow::Type::TIMESTAMP || static_cast<const arrow::TimestampType&>(*file.type).unit() != unit)
        break;
      if (const auto v = IntegerBound(physical, bytes)) return Datum(*v);
      break;
    }
    case TypeKind::kFloat:
      if (const auto v = LoadPlain<float>(bytes); v && stored == arrow::Type::FLOAT && !std::isnan(*v))
        return Datum(*v);
      break;
    case TypeKind::kDouble:
      if (stored == arrow::Type::FLOAT) {
        if (const auto v = LoadPlain<float>(bytes); v && !std::isnan(*v)) return Datum(static_cast<double>(*v));
      } else if (stored == arrow::Type::DOUBLE) {
        if (const auto v = LoadPlain<double>(bytes); v && !std::isnan(*v)) return Datum(*v);
      }
      break;
    case TypeKind::kDecimal:
      if (stored != arrow::Type::DECIMAL128) break;
      if (const auto v = IntegerBound(physical, bytes)) return Datum(Int128{*v});
      if (physical == ::parquet::Type::BYTE_ARRAY || physical == ::parquet::Type::FIXED_LEN_BYTE_ARRAY) {
        if (const auto v = BigEndianBound(bytes)) return Datum(*v);
      }
      break;
    case TypeKind::kString:
    case TypeKind::kBinary:
    case TypeKind::kFixed:
    case TypeKind::kUuid:
      if (stored == arrow::Type::STRING || stored == arrow::Type::BINARY || stored == arrow::Type::FIXED_SIZE_BINARY) {
        return Datum(std::string(bytes));
      }
      break;
    default: break;
  }
  return std::nullopt;
}

ColumnStats ConstantStats(const Datum& value, int64_t rows) {
  ColumnStats stats;
  stats.value_count = rows;
  stats.null_count = IsNull(value) ? rows : 0;
  stats.nan_count = IsNan(value) ? rows : 0;
  if (!IsNull(value) && !IsNan(value)) {
    stats.lower = value;
    stats.upper = value;
  }
  return stats;
}

}  // namespace

StatsSource RowGroupStats(const parquet::ParquetFile& file, size_t row_group, const ConstantColumns& constants) {
  return [&file, row_group, &constants](const BoundColumn& column) -> std::optional<ColumnStats> {
    const int64_t rows = file.row_groups()[row_group].num_rows;
    const std::optional<FileLeaf> leaf = FindLeaf(file, column.path);
    if (!leaf) {
      const auto constant = constants.find(column.field_id);
      if (constant == constants.end() || column.path.size() != 1) return std::nullopt;
      return ConstantStats(constant->second, rows);
    }
    const parquet::Leaf& described = file.leaves()[static_cast<size_t>(leaf->leaf)];
    if (described.repeated) return std::nullopt;
    const Result<parquet::LeafStatistics> read = file.Statistics(row_group, leaf->leaf);
    if (!read) return std::nullopt;  // statistics only save work; broken data pages are found by reading them
    return StatsOfLeaf(column.type, *leaf, described.physical, *read, rows);
  };
}

ColumnStats StatsOfLeaf(const Type& table, const FileLeaf& leaf, ::parquet::Type::type physical,
                        const parquet::LeafStatistics& statistics, int64_t rows) {
  ColumnStats stats;
  stats.value_count = rows;
  if (statistics.null_count && *statistics.null_count <= rows) stats.null_count = statistics.null_count;
  if (statistics.min) stats.lower = DecodeBound(table, leaf, physical, *statistics.min);
  if (statistics.max) stats.upper = DecodeBound(table, leaf, physical, *statistics.max);
  // Compared in another order by the writer (decimals as unsigned bytes): nothing would seem to lie between them, and
  // every row would be lost.
  if (stats.lower && stats.upper && CompareDatum(*stats.lower, *stats.upper) > 0) {
    stats.lower.reset();
    stats.upper.reset();
  }
  return stats;
}

}  // namespace delenda::read
