#include "delenda/formats/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "delenda/formats/json/writer.h"

namespace delenda::json {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Document Doc(std::string_view text) {
  auto document = Document::Parse(text);
  EXPECT_TRUE(document) << (document ? "" : document.error().ToString());
  return std::move(*document);
}

template <typename T>
std::string Message(const Result<T>& result) {
  EXPECT_FALSE(result);
  if (result) return "no error";
  EXPECT_EQ(result.error().kind(), ErrorKind::kCorrupt);
  return result.error().message();
}

constexpr std::string_view kTable = R"({
  "format-version": 3, "location": "file:/warehouse/t", "empty": null, "ratio": 0.5, "flag": true,
  "snapshots": [ {"snapshot-id": 1}, {"snapshot-id": 9007199254740993, "summary": {"total.records": "5"}}, {"snapshot-id": "x"} ],
  "deep": [[1, 2], [3, [4.5]]], "big": 18446744073709551615, "wide": 3000000000, "huge": 1e30, "negative": -1 })";

TEST(JsonValue, ReadsTypedMembers) {
  const Document document = Doc(kTable);
  const Value root = document.root();
  EXPECT_EQ(*root.Get<int32_t>("format-version"), 3);
  EXPECT_EQ(*root.Get<std::string>("location"), "file:/warehouse/t");
  EXPECT_EQ(*root.Get<bool>("flag"), true);
  EXPECT_EQ(*root.Get<double>("ratio"), 0.5);
  EXPECT_EQ(*root.Get<double>("format-version"), 3.0);
  EXPECT_EQ(*root.Get<double>("big"), 18446744073709551615.0);
  EXPECT_EQ(*root.Get<uint64_t>("big"), 18446744073709551615u);
  EXPECT_EQ(*root.Get<int64_t>("wide"), 3000000000);
  // Beyond 2^53: a detour over double would give another snapshot's id.
  EXPECT_EQ(*(*(*root.Get<Array>("snapshots")).begin().operator++()).Get<int64_t>("snapshot-id"), 9007199254740993);
}

TEST(JsonValue, OptionalTakesAbsentAndNullAsNothing) {
  const Document document = Doc(kTable);
  const Value root = document.root();
  EXPECT_EQ(*root.Optional<int64_t>("absent"), std::nullopt);
  EXPECT_EQ(*root.Optional<int64_t>("empty"), std::nullopt);
  EXPECT_EQ(*root.Optional<int64_t>("format-version"), 3);
  EXPECT_TRUE((*root.Find("empty"))->is_null());
  EXPECT_EQ(*root.Find("absent"), std::nullopt);
}

TEST(JsonValue, IteratesInTheOrderOfTheText) {
  const Document document = Doc(R"({"b": [10, {"x": [1, 2]}, [], 20], "a": {}, "c": {"k": "v", "l": "w"}})");
  std::vector<std::string> keys;
  const auto members = document.root().As<Object>();
  for (const Value member : *members) keys.emplace_back(member.key());
  EXPECT_THAT(keys, ElementsAre("b", "a", "c"));
  EXPECT_EQ(members->size(), 3u);
  const auto array = document.root().Get<Array>("b");
  EXPECT_EQ(array->size(), 4u);
  std::vector<std::string> paths;
  for (const Value element : *array) paths.push_back(element.Path());
  EXPECT_THAT(paths, ElementsAre("$.b[0]", "$.b[1]", "$.b[2]", "$.b[3]"));
  EXPECT_TRUE(document.root().Get<Object>("a")->empty());
  EXPECT_EQ(document.root().Get<Object>("a")->begin(), document.root().Get<Object>("a")->end());
}

TEST(JsonValue, ErrorsCarryThePath) {
  const Document document = Doc(kTable);
  const Value root = document.root();
  std::vector<Value> snapshots;
  const auto array = root.Get<Array>("snapshots");
  for (const Value snapshot : *array) snapshots.push_back(snapshot);
  EXPECT_EQ(Message(snapshots[2].Get<int64_t>("snapshot-id")),
            "$.snapshots[2].snapshot-id: expected an integer, found a string");
  EXPECT_EQ(Message(snapshots[0].Get<std::string>("manifest-list")),
            "$.snapshots[0].manifest-list: required, but missing");
  EXPECT_EQ(Message(snapshots[1].Member("summary")->Get<int64_t>("total.records")),
            "$.snapshots[1].summary[\"total.records\"]: expected an integer, found a string");
  EXPECT_EQ(Message(root.Get<int32_t>("wide")), "$.wide: 3000000000 does not fit into 32 bits with a sign");
  EXPECT_EQ(Message(root.Get<int64_t>("big")), "$.big: 18446744073709551615 does not fit into 64 bits with a sign");
  EXPECT_EQ(Message(root.Get<int64_t>("huge")), "$.huge: expected an integer, found the number 1e30");
  EXPECT_EQ(Message(root.Get<int64_t>("ratio")), "$.ratio: expected an integer, found the number 0.5");
  EXPECT_EQ(Message(root.Get<uint64_t>("negative")), "$.negative: -1 is negative");
  EXPECT_EQ(Message(root.Get<int64_t>("empty")), "$.empty: expected an integer, found null");
  EXPECT_EQ(Message(root.Get<Value>("empty")), "$.empty: expected a value, found null");
  EXPECT_EQ(Message(root.Get<Array>("location")), "$.location: expected an array, found a string");
  EXPECT_EQ(Message(root.Get<Object>("deep")), "$.deep: expected an object, found an array");
  EXPECT_EQ(Message(root.Get<std::string>("flag")), "$.flag: expected a string, found a boolean");
  EXPECT_EQ(Message(root.Get<bool>("ratio")), "$.ratio: expected a boolean, found the number 0.5");
  EXPECT_EQ(Message(root.Optional<int64_t>("location")), "$.location: expected an integer, found a string");
  EXPECT_EQ(Message(snapshots[2].Member("snapshot-id")->Find("x")),
            "$.snapshots[2].snapshot-id: expected an object, found a string");
  EXPECT_EQ(root.Fail("unknown version 9").error().message(), "$: unknown version 9");
}

TEST(JsonValue, OfDoubledKeysTheLastIsSeen) {
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += fmt::format("\"k{}\": {}, ", i % 60, i);
  many += "\"end\": {\"a\": [1], \"a\": [2], \"b\": 3, \"a\": 4}}";
  const Document document = Doc(many);
  const Value root = document.root();
  EXPECT_EQ(root.As<Object>()->size(), 61u);
  for (int k = 0; k < 60; ++k) {
    EXPECT_EQ(*root.Get<int64_t>(fmt::format("k{}", k)), k < 40 ? k + 60 : k);
  }
  std::vector<std::string> keys;
  const auto end = *root.Get<Object>("end");
  for (const Value member : end) keys.emplace_back(member.key());
  EXPECT_THAT(keys, ElementsAre("b", "a"));
  EXPECT_EQ(*end.value().Get<int64_t>("a"), 4);
  EXPECT_EQ(end.size(), 2u);
}

TEST(JsonDocument, CursorsSurviveMoves) {
  Document first = Doc(R"({"a": "text"})");
  const Value root = first.root();
  const std::string_view text = *root.Get<std::string_view>("a");
  const Document second = std::move(first);
  EXPECT_EQ(text, "text");
  EXPECT_EQ(*root.Get<std::string_view>("a"), "text");
}

TEST(JsonDocument, AcceptsAllThatIsJson) {
  for (const std::string_view text :
       {"null", "true", "0", "-0", "1.5e-3", "\"\"", "[]", "{}", " [ 1 , 2 ] \n", R"("\u00e4\ud83d\ude00\/\b")",
        "[[[]]]", R"({"": {"": 1}})", "-9223372036854775808", "\"\xC3\xA4\xF0\x9F\x98\x80\""}) {
    EXPECT_TRUE(Document::Parse(text)) << text;
  }
  EXPECT_EQ(*Doc(R"("\u00e4\ud83d\ude00\u0000x")").root().As<std::string>(),
            std::string("\xC3\xA4\xF0\x9F\x98\x80\0x", 8));
  EXPECT_EQ(*Doc("-9223372036854775808").root().As<int64_t>(), std::numeric_limits<int64_t>::min());
}

struct BadText {
  std::string text;
  std::string message;
};

TEST(JsonDocument, RefusesWhatIsNotAndNamesTheByte) {
  const std::vector<BadText> cases = {
      {"", "at byte 0"},
      {"  ", "at byte 2"},
      {"{} x", "at byte 3"},
      {"{}{}", "at byte 2"},
      {"[1,]", "at byte 3"},
      {"{\"a\":1,}", "at byte 7"},
      {"{\"a\" 1}", "at byte 5"},
      {"{a:1}", "at byte 1"},
      {"[1", "at byte 2"},
      {"\"abc", "at byte 4"},
      {"01", "at byte 1"},
      {"+1", "at byte 0"},
      {"1.", "at byte 2"},
      {".5", "at byte 0"},
      {"NaN", "at byte 0"},
      {"Infinity", "at byte 0"},
      {"tru", "at byte 3"},
      {"'a'", "at byte 0"},
      {"[1] // note", "at byte 4"},
      {"/* note */ 1", "at byte 0"},
      {"\"a\nb\"", "at byte 2"},
      {"\"\\x\"", "at byte 2"},
      {"\"\\ud800\"", "at byte 7"},
      {"\"\\udc00\"", "at byte 6"},
      {"1e999", "number overflow"},
      {"\"\xff\"", "at byte 1"},
      {"\"\xc0\xaf\"", "at byte 1"},
      {"\"\xed\xa0\x80\"", "at byte 2"},
      {"\"\xe4\"", "at byte 2"},
      {std::string("{}\0{}", 5), "at byte 2: a NUL byte"},
      {std::string("\"a\0\"", 4), "at byte 2: a NUL byte"},
  };
  for (const BadText& c : cases) EXPECT_THAT(Message(Document::Parse(c.text)), HasSubstr(c.message)) << c.text;
}

TEST(JsonDocument, CutAnywhereIsRefused) {
  for (size_t length = 0; length < kTable.size() - 1; ++length) {
    EXPECT_FALSE(Document::Parse(kTable.substr(0, length))) << length;
  }
}

TEST(JsonDocument, BoundsDepthAndLength) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(Document::Parse(nested(100)));
  EXPECT_THAT(Message(Document::Parse(nested(101))), HasSubstr("deeper than 100"));
  EXPECT_THAT(Message(Document::Parse(std::string(10'000'000, '['))), HasSubstr("deeper than 100"));
  // Neither reading nor writing nor freeing recurses.
  const auto deep = Document::Parse(nested(1'000'000), {.max_depth = 1'000'000});
  ASSERT_TRUE(deep);
  EXPECT_EQ(Writer().Copy(deep->root()).text().size(), 2'000'000u);
  EXPECT_THAT(Message(Document::Parse("[1]", {.max_bytes = 2})), HasSubstr("longer than the limit of 2"));
}

TEST(JsonDocument, ErrorsDoNotRepeatTheFile) {
  const std::string text = "[\"" + std::string(1'000'000, 'x') + "\xff\"]";
  EXPECT_LT(Message(Document::Parse(text)).size(), 300u);
  const Document document = Doc("{\"" + std::string(100'000, 'k') + "\": 1}");
  EXPECT_LT(Message((*document.root().As<Object>()->begin()).As<std::string>()).size(), 300u);
}

TEST(JsonDocument, ReadsTheMetadataOfEveryFixtureTable) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DELENDA_FIXTURES "/iceberg")) {
    if (!entry.path().string().ends_with(".metadata.json") || entry.path().string().ends_with(".gz.metadata.json"))
      continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    const auto document = Document::Parse(text.view());
    ASSERT_TRUE(document) << entry.path() << document.error().ToString();
    EXPECT_GE(*document->root().Get<int32_t>("format-version"), 1) << entry.path();
    EXPECT_TRUE(document->root().Get<std::string>("table-uuid")) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace delenda::json
