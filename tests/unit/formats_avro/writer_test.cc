// Writing Avro files: known bytes from the specification, and what the reader makes of whole files.
#include "delenda/formats/avro/writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "delenda/formats/avro/encoder.h"
#include "delenda/formats/avro/reader.h"

namespace delenda::avro {
namespace {

constexpr std::string_view kPairSchema =
    R"({"type":"record","name":"r","fields":[{"name":"id","type":"long","field-id":1},)"
    R"({"name":"text","type":["null","string"],"default":null,"field-id":2}]})";

std::string Hex(ByteView bytes) {
  std::string hex;
  for (const std::byte byte : bytes) hex += fmt::format("{:02x}", std::to_integer<int>(byte));
  return hex;
}

SyncMarker CountingSync() {
  SyncMarker sync;
  for (size_t i = 0; i < sync.size(); ++i) sync[i] = static_cast<std::byte>(0xa0 + i);
  return sync;
}

// Avro 1.12 specification, "Binary Encoding": the examples of its tables and text.
TEST(AvroEncoder, WritesTheBytesOfTheSpecification) {
  struct Case {
    const char* name;
    void (*write)(Encoder&);
    const char* hex;
  };
  const Case cases[] = {
      {"0", [](Encoder& e) { e.Int(0); }, "00"},
      {"-1", [](Encoder& e) { e.Int(-1); }, "01"},
      {"1", [](Encoder& e) { e.Int(1); }, "02"},
      {"-2", [](Encoder& e) { e.Int(-2); }, "03"},
      {"2", [](Encoder& e) { e.Int(2); }, "04"},
      {"-64", [](Encoder& e) { e.Int(-64); }, "7f"},
      {"64", [](Encoder& e) { e.Int(64); }, "8001"},
      {"most", [](Encoder& e) { e.Int(std::numeric_limits<int64_t>::max()); }, "feffffffffffffffff01"},
      {"least", [](Encoder& e) { e.Int(std::numeric_limits<int64_t>::min()); }, "ffffffffffffffffff01"},
      {"foo", [](Encoder& e) { e.Text("foo"); }, "06666f6f"},
      {"record a=27 b=foo", [](Encoder& e) { e.Int(27), e.Text("foo"); }, "3606666f6f"},
      {"array 3, 27", [](Encoder& e) { e.BeginItems(2), e.Int(3), e.Int(27), e.EndItems(); }, "04063600"},
      {"empty array", [](Encoder& e) { e.BeginItems(0), e.EndItems(); }, "00"},
      {"union null", [](Encoder& e) { e.Null(); }, "00"},
      {"union a", [](Encoder& e) { e.Branch(1), e.Text("a"); }, "020261"},
      {"true", [](Encoder& e) { e.Boolean(true); }, "01"},
      {"1.0f", [](Encoder& e) { e.Float(1.0F); }, "0000803f"},
      {"-2.0", [](Encoder& e) { e.Double(-2.0); }, "00000000000000c0"},
      {"fixed", [](Encoder& e) { e.Fixed("\x01\x02"); }, "0102"},
  };
  for (const Case& test : cases) {
    Encoder encoder;
    test.write(encoder);
    EXPECT_EQ(Hex(encoder.view()), test.hex) << test.name;
  }
}

// "Object Container Files": magic, metadata map, marker, and per block count, size, data, marker.
TEST(AvroWriter, WritesTheContainerByteByByte) {
  auto writer = Writer::Make(R"("long")", {{"k", "v"}}, {.codec = Codec::kNull, .sync = CountingSync()});
  ASSERT_TRUE(writer) << writer.error().ToString();
  writer->row().Int(1);
  ASSERT_TRUE(writer->EndRow());
  writer->row().Int(-64);
  ASSERT_TRUE(writer->EndRow());
  EXPECT_EQ(writer->rows(), 2U);
  const auto file = std::move(*writer).Finish();
  ASSERT_TRUE(file);
  const std::string sync = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";
  EXPECT_EQ(Hex(*file),
            "4f626a01"  // Obj 1
            "06"        // three pairs
            "166176726f2e736368656d61"
            "0c226c6f6e6722"  // avro.schema "long"
            "146176726f2e636f646563"
            "086e756c6c"  // avro.codec null
            "026b"
            "0276"  // k v
            "00" +
                sync +  //
                "04"
                "04"
                "027f" +
                sync);  // two rows in two bytes
}

TEST(AvroWriter, EveryCodecAndBlockSizeReadsBack) {
  for (const Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kSnappy, Codec::kZstandard}) {
    for (const size_t block_bytes : {size_t{1}, size_t{700}, size_t{64'000}}) {
      SCOPED_TRACE(fmt::format("codec {}, blocks of {}", static_cast<int>(codec), block_bytes));
      auto writer = Writer::Make(kPairSchema, {}, {.codec = codec, .block_bytes = block_bytes});
      ASSERT_TRUE(writer);
      constexpr int64_t kRows = 500;
      for (int64_t i = 0; i < kRows; ++i) {
        writer->row().Int(i * 7919 - 1000);
        if (i % 3 == 0) {
          writer->row().Null();
        } else {
          writer->row().Branch(1);
          writer->row().Text("row " + std::to_string(i));
        }
        ASSERT_TRUE(writer->EndRow());
      }
      auto file = std::move(*writer).Finish();
      ASSERT_TRUE(file);
      auto reader = Reader::Open(*std::move(file));
      ASSERT_TRUE(reader) << reader.error().ToString();
      auto columns = reader->Prepare(Projection::Everything());
      ASSERT_TRUE(columns);
      int64_t seen = 0;
      size_t blocks = 0;
      for (;; ++blocks) {
        const auto more = reader->NextBlock(*columns);
        ASSERT_TRUE(more) << more.error().ToString();
        if (!*more) break;
        const Column* id = *columns->Required({1}, Storage::kInt);
        const Column* text = *columns->Required({2}, Storage::kText);
        for (size_t row = 0; row < columns->rows(); ++row, ++seen) {
          ASSERT_EQ(id->Int(row), seen * 7919 - 1000);
          ASSERT_EQ(text->IsNull(row), seen % 3 == 0);
          ASSERT_EQ(text->Text(row), seen % 3 == 0 ? "" : "row " + std::to_string(seen));
        }
      }
      EXPECT_EQ(seen, kRows);
      if (block_bytes == 1) {
        EXPECT_EQ(blocks, static_cast<size_t>(kRows));
      } else if (block_bytes == 700) {
        EXPECT_GT(blocks, 5U);
      } else {
        EXPECT_EQ(blocks, 1U);
      }
    }
  }
}

TEST(AvroWriter, AFileWithoutRowsHasNoBlock) {
  auto writer = Writer::Make(kPairSchema, {}, {.codec = Codec::kDeflate, .sync = CountingSync()});
  ASSERT_TRUE(writer);
  const size_t header = writer->size();
  auto file = std::move(*writer).Finish();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), header);
  auto reader = Reader::Open(*std::move(file));
  ASSERT_TRUE(reader);
  const auto columns = reader->ReadAll(Projection::Everything());
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->rows(), 0U);
}

TEST(AvroWriter, EveryFileHasAnotherSyncMarker) {
  std::vector<Bytes> files;
  for (int i = 0; i < 2; ++i) {
    auto writer = Writer::Make(kPairSchema, {}, {});
    ASSERT_TRUE(writer);
    files.push_back(*std::move(*writer).Finish());
  }
  EXPECT_NE(files[0], files[1]);
}

TEST(AvroWriter, RefusesHeadersThatNoReaderTakes) {
  EXPECT_EQ(Writer::Make("{", {}, {}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Writer::Make(R"({"type":"nonsense"})", {}, {}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Writer::Make(kPairSchema, {{"avro.codec", "null"}}, {}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Writer::Make(kPairSchema, {{"\xff", ""}}, {}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Writer::Make(kPairSchema, {}, {.codec = Codec::kDeflate, .level = 13}).error().kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(Writer::Make(kPairSchema, {}, {.codec = Codec::kZstandard, .level = 0}).error().kind(),
            ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace delenda::avro
