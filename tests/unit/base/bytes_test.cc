#include "delenda/base/bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace delenda {
namespace {

Bytes MakeBytes(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(ByteReader, ReadsBothByteOrders) {
  const Bytes bytes = MakeBytes({0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08});
  EXPECT_EQ(ByteReader(bytes).ReadBig<uint32_t>("x").value(), 0x01020304u);
  EXPECT_EQ(ByteReader(bytes).ReadLittle<uint32_t>("x").value(), 0x04030201u);
  EXPECT_EQ(ByteReader(bytes).ReadBig<uint64_t>("x").value(), 0x0102030405060708u);
  EXPECT_EQ(ByteReader(bytes).ReadLittle<uint64_t>("x").value(), 0x0807060504030201u);
  EXPECT_EQ(ByteReader(bytes).ReadBig<uint16_t>("x").value(), 0x0102u);
  EXPECT_EQ(ByteReader(bytes).ReadLittle<uint8_t>("x").value(), 0x01u);
}

TEST(ByteReader, AdvancesByWhatItRead) {
  const Bytes bytes = MakeBytes({1, 2, 3, 4, 5, 6, 7});
  ByteReader reader(bytes);
  ASSERT_TRUE(reader.ReadBig<uint16_t>("x").has_value());
  EXPECT_EQ(reader.offset(), 2u);
  EXPECT_EQ(reader.remaining(), 5u);
  const ByteView view = reader.Read(3, "x").value();
  EXPECT_EQ(view.data(), bytes.data() + 2);
  EXPECT_EQ(view.size(), 3u);
  EXPECT_EQ(reader.remaining(), 2u);
}

TEST(ByteReader, RefusesToReadPastTheEndAndStaysWhereItWas) {
  const Bytes bytes = MakeBytes({1, 2, 3});
  ByteReader reader(bytes);
  ASSERT_TRUE(reader.ReadBig<uint8_t>("first").has_value());
  const auto number = reader.ReadBig<uint32_t>("length");
  ASSERT_FALSE(number.has_value());
  EXPECT_EQ(number.error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(number.error().message(), "bytes end inside length: needed 4 bytes at byte 1, 2 left");
  EXPECT_FALSE(reader.Read(3, "x").has_value());
  EXPECT_EQ(reader.offset(), 1u);
  EXPECT_TRUE(reader.Read(2, "x").has_value());
  EXPECT_TRUE(reader.Read(0, "x").has_value());
  EXPECT_FALSE(reader.ReadLittle<uint8_t>("x").has_value());
}

TEST(ByteReader, RefusesLengthsNearTheLargestNumber) {
  // offset + count would wrap around and pass a naive check.
  const Bytes bytes = MakeBytes({1, 2, 3});
  ByteReader reader(bytes);
  ASSERT_TRUE(reader.Read(2, "x").has_value());
  for (const uint64_t count : {std::numeric_limits<uint64_t>::max(), std::numeric_limits<uint64_t>::max() - 1,
                               uint64_t{1} << 63, uint64_t{1} << 32}) {
    EXPECT_FALSE(reader.Read(count, "x").has_value()) << count;
  }
}

TEST(ByteReader, ReadsNothingFromNothing) {
  ByteReader reader(ByteView{});
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(reader.Read(0, "x").has_value());
  EXPECT_FALSE(reader.ReadZigZag("x").has_value());
}

struct ZigZagCase {
  int64_t value;
  Bytes bytes;
};

// The examples of the Avro specification ("binary encoding") and the ends of the range.
std::vector<ZigZagCase> ZigZagCases() {
  return {
      {0, MakeBytes({0x00})},
      {-1, MakeBytes({0x01})},
      {1, MakeBytes({0x02})},
      {-2, MakeBytes({0x03})},
      {2, MakeBytes({0x04})},
      {-64, MakeBytes({0x7f})},
      {64, MakeBytes({0x80, 0x01})},
      {std::numeric_limits<int64_t>::max(), MakeBytes({0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})},
      {std::numeric_limits<int64_t>::min(), MakeBytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})},
  };
}

TEST(ZigZag, ReadsAndWritesTheSpecificationsBytes) {
  for (const ZigZagCase& c : ZigZagCases()) {
    ByteReader reader(c.bytes);
    EXPECT_EQ(reader.ReadZigZag("x").value(), c.value);
    EXPECT_EQ(reader.remaining(), 0u);
    ByteWriter writer;
    writer.WriteZigZag(c.value);
    EXPECT_EQ(std::move(writer).Finish(), c.bytes) << c.value;
  }
}

TEST(ZigZag, RefusesNumbersLongerThan64Bits) {
  // Ten bytes with a bit above the 64th, and eleven bytes.
  const Bytes too_large = MakeBytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02});
  const Bytes too_long = MakeBytes({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00});
  for (const Bytes& bytes : {too_large, too_long}) {
    const auto result = ByteReader(bytes).ReadZigZag("x");
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind(), ErrorKind::kCorrupt);
  }
}

TEST(ZigZag, RefusesTruncatedNumbers) {
  const Bytes bytes = MakeBytes({0x80, 0x80});
  EXPECT_FALSE(ByteReader(bytes).ReadZigZag("x").has_value());
}

TEST(ByteWriter, WritesWhatTheReaderReads) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1000; ++round) {
    // Shifts make every length of number equally likely.
    const auto value = static_cast<int64_t>(random() >> (random() % 64)) * (random() % 2 == 0 ? 1 : -1);
    const uint64_t wide = random();
    const auto narrow = static_cast<uint16_t>(random());
    ByteWriter writer;
    writer.WriteZigZag(value);
    writer.WriteLittle(wide);
    writer.WriteBig(narrow);
    writer.Write(AsBytes("tail"));
    ByteReader reader(writer.view());
    ASSERT_EQ(reader.ReadZigZag("x").value(), value);
    ASSERT_EQ(reader.ReadLittle<uint64_t>("x").value(), wide);
    ASSERT_EQ(reader.ReadBig<uint16_t>("x").value(), narrow);
    ASSERT_EQ(AsText(reader.Read(4, "x").value()), "tail");
    ASSERT_EQ(reader.remaining(), 0u);
  }
}

TEST(ByteWriter, WritesBothByteOrders) {
  ByteWriter writer;
  writer.WriteBig(uint32_t{0x01020304});
  writer.WriteLittle(uint32_t{0x01020304});
  EXPECT_EQ(writer.size(), 8u);
  EXPECT_EQ(std::move(writer).Finish(), MakeBytes({1, 2, 3, 4, 4, 3, 2, 1}));
}

TEST(Crc32, GivesTheKnownAnswers) {
  // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
  EXPECT_EQ(Crc32(AsBytes("123456789")), 0xCBF43926u);
  EXPECT_EQ(Crc32(ByteView{}), 0u);
  EXPECT_EQ(Crc32(AsBytes("a")), 0xE8B7BE43u);
}

TEST(Utf8, AcceptsExactlyWellFormedText) {
  struct Case {
    std::string_view text;
    bool valid;
  };
  using std::string_view_literals::operator""sv;
  const std::vector<Case> cases = {
      {"", true},
      {"plain", true},
      {"\0"sv, true},
      {"\x7f", true},
      {"\xc3\xa9", true},
      {"\xe2\x82\xac", true},
      {"\xf0\x9f\x97\x91", true},
      {"\xf4\x8f\xbf\xbf", true},  // U+10FFFF
      {"\xed\x9f\xbf", true},      // U+D7FF, before the surrogates
      {"\xee\x80\x80", true},      // U+E000, after them
      {"\x80", false},             // continuation byte alone
      {"\xc3", false},             // ends too early
      {"\xe2\x82", false},
      {"\xf0\x9f\x97", false},
      {"\xc3\x28", false},  // no continuation byte
      {"\xe2\x28\xa1", false},
      {"\xc0\x80", false},  // overlong
      {"\xc1\xbf", false},
      {"\xe0\x80\xaf", false},
      {"\xf0\x80\x80\xaf", false},
      {"\xed\xa0\x80", false},  // surrogate
      {"\xed\xbf\xbf", false},
      {"\xf4\x90\x80\x80", false},  // above U+10FFFF
      {"\xf5\x80\x80\x80", false},
      {"\xff", false},
      {"a\xff"
       "b",
       false},
  };
  for (const Case& c : cases) EXPECT_EQ(IsValidUtf8(c.text), c.valid) << testing::PrintToString(c.text);
}

}  // namespace
}  // namespace delenda
