#include "delenda/base/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <libdeflate.h>
#include <cstdio>
#include <fstream>

#include <array>
#include <string>

#include "support/temporary_folder.h"

namespace delenda {
namespace {

using ::testing::HasSubstr;

// Made with Python: gzip.compress(b'{"format-version": 3}', mtime=0), and of b"" and b"more".
constexpr auto kMetadata = std::to_array<uint8_t>({
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x56, 0x4a, 0xcb,
    0x2f, 0xca, 0x4d, 0x2c, 0xd1, 0x2d, 0x4b, 0x2d, 0x2a, 0xce, 0xcc, 0xcf, 0x53, 0xb2,
    0x52, 0x30, 0xae, 0x05, 0x00, 0x62, 0xe0, 0xe3, 0xeb, 0x15, 0x00, 0x00, 0x00,
});
constexpr auto kEmpty = std::to_array<uint8_t>({
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
    0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
});
constexpr auto kMore = std::to_array<uint8_t>({
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0xcd,
    0x2f, 0x4a, 0x05, 0x00, 0x7c, 0xf2, 0x52, 0x8b, 0x04, 0x00, 0x00, 0x00,
});

ByteView View(std::span<const uint8_t> bytes) { return std::as_bytes(bytes); }

Bytes Joined(std::initializer_list<ByteView> parts) {
  Bytes all;
  for (const ByteView part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes Compress(ByteView bytes) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  Bytes out(libdeflate_gzip_compress_bound(compressor, bytes.size()));
  out.resize(libdeflate_gzip_compress(compressor, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

TEST(Gunzip, InflatesWhatAnotherProgramMade) {
  const auto text = Gunzip(View(kMetadata), 1000);
  ASSERT_TRUE(text) << text.error().ToString();
  EXPECT_EQ(AsText(*text), R"({"format-version": 3})");
  EXPECT_TRUE(Gunzip(View(kEmpty), 0)->empty());
}

TEST(Gunzip, JoinsMembers) {
  const auto text = Gunzip(Joined({View(kMetadata), View(kEmpty), View(kMore)}), 1000);
  ASSERT_TRUE(text) << text.error().ToString();
  EXPECT_EQ(AsText(*text), R"({"format-version": 3}more)");
}

TEST(Gunzip, HoldsTheLimitExactly) {
  EXPECT_TRUE(Gunzip(View(kMetadata), 21));
  const auto refused = Gunzip(View(kMetadata), 20);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(refused.error().message(), HasSubstr("limit of 20 bytes"));
  EXPECT_FALSE(Gunzip(Joined({View(kMetadata), View(kMore)}), 24));
  EXPECT_TRUE(Gunzip(Joined({View(kMetadata), View(kMore)}), 25));
}

TEST(Gunzip, InflatesWhatCompressesExtremelyWell) {
  const Bytes zeros(10'000'000);
  const Bytes small = Compress(zeros);
  EXPECT_EQ(*Gunzip(small, zeros.size()), zeros);
  EXPECT_EQ(Gunzip(small, zeros.size() - 1).error().kind(), ErrorKind::kCorrupt);
  // Several members: the size at the end of the file is not that of the first.
  const auto twice = Gunzip(Joined({small, View(kMore)}), 2 * zeros.size());
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->size(), zeros.size() + 4);
}

TEST(Gunzip, RefusesDamage) {
  const ByteView whole = View(kMetadata);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(Gunzip(whole.first(length), 1000).error().kind(), ErrorKind::kCorrupt) << "cut to " << length;
  }
  // Bytes 4 to 9 of the header are time, flags for humans and operating system: no check covers them.
  for (size_t at = 10; at < whole.size(); ++at) {
    Bytes damaged(whole.begin(), whole.end());
    damaged[at] ^= std::byte{0x10};
    // A few bits at the end of the deflate stream fill up its last byte and mean nothing: they may differ.
    if (const auto text = Gunzip(damaged, 1000)) {
      EXPECT_EQ(AsText(*text), R"({"format-version": 3})") << "byte " << at;
    }
  }
}

TEST(Gunzip, RefusesTrailingBytes) {
  const auto refused = Gunzip(Joined({View(kMetadata), AsBytes("garbage")}), 1000);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("7 bytes that are no gzip member"));
}

// Against the gzip of this machine, since our own inflating proves nothing of the format.
TEST(Gzip, IsReadByOthers) {
  const delenda::testing::TemporaryFolder scratch;
  const std::string path = scratch.path() / "text.gz";
  for (const std::string& text : {std::string(), std::string("{}"), std::string(300000, 'x') + "end"}) {
    const auto bytes = Gzip(AsBytes(text));
    ASSERT_TRUE(bytes);
    std::ofstream(path, std::ios::binary) << AsText(*bytes);
    std::FILE* pipe = ::popen(("gzip -dc " + path).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string read;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) read.push_back(static_cast<char>(c));
    EXPECT_EQ(::pclose(pipe), 0);
    EXPECT_EQ(read, text);
  }
}

TEST(Gunzip, TellsGzipByItsFirstBytes) {
  EXPECT_TRUE(IsGzip(View(kEmpty)));
  EXPECT_FALSE(IsGzip(AsBytes("{}")));
  EXPECT_FALSE(IsGzip({}));
}

}  // namespace
}  // namespace delenda
