#include "delenda/formats/avro/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "avro_text.h"
#include "delenda/formats/avro/codec.h"

namespace delenda::avro {
namespace {

using ::testing::HasSubstr;

Columns MustRead(Reader& reader, const Projection& projection) {
  auto columns = reader.ReadAll(projection);
  EXPECT_TRUE(columns) << columns.error().ToString();
  return std::move(*columns);
}

Reader MustOpen(Bytes file) {
  auto reader = Reader::Open(std::move(file));
  EXPECT_TRUE(reader) << reader.error().ToString();
  return std::move(*reader);
}

// Every manifest, manifest list and data file of the fixtures, written by Iceberg Java and PyIceberg.
TEST(AvroReader, ReadsAllFixturesAsFastavroDoes) {
  std::istringstream lines(ReadTextFile(DataPath("expected_containers.tsv")));
  size_t files = 0;
  size_t rows = 0;
  std::string crc;
  std::string path;
  while (lines >> rows >> crc >> path) {
    SCOPED_TRACE(path);
    Reader reader = MustOpen(ReadBytes(std::string(DELENDA_FIXTURES) + "/" + path));
    const Columns columns = MustRead(reader, Projection::Everything());
    EXPECT_EQ(columns.rows(), rows);
    const std::string text = AllText(columns);
    EXPECT_EQ(fmt::format("{:08x}", Crc32(AsBytes(text))), crc) << text.substr(0, 2000);
    ++files;
  }
  EXPECT_GT(files, 600u);
}

TEST(AvroReader, ReadsEveryCodec) {
  const std::string expected = ReadTextFile(DataPath("data/plain.txt"));
  for (const std::string codec : {"null", "deflate", "snappy", "zstandard"}) {
    SCOPED_TRACE(codec);
    Reader reader = MustOpen(ReadBytes(DataPath("data/plain-" + codec + ".avro")));
    EXPECT_EQ(*reader.FindMetadata("avro.codec"), codec);
    EXPECT_EQ(AllText(MustRead(reader, Projection::Everything())), expected);
  }
}

TEST(AvroReader, ReadsBlockByBlockIntoTheSameColumns) {
  for (const std::string codec : {"null", "deflate", "snappy", "zstandard"}) {
    SCOPED_TRACE(codec);
    Reader reader = MustOpen(ReadBytes(DataPath("data/plain-" + codec + ".avro")));
    auto columns = reader.Prepare(Projection::Everything());
    ASSERT_TRUE(columns);
    const Column* id = *columns->Required({1}, Storage::kInt);
    std::string text;
    size_t blocks = 0;
    std::vector<std::shared_ptr<const void>> kept;
    std::string_view kept_text;
    for (;;) {
      auto more = reader.NextBlock(*columns);
      ASSERT_TRUE(more) << more.error().ToString();
      if (!*more) break;
      EXPECT_EQ(id->size(), columns->rows());
      text += AllText(*columns);
      if (++blocks == 1) {
        kept = columns->buffers();
        kept_text = (*columns->Required({27}, Storage::kText))->Text(0);
      }
    }
    EXPECT_GT(blocks, 3u);
    EXPECT_EQ(columns->rows(), 0u);
    EXPECT_EQ(text, ReadTextFile(DataPath("data/plain.txt")));
    // Whoever holds the buffers may go on using the texts: the block after did not overwrite them.
    EXPECT_EQ(kept_text, "row 0");
    EXPECT_FALSE(*reader.NextBlock(*columns));
  }
}

TEST(AvroReader, DecodesFoundBlocksInAnyOrder) {
  for (const std::string codec : {"null", "deflate", "snappy", "zstandard"}) {
    SCOPED_TRACE(codec);
    const Reader reader = MustOpen(ReadBytes(DataPath("data/plain-" + codec + ".avro")));
    const BlockList found = reader.FindBlocks();
    EXPECT_FALSE(found.broken);
    ASSERT_GT(found.blocks.size(), 3u);
    auto columns = reader.Prepare(Projection::Everything());
    ASSERT_TRUE(columns);
    Inflater inflater = reader.MakeInflater();
    std::vector<std::string> texts(found.blocks.size());
    for (size_t i = found.blocks.size(); i-- > 0;) {
      const auto decoded = reader.DecodeBlock(found.blocks[i], *columns, inflater);
      ASSERT_TRUE(decoded) << decoded.error().ToString();
      EXPECT_EQ(columns->rows(), found.blocks[i].rows);
      texts[i] = AllText(*columns);
    }
    std::string text;
    for (const std::string& block : texts) text += block;
    EXPECT_EQ(text, ReadTextFile(DataPath("data/plain.txt")));
  }
}

TEST(AvroReader, FindsTheBlocksBeforeABrokenOne) {
  Bytes bytes = ReadBytes(DataPath("data/plain-deflate.avro"));
  const BlockList whole = MustOpen(bytes).FindBlocks();
  ASSERT_GT(whole.blocks.size(), 3u);
  bytes[whole.blocks[2].end - 1] ^= std::byte{1};
  Reader reader = MustOpen(bytes);
  const BlockList found = reader.FindBlocks();
  EXPECT_EQ(found.blocks.size(), 2u);
  ASSERT_TRUE(found.broken);
  // The error that NextBlock has there.
  auto columns = reader.Prepare(Projection{});
  ASSERT_TRUE(columns);
  ASSERT_TRUE(reader.NextBlock(*columns) && reader.NextBlock(*columns));
  const auto next = reader.NextBlock(*columns);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().ToString(), found.broken->ToString());
}

TEST(AvroReader, KeepsOnlyTheWantedKeysOfMaps) {
  std::vector<std::string> manifests;
  for (const char* table : {"mor_dv", "schema_evo", "row_lineage"}) {
    for (const auto& file :
         std::filesystem::directory_iterator(std::string(DELENDA_FIXTURES) + "/iceberg/" + table + "/metadata")) {
      const std::string name = file.path().filename();
      if (name.ends_with(".avro") && !name.starts_with("snap-")) manifests.push_back(file.path());
    }
  }
  ASSERT_GT(manifests.size(), 10u);
  for (const auto& manifest : manifests) {
    SCOPED_TRACE(manifest);
    const auto read = [&](const std::vector<int32_t>& only) {
      Projection projection;
      projection.fields = {{2,
                            "data_file",
                            {{.id = 109, .name = "value_counts", .fields = {}, .only_keys = only},
                             {.id = 125, .name = "lower_bounds", .fields = {}, .only_keys = only},
                             {.id = 103, .name = "record_count"}}}};
      auto columns = MustOpen(ReadBytes(manifest)).ReadAll(projection);
      EXPECT_TRUE(columns) << columns.error().ToString();
      return *std::move(columns);
    };
    const Columns all = read({}), some = read({2, 3});
    ASSERT_EQ(all.rows(), some.rows());
    const auto pairs = [](const Columns& columns, size_t row, int32_t map, bool filtered) {
      const Column& list = *columns.fields()[0]->Child(map);
      std::string text;
      if (list.absent()) return text;
      const Column *key = list.Child(map == 109 ? 119 : 126), *value = list.Child(map == 109 ? 120 : 127);
      for (uint32_t i = list.Begin(row); i < list.End(row); ++i) {
        if (filtered && key->Int(i) != 2 && key->Int(i) != 3) continue;
        text += fmt::format("{}:{} ", key->Int(i),
                            map == 109 ? std::to_string(value->Int(i)) : std::string(value->Text(i)));
      }
      return text;
    };
    for (size_t row = 0; row < all.rows(); ++row) {
      for (const int32_t map : {109, 125}) EXPECT_EQ(pairs(some, row, map, false), pairs(all, row, map, true));
      EXPECT_EQ(some.fields()[0]->Child(103)->Int(row), all.fields()[0]->Child(103)->Int(row));
    }
  }
}

Projection PlainFields() {
  Projection projection;
  Reader reader = MustOpen(ReadBytes(DataPath("data/plain-null.avro")));
  for (const Field& field : reader.schema()->root().fields) projection.fields.push_back({field.id, field.name, {}});
  return projection;
}

TEST(AvroReader, StepsOverWhatIsNotWanted) {
  const std::string expected = ReadTextFile(DataPath("data/plain.txt"));
  Reader reader = MustOpen(ReadBytes(DataPath("data/skipped.avro")));
  EXPECT_EQ(AllText(MustRead(reader, PlainFields())), expected);

  // Each field alone: everything else is stepped over, whatever stands beside it.
  std::vector<std::string> rows;
  std::istringstream lines(expected);
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  Reader all_reader = MustOpen(ReadBytes(DataPath("data/plain-null.avro")));
  const Columns all = MustRead(all_reader, Projection::Everything());
  for (const Column* column : all.fields()) {
    SCOPED_TRACE(column->name());
    for (const char* file : {"data/plain-deflate.avro", "data/skipped.avro"}) {
      Reader one = MustOpen(ReadBytes(DataPath(file)));
      const Columns alone = MustRead(one, {.fields = {{column->id(), "", {}}}, .everything = false});
      ASSERT_EQ(alone.rows(), all.rows());
      for (size_t row = 0; row < all.rows(); ++row) {
        EXPECT_EQ(RowText(*alone.fields()[0], row), RowText(*column, row));
      }
    }
  }
  Reader count = MustOpen(ReadBytes(DataPath("data/skipped.avro")));
  EXPECT_EQ(MustRead(count, Projection{}).rows(), rows.size());
}

TEST(AvroReader, UnionsOfSeveralTypesAndRecordsInsideThemselvesCannotBeWanted) {
  for (const int32_t id : {31, 32, 33, 34}) {
    Reader reader = MustOpen(ReadBytes(DataPath("data/skipped.avro")));
    auto columns = reader.Prepare({.fields = {{id, "", {}}}, .everything = false});
    ASSERT_FALSE(columns) << id;
    EXPECT_EQ(columns.error().kind(), ErrorKind::kNotSupported);
  }
}

TEST(AvroReader, FindsColumnsByPathOfIds) {
  Reader reader = MustOpen(ReadBytes(DataPath("data/plain-null.avro")));
  const Projection projection = {.fields = {{27, "tail", {}},
                                            {11, "place", {{15, "day", {}}, {99, "lost", {{98, "deep", {}}}}}},
                                            {17, "sizes", {{19, "value", {}}}},
                                            {20, "tags", {}},
                                            {23, "matrix", {}},
                                            {97, "missing", {}}},
                                 .everything = false};
  const Columns columns = MustRead(reader, projection);
  EXPECT_EQ((*columns.Required({11, 15}, Storage::kInt))->type()->logical, "date");
  EXPECT_EQ((*columns.Required({17, 19}, Storage::kInt))->type()->kind, Kind::kLong);
  EXPECT_EQ((*columns.Required({20, 22}, Storage::kText))->name(), "value");
  EXPECT_EQ((*columns.Required({20, 21}, Storage::kText))->name(), "key");
  EXPECT_EQ((*columns.Required({23, 24, 25}, Storage::kReal))->name(), "element");
  EXPECT_EQ(columns.fields()[0]->name(), "tail");

  const Column* missing = *columns.Optional({97}, Storage::kText);
  EXPECT_TRUE(missing->absent());
  EXPECT_TRUE(missing->IsNull(3));
  EXPECT_TRUE((*columns.Optional({11, 99, 98}, Storage::kInt))->absent());
  EXPECT_TRUE((*columns.Optional({11, 99, 98, 5}, Storage::kInt))->absent());
  const Column* lost = *columns.Optional({11, 99}, Storage::kList);
  EXPECT_EQ(lost->Begin(2), lost->End(2));

  const std::tuple<Result<const Column*>, ErrorKind, std::string> kRefused[] = {
      {columns.Required({97}, Storage::kText), ErrorKind::kCorrupt, "lacks the required field missing (id 97)"},
      {columns.Required({11, 99, 98}, Storage::kInt), ErrorKind::kCorrupt,
       "lacks the required field place.lost.deep (id 11.99.98)"},
      {columns.Required({27}, Storage::kInt), ErrorKind::kCorrupt,
       "field tail (id 27) is of type string, expected int values"},
      {columns.Optional({20, 21}, Storage::kInt), ErrorKind::kCorrupt, "is of type string, expected int values"},
      {columns.Required({1}, Storage::kInt), ErrorKind::kInternal, "was not asked for"},
      {columns.Optional({11, 12}, Storage::kText), ErrorKind::kInternal, "was not asked for"},
      {columns.Required({}, Storage::kText), ErrorKind::kInternal, "empty path"},
  };
  for (const auto& [found, kind, message] : kRefused) {
    ASSERT_FALSE(found) << message;
    EXPECT_EQ(found.error().kind(), kind);
    EXPECT_THAT(found.error().message(), HasSubstr(message));
  }
}

TEST(AvroReader, FallsBackToNamesWhereTheWriterGaveNoIds) {
  const std::string schema = R"({"type":"record","name":"e","fields":[{"name":"status","type":"int"},
    {"name":"file","type":{"type":"record","name":"f","fields":[{"name":"path","type":"string"},
    {"name":"splits","type":["null",{"type":"array","items":"long"}]}]}}]})";
  Reader reader = MustOpen(
      ToBytes(Header(schema) + Block(1, Number(1) + String("a/b") + Number(1) + Number(1) + Number(4) + Number(0))));
  const Columns columns = MustRead(
      reader, {.fields = {{0, "status", {}},
                          {2, "file", {{100, "path", {}}, {132, "splits", {{133, "element", {}}}}, {103, "rows", {}}}}},
               .everything = false});
  EXPECT_EQ((*columns.Required({0}, Storage::kInt))->Int(0), 1);
  EXPECT_EQ((*columns.Required({2, 100}, Storage::kText))->Text(0), "a/b");
  EXPECT_EQ((*columns.Required({2, 132, 133}, Storage::kInt))->Int(0), 4);
  EXPECT_TRUE((*columns.Optional({2, 103}, Storage::kInt))->absent());
}

TEST(AvroReader, AnIdIsNotReplacedByAName) {
  Reader reader = MustOpen(ToBytes(Header(OneField("\"int\"")) + Block(1, Number(7))));
  const Columns columns = MustRead(reader, {.fields = {{2, "f", {}}}, .everything = false});
  EXPECT_TRUE((*columns.Optional({2}, Storage::kInt))->absent());
}

// Blocks of an array with a negative count state their size in bytes, so that they can be stepped over.
TEST(AvroReader, ReadsArraysInSeveralBlocksAndNegativeCounts) {
  const std::string schema = R"({"type":"record","name":"r","fields":[
    {"name":"a","type":{"type":"array","items":["null","string"]},"field-id":1},
    {"name":"m","type":{"type":"map","values":"int"},"field-id":2},
    {"name":"z","type":"int","field-id":3}]})";
  const std::string two = Number(0) + Number(1) + String("x");
  const std::string pair = String("k") + Number(5);
  const std::string row = Number(-2) + Number(std::ssize(two)) + two + Number(1) + Number(1) + String("yy") +
                          Number(0) + Number(-1) + Number(std::ssize(pair)) + pair + Number(1) + String("l") +
                          Number(-6) + Number(0) + Number(42);
  const std::string file = Header(schema) + Block(2, row + row) + Block(0, "") + Block(1, row);
  Reader reader = MustOpen(ToBytes(file));
  const std::string expected = "{a=[~,\"x\",\"yy\"],m={k=5,l=-6},z=42}\n";
  EXPECT_EQ(AllText(MustRead(reader, Projection::Everything())), expected + expected + expected);
  Reader skipping = MustOpen(ToBytes(file));
  const Columns last = MustRead(skipping, {.fields = {{3, "z", {}}}, .everything = false});
  EXPECT_THAT((*last.Required({3}, Storage::kInt))->ints(), ::testing::ElementsAre(42, 42, 42));
}

TEST(AvroReader, WhatIsInsideANullRecordIsNull) {
  const std::string schema = OneField(R"(["null",{"type":"record","name":"in","fields":[
    {"name":"a","type":"int","field-id":2},{"name":"b","type":{"type":"array","items":"int"},"field-id":3},
    {"name":"c","type":{"type":"record","name":"in2","fields":[{"name":"d","type":"string","field-id":5}]},
     "field-id":4}]}])");
  Reader reader = MustOpen(
      ToBytes(Header(schema) + Block(3, Number(1) + Number(9) + Number(1) + Number(8) + Number(0) + String("t") +
                                            Number(0) + Number(1) + Number(7) + Number(0) + String(""))));
  const Columns columns = MustRead(reader, Projection::Everything());
  EXPECT_EQ(AllText(columns), "{f={a=9,b=[8],c={d=\"t\"}}}\n{f=~}\n{f={a=7,b=[],c={d=\"\"}}}\n");
  const Column* inner = *columns.Required({1, 2}, Storage::kInt);
  EXPECT_FALSE(inner->IsNull(0));
  EXPECT_TRUE(inner->IsNull(1));
  EXPECT_TRUE((*columns.Required({1, 4}, Storage::kRecord))->IsNull(1));
  EXPECT_TRUE((*columns.Required({1, 4, 5}, Storage::kText))->IsNull(1));
}

TEST(AvroReader, SchemasOfOneTextAreParsedOnceAndColumnsServeSeveralFiles) {
  SchemaCache cache;
  const ReadOptions options = {.schemas = &cache};
  const Bytes file = ReadBytes(DataPath("data/plain-deflate.avro"));
  auto first = Reader::Open(file, options);
  auto second = Reader::Open(file, options);
  auto third = Reader::Open(file);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->schema(), second->schema());
  auto columns = first->Prepare(Projection::Everything());
  size_t rows = 0;
  for (Reader* reader : {&*first, &*second}) {
    while (*reader->NextBlock(*columns)) rows += columns->rows();
  }
  EXPECT_EQ(rows, 80u);
  auto refused = third->NextBlock(*columns);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
}

TEST(AvroReader, MissingCodecMeansNone) {
  const std::string file = std::string("Obj\x01", 4) + Number(-1) + Number(999) + String("avro.schema") +
                           String(OneField("\"int\"")) + Number(1) + String("content") + String("deletes") + Number(0) +
                           kSync + Block(1, Number(3));
  Reader reader = MustOpen(ToBytes(file));
  EXPECT_EQ(*reader.FindMetadata("content"), "deletes");
  EXPECT_EQ(reader.FindMetadata("other"), nullptr);
  EXPECT_EQ(AllText(MustRead(reader, Projection::Everything())), "{f=3}\n");
}

// plan.jsonl is what Iceberg Java's planner says of the same manifests.
TEST(AvroReader, ManifestEntriesAgreeWithJavasPlan) {
  const std::filesystem::path table = std::string(DELENDA_FIXTURES) + "/iceberg/mor_dv";
  std::string entries;
  for (const auto& file : std::filesystem::directory_iterator(table / "metadata")) {
    if (file.path().extension() != ".avro" || file.path().filename().string().starts_with("snap-")) continue;
    Reader reader = MustOpen(ReadBytes(file.path()));
    const Columns columns = MustRead(reader, {.fields = {{2,
                                                          "data_file",
                                                          {{100, "file_path", {}},
                                                           {103, "record_count", {}},
                                                           {104, "file_size_in_bytes", {}},
                                                           {143, "referenced_data_file", {}},
                                                           {144, "content_offset", {}},
                                                           {145, "content_size_in_bytes", {}}}}},
                                              .everything = false});
    const Column* path = *columns.Required({2, 100}, Storage::kText);
    const Column* records = *columns.Required({2, 103}, Storage::kInt);
    const Column* bytes = *columns.Required({2, 104}, Storage::kInt);
    const Column* referenced = *columns.Required({2, 143}, Storage::kText);
    const Column* offset = *columns.Required({2, 144}, Storage::kInt);
    const Column* size = *columns.Required({2, 145}, Storage::kInt);
    for (size_t row = 0; row < columns.rows(); ++row) {
      entries += fmt::format("{} {} {}", path->Text(row), records->Int(row), bytes->Int(row));
      if (!referenced->IsNull(row)) {
        entries += fmt::format(" {} {} {}", referenced->Text(row), offset->Int(row), size->Int(row));
      }
      entries += "\n";
    }
  }
  size_t dvs = 0;
  std::istringstream plan(ReadTextFile(table.string() + ".expected/plan.jsonl"));
  for (std::string line; std::getline(plan, line);) {
    const auto task = nlohmann::json::parse(line);
    const auto& data = task["data_file"];
    EXPECT_THAT(entries, HasSubstr(fmt::format("{} {} {}\n", data["path"].get<std::string>(),
                                               data["records"].get<int64_t>(), data["bytes"].get<int64_t>())));
    for (const auto& dv : task["deletes"]) {
      EXPECT_THAT(entries, HasSubstr(fmt::format(
                               "{} {} {} {} {} {}\n", dv["path"].get<std::string>(), dv["records"].get<int64_t>(),
                               dv["bytes"].get<int64_t>(), dv["referenced_data_file"].get<std::string>(),
                               dv["content_offset"].get<int64_t>(), dv["content_size"].get<int64_t>())));
      ++dvs;
    }
  }
  EXPECT_EQ(dvs, 4u);
}

}  // namespace
}  // namespace delenda::avro
