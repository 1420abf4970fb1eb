#include "delenda/api/value_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace delenda::api {
namespace {

template <typename Append, typename... Args>
std::string Text(Append append, Args... args) {
  std::string out;
  append(out, args...);
  return out;
}

TEST(ValueText, DatesHaveSignsOutsideFourDigitYears) {
  // Days as java.time.LocalDate.toEpochDay gives them for these dates.
  const struct {
    int64_t days;
    const char* text;
  } cases[] = {{0, "1970-01-01"},
               {-1, "1969-12-31"},
               {19782, "2024-02-29"},
               {-719528, "0000-01-01"},
               {-719529, "-0001-12-31"},
               {2932896, "9999-12-31"},
               {2932897, "+10000-01-01"},
               {-135140, "1600-01-01"},
               {2147483647, "+5881580-07-11"},
               {-2147483648LL, "-5877641-06-23"}};
  for (const auto& one : cases) EXPECT_EQ(Text(AppendDate, one.days), one.text);
}

TEST(ValueText, TimestampsHaveSixDigitsOrNine) {
  EXPECT_EQ(Text(AppendTimestamp, int64_t{-1}, int64_t{1'000'000}, false), "1969-12-31T23:59:59.999999");
  EXPECT_EQ(Text(AppendTimestamp, int64_t{1'700'000'000'000'001}, int64_t{1'000'000}, true),
            "2023-11-14T22:13:20.000001Z");
  EXPECT_EQ(Text(AppendTimestamp, int64_t{-1}, int64_t{1'000'000'000}, true), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(Text(AppendTimestamp, int64_t{1'500}, int64_t{1'000}, false), "1970-01-01T00:00:01.500000");
  EXPECT_EQ(Text(AppendTimestamp, int64_t{-1}, int64_t{1}, false), "1969-12-31T23:59:59.000000");
  // The ends of the range: computed with Python's arbitrary integers.
  EXPECT_EQ(Text(AppendTimestamp, std::numeric_limits<int64_t>::max(), int64_t{1'000'000}, true),
            "+294247-01-10T04:00:54.775807Z");
  EXPECT_EQ(Text(AppendTimestamp, std::numeric_limits<int64_t>::min(), int64_t{1'000'000}, true),
            "-290308-12-21T19:59:05.224192Z");
  EXPECT_EQ(Text(AppendTimestamp, std::numeric_limits<int64_t>::max(), int64_t{1'000'000'000}, false),
            "2262-04-11T23:47:16.854775807");
}

TEST(ValueText, Times) {
  EXPECT_EQ(Text(AppendTime, int64_t{0}, int64_t{1'000'000}), "00:00:00.000000");
  EXPECT_EQ(Text(AppendTime, int64_t{86'399'999'999}, int64_t{1'000'000}), "23:59:59.999999");
  EXPECT_EQ(Text(AppendTime, int64_t{3'661}, int64_t{1}), "01:01:01");
  EXPECT_EQ(Text(AppendTime, int64_t{-1'000'000}, int64_t{1'000'000}), "-00:00:01.000000");
}

TEST(ValueText, FloatsReadBackAndLookLikeNumbers) {
  const struct {
    float value;
    const char* text;
  } cases[] = {{0.1F, "0.1"},
               {1.0F, "1.0"},
               {-0.0F, "-0.0"},
               {16777216.0F, "16777216.0"},
               {1e20F, "1e+20"},
               {1e-45F, "1e-45"},
               {3.4028235e38F, "3.4028235e+38"},
               {std::numeric_limits<float>::quiet_NaN(), "\"NaN\""},
               {-std::numeric_limits<float>::infinity(), "\"-Infinity\""}};
  for (const auto& one : cases) EXPECT_EQ(Text(AppendFloat, one.value), one.text);
}

TEST(ValueText, BytesAndUuids) {
  EXPECT_EQ(Text(AppendHex, std::string_view("\x00\x0f\xff", 3)), "000fff");
  EXPECT_EQ(Text(AppendUuid, std::string_view("\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40\x00", 16)),
            "123e4567-e89b-12d3-a456-426614174000");
}

}  // namespace
}  // namespace delenda::api
