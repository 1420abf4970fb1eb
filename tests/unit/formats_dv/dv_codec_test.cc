#include "delenda/formats/dv/dv_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "delenda/formats/dv/dv_format.h"
#include "delenda/formats/dv/z85.h"

namespace delenda::dv {
namespace {

using namespace std::literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PositionSet Of(std::vector<uint64_t> positions) { return PositionSet::FromPositions(positions).value(); }

void Flip(Bytes& bytes, size_t at) { bytes[at] ^= std::byte{1}; }

// Put the CRC right again, so that a check behind it is reached.
void Reseal(Bytes& frame) {
  ByteWriter crc;
  crc.WriteBig(Crc32(ByteView(frame).subspan(kLengthBytes, frame.size() - kFrameBytes)));
  std::ranges::copy(crc.view(), frame.end() - kCrcBytes);
}

void ExpectCorrupt(const Result<PositionSet>& result, std::string_view what, const char* message) {
  ASSERT_FALSE(result.has_value()) << what;
  EXPECT_EQ(result.error().kind(), ErrorKind::kCorrupt) << what;
  EXPECT_THAT(result.error().message(), HasSubstr(message)) << what;
}

TEST(DvCodecTest, IcebergBlobHasTheBytesOfTheSpecification) {
  // Puffin specification: length BE, magic D1 D3 39 64, one bucket with key 0, {1, 2} as an array container, CRC BE.
  // The CRC is zlib's of the 32 bytes in between.
  const Bytes blob = EncodeIcebergBlob(Of({1, 2})).value();
  const std::string_view expected =
      "\x00\x00\x00\x24"
      "\xd1\xd3\x39\x64"
      "\x01\x00\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00"
      "\x3a\x30\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x01\x00\x02\x00"
      "\x71\x2f\xa6\xe8"sv;
  EXPECT_EQ(AsText(blob), expected);
  EXPECT_THAT(DecodeIcebergBlob(blob, 2).value().ToVector(), ElementsAre(1, 2));
  EXPECT_EQ(EncodeDeltaFileFrame(Of({1, 2})).value(), blob) << "both formats frame the vector alike";
}

TEST(DvCodecTest, IcebergBlob_CardinalityIsCheckedOnlyIfGiven) {
  const Bytes blob = EncodeIcebergBlob(Of({1, 2, 9})).value();
  EXPECT_TRUE(DecodeIcebergBlob(blob, std::nullopt).has_value());
  EXPECT_TRUE(DecodeIcebergBlob(blob, 3).has_value());
  ExpectCorrupt(DecodeIcebergBlob(blob, 4), "cardinality", "cardinality mismatch: expected 4, found 3");
}

TEST(DvCodecTest, IcebergBlob_RefusesWhatIsWrongInTheOrderOfTheChecks) {
  // Each case breaks one more thing, the first of which must be the one that is reported.
  const Bytes good = EncodeIcebergBlob(Of({1, 2, 9})).value();
  const struct {
    const char* what;
    std::function<void(Bytes&)> damage;
    const char* message;
  } cases[] = {
      {"nothing at all", [](Bytes& blob) { blob.clear(); }, "too short: expected at least 12 bytes, found 0"},
      {"no room for a magic", [](Bytes& blob) { blob.resize(11); }, "too short"},
      {"length and magic", [](Bytes& blob) { Flip(blob, 3), Flip(blob, 4); },
       "length mismatch: at byte 0, expected 38, found 39"},
      {"a byte too few", [](Bytes& blob) { blob.pop_back(); }, "length mismatch: at byte 0, expected 37, found 38"},
      {"a byte too many", [](Bytes& blob) { blob.push_back({}); }, "length mismatch: at byte 0, expected 39, found 38"},
      {"magic and CRC", [](Bytes& blob) { Flip(blob, 4); },
       "magic mismatch: at byte 4, expected 0x6439d3d1, found 0x6439d3d0"},
      {"a bit of the vector", [](Bytes& blob) { Flip(blob, 38); }, "CRC mismatch: at byte 42"},
      {"a bit of the CRC", [](Bytes& blob) { Flip(blob, 45); }, "CRC mismatch: at byte 42"},
      {"structure", [](Bytes& blob) { Flip(blob, 20), Reseal(blob); },
       "no portable roaring bitmap, or is cut off: at byte 20"},
      {"a key that is too large", [](Bytes& blob) { blob[19] = std::byte{0x80}, Reseal(blob); },
       "key is too large: at byte 16"},
      {"order of the values", [](Bytes& blob) { blob[40] = std::byte{0}, Reseal(blob); }, "inconsistent"},
      {"bytes left over", [](Bytes& blob) { blob[8] = std::byte{0}, Reseal(blob); },
       "cardinality mismatch: expected 3, found 0"},
  };
  for (const auto& test : cases) {
    Bytes blob = good;
    test.damage(blob);
    ExpectCorrupt(DecodeIcebergBlob(blob, 3), test.what, test.message);
  }
  Bytes blob = good;
  blob[8] = std::byte{0};  // bucket count
  Reseal(blob);
  ExpectCorrupt(DecodeIcebergBlob(blob, std::nullopt), "bytes left over",
                "left over after the deletion vector: at byte 16, 0 expected, 26 found");
}

TEST(DvCodecTest, EveryPrefixAndEveryFlippedBitIsRefused) {
  const std::vector<PositionRun> runs = {{0, 4'000}, {5'000, 5'001}, {uint64_t{7} << 32, (uint64_t{7} << 32) + 2}};
  const Bytes good = EncodeIcebergBlob(PositionSet::FromRanges(runs).value()).value();
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(DecodeIcebergBlob(ByteView(good).first(size), std::nullopt).has_value()) << size;
  }
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_FALSE(DecodeIcebergBlob(bad, std::nullopt).has_value()) << bit;
  }
}

TEST(DvCodecTest, DeltaFileFrame_IsReadAtItsOffsetWhateverFollows) {
  ByteWriter file;
  file.Write(AsBytes("\x01"));
  const Bytes first = EncodeDeltaFileFrame(Of({3, 4, 5})).value();
  const Bytes second = EncodeDeltaFileFrame(Of({7})).value();
  file.Write(first);
  file.Write(second);
  EXPECT_TRUE(CheckDeltaFileVersion(file.view()[0]).has_value());
  const auto first_size = static_cast<int64_t>(first.size() - kFrameBytes);
  const auto second_size = static_cast<int64_t>(second.size() - kFrameBytes);
  EXPECT_EQ(DeltaFileFrameSize(first_size).value(), first.size());
  const ByteView frames = file.view().subspan(kDeltaFirstOffset);
  EXPECT_THAT(DecodeDeltaFileFrame(frames, first_size, 3).value().ToVector(), ElementsAre(3, 4, 5));
  EXPECT_THAT(DecodeDeltaFileFrame(frames.subspan(first.size()), second_size, 1).value().ToVector(), ElementsAre(7));

  ExpectCorrupt(DecodeDeltaFileFrame(frames, first_size + 4, 3), "sizeInBytes", "length mismatch: at byte 0, expected");
  ExpectCorrupt(DecodeDeltaFileFrame(frames.subspan(first.size()), second_size + 1, 1), "past the end",
                "ends inside a vector");
  ExpectCorrupt(DecodeDeltaFileFrame(frames, first_size, 99), "cardinality",
                "cardinality mismatch: expected 99, found 3");
}

TEST(DvCodecTest, DeltaFile_RefusesUnknownVersionsAndImpossibleSizes) {
  for (const int version : {0, 2, 255}) {
    const auto checked = CheckDeltaFileVersion(static_cast<std::byte>(version));
    ASSERT_FALSE(checked.has_value()) << version;
    EXPECT_EQ(checked.error().kind(), ErrorKind::kNotSupported);
    EXPECT_THAT(checked.error().message(), HasSubstr("expected 1, found " + std::to_string(version)));
  }
  for (const int64_t size : {int64_t{-1}, INT64_MIN, int64_t{3}, int64_t{1} << 31, INT64_MAX}) {
    const auto frame = DeltaFileFrameSize(size);
    ASSERT_FALSE(frame.has_value()) << size;
    EXPECT_EQ(frame.error().kind(), ErrorKind::kCorrupt);
    EXPECT_FALSE(DecodeDeltaFileFrame(Bytes(100), size, 0).has_value());
    EXPECT_FALSE(DecodeDeltaInline("00000", size, 0).has_value());
  }
}

TEST(DvCodecTest, DeltaInline_IsCutToItsSize) {
  // Spark reads this descriptor as these rows (fixture dv_inline_absolute).
  constexpr std::string_view kText = "^Bg9^0rr910000000000iXQKl0rr91000c45c8Xg2lkto8VRe:f8$$L";
  EXPECT_THAT(DecodeDeltaInline(kText, 42, 5).value().ToVector(), ElementsAre(7, 17, 27, 37, 47));
}

TEST(DvCodecTest, DeltaInline_RefusesTheEncodingBeforeThePortableOne) {
  // PROTOCOL.md's own inline example has another magic, 1681511376 in big-endian order: an encoding that its text does
  // not describe. Reading it as if it were the portable one would give wrong rows.
  constexpr std::string_view kText = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L";
  ExpectCorrupt(DecodeDeltaInline(kText, 40, 6), "native encoding", "magic mismatch: at byte 0, expected 0x6439d3d1");
}

TEST(DvCodecTest, DeltaInline_PadsAndCutsEveryLength) {
  for (const std::vector<uint64_t>& positions :
       {std::vector<uint64_t>{}, {1}, {1, 2}, {3, 4, 7, 11, 18, 29}, {1, 5, 900, 70'000, uint64_t{1} << 33}}) {
    const DeltaInline encoded = EncodeDeltaInline(Of(positions)).value();
    EXPECT_EQ(DecodeZ85(encoded.text)->size(), static_cast<size_t>((encoded.size_in_bytes + 3) / 4 * 4));
    EXPECT_EQ(DecodeDeltaInline(encoded.text, encoded.size_in_bytes, positions.size()).value().ToVector(), positions);
  }
}

TEST(DvCodecTest, DeltaInline_RefusesWhatIsWrong) {
  const DeltaInline good = EncodeDeltaInline(Of({1, 2, 3, 70'000})).value();
  const int64_t size = good.size_in_bytes;
  ExpectCorrupt(DecodeDeltaInline(good.text, size + 4, 4), "size too large", "size mismatch: expected");
  ExpectCorrupt(DecodeDeltaInline(good.text, size - 4, 4), "size too small", "size mismatch: expected");
  ExpectCorrupt(DecodeDeltaInline(good.text, size - 2, 4), "cut inside the vector", "cut off");
  ExpectCorrupt(DecodeDeltaInline(good.text, size, 5), "cardinality", "cardinality mismatch: expected 5, found 4");
  ExpectCorrupt(DecodeDeltaInline(good.text.substr(1), size, 4), "text cut", "multiple of 5");
  std::string text = good.text;
  text[0] = text[0] == '0' ? '1' : '0';
  ExpectCorrupt(DecodeDeltaInline(text, size, 4), "magic", "magic mismatch: at byte 0");
}

TEST(DvCodecTest, CheckWithinFile_RefusesPositionsAtOrAboveTheRecordCount) {
  EXPECT_TRUE(CheckWithinFile(Of({}), 0).has_value());
  EXPECT_TRUE(CheckWithinFile(Of({0, 9}), 10).has_value());
  const auto outside = CheckWithinFile(Of({0, 10}), 10);
  ASSERT_FALSE(outside.has_value());
  EXPECT_EQ(outside.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(outside.error().message(), HasSubstr("expected less than 10 (the file's record count), found 10"));
}

}  // namespace
}  // namespace delenda::dv
