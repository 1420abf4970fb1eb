// The proleptic Gregorian calendar on 64-bit day numbers: no year is out of range, nothing overflows.
#pragma once

#include <cstdint>

#include "delenda/model/datum.h"

namespace delenda {

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kMicrosPerHour = 3'600 * kMicrosPerSecond;
inline constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;
inline constexpr int64_t kNanosPerHour = kMicrosPerHour * 1'000;
inline constexpr int64_t kNanosPerDay = kMicrosPerDay * 1'000;

// Division that rounds down, also for what lies before 1970. `divisor` is above 0.
constexpr int64_t FloorDiv(int64_t value, int64_t divisor) { return value / divisor - (value % divisor < 0 ? 1 : 0); }

struct CivilDate {
  int64_t year = 1970;  // astronomical: year 0 is 1 BC
  int month = 1;        // 1..12
  int day = 1;          // 1..31
};

// Days since 1970-01-01 of a date. `month` may be any of 1..12, `day` any of 1..31; |year| at most 10^12.
constexpr int64_t DaysFromCivil(int64_t year, int month, int day) {
  // Years that start in March put the leap day at the end, so that day numbers follow from month numbers linearly.
  const int64_t shifted_year = month <= 2 ? year - 1 : year;
  const int64_t era = FloorDiv(shifted_year, 400);
  const int64_t year_of_era = shifted_year - era * 400;
  const int64_t month_from_march = (month + 9) % 12;
  const int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

// The date of any day number.
constexpr CivilDate CivilFromDays(int64_t days) {
  const Int128 from_march_of_year_0 = static_cast<Int128>(days) + 719'468;
  Int128 era = from_march_of_year_0 / 146'097;
  if (from_march_of_year_0 % 146'097 < 0) era -= 1;
  const auto day_of_era = static_cast<int64_t>(from_march_of_year_0 - era * 146'097);
  const int64_t year_of_era = (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  const auto month = static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  const auto year = static_cast<int64_t>(era) * 400 + year_of_era + (month <= 2 ? 1 : 0);
  return {year, month, day};
}

constexpr int DaysInMonth(int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

}  // namespace delenda
