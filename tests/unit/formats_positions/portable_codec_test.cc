// The portable encoding, byte by byte: what must be read and what must be refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delenda/formats/positions/position_set.h"

namespace delenda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kKey = uint64_t{1} << 32;

// "01 ff" → bytes; spaces are free.
Bytes Hex(std::string_view text) {
  Bytes bytes;
  std::string digits;
  for (const char character : text) {
    if (character == ' ') continue;
    digits.push_back(character);
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

// A bucket without runs, one array container: cookie 12346, 1 container, key, count - 1, offset 16, values.
constexpr std::string_view kOneAndTwo = "3a300000 01000000 0000 0100 10000000 0100 0200 ";
constexpr std::string_view kEmptyBitmap = "3a300000 00000000 ";
// A bucket with a run container: cookie 12347 with 1 container, run flag, key, count - 1, 1 run, 5 long from 10.
constexpr std::string_view kTenToFourteen = "3b300000 01 0000 0400 0100 0a00 0400 ";

TEST(PortableCodecTest, ReadsBothCookies) {
  EXPECT_THAT(PositionSet::FromPortable(Hex("0100000000000000 00000000 " + std::string(kOneAndTwo)))->ToVector(),
              ElementsAre(1, 2));
  EXPECT_THAT(PositionSet::FromPortable(Hex("0100000000000000 00000000 " + std::string(kTenToFourteen)))->Runs(),
              ElementsAre(PositionRun{10, 15}));
}

TEST(PortableCodecTest, DropsEmptyBuckets) {
  const std::string empty(kEmptyBitmap);
  EXPECT_THAT(PositionSet::FromPortable(Hex("0000000000000000"))->ToVector(), IsEmpty());
  EXPECT_THAT(PositionSet::FromPortable(Hex("0100000000000000 00000000 " + empty))->ToVector(), IsEmpty());
  const auto set = PositionSet::FromPortable(
      Hex("0300000000000000 00000000 " + empty + "01000000 " + empty + "02000000 " + std::string(kOneAndTwo)));
  ASSERT_TRUE(set.has_value());
  EXPECT_THAT(set->ToVector(), ElementsAre(2 * kKey + 1, 2 * kKey + 2));
  EXPECT_EQ(set->ToPortable(), Hex("0100000000000000 02000000 " + std::string(kOneAndTwo))) << "no gap is written";
}

TEST(PortableCodecTest, WritesRunsForContiguousPositions) {
  EXPECT_EQ(PositionSet::FromRange(10, 15)->ToPortable(),
            Hex("0100000000000000 00000000 " + std::string(kTenToFourteen)));
  EXPECT_LT(PositionSet::FromRange(0, 50'000'000)->PortableSize(), 20'000u);
  EXPECT_EQ(PositionSet().ToPortable(), Hex("0000000000000000"));
}

TEST(PortableCodecTest, WritesAnArrayWhereARunWouldBeAsLarge) {
  // Two runs of 5 values take 2 + 2 * 4 bytes, as much as 5 values: Java writes an array. A set made from ranges has a
  // run container inside.
  const std::vector<PositionRun> runs = {{1, 4}, {7, 9}};
  const PositionSet from_ranges = PositionSet::FromRanges(runs).value();
  const Bytes expected = Hex("0100000000000000 00000000 3a300000 01000000 0000 0400 10000000 0100 0200 0300 0700 0800");
  EXPECT_EQ(from_ranges.ToPortable(), expected);
  EXPECT_EQ(PositionSet::FromPositions(std::vector<uint64_t>{1, 2, 3, 7, 8})->ToPortable(), expected);
  // The same in the fifth container, behind one of each other kind.
  std::vector<PositionRun> many = {{5, 6}, {65'536, 120'000}, {4 * 65'536 + 1, 4 * 65'536 + 4}};
  for (uint64_t i = 0; i < 30'000; ++i) many.push_back({2 * 65'536 + 2 * i, 2 * 65'536 + 2 * i + 1});
  const PositionSet mixed = PositionSet::FromRanges(many).value();
  EXPECT_EQ(mixed.ToPortable(), PositionSet::FromPositions(mixed.ToVector())->ToPortable());
  EXPECT_EQ(mixed.PortableSize(), mixed.ToPortable().size());
}

TEST(PortableCodecTest, RefusesBrokenBytes) {
  const std::string two(kOneAndTwo);
  const std::string empty(kEmptyBitmap);
  std::string full_key_run = "3b300000 01 0000 ffff 0100 0000 ffff ";
  const struct {
    const char* what;
    std::string bytes;
    const char* message;
  } cases[] = {
      {"no bucket count", "01000000", "byte 0"},
      {"more buckets than bytes", "0200000000000000 00000000 " + empty,
       "bucket count does not fit the bytes: at byte 0, at most 1 expected, 2 found"},
      {"an absurd bucket count", "ffffffffffffffff 00000000 " + two, "18446744073709551615 found"},
      {"a key above the bound", "0100000000000000 ffffff7f " + two,
       "at byte 8, at most 2147483646 expected, 2147483647 found"},
      {"a key with the top bit", "0100000000000000 00000080 " + two, "2147483648 found"},
      {"the same key twice", "0200000000000000 01000000 " + two + "01000000 " + two, "do not ascend: at byte 32"},
      {"keys going down", "0200000000000000 02000000 " + two + "01000000 " + two, "more than 2 expected, 1 found"},
      {"bytes after the last bucket", "0100000000000000 00000000 " + two + "00",
       "left over after the last bitmap: at byte 32, 0 expected, 1 found"},
      {"an unknown cookie", "0100000000000000 00000000 3c300000 00000000",
       "key 0 is no portable roaring bitmap, or is cut off: at byte 12"},
      {"a truncated array", "0100000000000000 00000000 3a300000 01000000 0000 0100 10000000 0100",
       "cut off: at byte 12"},
      {"a container count beyond the bytes", "0100000000000000 00000000 3a300000 00000100 0000 0100", "cut off"},
      {"a negative container count", "0100000000000000 00000000 3a300000 ffffffff 0000 0100", "cut off"},
      {"an array out of order", "0100000000000000 00000000 3a300000 01000000 0000 0100 10000000 0200 0100",
       "inconsistent"},
      {"an array with a value twice", "0100000000000000 00000000 3a300000 01000000 0000 0100 10000000 0200 0200",
       "inconsistent"},
      {"container keys out of order",
       "0100000000000000 00000000 3a300000 02000000 0100 0000 0000 0000 18000000 1a000000 0100 0100",
       "inconsistent (keys not strictly increasing)"},
      {"a container key twice",
       "0100000000000000 00000000 3a300000 02000000 0100 0000 0100 0000 18000000 1a000000 0100 0100", "inconsistent"},
      {"a container without runs", "0100000000000000 00000000 3b300000 01 0000 0400 0000", "inconsistent"},
      {"runs that overlap", "0100000000000000 00000000 3b300000 01 0000 0900 0200 0a00 0400 0c00 0400", "inconsistent"},
      {"runs out of order", "0100000000000000 00000000 3b300000 01 0000 0900 0200 2000 0400 0c00 0400", "inconsistent"},
      {"a run past the container", "0100000000000000 00000000 3b300000 01 0000 0400 0100 feff 0400", "inconsistent"},
  };
  for (const auto& test : cases) {
    const auto set = PositionSet::FromPortable(Hex(test.bytes));
    ASSERT_FALSE(set.has_value()) << test.what;
    EXPECT_EQ(set.error().kind(), ErrorKind::kCorrupt) << test.what;
    EXPECT_THAT(set.error().message(), HasSubstr(test.message)) << test.what;
  }
  EXPECT_EQ(PositionSet::FromPortable(Hex("0100000000000000 00000000 " + full_key_run))->cardinality(), 65'536u);
}

TEST(PortableCodecTest, RefusesABitsetWithAWrongCount) {
  Bytes bytes = PositionSet::FromPositions([] {
                  std::vector<uint64_t> even;
                  for (uint64_t i = 0; i < 60'000; i += 2) even.push_back(i);
                  return even;
                }())
                    ->ToPortable();
  ASSERT_TRUE(PositionSet::FromPortable(bytes).has_value());
  bytes.back() |= std::byte{0x80};
  const auto set = PositionSet::FromPortable(bytes);
  ASSERT_FALSE(set.has_value());
  EXPECT_THAT(set.error().message(), HasSubstr("inconsistent"));
}

TEST(PortableCodecTest, RefusesEveryPrefix) {
  const std::vector<PositionRun> runs = {{5, 6}, {100, 70'000}, {3 * kKey, 3 * kKey + 2}};
  const Bytes bytes = PositionSet::FromRanges(runs)->ToPortable();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto set = PositionSet::FromPortable(ByteView(bytes).first(size));
    ASSERT_FALSE(set.has_value()) << size;
    EXPECT_EQ(set.error().kind(), ErrorKind::kCorrupt);
  }
}

TEST(PortableCodecTest, ReadPortable_StopsBehindTheLastBucket) {
  const Bytes bytes = Hex("ff 0100000000000000 00000000 " + std::string(kOneAndTwo) + "aabb");
  ByteReader reader(bytes);
  ASSERT_TRUE(reader.Read(1, "prefix").has_value());
  EXPECT_EQ(PositionSet::ReadPortable(reader)->cardinality(), 2u);
  EXPECT_EQ(reader.remaining(), 2u);
}

}  // namespace
}  // namespace delenda
