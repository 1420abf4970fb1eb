#include "delenda/api/value_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "delenda/model/calendar.h"

namespace delenda::api {
namespace {

int DigitsOf(int64_t units_per_second) {
  int digits = 0;
  for (; units_per_second >= 10; units_per_second /= 10) ++digits;
  return digits;
}

// `value` is within a day.
void AppendTimeOfDay(std::string& out, int64_t value, int64_t units_per_second, int digits) {
  const int64_t seconds = value / units_per_second;
  const auto at = std::back_inserter(out);
  fmt::format_to(at, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (digits > 0) fmt::format_to(at, ".{:0{}}", value % units_per_second, digits);
}

}  // namespace

void AppendDate(std::string& out, int64_t days) {
  const CivilDate date = CivilFromDays(days);
  const auto at = std::back_inserter(out);
  if (date.year >= 0 && date.year <= 9999) {
    fmt::format_to(at, "{:04}-{:02}-{:02}", date.year, date.month, date.day);
  } else {
    fmt::format_to(at, "{}{:04}-{:02}-{:02}", date.year < 0 ? '-' : '+', date.year < 0 ? -date.year : date.year,
                   date.month, date.day);
  }
}

void AppendTime(std::string& out, int64_t value, int64_t units_per_second) {
  if (value < 0) {
    out += '-';
    // The lowest number has no positive twin.
    value = value == INT64_MIN ? INT64_MAX : -value;
  }
  AppendTimeOfDay(out, value, units_per_second, DigitsOf(units_per_second));
}

void AppendTimestamp(std::string& out, int64_t value, int64_t units_per_second, bool has_zone) {
  const int64_t units_per_day = units_per_second * 86'400;
  const int64_t days = FloorDiv(value, units_per_day);
  // `days * units_per_day` may lie below the lowest number.
  const int64_t rest = (value % units_per_day + units_per_day) % units_per_day;
  AppendDate(out, days);
  out += 'T';
  AppendTimeOfDay(out, rest, units_per_second, DigitsOf(units_per_second));
  if (units_per_second == 1) out += '.';
  for (int digits = DigitsOf(units_per_second); digits < 6; ++digits) out += '0';
  if (has_zone) out += 'Z';
}

void AppendFloat(std::string& out, float value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  } else {
    const size_t begin = out.size();
    fmt::format_to(std::back_inserter(out), "{}", value);
    if (out.find_first_of(".e", begin) == std::string::npos) out += ".0";
  }
}

void AppendHex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xF];
  }
}

void AppendUuid(std::string& out, std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    AppendHex(out, bytes.substr(i, 1));
  }
}

}  // namespace delenda::api
