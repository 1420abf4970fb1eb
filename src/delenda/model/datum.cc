#include "delenda/model/datum.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace delenda {

namespace {

template <typename T>
std::weak_ordering CompareFloating(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) {
    if (std::isnan(a) && std::isnan(b)) return std::weak_ordering::equivalent;
    return std::isnan(a) ? std::weak_ordering::greater : std::weak_ordering::less;
  }
  if (a < b) return std::weak_ordering::less;
  return a > b ? std::weak_ordering::greater : std::weak_ordering::equivalent;  // -0.0 and 0.0 are equivalent
}

template <typename T>
std::weak_ordering CompareNumbers(T a, T b) {
  if (a < b) return std::weak_ordering::less;
  return a > b ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

// One bit pattern for every NaN; -0.0 and 0.0 keep their own.
uint64_t PartitionBits(double value) {
  return std::bit_cast<uint64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
}
uint32_t PartitionBits(float value) {
  return std::bit_cast<uint32_t>(std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value);
}

}  // namespace

bool IsNan(const Datum& datum) {
  if (const auto* value = std::get_if<double>(&datum)) return std::isnan(*value);
  if (const auto* value = std::get_if<float>(&datum)) return std::isnan(*value);
  return false;
}

std::weak_ordering CompareDatum(const Datum& a, const Datum& b) {
  if (a.index() != b.index()) return CompareNumbers(a.index(), b.index());
  if (const auto* value = std::get_if<bool>(&a)) return CompareNumbers<int>(*value, std::get<bool>(b));
  if (const auto* value = std::get_if<int64_t>(&a)) return CompareNumbers(*value, std::get<int64_t>(b));
  if (const auto* value = std::get_if<float>(&a)) return CompareFloating(*value, std::get<float>(b));
  if (const auto* value = std::get_if<double>(&a)) return CompareFloating(*value, std::get<double>(b));
  if (const auto* value = std::get_if<Int128>(&a)) return CompareNumbers(*value, std::get<Int128>(b));
  if (const auto* value = std::get_if<std::string>(&a)) {
    // char_traits<char> compares as unsigned char, which is the order of the formats.
    return CompareNumbers(value->compare(std::get<std::string>(b)), 0);
  }
  return std::weak_ordering::equivalent;
}

bool SamePartitionValue(const Datum& a, const Datum& b) {
  if (a.index() != b.index()) return false;
  if (const auto* value = std::get_if<float>(&a)) return PartitionBits(*value) == PartitionBits(std::get<float>(b));
  if (const auto* value = std::get_if<double>(&a)) return PartitionBits(*value) == PartitionBits(std::get<double>(b));
  return CompareDatum(a, b) == 0;
}

size_t HashPartitionValue(const Datum& datum) {
  const size_t seed = datum.index() * 0x9e3779b97f4a7c15ULL;
  if (const auto* value = std::get_if<bool>(&datum)) return seed ^ std::hash<bool>{}(*value);
  if (const auto* value = std::get_if<int64_t>(&datum)) return seed ^ std::hash<int64_t>{}(*value);
  if (const auto* value = std::get_if<float>(&datum)) return seed ^ std::hash<uint32_t>{}(PartitionBits(*value));
  if (const auto* value = std::get_if<double>(&datum)) return seed ^ std::hash<uint64_t>{}(PartitionBits(*value));
  if (const auto* value = std::get_if<Int128>(&datum)) {
    const auto high = static_cast<int64_t>(*value >> 64);
    return seed ^ std::hash<int64_t>{}(static_cast<int64_t>(*value)) ^ (std::hash<int64_t>{}(high) * 31);
  }
  if (const auto* value = std::get_if<std::string>(&datum)) return seed ^ std::hash<std::string>{}(*value);
  return seed;
}

}  // namespace delenda
