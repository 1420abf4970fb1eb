// Partition transforms: text, types and values (Iceberg spec, "Partition Transforms" and Appendix B).
#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <span>

#include "delenda/model/calendar.h"
#include "delenda/model/exact_number.h"
#include "delenda/model/murmur3.h"
#include "delenda/model/partition.h"
#include "delenda/model/transform_values.h"

namespace delenda {

namespace {

constexpr int64_t kInt32Least = std::numeric_limits<int32_t>::min();
constexpr int64_t kInt32Most = std::numeric_limits<int32_t>::max();
constexpr int64_t kInt64Least = std::numeric_limits<int64_t>::min();
constexpr int64_t kInt64Most = std::numeric_limits<int64_t>::max();

struct TransformName {
  std::string_view name;
  Transform::Kind kind;
};
constexpr TransformName kTransformNames[] = {
    {"identity", Transform::Kind::kIdentity}, {"bucket", Transform::Kind::kBucket},
    {"truncate", Transform::Kind::kTruncate}, {"year", Transform::Kind::kYear},
    {"month", Transform::Kind::kMonth},       {"day", Transform::Kind::kDay},
    {"hour", Transform::Kind::kHour},         {"void", Transform::Kind::kVoid},
};

bool HasParameter(Transform::Kind kind) {
  return kind == Transform::Kind::kBucket || kind == Transform::Kind::kTruncate;
}

int64_t UnitsPerDay(const Type& type) {
  return type.kind() == TypeKind::kDate ? 1 : type.is_nanos() ? kNanosPerDay : kMicrosPerDay;
}
int64_t UnitsPerHour(const Type& type) { return type.is_nanos() ? kNanosPerHour : kMicrosPerHour; }

uint32_t HashOfInteger(const Type& source, int64_t value) {
  // Nanoseconds hash as microseconds, so that a widened timestamp stays in its bucket.
  uint64_t hashed = static_cast<uint64_t>(source.is_nanos() ? FloorDiv(value, 1000) : value);
  if constexpr (std::endian::native == std::endian::big) hashed = std::byteswap(hashed);
  return Murmur3Hash32(std::as_bytes(std::span(&hashed, 1)));
}

int64_t BucketOfHash(const Transform& transform, uint32_t hash) {
  return static_cast<int32_t>(hash & 0x7fffffffU) % transform.parameter();
}

int64_t CalendarValue(Transform::Kind kind, const Type& source, int64_t value) {
  if (kind == Transform::Kind::kHour) return FloorDiv(value, UnitsPerHour(source));
  const int64_t days = FloorDiv(value, UnitsPerDay(source));
  if (kind == Transform::Kind::kDay) return days;
  const CivilDate date = CivilFromDays(days);
  return kind == Transform::Kind::kYear ? date.year - 1970 : (date.year - 1970) * 12 + date.month - 1;
}

}  // namespace

Result<Transform> Transform::Parse(std::string_view text) {
  if (text.empty()) return Corrupt("a partition transform without a name");
  const size_t bracket = text.find('[');
  std::string base(text.substr(0, bracket));
  for (char& c : base) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  Transform transform;
  for (const TransformName& known : kTransformNames) {
    if (known.name != base || HasParameter(known.kind) != (bracket != std::string_view::npos)) continue;
    transform.kind_ = known.kind;
    if (!HasParameter(known.kind)) return transform;
    const std::string_view inside = text.substr(bracket + 1);
    const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), transform.parameter_);
    if (error != std::errc{} || end + 1 != inside.data() + inside.size() || *end != ']' || transform.parameter_ <= 0) {
      return Corrupt("partition transform '{}': expected {}[N] with N from 1 to {}", text, base, kInt32Most);
    }
    return transform;
  }
  transform.kind_ = Kind::kUnknown;
  transform.name_ = std::string(text);
  return transform;
}

std::string Transform::ToString() const {
  for (const TransformName& known : kTransformNames) {
    if (known.kind != kind_) continue;
    return HasParameter(kind_) ? fmt::format("{}[{}]", known.name, parameter_) : std::string(known.name);
  }
  return name_;
}

Type Transform::ResultType(const Type& source) const {
  switch (kind_) {
    case Kind::kIdentity:
    case Kind::kTruncate:
    case Kind::kVoid: return source;
    case Kind::kBucket:
    case Kind::kYear:
    case Kind::kMonth:
    case Kind::kHour: return TypeKind::kInt;
    case Kind::kDay: return TypeKind::kDate;
    case Kind::kUnknown: return TypeKind::kString;
  }
  return TypeKind::kString;
}

Result<Datum> Transform::Apply(const Type& source, const Datum& value) const {
  if (kind_ == Kind::kUnknown) return NotSupported("partition transform '{}' is not known to this version", name_);
  if (!TransformTakes(kind_, source)) {
    return InvalidArgument("partition transform {} does not take values of type {}", ToString(), source.ToString());
  }
  if (IsNull(value) || kind_ == Kind::kVoid) return Datum();
  if (kind_ == Kind::kIdentity) return value;
  const bool is_text = source.kind() == TypeKind::kString || source.kind() == TypeKind::kBinary ||
                       source.kind() == TypeKind::kFixed || source.kind() == TypeKind::kUuid;
  const bool is_decimal = source.kind() == TypeKind::kDecimal;
  const bool fits = is_text      ? std::holds_alternative<std::string>(value)
                    : is_decimal ? std::holds_alternative<Int128>(value)
                                 : std::holds_alternative<int64_t>(value);
  if (!fits)
    return InvalidArgument("partition transform {}: the value is not of type {}", ToString(), source.ToString());
  if (const auto* number = std::get_if<int64_t>(&value)) return Datum(TransformedInteger(*this, source, *number));
  if (const auto* unscaled = std::get_if<Int128>(&value)) {
    if (kind_ == Kind::kTruncate) return Datum(TruncatedExact(*unscaled, parameter_));
    const Bytes bytes = DELENDA_TRY(DatumToBound(source, value));  // the fewest bytes, big-endian
    return Datum(BucketOfBytes(*this, AsText(bytes)));
  }
  const std::string& text = std::get<std::string>(value);
  if (kind_ == Kind::kTruncate) return Datum(std::string(TruncatedPrefix(source, text, parameter_)));
  return Datum(BucketOfBytes(*this, text));
}

int64_t TransformedInteger(const Transform& transform, const Type& source, int64_t value) {
  switch (transform.kind()) {
    case Transform::Kind::kBucket: return BucketOfHash(transform, HashOfInteger(source, value));
    case Transform::Kind::kTruncate: return TruncatedStored(source, value, transform.parameter());
    case Transform::Kind::kYear:
    case Transform::Kind::kMonth:
    case Transform::Kind::kDay:
    case Transform::Kind::kHour: return CalendarValue(transform.kind(), source, value);
    case Transform::Kind::kIdentity:
    case Transform::Kind::kVoid:
    case Transform::Kind::kUnknown: break;
  }
  return value;
}

int64_t BucketOfBytes(const Transform& transform, std::string_view value) {
  return BucketOfHash(transform, Murmur3Hash32(AsBytes(value)));
}

bool TransformTakes(Transform::Kind kind, const Type& source) {
  const TypeKind type = source.kind();
  switch (kind) {
    case Transform::Kind::kIdentity: return !source.is_nested();
    case Transform::Kind::kVoid: return true;
    case Transform::Kind::kBucket:
      return source.is_integral() || type == TypeKind::kDecimal || type == TypeKind::kString ||
             type == TypeKind::kUuid || type == TypeKind::kFixed || type == TypeKind::kBinary;
    case Transform::Kind::kTruncate:
      return type == TypeKind::kInt || type == TypeKind::kLong || type == TypeKind::kDecimal ||
             type == TypeKind::kString || type == TypeKind::kBinary;
    case Transform::Kind::kYear:
    case Transform::Kind::kMonth:
    case Transform::Kind::kDay: return type == TypeKind::kDate || source.is_timestamp();
    case Transform::Kind::kHour: return source.is_timestamp();
    case Transform::Kind::kUnknown: return false;
  }
  return false;
}

bool LiteralsKeepMeaning(const Type& leaf, const Type& source) {
  if (leaf == source) return true;
  const auto is_integer = [](const Type& type) {
    return type.kind() == TypeKind::kInt || type.kind() == TypeKind::kLong;
  };
  if (is_integer(leaf) && is_integer(source)) return true;
  return leaf.kind() == TypeKind::kDecimal && source.kind() == TypeKind::kDecimal && leaf.scale() == source.scale();
}

std::string_view TruncatedPrefix(const Type& source, std::string_view value, int32_t width) {
  const auto limit = static_cast<size_t>(width);
  if (source.kind() != TypeKind::kString) return value.substr(0, limit);
  size_t code_points = 0;
  for (size_t at = 0; at < value.size(); ++at) {
    const bool starts_one = (static_cast<unsigned char>(value[at]) & 0xc0U) != 0x80U;
    if (starts_one && code_points++ == limit) return value.substr(0, at);
  }
  return value;
}

size_t TruncationLength(const Type& source, std::string_view value) {
  if (source.kind() != TypeKind::kString) return value.size();
  return static_cast<size_t>(std::count_if(value.begin(), value.end(),
                                           [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

Int128 TruncatedExact(Int128 value, int32_t width) {
  const Int128 rest = value % width;
  // Unsigned, since a corrupt decimal may lie at the very end of 128 bits.
  return static_cast<Int128>(static_cast<UInt128>(value) - static_cast<UInt128>(rest < 0 ? rest + width : rest));
}

int64_t TruncatedStored(const Type& source, int64_t value, int32_t width) {
  const int64_t rest = value % width;
  // Unsigned: it wraps.
  const uint64_t stored = static_cast<uint64_t>(value) - static_cast<uint64_t>(rest < 0 ? rest + width : rest);
  return source.kind() == TypeKind::kInt ? static_cast<int32_t>(static_cast<uint32_t>(stored))
                                         : static_cast<int64_t>(stored);
}

bool TruncateOverflows(const Type& source, int32_t width) {
  return source.kind() == TypeKind::kInt && width > (1 << 30);
}

std::optional<int64_t> WrappedPartition(const Type& source, int32_t width) {
  const int64_t least = source.kind() == TypeKind::kInt ? kInt32Least : kInt64Least;
  if (TruncatedExact(least, width) == least) return std::nullopt;
  return TruncatedStored(source, least, width);
}

std::optional<int64_t> WrappedIntPartition(const Type& source, int32_t width) {
  return source.kind() == TypeKind::kLong ? WrappedPartition(TypeKind::kInt, width) : std::nullopt;
}

std::optional<int64_t> TruncatedWhenInt(const Type& source, int64_t value, int32_t width) {
  if (source.kind() != TypeKind::kLong || value < kInt32Least || value > kInt32Most) return std::nullopt;
  const int64_t stored = TruncatedStored(TypeKind::kInt, value, width);
  return stored == TruncatedStored(source, value, width) ? std::nullopt : std::optional(stored);
}

std::optional<SourceRange> SourceRangeOf(const Transform& transform, const Type& source, const Datum& stored) {
  if (!TransformTakes(transform.kind(), source)) return std::nullopt;
  if (transform.kind() == Transform::Kind::kTruncate) {
    const int32_t width = transform.parameter();
    if (const auto* unscaled = std::get_if<Int128>(&stored)) {
      const Int128 limit = HighestUnscaled(38);  // truncation goes at most one width below it
      if (*unscaled > limit || *unscaled < -limit - width) return std::nullopt;
      return SourceRange{Datum(*unscaled), Datum(*unscaled + (width - 1))};
    }
    const auto* value = std::get_if<int64_t>(&stored);
    if (value == nullptr) return std::nullopt;
    const int64_t least = source.kind() == TypeKind::kInt ? kInt32Least : kInt64Least;
    const int64_t most = source.kind() == TypeKind::kInt ? kInt32Most : kInt64Most;
    if (WrappedPartition(source, width) == *value && TruncatedExact(*value, width) != *value) {
      return SourceRange{Datum(least), Datum(static_cast<int64_t>(TruncatedExact(least, width) + (width - 1)))};
    }
    // Not a multiple of the width, so no value of 64 bits lies in it.
    if (WrappedIntPartition(source, width) == *value && TruncatedExact(*value, width) != *value) {
      return SourceRange{Datum(kInt32Least),
                         Datum(static_cast<int64_t>(TruncatedExact(kInt32Least, width) + (width - 1)))};
    }
    const Int128 highest = std::min<Int128>(static_cast<Int128>(*value) + (width - 1), most);
    return SourceRange{Datum(*value), Datum(static_cast<int64_t>(highest))};
  }
  const auto* value = std::get_if<int64_t>(&stored);
  if (value == nullptr || *value > 1'000'000'000'000 || *value < -1'000'000'000'000) return std::nullopt;
  // Partition 0 of an old writer also holds what belongs to -1, and so on downwards.
  const int64_t first = MayBeOneTooHigh(transform.kind(), source) && *value <= 0 ? *value - 1 : *value;
  const int64_t behind = *value + 1;
  const auto start = [&](int64_t partition) -> Int128 {
    const auto units_per_day = static_cast<Int128>(UnitsPerDay(source));
    switch (transform.kind()) {
      case Transform::Kind::kHour: return static_cast<Int128>(partition) * UnitsPerHour(source);
      case Transform::Kind::kDay: return partition * units_per_day;
      case Transform::Kind::kMonth: {
        const int64_t year = FloorDiv(partition, 12);
        return DaysFromCivil(1970 + year, static_cast<int>(partition - year * 12) + 1, 1) * units_per_day;
      }
      default: return DaysFromCivil(1970 + partition, 1, 1) * units_per_day;
    }
  };
  if (transform.kind() == Transform::Kind::kBucket || transform.kind() == Transform::Kind::kIdentity ||
      transform.kind() == Transform::Kind::kVoid) {
    return std::nullopt;
  }
  const auto saturated = [](Int128 number) {
    return Datum(static_cast<int64_t>(std::clamp<Int128>(number, kInt64Least, kInt64Most)));
  };
  return SourceRange{saturated(start(first)), saturated(start(behind) - 1)};
}

bool MayBeOneTooHigh(Transform::Kind kind, const Type& source) {
  switch (kind) {
    case Transform::Kind::kYear:
    case Transform::Kind::kMonth:
    case Transform::Kind::kHour: return true;
    case Transform::Kind::kDay: return source.kind() != TypeKind::kDate;
    default: return false;
  }
}

}  // namespace delenda
