// Decimal numbers of any length, as literals are written, placed exactly among the values of an integer or decimal
// type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "delenda/model/datum.h"

namespace delenda {

__extension__ typedef unsigned __int128 UInt128;

// ± digits × 10^exponent. `digits` neither starts nor ends with '0'; it is empty for zero.
struct ExactNumber {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;  // held within ±10^9, far outside every type

  // [+-] digits [. digits] [e [+-] digits], a digit on at least one side of the point. Empty when `text` is something
  // else.
  static std::optional<ExactNumber> Parse(std::string_view text);
};

// Where number × 10^scale lies among the integers from `lowest` to `highest`.
struct IntegerPlace {
  enum class Side : uint8_t { kBelow, kInside, kAbove };
  Side side = Side::kInside;
  Int128 floor = 0;    // kInside: the greatest integer not above the number
  bool exact = false;  // kInside: the number is `floor`
};

// `lowest` and `highest` are within ±(10^38 - 1).
IntegerPlace PlaceInteger(const ExactNumber& number, int scale, Int128 lowest, Int128 highest);

// 10^digits - 1, the greatest unscaled value of a decimal of that precision (1..38).
Int128 HighestUnscaled(int precision);

// Decimal digits, with '-' for a negative value.
std::string Int128ToText(Int128 value);

}  // namespace delenda
