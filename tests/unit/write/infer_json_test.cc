// The columns of JSON lines.
#include "delenda/write/infer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace delenda::write {
namespace {

using ::testing::HasSubstr;

Result<Schema> Infer(const std::string& text) {
  const auto io = io::MakeMemoryFileIO();
  EXPECT_TRUE(io::WriteWholeFile(*io, "/rows.jsonl", AsBytes(text)));
  return InferJsonSchema(*io, "/rows.jsonl");
}

TEST(InferJson, FindsTheTypeThatHoldsAllValues) {
  for (const auto& [text, columns] : std::initializer_list<std::pair<const char*, const char*>>{
           {"{\"id\": 1}", "1: id: optional long"},
           {"{\"id\": 1, \"v\": 2}\n\n{\"v\": 0.5, \"id\": -9223372036854775808}\n",
            "1: id: optional long, 2: v: optional double"},
           {"{\"v\": 1e2}\n{\"v\": 1}", "1: v: optional double"},
           {"{\"a\": null, \"b\": true}\n{\"a\": \"x\"}\r\n{\"c\": \"2024-02-29\"}",
            "1: a: optional string, 2: b: optional boolean, 3: c: optional string"},
           {"{\"s\": {\"a\": 1}, \"l\": []}\n{\"s\": {\"b\": \"x\"}, \"l\": [1, null, 2.5]}\n{\"s\": null}",
            "1: s: optional struct<3: a: optional long, 4: b: optional string>, 2: l: optional list<double>"},
           {"{\"l\": [{\"a\": [[1]]}, {}]}", "1: l: optional list<struct<3: a: optional list<list<long>>>>"}}) {
    const auto schema = Infer(text);
    ASSERT_TRUE(schema) << text << ": " << schema.error().ToString();
    EXPECT_EQ(Type::Struct(schema->fields()).ToString(), std::string("struct<") + columns + ">");
  }
}

TEST(InferJson, SaysWhereNoTypeFits) {
  std::string wide = "{\"a\": 1";
  for (int i = 0; i < 10001; ++i) wide += ", \"c" + std::to_string(i) + "\": 1";
  for (const auto& [text, message] : std::initializer_list<std::pair<std::string, const char*>>{
           {"", "there are no rows"},
           {"{}", "there are no rows"},
           {"[1]", "expected an object"},
           {"{\"a\": 1}\n{\"a\": \"x\"}", "$.a: strings here, whole numbers in other rows"},
           {"{\"a\": {}}\n{\"a\": [1]}", "$.a: arrays here, objects in other rows"},
           {"{\"a\": [1, true]}", "$.a[1]: booleans here"},
           {"{\"a\": 9223372036854775808}", "does not fit in 64 bits"},
           {"{\"a\": null}", "column 'a' is null or empty in every row"},
           {"{\"b\": 1, \"a\": [[]]}", "column 'a.element.element' is null or empty"},
           {"{\"b\": 1, \"a\": {\"c\": {}}}", "column 'a.c' is null or empty"},
           {wide + "}", "more than 10000 columns"}}) {
    const auto refused = Infer(text);
    ASSERT_FALSE(refused) << text.substr(0, 50);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument) << text.substr(0, 50);
    EXPECT_THAT(refused.error().message(), HasSubstr(message)) << text.substr(0, 50);
    EXPECT_THAT(refused.error().ToString(), HasSubstr("/rows.jsonl"));
  }
  const auto broken = Infer("{\"a\": 1}\n{\"a\": }");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().ToString(), HasSubstr("line: 2"));
}

}  // namespace
}  // namespace delenda::write
