// Values as text, both ways: what --where, CSV and messages use.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "delenda/model/calendar.h"
#include "delenda/model/datum.h"
#include "delenda/model/exact_number.h"
#include "delenda/model/type.h"

namespace delenda {

namespace {

constexpr int64_t kInt32Min = std::numeric_limits<int32_t>::min();
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr size_t kQuotedLength = 60;

std::unexpected<Error> NoValueOf(const Type& type, std::string_view text, std::string_view expected) {
  const bool cut = text.size() > kQuotedLength;
  return InvalidArgument("'{}{}' is no value of type {}: expected {}", text.substr(0, kQuotedLength), cut ? "..." : "",
                         type.ToString(), expected);
}

bool IsTextIgnoringCase(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

// Reads fixed parts of dates and times from the front of a text.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  char front() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Between `least` and `most` digits, as many as there are.
  std::optional<int64_t> Digits(size_t least, size_t most) {
    size_t count = 0;
    int64_t value = 0;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') {
      if (count == most) return std::nullopt;
      value = value * 10 + (rest_[count++] - '0');
    }
    if (count < least) return std::nullopt;
    rest_.remove_prefix(count);
    digits_taken_ = count;
    return value;
  }
  size_t digits_taken() const { return digits_taken_; }

 private:
  std::string_view rest_;
  size_t digits_taken_ = 0;
};

// [+-]YYYY-MM-DD; a year of more than four digits needs its sign, as in ISO 8601.
std::optional<int64_t> TakeDate(TextCursor* cursor) {
  const bool negative = cursor->Take('-');
  const bool is_signed = negative || cursor->Take('+');
  const auto year = cursor->Digits(4, is_signed ? 9 : 4);
  if (!year || !cursor->Take('-')) return std::nullopt;
  const auto month = cursor->Digits(2, 2);
  if (!month || *month < 1 || *month > 12 || !cursor->Take('-')) return std::nullopt;
  const auto day = cursor->Digits(2, 2);
  const int64_t signed_year = negative ? -*year : *year;
  if (!day || *day < 1 || *day > DaysInMonth(signed_year, static_cast<int>(*month))) return std::nullopt;
  return DaysFromCivil(signed_year, static_cast<int>(*month), static_cast<int>(*day));
}

// HH:MM[:SS[.fraction]] in nanoseconds.
std::optional<int64_t> TakeTime(TextCursor* cursor) {
  const auto hour = cursor->Digits(2, 2);
  if (!hour || *hour > 23 || !cursor->Take(':')) return std::nullopt;
  const auto minute = cursor->Digits(2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  int64_t second = 0;
  int64_t nanos = 0;
  if (cursor->Take(':')) {
    const auto seconds = cursor->Digits(2, 2);
    if (!seconds || *seconds > 59) return std::nullopt;
    second = *seconds;
    if (cursor->Take('.')) {
      const auto fraction = cursor->Digits(1, 9);
      if (!fraction) return std::nullopt;
      nanos = *fraction;
      for (size_t i = cursor->digits_taken(); i < 9; ++i) nanos *= 10;
    }
  }
  return ((*hour * 60 + *minute) * 60 + second) * 1'000'000'000 + nanos;
}

// Z or +hh:mm, +hhmm, +hh in minutes east of UTC.
std::optional<int64_t> TakeZone(TextCursor* cursor) {
  if (cursor->Take('Z') || cursor->Take('z')) return 0;
  const bool west = cursor->Take('-');
  if (!west && !cursor->Take('+')) return std::nullopt;
  const auto hours = cursor->Digits(2, 4);
  if (!hours || cursor->digits_taken() == 3) return std::nullopt;
  int64_t minutes = *hours * 60;
  if (cursor->digits_taken() == 4) {
    minutes = *hours / 100 * 60 + *hours % 100;
    if (*hours % 100 > 59) return std::nullopt;
  } else if (cursor->Take(':')) {
    const auto rest = cursor->Digits(2, 2);
    if (!rest || *rest > 59) return std::nullopt;
    minutes += *rest;
  }
  if (minutes > 18 * 60) return std::nullopt;
  return west ? -minutes : minutes;
}

Result<Datum> TimestampFromText(const Type& type, std::string_view text) {
  const bool zoned = type.is_zoned();
  const bool nanos = type.is_nanos();
  const std::string_view expected =
      zoned ? "YYYY-MM-DD[THH:MM[:SS[.f]][Z or +hh:mm]]" : "YYYY-MM-DD[THH:MM[:SS[.f]]] without a zone";
  TextCursor cursor(text);
  const auto days = TakeDate(&cursor);
  if (!days) return NoValueOf(type, text, expected);
  int64_t nanos_of_day = 0;
  int64_t zone_minutes = 0;
  if (cursor.Take('T') || cursor.Take('t') || cursor.Take(' ')) {
    const auto time = TakeTime(&cursor);
    if (!time) return NoValueOf(type, text, expected);
    nanos_of_day = *time;
    if (!cursor.done()) {
      // A zone on a type without one would silently mean another instant than was written.
      const auto zone = zoned ? TakeZone(&cursor) : std::nullopt;
      if (!zone) return NoValueOf(type, text, expected);
      zone_minutes = *zone;
    }
  }
  if (!cursor.done()) return NoValueOf(type, text, expected);
  Int128 value =
      static_cast<Int128>(*days) * kNanosPerDay + nanos_of_day - static_cast<Int128>(zone_minutes) * 60'000'000'000;
  if (!nanos) {
    if (nanos_of_day % 1000 != 0) return NoValueOf(type, text, "at most six digits of a second");
    value /= 1000;  // exact
  }
  if (value < kInt64Min || value > kInt64Max) return NoValueOf(type, text, "a time within the range of 64 bits");
  return Datum(static_cast<int64_t>(value));
}

template <typename T>
Result<Datum> FloatFromText(const Type& type, std::string_view text) {
  std::string_view body = text;
  const bool negative = body.starts_with('-');
  if (negative || body.starts_with('+')) body.remove_prefix(1);
  if (IsTextIgnoringCase(body, "nan")) return Datum(std::numeric_limits<T>::quiet_NaN());
  if (IsTextIgnoringCase(body, "infinity") || IsTextIgnoringCase(body, "inf")) {
    return Datum(negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity());
  }
  T value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  const bool starts_well = !body.empty() && (body.front() == '.' || (body.front() >= '0' && body.front() <= '9'));
  if (!starts_well || end != body.data() + body.size() || error == std::errc::invalid_argument) {
    return NoValueOf(type, text, "a number, NaN, Infinity or -Infinity");
  }
  if (error == std::errc::result_out_of_range) {
    const auto exact = ExactNumber::Parse(body);
    const bool large = exact && static_cast<int64_t>(exact->digits.size()) + exact->exponent > 0;
    if (large) return NoValueOf(type, text, "a number within the range of the type");
    value = 0;
  }
  return Datum(negative ? -value : value);
}

Result<Datum> IntegerFromText(const Type& type, std::string_view text, int64_t lowest, int64_t highest) {
  const std::string_view body = text.starts_with('+') ? text.substr(1) : text;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  const bool sign_twice = text.starts_with("+-");
  if (sign_twice || error != std::errc{} || end != body.data() + body.size() || value < lowest || value > highest) {
    return NoValueOf(type, text, fmt::format("a whole number from {} to {}", lowest, highest));
  }
  return Datum(value);
}

Result<Datum> DecimalFromText(const Type& type, std::string_view text) {
  const auto number = ExactNumber::Parse(text);
  if (!number) return NoValueOf(type, text, "a decimal number");
  const Int128 highest = HighestUnscaled(type.precision());
  const IntegerPlace place = PlaceInteger(*number, type.scale(), -highest, highest);
  if (place.side != IntegerPlace::Side::kInside) return NoValueOf(type, text, "a number within the precision");
  if (!place.exact) return NoValueOf(type, text, fmt::format("at most {} digits behind the point", type.scale()));
  return Datum(place.floor);
}

std::optional<std::string> BytesFromHex(std::string_view hex) {
  const auto nibble = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = nibble(hex[i]);
    const int low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

Result<Datum> BinaryFromText(const Type& type, std::string_view text) {
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  auto bytes = BytesFromHex(prefixed ? text.substr(2) : text);
  if (!bytes) return NoValueOf(type, text, "pairs of hexadecimal digits");
  if (type.kind() == TypeKind::kFixed && bytes->size() != static_cast<size_t>(type.length())) {
    return NoValueOf(type, text, fmt::format("{} bytes in hexadecimal", type.length()));
  }
  return Datum(std::move(*bytes));
}

Result<Datum> UuidFromText(const Type& type, std::string_view text) {
  std::string hex;
  for (size_t i = 0; i < text.size() && hex.size() <= 32; ++i) {
    const bool dash_place = i == 8 || i == 13 || i == 18 || i == 23;
    if (text.size() == 36 && dash_place) {
      if (text[i] != '-') return NoValueOf(type, text, "a UUID");
    } else {
      hex.push_back(text[i]);
    }
  }
  auto bytes = BytesFromHex(hex);
  if (!bytes || bytes->size() != 16 || (text.size() != 36 && text.size() != 32)) return NoValueOf(type, text, "a UUID");
  return Datum(std::move(*bytes));
}

std::string DateText(int64_t days) {
  const CivilDate date = CivilFromDays(days);
  if (date.year >= 0 && date.year <= 9999) return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
  return fmt::format("{}{:04}-{:02}-{:02}", date.year < 0 ? "-" : "+", date.year < 0 ? -date.year : date.year,
                     date.month, date.day);
}

std::string TimeText(int64_t units, int64_t units_per_second) {
  const int64_t seconds = units / units_per_second;
  const int64_t fraction = units % units_per_second;
  return fmt::format("{:02}:{:02}:{:02}.{:0{}}", seconds / 3600, seconds / 60 % 60, seconds % 60, fraction,
                     units_per_second == kMicrosPerSecond ? 6 : 9);
}

std::string TimestampText(int64_t units, int64_t units_per_second, bool zoned) {
  const int64_t units_per_day = units_per_second * 86'400;
  const int64_t days = FloorDiv(units, units_per_day);
  const auto rest = static_cast<int64_t>(static_cast<Int128>(units) - static_cast<Int128>(days) * units_per_day);
  return fmt::format("{}T{}{}", DateText(days), TimeText(rest, units_per_second), zoned ? "Z" : "");
}

template <typename T>
std::string FloatText(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{}", value);
}

std::string DecimalText(Int128 unscaled, int scale) {
  std::string text = Int128ToText(unscaled < 0 ? -unscaled : unscaled);
  if (scale > 0) {
    const auto places = static_cast<size_t>(scale);
    if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
    text.insert(text.size() - places, 1, '.');
  }
  return unscaled < 0 ? "-" + text : text;
}

std::string HexText(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace

Result<Datum> DatumFromText(const Type& type, std::string_view text) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (IsTextIgnoringCase(text, "true")) return Datum(true);
      if (IsTextIgnoringCase(text, "false")) return Datum(false);
      return NoValueOf(type, text, "true or false");
    case TypeKind::kInt: return IntegerFromText(type, text, kInt32Min, kInt32Max);
    case TypeKind::kLong: return IntegerFromText(type, text, kInt64Min, kInt64Max);
    case TypeKind::kFloat: return FloatFromText<float>(type, text);
    case TypeKind::kDouble: return FloatFromText<double>(type, text);
    case TypeKind::kDecimal: return DecimalFromText(type, text);
    case TypeKind::kDate: {
      TextCursor cursor(text);
      const auto days = TakeDate(&cursor);
      if (!days || !cursor.done()) return NoValueOf(type, text, "YYYY-MM-DD");
      if (*days < kInt32Min || *days > kInt32Max) return NoValueOf(type, text, "a date within the range of 32 bits");
      return Datum(*days);
    }
    case TypeKind::kTime: {
      TextCursor cursor(text);
      const auto nanos = TakeTime(&cursor);
      if (!nanos || !cursor.done()) return NoValueOf(type, text, "HH:MM[:SS[.f]]");
      if (*nanos % 1000 != 0) return NoValueOf(type, text, "at most six digits of a second");
      return Datum(*nanos / 1000);
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: return TimestampFromText(type, text);
    case TypeKind::kString:
      if (!IsValidUtf8(text)) return InvalidArgument("a string value is not valid UTF-8");
      return Datum(std::string(text));
    case TypeKind::kUuid: return UuidFromText(type, text);
    case TypeKind::kFixed:
    case TypeKind::kBinary: return BinaryFromText(type, text);
    default: return InvalidArgument("values of type {} have no text form", type.ToString());
  }
}

std::string DatumToText(const Type& type, const Datum& datum) {
  if (IsNull(datum)) return "null";
  if (const auto* value = std::get_if<bool>(&datum)) return *value ? "true" : "false";
  if (const auto* value = std::get_if<float>(&datum)) return FloatText(*value);
  if (const auto* value = std::get_if<double>(&datum)) return FloatText(*value);
  if (const auto* value = std::get_if<Int128>(&datum)) return DecimalText(*value, type.scale());
  if (const auto* value = std::get_if<int64_t>(&datum)) {
    switch (type.kind()) {
      case TypeKind::kDate: return DateText(*value);
      case TypeKind::kTime:
        if (*value < 0 || *value >= kMicrosPerDay) return fmt::format("{}", *value);  // no time of day
        return TimeText(*value, kMicrosPerSecond);
      case TypeKind::kTimestamp: return TimestampText(*value, kMicrosPerSecond, false);
      case TypeKind::kTimestampTz: return TimestampText(*value, kMicrosPerSecond, true);
      case TypeKind::kTimestampNs: return TimestampText(*value, kMicrosPerSecond * 1000, false);
      case TypeKind::kTimestampTzNs: return TimestampText(*value, kMicrosPerSecond * 1000, true);
      default: return fmt::format("{}", *value);
    }
  }
  const auto& bytes = std::get<std::string>(datum);
  if (type.kind() == TypeKind::kString) return bytes;
  if (type.kind() == TypeKind::kUuid && bytes.size() == 16) {
    std::string text = HexText(bytes);
    for (const size_t at : {size_t{20}, size_t{16}, size_t{12}, size_t{8}}) text.insert(at, 1, '-');
    return text;
  }
  return HexText(bytes);
}

}  // namespace delenda
