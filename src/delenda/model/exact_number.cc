#include "delenda/model/exact_number.h"

#include <algorithm>

namespace delenda {

namespace {

constexpr int64_t kExponentLimit = 1'000'000'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<ExactNumber> ExactNumber::Parse(std::string_view text) {
  ExactNumber number;
  size_t at = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) number.negative = text[at++] == '-';
  bool any_digit = false;
  bool after_point = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !after_point) {
      after_point = true;
    } else if (IsDigit(text[at])) {
      any_digit = true;
      number.digits.push_back(text[at]);
      if (after_point) --number.exponent;
    } else {
      break;
    }
  }
  if (!any_digit) return std::nullopt;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    ++at;
    bool negative_exponent = false;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) negative_exponent = text[at++] == '-';
    if (at == text.size()) return std::nullopt;
    int64_t written = 0;
    for (; at < text.size(); ++at) {
      if (!IsDigit(text[at])) return std::nullopt;
      written = std::min(written * 10 + (text[at] - '0'), kExponentLimit);
    }
    number.exponent += negative_exponent ? -written : written;
  }
  const size_t first = number.digits.find_first_not_of('0');
  if (first == std::string::npos) {
    number.digits.clear();
    number.exponent = 0;
    return number;
  }
  const size_t last = number.digits.find_last_not_of('0');
  number.exponent += static_cast<int64_t>(number.digits.size() - 1 - last);
  number.digits = number.digits.substr(first, last - first + 1);
  number.exponent = std::clamp(number.exponent, -kExponentLimit, kExponentLimit);
  return number;
}

IntegerPlace PlaceInteger(const ExactNumber& number, int scale, Int128 lowest, Int128 highest) {
  using Side = IntegerPlace::Side;
  const Side far = number.negative ? Side::kBelow : Side::kAbove;
  const int64_t exponent = number.exponent + scale;
  const auto digit_count = static_cast<int64_t>(number.digits.size());
  Int128 magnitude = 0;
  bool exact = true;
  if (digit_count > 0) {
    const int64_t whole_digits = digit_count + exponent;
    if (whole_digits > 38) return {.side = far};
    for (int64_t i = 0; i < whole_digits; ++i) {
      magnitude = magnitude * 10 + (i < digit_count ? number.digits[static_cast<size_t>(i)] - '0' : 0);
    }
    exact = exponent >= 0;  // the last digit is not 0, so a digit behind the point is a real fraction
  }
  Int128 floor = number.negative ? -magnitude : magnitude;
  if (number.negative && !exact) floor -= 1;
  if (floor < lowest) return {.side = Side::kBelow};
  if (floor > highest || (floor == highest && !exact)) return {.side = Side::kAbove};
  return {.side = Side::kInside, .floor = floor, .exact = exact};
}

Int128 HighestUnscaled(int precision) {
  Int128 power = 1;
  for (int i = 0; i < std::clamp(precision, 0, 38); ++i) power *= 10;
  return power - 1;
}

std::string Int128ToText(Int128 value) {
  UInt128 rest = value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
  std::string text;
  do {
    text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) text.push_back('-');
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace delenda
