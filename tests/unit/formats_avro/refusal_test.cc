// What the reader refuses, and how it says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <libdeflate.h>

#include "avro_text.h"
#include "delenda/formats/avro/reader.h"

namespace delenda::avro {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string name;
  std::string file;
  ErrorKind kind;
  std::string message;
};

Result<Columns> ReadEverything(std::string_view file, const ReadOptions& options = {}) {
  auto reader = Reader::Open(ToBytes(file), options);
  if (!reader) return std::unexpected(reader.error());
  return reader->ReadAll(Projection::Everything());
}

const std::string kInt = OneField("\"int\"");
const std::string kString = OneField("\"string\"");
const std::string kLongs = OneField(R"({"type":"array","items":"long"})");

std::string Metadata(std::initializer_list<std::pair<std::string, std::string>> entries) {
  std::string text = std::string("Obj\x01", 4) + Number(std::ssize(entries));
  for (const auto& [key, value] : entries) text += String(key) + String(value);
  return text + Number(0) + kSync;
}

TEST(AvroRefusal, BrokenFiles) {
  const std::string overlong(10, '\xff');
  // One literal of two bytes, then a checksum of something else.
  const std::string bad_crc = std::string("\x02\x04", 2) + Number(1) + Number(2) + "\x01\x02\x03\x04";
  const Case kCases[] = {
      {"empty", "", ErrorKind::kCorrupt, "bytes end inside the Avro magic"},
      {"magic", "Obj\x02xxxxx", ErrorKind::kCorrupt, "expected magic 4f626a01, found 4f626a02"},
      {"no schema", Metadata({{"a", "b"}}), ErrorKind::kCorrupt, "has no avro.schema"},
      {"two schemas", Metadata({{"avro.schema", kInt}, {"avro.schema", kString}}), ErrorKind::kCorrupt, "occurs twice"},
      {"key text", Metadata({{"\xff", "b"}}), ErrorKind::kCorrupt, "is not valid UTF-8"},
      {"metadata count", std::string("Obj\x01", 4) + Number(INT64_MAX), ErrorKind::kCorrupt, "inside a metadata key"},
      {"metadata least count", std::string("Obj\x01", 4) + Number(INT64_MIN) + Number(0), ErrorKind::kCorrupt,
       "out of range"},
      {"metadata length", std::string("Obj\x01", 4) + Number(1) + Number(-3), ErrorKind::kCorrupt,
       "negative length -3"},
      {"metadata huge", std::string("Obj\x01", 4) + Number(1) + Number(INT64_MAX), ErrorKind::kCorrupt,
       "bytes end inside"},
      {"codec", Header(kInt, "lzma"), ErrorKind::kNotSupported, "codec \"lzma\""},
      {"root", Header("\"int\""), ErrorKind::kNotSupported, "only records"},
      {"sync", Header(kInt) + Block(1, Number(1), "0123456789abcdeX"), ErrorKind::kCorrupt,
       "expected 30313233343536373839616263646566, found 30313233343536373839616263646558"},
      {"negative rows", Header(kInt) + Block(-1, Number(1)), ErrorKind::kCorrupt, "record count is negative"},
      {"absurd rows", Header(kInt) + Block(INT64_MAX, Number(1)), ErrorKind::kCorrupt, "do not fit in 1 bytes"},
      {"absurd rows of nothing", Header(OneField("\"null\"")) + Block(INT64_MAX, ""), ErrorKind::kNotSupported,
       "limit"},
      {"absurd rows of no field", Header(R"({"type":"record","name":"r","fields":[]})") + Block(INT64_MAX, ""),
       ErrorKind::kNotSupported, "limit"},
      {"negative size", Header(kInt) + Number(1) + Number(-5), ErrorKind::kCorrupt, "byte size is negative"},
      {"absurd size", Header(kInt) + Number(1) + Number(INT64_MAX) + kSync, ErrorKind::kCorrupt, "inside the data"},
      {"bytes left", Header(kInt) + Block(1, Number(1) + Number(2)), ErrorKind::kCorrupt,
       "1 bytes are left behind the last of 1 records"},
      {"record missing", Header(kInt) + Block(2, Number(300)), ErrorKind::kCorrupt, "over the end"},
      {"overlong number", Header(OneField("\"long\"")) + Block(1, overlong + "\x01"), ErrorKind::kCorrupt,
       "longer than 64 bits at inflated byte 0, field \"f\" (record 0)"},
      {"tenth byte", Header(OneField("\"long\"")) + Block(1, overlong.substr(1) + "\x02"), ErrorKind::kCorrupt,
       "longer than 64 bits"},
      {"wide int", Header(kInt) + Block(1, Number(int64_t{1} << 31)), ErrorKind::kCorrupt, "does not fit in 32 bits"},
      {"boolean", Header(OneField("\"boolean\"")) + Block(1, "\x02"), ErrorKind::kCorrupt, "neither 0 nor 1"},
      {"UTF-8", Header(kString) + Block(2, String("ok") + String("\xc3")), ErrorKind::kCorrupt,
       "not valid UTF-8 at inflated byte 4, field \"f\" (record 1)"},
      {"long UTF-8", Header(kString) + Block(1, String(std::string(40, 'a') + "\xed\xa0\x80")), ErrorKind::kCorrupt,
       "not valid UTF-8"},
      {"negative length", Header(kString) + Block(1, Number(-1)), ErrorKind::kCorrupt, "negative length"},
      {"absurd length", Header(kString) + Block(1, Number(INT64_MAX)), ErrorKind::kCorrupt, "over the end"},
      {"branch", Header(OneField(R"(["null","int"])")) + Block(1, Number(2) + Number(1)), ErrorKind::kCorrupt,
       "branch number is out of range at inflated byte 0, field \"f\""},
      {"negative branch", Header(OneField(R"(["null","int"])")) + Block(1, Number(-1) + Number(1)), ErrorKind::kCorrupt,
       "branch number"},
      {"symbol", Header(OneField(R"({"type":"enum","name":"e","symbols":["A"]})")) + Block(1, Number(1)),
       ErrorKind::kCorrupt, "enum's number"},
      {"fixed", Header(OneField(R"({"type":"fixed","name":"x","size":2147483647})")) + Block(1, "abc"),
       ErrorKind::kCorrupt, "do not fit"},
      {"double", Header(OneField("\"double\"")) + Block(1, "abc"), ErrorKind::kCorrupt, "do not fit"},
      {"array count", Header(kLongs) + Block(1, Number(INT64_MAX)), ErrorKind::kCorrupt, "over the end"},
      {"array least count", Header(kLongs) + Block(1, Number(INT64_MIN) + Number(0)), ErrorKind::kCorrupt,
       "count is out of range"},
      {"array size", Header(kLongs) + Block(1, Number(-1) + Number(2) + Number(5) + Number(0)), ErrorKind::kCorrupt,
       "where its byte size says"},
      {"array size beyond", Header(kLongs) + Block(1, Number(-1) + Number(200) + Number(5) + Number(0)),
       ErrorKind::kCorrupt, "over the end"},
      {"array of nothing",
       Header(OneField(R"({"type":"array","items":"null"})")) + Block(1, Number(INT64_MAX) + Number(0)),
       ErrorKind::kNotSupported, "limit"},
      {"two ids", Header(R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","field-id":1},
                 {"name":"b","type":"int","field-id":1}]})"),
       ErrorKind::kCorrupt, "two fields with id 1"},
      {"deflate", Header(kInt, "deflate") + Block(1, "\xff\xff\xff"), ErrorKind::kCorrupt, "not valid deflate data"},
      {"zstandard", Header(kInt, "zstandard") + Block(1, "\xff\xff\xff"), ErrorKind::kCorrupt, "not valid zstandard"},
      {"empty zstandard", Header(kInt, "zstandard") + Block(1, ""), ErrorKind::kCorrupt, "zstandard"},
      {"snappy", Header(kInt, "snappy") + Block(1, "\x01\x02\x03"), ErrorKind::kCorrupt, "has no checksum"},
      {"snappy length", Header(kInt, "snappy") + Block(1, "\xff\xff\xff\x7f\x01\x02\x03\x04"), ErrorKind::kCorrupt,
       "claims to hold 268435455"},
      {"snappy checksum", Header(kInt, "snappy") + Block(1, bad_crc), ErrorKind::kCorrupt,
       "expected 0x01020304, found"},
  };
  for (const Case& test : kCases) {
    SCOPED_TRACE(test.name);
    auto read = ReadEverything(test.file);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind(), test.kind) << read.error().ToString();
    EXPECT_THAT(read.error().message(), HasSubstr(test.message));
    // Nothing that is skipped may hang or crash either; most of these files then give an error too.
    auto reader = Reader::Open(ToBytes(test.file));
    if (reader) (void)reader->ReadAll(Projection{});
  }
}

TEST(AvroRefusal, NamesTheBlockAndStaysThere) {
  const std::string start = Header(kInt) + Block(1, Number(1));
  auto reader = Reader::Open(ToBytes(start + Block(1, Number(1), std::string(16, 'x'))));
  ASSERT_TRUE(reader);
  auto columns = reader->Prepare(Projection::Everything());
  EXPECT_TRUE(*reader->NextBlock(*columns));
  for (int i = 0; i < 2; ++i) {
    auto refused = reader->NextBlock(*columns);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr(fmt::format("Avro block at byte {}: sync marker at byte {}",
                                                                 start.size(), start.size() + 3)));
    EXPECT_EQ(columns->rows(), 0u);
  }
}

// Cut at any byte a file is refused, except exactly between two blocks: the format has no count of them.
TEST(AvroRefusal, FilesCutAnywhere) {
  SchemaCache schemas;
  const ReadOptions options = {.schemas = &schemas};
  for (const std::string codec : {"null", "deflate", "snappy", "zstandard"}) {
    SCOPED_TRACE(codec);
    const std::string whole = ReadTextFile(DataPath("data/plain-" + codec + ".avro"));
    std::string marker;
    for (int i = 200; i < 216; ++i) marker += static_cast<char>(i);
    size_t boundaries = 0;
    for (size_t size = 0; size < whole.size(); ++size) {
      const std::string cut = whole.substr(0, size);
      auto read = ReadEverything(cut, options);
      if (cut.ends_with(marker)) {
        ++boundaries;
        ASSERT_TRUE(read) << size << " " << read.error().ToString();
        EXPECT_LT(read->rows(), 40u);
      } else {
        ASSERT_FALSE(read) << size;
        EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt) << size;
      }
    }
    EXPECT_GT(boundaries, 3u);
  }
}

// Any byte changed: an error or other values, never a fault.
TEST(AvroRefusal, FilesWithAnyByteChanged) {
  SchemaCache schemas;
  const ReadOptions options = {.schemas = &schemas};
  const Projection some = {.fields = {{1, "id", {}}, {11, "place", {{13, "codes", {}}}}, {27, "tail", {}}},
                           .everything = false};
  constexpr int kFlips[] = {0xff, 0x01, 0x80};
  for (const char* name : {"data/plain-null.avro", "data/skipped.avro", "data/plain-snappy.avro"}) {
    std::string bytes = ReadTextFile(DataPath(name));
    for (size_t at = 0; at < bytes.size(); ++at) {
      const char before = bytes[at];
      bytes[at] = static_cast<char>(before ^ kFlips[at % 3]);
      auto reader = Reader::Open(ToBytes(bytes), options);
      if (reader) (void)reader->ReadAll(at % 2 == 0 ? Projection::Everything() : some);
      bytes[at] = before;
    }
  }
}

std::string Deflated(const std::string& text) {
  auto* compressor = libdeflate_alloc_compressor(9);
  std::string out(libdeflate_deflate_compress_bound(compressor, text.size()), '\0');
  out.resize(libdeflate_deflate_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

TEST(AvroRefusal, BlocksThatInflateBeyondTheLimit) {
  const std::string row = String(std::string(1'000'000, 'a'));
  const std::string file = Header(kString, "deflate") + Block(1, Deflated(row));
  EXPECT_TRUE(ReadEverything(file));
  ReadOptions options;
  options.max_block_bytes = row.size();
  EXPECT_TRUE(ReadEverything(file, options));
  options.max_block_bytes = row.size() - 1;
  auto refused = ReadEverything(file, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("limit of 1000002 bytes"));
}

// A null record of one byte makes a row in each column below it.
TEST(AvroRefusal, BatchesOfMoreValuesThanTheLimit) {
  std::string fields;
  for (int i = 0; i < 100; ++i) fields += fmt::format(R"({}{{"name":"f{}","type":"int"}})", i == 0 ? "" : ",", i);
  const std::string schema = OneField(R"(["null",{"type":"record","name":"in","fields":[)" + fields + "]}]");
  const std::string file = Header(schema) + Block(1000, std::string(1000, '\0'));
  ReadOptions options;
  options.max_cells = 101'000;
  EXPECT_TRUE(ReadEverything(file, options));
  options.max_cells = 100'999;
  auto refused = ReadEverything(file, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
}

// 2^24 ways through a schema of 25 records: neither compiling nor stepping over may walk them all.
TEST(AvroRefusal, SchemasThatDoubleAreNoWork) {
  for (const std::string leaf : {"\"null\"", "\"int\"", "[\"null\",\"int\",\"string\"]"}) {
    std::string type = R"({"type":"record","name":"r0","fields":[{"name":"x","type":)" + leaf + "}]}";
    for (int i = 1; i < 25; ++i) {
      type = fmt::format(
          R"({{"type":"record","name":"r{}","fields":[{{"name":"a","type":{}}},{{"name":"b","type":"r{}"}}]}})", i,
          type, i - 1);
    }
    const std::string file = Header(OneField(type)) + Block(1, std::string(100, '\0'));
    auto reader = Reader::Open(ToBytes(file));
    ASSERT_TRUE(reader) << reader.error().ToString();
    EXPECT_FALSE(reader->ReadAll(Projection{}));
    EXPECT_FALSE(ReadEverything(file));
  }
}

TEST(AvroRefusal, RecordsThatContainThemselvesWithoutEnd) {
  const std::string schema = R"({"type":"record","name":"r","fields":[
    {"name":"a","type":"r"},{"name":"b","type":{"type":"array","items":"r"}}]})";
  const std::string file = Header(schema) + Block(1, std::string(100, '\x02'));
  auto reader = Reader::Open(ToBytes(file));
  ASSERT_TRUE(reader);
  auto skipped = reader->ReadAll(Projection{});
  ASSERT_FALSE(skipped);
  EXPECT_THAT(skipped.error().message(), HasSubstr("deeper than 64"));
  EXPECT_FALSE(ReadEverything(file));
}

TEST(AvroRefusal, AFieldWantedTwice) {
  auto reader = Reader::Open(ToBytes(Header(kInt)));
  ASSERT_TRUE(reader);
  auto columns = reader->Prepare({.fields = {{1, "f", {}}, {1, "f", {}}}, .everything = false});
  ASSERT_FALSE(columns);
  EXPECT_EQ(columns.error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace delenda::avro
