#include "delenda/formats/dv/z85.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace delenda::dv {
namespace {

using ::testing::HasSubstr;

template <size_t kSize>
Bytes Of(const std::array<int, kSize>& values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Z85Test, EqualsTheTestVectorOfTheRfc) {
  // ZeroMQ RFC 32, "Test case".
  const Bytes bytes = Of(std::array{0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B});
  EXPECT_EQ(EncodeZ85(bytes).value(), "HelloWorld");
  EXPECT_EQ(DecodeZ85("HelloWorld").value(), bytes);
}

TEST(Z85Test, DecodesTheExtremes) {
  EXPECT_EQ(DecodeZ85("").value(), Bytes());
  EXPECT_EQ(EncodeZ85(Bytes()).value(), "");
  EXPECT_EQ(DecodeZ85("00000").value(), Of(std::array{0, 0, 0, 0}));
  EXPECT_EQ(DecodeZ85("%nSc0").value(), Of(std::array{255, 255, 255, 255}));
  EXPECT_EQ(EncodeZ85(Of(std::array{255, 255, 255, 255})).value(), "%nSc0");
}

TEST(Z85Test, EveryByteComesBack) {
  Bytes bytes;
  for (int i = 0; i < 4 * 256; ++i) bytes.push_back(static_cast<std::byte>(i * 7 + i / 256));
  EXPECT_EQ(DecodeZ85(EncodeZ85(bytes).value()).value(), bytes);
}

TEST(Z85Test, RefusesTextThatIsNotZ85) {
  const struct {
    std::string_view text;
    const char* message;
  } cases[] = {
      {"0000", "multiple of 5 characters, found 4"},
      {"000000", "multiple of 5 characters, found 6"},
      {"0000 ", "at character 4, found byte 0x20"},
      {"00000000~0", "at character 8, found byte 0x7e"},
      {"00000\xff\x30\x30\x30\x30", "at character 5, found byte 0xff"},
      {std::string_view("0000\0", 5), "found byte 0x00"},
      {"%nSc1", "exceeds 32 bits: at character 0, found 4294967296"},
      {"00000#####", "exceeds 32 bits: at character 5, found 4437053124"},
  };
  for (const auto& test : cases) {
    const auto bytes = DecodeZ85(test.text);
    ASSERT_FALSE(bytes.has_value()) << test.text;
    EXPECT_EQ(bytes.error().kind(), ErrorKind::kCorrupt);
    EXPECT_THAT(bytes.error().message(), HasSubstr(test.message));
  }
  const auto text = EncodeZ85(Bytes(3));
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace delenda::dv
