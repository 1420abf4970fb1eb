#include "delenda/write/file_metrics.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/model/transform_values.h"

namespace delenda::write {
namespace {

constexpr uint32_t kFirstSurrogate = 0xd800;
constexpr uint32_t kBehindSurrogates = 0xe000;
constexpr uint32_t kLastCodePoint = 0x10ffff;

bool IsText(const Type& type) { return type.kind() == TypeKind::kString || type.kind() == TypeKind::kBinary; }

void AppendCodePoint(std::string& text, uint32_t point) {
  const auto byte = [&](uint32_t value) { text.push_back(static_cast<char>(value)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xc0 | point >> 6);
    byte(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    byte(0xe0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3f));
    byte(0x80 | (point & 0x3f));
  } else {
    byte(0xf0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3f));
    byte(0x80 | (point >> 6 & 0x3f));
    byte(0x80 | (point & 0x3f));
  }
}

// The code point that starts at `at` of well-formed UTF-8 and ends where the text does.
uint32_t LastCodePoint(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  uint32_t point = lead < 0x80 ? lead : lead < 0xe0 ? lead & 0x1fU : lead < 0xf0 ? lead & 0x0fU : lead & 0x07U;
  for (size_t i = at + 1; i < text.size(); ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return point;
}

std::optional<std::string> RaisedText(std::string_view prefix) {
  // Raising the code points of what is no UTF-8 would give no bound.
  if (!IsValidUtf8(prefix)) return std::nullopt;
  while (!prefix.empty()) {
    size_t at = prefix.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(prefix[at]) & 0xc0U) == 0x80U) --at;
    uint32_t point = LastCodePoint(prefix, at) + 1;
    if (point == kFirstSurrogate) point = kBehindSurrogates;
    prefix = prefix.substr(0, at);
    if (point > kLastCodePoint) continue;
    std::string raised(prefix);
    AppendCodePoint(raised, point);
    return raised;
  }
  return std::nullopt;
}

std::optional<std::string> RaisedBytes(std::string_view prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.remove_suffix(1);
  if (prefix.empty()) return std::nullopt;
  std::string raised(prefix);
  raised.back() = static_cast<char>(static_cast<unsigned char>(raised.back()) + 1);
  return raised;
}

template <typename ArrayType>
int64_t CountNans(const arrow::Array& array) {
  const auto& values = static_cast<const ArrayType&>(array);
  const auto* raw = values.raw_values();
  int64_t nans = 0;
  if (array.null_count() == 0) {
    for (int64_t i = 0; i < array.length(); ++i) nans += raw[i] != raw[i] ? 1 : 0;
    return nans;
  }
  for (int64_t i = 0; i < array.length(); ++i) nans += raw[i] != raw[i] && array.IsValid(i) ? 1 : 0;
  return nans;
}

// The first eight bytes as a number that orders as they do; shorter texts end in zeros. Most texts differ there.
uint64_t Prefix(std::string_view text) {
  if (text.size() >= sizeof(uint64_t)) {
    return LoadUnsigned<std::endian::big, uint64_t>(reinterpret_cast<const std::byte*>(text.data()));
  }
  uint64_t prefix = 0;
  for (size_t i = 0; i < text.size(); ++i) prefix |= uint64_t{static_cast<unsigned char>(text[i])} << (56 - 8 * i);
  return prefix;
}

// Extends [least, greatest] to the values of the array, compared by unsigned bytes: of UTF-8 the order of code points.
void ExtendBounds(const arrow::BinaryArray& values, std::optional<std::string>& least,
                  std::optional<std::string>& greatest) {
  std::optional<std::string_view> low;
  std::string_view high;
  uint64_t low_prefix = 0;
  uint64_t high_prefix = 0;
  const bool has_nulls = values.null_count() != 0;
  for (int64_t i = 0; i < values.length(); ++i) {
    if (has_nulls && values.IsNull(i)) continue;
    const std::string_view value = values.GetView(i);
    const uint64_t prefix = Prefix(value);
    if (!low) {
      low = high = value;
      low_prefix = high_prefix = prefix;
      continue;
    }
    if (prefix < low_prefix || (prefix == low_prefix && value < *low)) {
      low = value;
      low_prefix = prefix;
    }
    if (prefix > high_prefix || (prefix == high_prefix && value > high)) {
      high = value;
      high_prefix = prefix;
    }
  }
  if (!low) return;
  if (!least || *low < *least) least = *low;
  if (!greatest || high > *greatest) greatest = high;
}

// A bound in Parquet's plain encoding. Nothing for a type that has none.
std::optional<Datum> DatumFromPlain(const Type& type, ::parquet::Type::type physical, const std::string& plain) {
  const auto* at = reinterpret_cast<const std::byte*>(plain.data());
  switch (physical) {
    case ::parquet::Type::BOOLEAN:
      if (plain.size() != 1) return std::nullopt;
      return Datum(plain[0] != '\0');
    case ::parquet::Type::INT32:
    case ::parquet::Type::INT64: {
      if (plain.size() != (physical == ::parquet::Type::INT32 ? 4U : 8U)) return std::nullopt;
      const int64_t value = plain.size() == 4 ? static_cast<int32_t>(LoadUnsigned<std::endian::little, uint32_t>(at))
                                              : static_cast<int64_t>(LoadUnsigned<std::endian::little, uint64_t>(at));
      if (type.kind() == TypeKind::kDecimal) return Datum(static_cast<Int128>(value));
      return Datum(value);
    }
    case ::parquet::Type::FLOAT:
      if (plain.size() != 4) return std::nullopt;
      return Datum(std::bit_cast<float>(LoadUnsigned<std::endian::little, uint32_t>(at)));
    case ::parquet::Type::DOUBLE:
      if (plain.size() != 8) return std::nullopt;
      return Datum(std::bit_cast<double>(LoadUnsigned<std::endian::little, uint64_t>(at)));
    case ::parquet::Type::FIXED_LEN_BYTE_ARRAY: {
      if (type.kind() != TypeKind::kDecimal) return Datum(plain);
      auto value = DatumFromBound(type, AsBytes(plain));  // big-endian too
      if (!value) return std::nullopt;
      return *std::move(value);
    }
    default: return std::nullopt;
  }
}

Datum WithZero(Datum bound, bool lower) {
  if (auto* single = std::get_if<float>(&bound); single != nullptr && *single == 0.0F) *single = lower ? -0.0F : 0.0F;
  if (auto* wide = std::get_if<double>(&bound); wide != nullptr && *wide == 0.0) *wide = lower ? -0.0 : 0.0;
  return bound;
}

std::string BoundText(const Bytes& bytes) { return std::string(AsText(bytes)); }

// Texts as bounds; of fixed values too, as the reference implementation has it.
void AddTextBounds(const Type& type, const MetricsMode& mode, int32_t field_id, std::string_view least,
                   std::string_view greatest, FileMetrics& metrics) {
  if (mode.kind == MetricsMode::Kind::kFull) {
    metrics.lower_bounds[field_id] = least;
    metrics.upper_bounds[field_id] = greatest;
    return;
  }
  metrics.lower_bounds[field_id] = TruncatedPrefix(type, least, mode.length);
  if (auto upper = TruncatedUpperBound(type, greatest, mode.length)) {
    metrics.upper_bounds[field_id] = *std::move(upper);
  }
}

}  // namespace

std::optional<std::string> TruncatedUpperBound(const Type& type, std::string_view value, int32_t length) {
  const std::string_view prefix = TruncatedPrefix(type, value, length);
  if (prefix.size() == value.size()) return std::string(value);
  return type.kind() == TypeKind::kString ? RaisedText(prefix) : RaisedBytes(prefix);
}

MetricsCollector::MetricsCollector(const Schema& schema, const std::map<int32_t, MetricsMode>& modes) {
  AddFields(schema.fields(), {}, modes);
}

void MetricsCollector::AddFields(const std::vector<Field>& fields, const std::vector<int>& path,
                                 const std::map<int32_t, MetricsMode>& modes) {
  int index = 0;
  for (const Field& field : fields) {
    if (field.type.kind() == TypeKind::kUnknown) continue;  // not in the file, nor in the batch that it gets
    std::vector<int> field_path = path;
    field_path.push_back(index++);
    if (field.type.kind() == TypeKind::kStruct) AddFields(field.type.fields(), field_path, modes);
    if (field.type.is_nested()) continue;
    const auto mode = modes.find(field.id);
    if (mode == modes.end() || mode->second.kind == MetricsMode::Kind::kNone) continue;
    columns_.push_back({.path = std::move(field_path), .field_id = field.id, .type = field.type, .mode = mode->second});
  }
}

Result<void> MetricsCollector::Add(const arrow::RecordBatch& batch) {
  for (Column& column : columns_) {
    const bool bounds = IsText(column.type) && column.mode.kind >= MetricsMode::Kind::kTruncate;
    if (!bounds && !column.type.is_float()) continue;
    std::shared_ptr<arrow::Array> array = batch.column(column.path.front());
    for (size_t depth = 1; depth < column.path.size(); ++depth) {
      // A field of a NULL struct is NULL, whatever its own slot holds.
      array = DELENDA_TRY(
          parquet::ToResult(static_cast<const arrow::StructArray&>(*array).GetFlattenedField(column.path[depth]),
                            parquet::StatusSource::kCompute));
    }
    switch (array->type_id()) {
      case arrow::Type::FLOAT: column.nans += CountNans<arrow::FloatArray>(*array); break;
      case arrow::Type::DOUBLE: column.nans += CountNans<arrow::DoubleArray>(*array); break;
      case arrow::Type::STRING:
      case arrow::Type::BINARY:
        ExtendBounds(static_cast<const arrow::BinaryArray&>(*array), column.least, column.greatest);
        break;
      default: return InternalError("a batch has {} for field {}", array->type()->ToString(), column.field_id);
    }
  }
  return {};
}

Result<void> MetricsCollector::AddBounds(const Column& column, const parquet::WrittenLeaf& leaf, FileMetrics& metrics) {
  if (IsText(column.type)) {
    if (column.least) {
      AddTextBounds(column.type, column.mode, column.field_id, *column.least, *column.greatest, metrics);
    }
    return {};
  }
  std::optional<Datum> lower, upper;
  for (const parquet::WrittenChunk& chunk : leaf.chunks) {
    const auto& nulls = chunk.statistics.null_count;
    const auto& min = chunk.statistics.min;
    const auto& max = chunk.statistics.max;
    if (nulls && *nulls == chunk.values) continue;
    if (!min || !max) {
      if (column.type.is_float()) continue;  // all NaN
      return {};                             // values without bounds: bounds of the others would hide them
    }
    const auto low = DatumFromPlain(column.type, leaf.leaf.physical, *min);
    const auto high = DatumFromPlain(column.type, leaf.leaf.physical, *max);
    if (!low || !high) return {};
    if (!lower || CompareDatum(*low, *lower) < 0) lower = *low;
    if (!upper || CompareDatum(*high, *upper) > 0) upper = *high;
  }
  if (!lower || IsNan(*lower) || IsNan(*upper)) return {};
  if (column.type.kind() == TypeKind::kFixed) {
    AddTextBounds(column.type, column.mode, column.field_id, std::get<std::string>(*lower),
                  std::get<std::string>(*upper), metrics);
    return {};
  }
  metrics.lower_bounds[column.field_id] = BoundText(DELENDA_TRY(DatumToBound(column.type, WithZero(*lower, true))));
  metrics.upper_bounds[column.field_id] = BoundText(DELENDA_TRY(DatumToBound(column.type, WithZero(*upper, false))));
  return {};
}

Result<FileMetrics> MetricsCollector::Finish(const parquet::WrittenFile& file) const {
  FileMetrics metrics;
  std::map<int32_t, const Column*> by_id;
  for (const Column& column : columns_) by_id.emplace(column.field_id, &column);
  for (const parquet::WrittenLeaf& leaf : file.leaves) {
    int64_t bytes = 0;
    int64_t values = 0;
    std::optional<int64_t> nulls = 0;
    for (const parquet::WrittenChunk& chunk : leaf.chunks) {
      bytes += chunk.compressed_bytes;
      values += chunk.values;
      nulls =
          nulls && chunk.statistics.null_count ? std::optional(*nulls + *chunk.statistics.null_count) : std::nullopt;
    }
    metrics.column_sizes[leaf.field_id] = bytes;
    const auto found = by_id.find(leaf.field_id);
    if (found == by_id.end()) continue;
    const Column& column = *found->second;
    metrics.value_counts[leaf.field_id] = values;
    if (nulls) metrics.null_counts[leaf.field_id] = *nulls;
    if (column.type.is_float()) metrics.nan_counts[leaf.field_id] = column.nans;
    if (column.mode.kind >= MetricsMode::Kind::kTruncate) DELENDA_TRY(AddBounds(column, leaf, metrics));
  }
  return metrics;
}

}  // namespace delenda::write
