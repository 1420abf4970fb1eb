#include "delenda/model/datum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "delenda/model/calendar.h"
#include "delenda/model/exact_number.h"
#include "delenda/model/type.h"

namespace delenda {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Datum Big(int64_t value) { return Datum(static_cast<Int128>(value)); }
Datum Long(int64_t value) { return Datum(value); }

TEST(DatumOrder, NanIsAboveEveryNumberAndZerosAreEqual) {
  EXPECT_TRUE(CompareDatum(Datum(kNan), Datum(std::numeric_limits<double>::infinity())) > 0);
  EXPECT_TRUE(CompareDatum(Datum(kNan), Datum(-kNan)) == 0);
  EXPECT_TRUE(CompareDatum(Datum(-0.0), Datum(0.0)) == 0);
  EXPECT_TRUE(CompareDatum(Datum(1.0F), Datum(2.0F)) < 0);
  EXPECT_TRUE(CompareDatum(Datum(false), Datum(true)) < 0);
  EXPECT_TRUE(CompareDatum(Datum(std::string("\x7f")), Datum(std::string("\x80"))) < 0) << "bytes are unsigned";
  EXPECT_TRUE(CompareDatum(Datum(std::string("a")), Datum(std::string("ab"))) < 0);
  EXPECT_TRUE(CompareDatum(Big(-5), Big(3)) < 0);
}

TEST(PartitionValues, AreEqualByBitsWithCanonicalNan) {
  const double other_nan = std::bit_cast<double>(uint64_t{0x7ff8000000000123});
  EXPECT_TRUE(SamePartitionValue(Datum(kNan), Datum(other_nan)));
  EXPECT_EQ(HashPartitionValue(Datum(kNan)), HashPartitionValue(Datum(other_nan)));
  EXPECT_FALSE(SamePartitionValue(Datum(-0.0), Datum(0.0)));
  EXPECT_FALSE(SamePartitionValue(Datum(-0.0F), Datum(0.0F)));
  EXPECT_TRUE(SamePartitionValue(Datum(), Datum()));
  EXPECT_FALSE(SamePartitionValue(Datum(), Long(0)));
  EXPECT_FALSE(SamePartitionValue(Big(1), Long(1)));
  EXPECT_EQ(HashPartitionValue(Big(-1)), HashPartitionValue(Big(-1)));
}

struct BoundCase {
  Type type;
  Datum value;
  std::string bytes;
};

TEST(Bounds, AreTheBytesOfAppendixD) {
  using namespace std::string_literals;
  const std::vector<BoundCase> cases = {
      {TypeKind::kBoolean, Datum(true), "\x01"s},
      {TypeKind::kInt, Long(34), "\x22\0\0\0"s},
      {TypeKind::kInt, Long(-1), "\xff\xff\xff\xff"s},
      {TypeKind::kLong, Long(34), "\x22\0\0\0\0\0\0\0"s},
      {TypeKind::kDate, Long(17486), "\x4e\x44\0\0"s},
      {TypeKind::kFloat, Datum(-4.5F), "\0\0\x90\xc0"s},
      {TypeKind::kDouble, Datum(6.0), "\0\0\0\0\0\0\x18\x40"s},
      {Type::Decimal(9, 2), Big(1420), "\x05\x8c"s},  // 14.20
      {Type::Decimal(9, 2), Big(0), "\0"s},
      {Type::Decimal(9, 2), Big(127), "\x7f"s},
      {Type::Decimal(9, 2), Big(128), "\0\x80"s},
      {Type::Decimal(9, 2), Big(-128), "\x80"s},
      {Type::Decimal(9, 2), Big(-129), "\xff\x7f"s},
      {TypeKind::kString, Datum("ABC"s), "ABC"s},
      {Type::Fixed(3), Datum("abc"s), "abc"s},
      {TypeKind::kBinary, Datum(""s), ""s},
  };
  for (const BoundCase& one : cases) {
    const auto bytes = DatumToBound(one.type, one.value);
    ASSERT_TRUE(bytes) << one.type.ToString();
    EXPECT_EQ(AsText(*bytes), one.bytes) << one.type.ToString();
    const auto value = DatumFromBound(one.type, AsBytes(one.bytes));
    ASSERT_TRUE(value) << one.type.ToString();
    EXPECT_EQ(*value, one.value) << one.type.ToString();
  }
}

TEST(Bounds, WidenValuesWrittenBeforeAPromotion) {
  using namespace std::string_literals;
  EXPECT_EQ(*DatumFromBound(TypeKind::kLong, AsBytes("\xff\xff\xff\xff"s)), Long(-1));
  EXPECT_EQ(*DatumFromBound(TypeKind::kDouble, AsBytes("\0\0\x90\xc0"s)), Datum(-4.5));
  EXPECT_EQ(*DatumFromBound(TypeKind::kTimestamp, AsBytes("\x01\0\0\0"s)), Long(86'400'000'000));
  EXPECT_EQ(*DatumFromBound(TypeKind::kTimestampNs, AsBytes("\xff\xff\xff\xff"s)), Long(-86'400'000'000'000));
  EXPECT_FALSE(DatumFromBound(TypeKind::kTimestampTz, AsBytes("\x01\0\0\0"s))) << "no promotion to a zoned type";
  EXPECT_FALSE(DatumFromBound(TypeKind::kTimestampNs, AsBytes("\xff\xff\xff\x7f"s))) << "outside 64 bits";
}

TEST(Bounds, RefuseWrongLengths) {
  for (const Type& type :
       {Type(TypeKind::kBoolean), Type(TypeKind::kInt), Type(TypeKind::kLong), Type(TypeKind::kFloat),
        Type(TypeKind::kDouble), Type(TypeKind::kDate), Type(TypeKind::kTime), Type(TypeKind::kTimestamp),
        Type(TypeKind::kUuid), Type::Decimal(9, 2)}) {
    const std::string long_bytes(17, 'x');
    EXPECT_EQ(DatumFromBound(type, AsBytes(long_bytes)).error().kind(), ErrorKind::kCorrupt) << type.ToString();
    EXPECT_EQ(DatumFromBound(type, {}).error().kind(), ErrorKind::kCorrupt) << type.ToString();
  }
  EXPECT_FALSE(DatumFromBound(Type::Fixed(2), AsBytes("abc")));
  EXPECT_FALSE(DatumToBound(TypeKind::kInt, Datum()));
  EXPECT_FALSE(DatumToBound(TypeKind::kInt, Long(int64_t{1} << 31)));
}

struct TextCase {
  Type type;
  std::string text;
  Datum value;
  std::string written = {};  // empty: as `text`
};

TEST(DatumText, ReadsAndWritesEveryType) {
  using namespace std::string_literals;
  const Type timestamp(TypeKind::kTimestamp);
  const Type zoned(TypeKind::kTimestampTz);
  const Type nanos(TypeKind::kTimestampNs);
  const std::vector<TextCase> cases = {
      {TypeKind::kBoolean, "true", Datum(true)},
      {TypeKind::kBoolean, "FALSE", Datum(false), "false"},
      {TypeKind::kInt, "-2147483648", Long(std::numeric_limits<int32_t>::min())},
      {TypeKind::kLong, "+9223372036854775807", Long(std::numeric_limits<int64_t>::max()), "9223372036854775807"},
      {TypeKind::kFloat, "0.1", Datum(0.1F)},
      {TypeKind::kDouble, "-1.5e10", Datum(-1.5e10), "-15000000000"},
      {TypeKind::kDouble, "-infinity", Datum(-std::numeric_limits<double>::infinity()), "-Infinity"},
      {Type::Decimal(9, 2), "12.5", Big(1250), "12.50"},
      {Type::Decimal(9, 2), "-0.05", Big(-5)},
      {Type::Decimal(9, 2), "1.2e3", Big(120000), "1200.00"},
      {Type::Decimal(9, 0), "7.000", Big(7), "7"},
      {Type::Decimal(38, 0), "-99999999999999999999999999999999999999", Datum(-HighestUnscaled(38))},
      {TypeKind::kDate, "2024-02-29", Long(19782)},
      {TypeKind::kDate, "1969-12-31", Long(-1)},
      {TypeKind::kDate, "0001-01-01", Long(-719162)},
      {TypeKind::kDate, "0000-02-29", Long(-719469)},
      {TypeKind::kDate, "+10000-01-01", Long(2932897)},
      {TypeKind::kDate, "-0001-12-31", Long(-719529)},
      {TypeKind::kTime, "22:31:08", Long(81'068'000'000), "22:31:08.000000"},
      {timestamp, "2017-11-16T22:31:08", Long(1'510'871'468'000'000), "2017-11-16T22:31:08.000000"},
      {timestamp, "2017-11-16 22:31:08.000001", Long(1'510'871'468'000'001), "2017-11-16T22:31:08.000001"},
      {timestamp, "1969-12-31T23:59:59.999999", Long(-1)},
      {timestamp, "1970-01-01T00:00:00.000001000", Long(1), "1970-01-01T00:00:00.000001"},
      {timestamp, "1970-01-02", Long(86'400'000'000), "1970-01-02T00:00:00.000000"},
      {zoned, "2017-11-16T14:31:08-08:00", Long(1'510'871'468'000'000), "2017-11-16T22:31:08.000000Z"},
      {zoned, "1970-01-01T00:00:00", Long(0), "1970-01-01T00:00:00.000000Z"},
      {zoned, "1970-01-01T05:30+0530", Long(0), "1970-01-01T00:00:00.000000Z"},
      {nanos, "1970-01-01T00:00:00.123456789", Long(123'456'789)},
      {nanos, "1969-12-31T23:59:59.999999999", Long(-1)},
      {TypeKind::kString, "O'Brien", Datum("O'Brien"s)},
      {TypeKind::kUuid, "f79c3e09-677c-4bbd-a479-3f349cb785e7",
       Datum("\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"s)},
      {TypeKind::kBinary, "0x0AFF", Datum("\x0a\xff"s), "0aff"},
      {Type::Fixed(2), "0aff", Datum("\x0a\xff"s)},
  };
  for (const TextCase& one : cases) {
    const auto value = DatumFromText(one.type, one.text);
    ASSERT_TRUE(value) << one.text << ": " << value.error().ToString();
    EXPECT_EQ(*value, one.value) << one.type.ToString() << " " << one.text;
    EXPECT_EQ(DatumToText(one.type, one.value), one.written.empty() ? one.text : one.written);
    EXPECT_EQ(DatumFromText(one.type, DatumToText(one.type, one.value)).value(), one.value) << one.text;
  }
  EXPECT_EQ(DatumToText(TypeKind::kInt, Datum()), "null");
  EXPECT_TRUE(std::isnan(std::get<double>(*DatumFromText(TypeKind::kDouble, "nan"))));
}

TEST(DatumText, RefusesWhatWouldBeRoundedOrCut) {
  const std::vector<std::pair<Type, std::vector<std::string>>> refused = {
      {TypeKind::kBoolean, {"", "1", "yes"}},
      {TypeKind::kInt, {"", "2147483648", "1.5", "1e3", "0x10", " 1", "+-1", "--1"}},
      {TypeKind::kLong, {"9223372036854775808", "-9223372036854775809"}},
      {TypeKind::kFloat, {"", "1e39", "1f", "+-1", "--1", "nanx", "0x1p3"}},
      {TypeKind::kDouble, {"1e400", "-"}},
      {Type::Decimal(4, 2), {"100", "1.234", "-100.00", "abc", "1e99999999999", "."}},
      {TypeKind::kDate,
       {"", "2024-13-01", "2023-02-29", "2024-2-1", "24-01-01", "12024-01-01", "2024-01-01T00:00:00",
        "+999999999-01-01"}},
      {TypeKind::kTime, {"24:00:00", "10:60", "10:00:60", "10:00:00.", "10:00:00.1234567"}},
      {TypeKind::kTimestamp,
       {"2024-01-01T00:00:00Z", "2024-01-01T", "2024-01-01X00:00", "2024-01-01T00:00:00.0000001",
        "2024-01-01T00:00:00.0000000000", "+300000-01-01T00:00:00"}},
      {TypeKind::kTimestampTz, {"2024-01-01T00:00:00+25:00", "2024-01-01T00:00:00+1", "2024-01-01T00:00:00Zx"}},
      {TypeKind::kTimestampNs, {"2300-01-01T00:00:00", "1600-01-01T00:00:00"}},
      {TypeKind::kUuid, {"", "f79c3e09-677c-4bbd-a479-3f349cb785e", "f79c3e09x677c-4bbd-a479-3f349cb785e7"}},
      {TypeKind::kBinary, {"0", "0g", "xyz1"}},
      {Type::Fixed(2), {"00", "000000"}},
      {TypeKind::kString, {"\xff"}},
      {TypeKind::kVariant, {"1"}},
  };
  for (const auto& [type, texts] : refused) {
    for (const std::string& text : texts) {
      const auto value = DatumFromText(type, text);
      ASSERT_FALSE(value) << type.ToString() << " '" << text << "'";
      EXPECT_EQ(value.error().kind(), ErrorKind::kInvalidArgument);
    }
  }
}

TEST(Calendar, DaysAndDatesAreInverseOverAllOfTheRange) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  int64_t previous = DaysFromCivil(-401, 1, 1) - 1;
  for (int64_t year = -401; year <= 2500; ++year) {
    for (int month = 1; month <= 12; ++month) {
      const int64_t first = DaysFromCivil(year, month, 1);
      ASSERT_EQ(first, previous + 1) << year << "-" << month;
      previous = first + DaysInMonth(year, month) - 1;
    }
  }
  for (int i = 0; i < 20'000; ++i) {
    const auto days = static_cast<int64_t>(random()) >> (random() % 40 + 15);
    const CivilDate date = CivilFromDays(days);
    ASSERT_EQ(DaysFromCivil(date.year, date.month, date.day), days);
  }
  for (const int64_t days : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    EXPECT_FALSE(DatumToText(TypeKind::kDate, Datum(days)).empty());
    EXPECT_FALSE(DatumToText(TypeKind::kTimestamp, Datum(days)).empty());
    EXPECT_FALSE(DatumToText(TypeKind::kTimestampTzNs, Datum(days)).empty());
    EXPECT_FALSE(DatumToText(TypeKind::kTime, Datum(days)).empty());
  }
}

TEST(ExactNumbers, ArePlacedExactly) {
  const auto place = [](std::string_view text, int scale) {
    return PlaceInteger(*ExactNumber::Parse(text), scale, -1000, 1000);
  };
  using Side = IntegerPlace::Side;
  EXPECT_EQ(place("12.5", 0).floor, 12);
  EXPECT_FALSE(place("12.5", 0).exact);
  EXPECT_EQ(place("-12.5", 0).floor, -13);
  EXPECT_TRUE(place("12.50", 1).exact);
  EXPECT_EQ(place("1e-1000000000000000000000", 0).floor, 0);
  EXPECT_EQ(place("-1e-999999999", 0).floor, -1);
  EXPECT_EQ(place("1e999999999999", 0).side, Side::kAbove);
  EXPECT_EQ(place("-1000.0000001", 0).side, Side::kBelow);
  EXPECT_EQ(place("1000.0000001", 0).side, Side::kAbove);
  EXPECT_EQ(place("1000", 0).side, Side::kInside);
  EXPECT_EQ(place("000.000", 5).floor, 0);
  EXPECT_EQ(place("0e99", 5).floor, 0);
  for (const char* text : {"", ".", "-", "1e", "1e+", "e5", "1.2.3", "1_000", "0x1", "1 "}) {
    EXPECT_FALSE(ExactNumber::Parse(text)) << text;
  }
}

}  // namespace
}  // namespace delenda
