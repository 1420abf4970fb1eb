#include "delenda/formats/puffin/puffin_footer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4frame.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace delenda::puffin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct FileParts {
  std::string head = "PFA1";
  std::string blobs;
  std::string start = "PFA1";
  std::string payload = R"({"blobs":[]})";
  std::optional<int64_t> payload_size;
  std::string flags = std::string(4, '\0');
  std::string end = "PFA1";
};

std::string Build(const FileParts& parts) {
  const auto size = static_cast<uint32_t>(parts.payload_size.value_or(static_cast<int64_t>(parts.payload.size())));
  ByteWriter number;
  number.WriteLittle(size);
  return parts.head + parts.blobs + parts.start + parts.payload + std::string(AsText(number.view())) + parts.flags +
         parts.end;
}

std::string With(const std::function<void(FileParts&)>& change) {
  FileParts parts;
  change(parts);
  return Build(parts);
}

Result<Footer> Parse(std::string_view file) { return ParseFooter(AsBytes(file), file.size()); }

std::string Lz4(std::string_view text, bool content_size = true) {
  LZ4F_preferences_t preferences{};
  if (content_size) preferences.frameInfo.contentSize = text.size();
  std::string out(LZ4F_compressFrameBound(text.size(), &preferences), '\0');
  out.resize(LZ4F_compressFrame(out.data(), out.size(), text.data(), text.size(), &preferences));
  return out;
}

const std::string kCompressed("\x01\0\0\0", 4);

std::string BlobJson(std::string_view fields) { return fmt::format(R"({{"blobs":[{{{}}}]}})", fields); }

constexpr std::string_view kGoodBlob =
    R"("type":"x","fields":[1,-2],"snapshot-id":-1,"sequence-number":7,"offset":4,"length":3)";

TEST(PuffinFooterTest, ReadsAnEmptyFile) {
  const auto footer = Parse(Build({}));
  ASSERT_TRUE(footer.has_value()) << footer.error().ToString();
  EXPECT_THAT(footer->blobs, IsEmpty());
  EXPECT_THAT(footer->properties, IsEmpty());
}

TEST(PuffinFooterTest, KeepsUnknownTypesCodecsAndProperties) {
  FileParts parts;
  parts.blobs = "abc";
  parts.payload =
      R"({"blobs":[{"type":"strange","fields":[2147483645],"snapshot-id":9007199254740993,"sequence-number":-1,
    "offset":4,"length":3,"compression-codec":"rot13","properties":{"k":"v \u00e9"},"later":{"a":[1]}}],
    "properties":{"created-by":"me"},"more":null})";
  const auto footer = Parse(Build(parts));
  ASSERT_TRUE(footer.has_value()) << footer.error().ToString();
  ASSERT_EQ(footer->blobs.size(), 1u);
  const BlobMetadata& blob = footer->blobs[0];
  EXPECT_EQ(blob.type, "strange");
  EXPECT_THAT(blob.fields, ElementsAre(2147483645));
  EXPECT_EQ(blob.snapshot_id, 9007199254740993) << "no detour over floating point";
  EXPECT_EQ(blob.sequence_number, -1);
  EXPECT_EQ(blob.offset, 4u);
  EXPECT_EQ(blob.length, 3u);
  EXPECT_EQ(blob.compression_codec, "rot13");
  EXPECT_EQ(blob.properties.at("k"), "v \u00e9");
  EXPECT_EQ(footer->properties.at("created-by"), "me");
  const auto content = DecompressBlob(blob, AsBytes("abc"));
  ASSERT_FALSE(content.has_value());
  EXPECT_EQ(content.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(content.error().message(), HasSubstr("rot13"));
}

TEST(PuffinFooterTest, TailTellsHowManyBytesTheFooterHas) {
  FileParts parts;
  parts.blobs = std::string(1'000, 'x');
  const std::string file = Build(parts);
  const auto tail = ParseTail(AsBytes(file).last(kTailBytes), file.size());
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->footer_bytes, parts.payload.size() + 16);
  EXPECT_FALSE(tail->payload_compressed);
  EXPECT_TRUE(ParseFooter(AsBytes(file).last(tail->footer_bytes), file.size()).has_value()) << "exactly the footer";
  const auto cut = ParseFooter(AsBytes(file).last(tail->footer_bytes - 1), file.size());
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().kind(), ErrorKind::kInvalidArgument);
}

TEST(PuffinFooterTest, ReadsLz4Payloads) {
  for (const bool content_size : {true, false}) {
    FileParts parts;
    parts.payload = Lz4(R"({"blobs":[],"properties":{"created-by":"lz4"}})", content_size);
    parts.flags = kCompressed;
    const auto footer = Parse(Build(parts));
    ASSERT_TRUE(footer.has_value()) << footer.error().ToString();
    EXPECT_EQ(footer->properties.at("created-by"), "lz4");
  }
}

TEST(PuffinFooterTest, RefusesAnLz4PayloadOfBoundlessSize) {
  FileParts parts;
  // 80 MiB of spaces in about 330 KB.
  parts.payload = Lz4(std::string(size_t{80} << 20, ' '), false);
  parts.flags = kCompressed;
  const auto footer = Parse(Build(parts));
  ASSERT_FALSE(footer.has_value());
  EXPECT_EQ(footer.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(footer.error().message(), HasSubstr("decompresses to more than 67108864 bytes"));
}

TEST(PuffinFooterTest, RefusesBrokenFrames) {
  const std::string good = Build({});
  const struct {
    const char* what;
    std::string file;
    ErrorKind kind;
    const char* message;
  } cases[] = {
      {"empty", "", ErrorKind::kCorrupt, "too short: expected at least 20 bytes, found 0"},
      {"one byte too short", good.substr(0, 19), ErrorKind::kCorrupt, "too short"},
      {"cut at the end", good.substr(0, good.size() - 1), ErrorKind::kCorrupt, "footer magic mismatch"},
      {"another file", std::string(40, 'x'), ErrorKind::kCorrupt, "at byte 36, expected 0x50464131, found 0x78787878"},
      {"no footer start", With([](FileParts& parts) { parts.start = "PFA2"; }), ErrorKind::kCorrupt,
       "footer start magic mismatch: at byte 4"},
      {"negative size", With([](FileParts& parts) { parts.payload_size = -1; }), ErrorKind::kCorrupt,
       "expected 0 to 12, found -1"},
      {"size beyond the file", With([](FileParts& parts) { parts.payload_size = 13; }), ErrorKind::kCorrupt,
       "at byte 20, expected 0 to 12, found 13"},
      {"absurd size", With([](FileParts& parts) { parts.payload_size = INT32_MAX; }), ErrorKind::kCorrupt,
       "found 2147483647"},
      {"size too small", With([](FileParts& parts) { parts.payload_size = 3; }), ErrorKind::kCorrupt,
       "footer start magic mismatch: at byte 13"},
      {"reserved flag in byte 0", With([](FileParts& parts) { parts.flags = std::string("\2\0\0\0", 4); }),
       ErrorKind::kNotSupported, "found 0x00000002"},
      {"reserved flag in byte 3", With([](FileParts& parts) { parts.flags = std::string("\1\0\0\x80", 4); }),
       ErrorKind::kNotSupported, "at byte 24, expected 0x00000000 or 0x00000001, found 0x80000001"},
      {"not LZ4 at all", With([](FileParts& parts) { parts.flags = kCompressed; }), ErrorKind::kCorrupt,
       "damaged LZ4 frame"},
      {"cut LZ4",
       With([](FileParts& parts) { parts.payload = Lz4(R"({"blobs":[]})").substr(0, 20), parts.flags = kCompressed; }),
       ErrorKind::kCorrupt, "LZ4 frame is cut off after 20 bytes"},
      {"no LZ4 bytes", With([](FileParts& parts) { parts.payload = "", parts.flags = kCompressed; }),
       ErrorKind::kCorrupt, "LZ4 frame is cut off after 0 bytes"},
      {"two LZ4 frames",
       With([](FileParts& parts) { parts.payload = Lz4("{}") + Lz4("{}"), parts.flags = kCompressed; }),
       ErrorKind::kCorrupt, "left over after the LZ4 frame"},
  };
  for (const auto& test : cases) {
    const auto footer = Parse(test.file);
    ASSERT_FALSE(footer.has_value()) << test.what;
    EXPECT_EQ(footer.error().kind(), test.kind) << test.what;
    EXPECT_THAT(footer.error().message(), HasSubstr(test.message)) << test.what;
  }
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(Parse(good.substr(0, size)).has_value()) << size;
}

TEST(PuffinFooterTest, RefusesBrokenPayloads) {
  const auto blob = [](std::string_view fields) { return BlobJson(fields); };
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string fields(kGoodBlob);
    return blob(fields.replace(fields.find(from), from.size(), to));
  };
  const struct {
    const char* what;
    std::string payload;
    const char* message;
  } cases[] = {
      {"nothing", "", "no valid JSON"},
      {"no JSON", "{]", "no valid JSON: at byte 2 of the payload"},
      {"bytes after it", R"({"blobs":[]} x)", "no valid JSON"},
      {"no object", "[]", "no JSON object but array"},
      {"invalid UTF-8", "{\"blobs\":[],\"\xff\":1}", "not valid UTF-8"},
      {"a lone surrogate", R"({"blobs":[],"a":"\ud800"})", "no valid JSON"},
      {"deep arrays", R"({"a":)" + std::string(100'000, '['), "nests too deep: at byte 68"},
      {"deep objects",
       [] {
         std::string text;
         for (int i = 0; i < 5'000; ++i) text += R"({"a":)";
         return text;
       }(),
       "nests too deep"},
      {"no blobs", "{}", "the file lacks 'blobs'"},
      {"blobs no array", R"({"blobs":{}})", "'blobs' is wrong: expected an array, found object"},
      {"a blob no object", R"({"blobs":[1]})", "blob 0 is no object but number"},
      {"no type", replaced(R"("type":"x",)", ""), "blob 0 lacks 'type'"},
      {"type no string", replaced(R"("x")", "1"), "'type' of blob 0 is wrong: expected a string, found number"},
      {"no fields", replaced(R"("fields":[1,-2],)", ""), "lacks 'fields'"},
      {"fields no array", replaced("[1,-2]", "1"), "'fields' of blob 0 is wrong: expected an array"},
      {"field too large", replaced("[1,-2]", "[2147483648]"),
       "expected an integer from -2147483648 to 2147483647, found 2147483648"},
      {"field a fraction", replaced("[1,-2]", "[1.5]"), "found 1.5"},
      {"no snapshot id", replaced(R"("snapshot-id":-1,)", ""), "lacks 'snapshot-id'"},
      {"no sequence number", replaced(R"("sequence-number":7,)", ""), "lacks 'sequence-number'"},
      {"sequence number too large", replaced(":7,", ":18446744073709551615,"), "found 18446744073709551615"},
      {"no offset", replaced(R"("offset":4,)", ""), "lacks 'offset'"},
      {"negative offset", replaced(R"("offset":4)", R"("offset":-4)"),
       "'offset' of blob 0 is wrong: expected an integer from 0 to"},
      {"offset in the header", replaced(R"("offset":4)", R"("offset":3)"),
       "lies outside the file's blobs: expected within bytes 4 to 7, found offset 3, length 3"},
      {"offset behind the blobs", replaced(R"("offset":4)", R"("offset":8)"), "found offset 8, length 3"},
      {"no length", replaced(R"(,"length":3)", ""), "lacks 'length'"},
      {"negative length", replaced(R"("length":3)", R"("length":-1)"), "'length' of blob 0 is wrong"},
      {"length into the footer", replaced(R"("length":3)", R"("length":4)"), "found offset 4, length 4"},
      {"length that overflows", replaced(R"("length":3)", R"("length":9223372036854775807)"),
       "found offset 4, length 9223372036854775807"},
      {"codec no string", blob(std::string(kGoodBlob) + R"(,"compression-codec":1)"),
       "'compression-codec' of blob 0 is wrong"},
      {"properties no object", blob(std::string(kGoodBlob) + R"(,"properties":[])"),
       "'properties' of blob 0 is wrong: expected an object"},
      {"property no string", blob(std::string(kGoodBlob) + R"(,"properties":{"cardinality":1})"),
       "'cardinality' of blob 0 is wrong: expected a string, found number"},
      {"file property no string", R"({"blobs":[],"properties":{"created-by":null}})",
       "'created-by' of the file is wrong"},
  };
  for (const auto& test : cases) {
    FileParts parts;
    parts.blobs = "abc";
    parts.payload = test.payload;
    const auto footer = Parse(Build(parts));
    ASSERT_FALSE(footer.has_value()) << test.what;
    EXPECT_EQ(footer.error().kind(), ErrorKind::kCorrupt) << test.what;
    EXPECT_THAT(footer.error().message(), HasSubstr(test.message)) << test.what;
  }
  FileParts parts;
  parts.blobs = "abc";
  parts.payload = blob(kGoodBlob);
  EXPECT_TRUE(Parse(Build(parts)).has_value()) << "the cases differ from a good footer by what they name";
}

TEST(PuffinFooterTest, CheckHeaderLooksForTheMagic) {
  EXPECT_TRUE(CheckHeader(AsBytes("PFA1...")).has_value());
  EXPECT_FALSE(CheckHeader(AsBytes("PFA")).has_value());
  const auto parquet = CheckHeader(AsBytes("PAR1"));
  ASSERT_FALSE(parquet.has_value());
  EXPECT_THAT(parquet.error().message(),
              HasSubstr("header magic mismatch: at byte 0, expected 0x50464131, found 0x50415231"));
}

TEST(PuffinFooterTest, DecompressBlob_IsBoundedByTheCaller) {
  BlobMetadata blob;
  const std::string text(100'000, 'a');
  const std::string stored = Lz4(text);
  blob.length = stored.size();
  blob.compression_codec = "lz4";
  EXPECT_EQ(AsText(DecompressBlob(blob, AsBytes(stored), 100'000).value()), text);
  const auto bounded = DecompressBlob(blob, AsBytes(stored), 99'999);
  ASSERT_FALSE(bounded.has_value());
  EXPECT_THAT(bounded.error().message(), HasSubstr("more than 99999 bytes"));
  EXPECT_EQ(DecompressBlob(blob, AsBytes(stored).first(9)).error().kind(), ErrorKind::kInvalidArgument);
}

TEST(PuffinFooterTest, EveryFooterOfThePeerIsRead) {
  int files = 0;
  const std::filesystem::path root = DELENDA_FIXTURES "/iceberg";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".puffin") continue;
    SCOPED_TRACE(entry.path());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    EXPECT_TRUE(CheckHeader(AsBytes(file)).has_value());
    const auto footer = Parse(file);
    ASSERT_TRUE(footer.has_value()) << footer.error().ToString();
    ASSERT_FALSE(footer->blobs.empty());
    EXPECT_THAT(footer->properties.at(std::string(kCreatedBy)), HasSubstr("Iceberg"));
    for (const BlobMetadata& blob : footer->blobs) {
      EXPECT_EQ(blob.type, kDeletionVectorV1);
      EXPECT_EQ(blob.snapshot_id, -1);
      EXPECT_EQ(blob.sequence_number, -1);
      EXPECT_EQ(blob.compression_codec, std::nullopt);
      EXPECT_TRUE(blob.properties.contains(kReferencedDataFile));
      EXPECT_TRUE(blob.properties.contains(kCardinality));
    }
    ++files;
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace delenda::puffin
