#include "delenda/formats/avro/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "avro_text.h"

namespace delenda::avro {
namespace {

using ::testing::HasSubstr;

TEST(AvroSchema, ReadsIdsAndLogicalTypes) {
  auto schema = Schema::Parse(R"({"type":"record","name":"entry","namespace":"a.b","fields":[
    {"name":"status","type":"int","field-id":0},
    {"name":"file","field-id":2,"type":["null",{"type":"record","name":"r2","fields":[
      {"name":"part ition ü","field-id":1000,"type":["null",{"type":"int","logicalType":"date"}]},
      {"name":"price","type":{"type":"fixed","name":"d","size":4,"logicalType":"decimal","precision":9,"scale":2}}]}]},
    {"name":"bounds","field-id":125,"type":{"type":"array","logicalType":"map","items":{"type":"record","name":"kv",
      "fields":[{"name":"key","type":"int","field-id":126},{"name":"value","type":"bytes","field-id":127}]}}},
    {"name":"props","type":{"type":"map","values":"string","key-id":5,"value-id":6}},
    {"name":"splits","type":{"type":"array","items":"long","element-id":133}},
    {"name":"when","type":{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}},
    {"name":"again","type":["a.b.r2","null"]}]})");
  ASSERT_TRUE(schema) << schema.error().ToString();
  const Type& root = (*schema)->root();
  EXPECT_EQ(root.name, "a.b.entry");
  ASSERT_EQ(root.fields.size(), 7u);
  EXPECT_EQ(root.FindField(0)->name, "status");
  EXPECT_EQ(root.FindField(kNoId), nullptr);
  const Type& file = root.FindField(2)->type->WithoutNull();
  EXPECT_TRUE(root.FindField(2)->type->is_nullable());
  EXPECT_EQ(file.fields[0].name, "part ition ü");
  EXPECT_EQ(file.fields[0].type->WithoutNull().logical, "date");
  EXPECT_EQ(file.fields[1].id, kNoId);
  EXPECT_EQ(file.fields[1].type->fixed_size, 4u);
  EXPECT_EQ(file.fields[1].type->precision, 9);
  EXPECT_EQ(file.fields[1].type->scale, 2);
  EXPECT_TRUE(root.fields[2].type->is_key_value_array());
  EXPECT_EQ(root.fields[3].type->key_id, 5);
  EXPECT_EQ(root.fields[3].type->element_id, 6);
  EXPECT_EQ(root.fields[4].type->element_id, 133);
  EXPECT_TRUE(root.fields[5].type->adjust_to_utc);
  EXPECT_EQ(&root.fields[6].type->WithoutNull(), &file);
}

TEST(AvroSchema, RefusesWhatIsNoSchema) {
  const std::pair<std::string, std::string> kCases[] = {
      {"", "is not JSON"},
      {"{", "is not JSON"},
      {"7", "expected a type, found number"},
      {"{}", "lacks \"type\""},
      {R"("unknown")", "not defined before its use"},
      {R"({"type":"record","name":"r"})", "no array \"fields\""},
      {R"({"type":"record","name":"r","fields":[1]})", "is not an object"},
      {R"({"type":"record","name":"r","fields":[{"name":"f"}]})", "has no type"},
      {R"({"type":"record","name":7,"fields":[]})", "\"name\" is not a string"},
      {R"({"type":"fixed","name":"f"})", "has no size"},
      {R"({"type":"fixed","name":"f","size":-4})", "\"size\" is -4"},
      {R"({"type":"fixed","name":"f","size":2147483648})", "expected 0 to 2147483647"},
      {R"({"type":"fixed","name":"f","size":18446744073709551615})", "expected 0 to 2147483647"},
      {R"({"type":"enum","name":"e"})", "no array \"symbols\""},
      {R"({"type":"enum","name":"e","symbols":[1]})", "is not a string"},
      {R"({"type":"array"})", "no \"items\""},
      {R"({"type":"map"})", "no \"values\""},
      {R"(["null",["int"]])", "a union directly inside a union"},
      {R"({"type":"record","name":"r","fields":[{"name":"f","type":"int","field-id":"1"}]})", "is not an integer"},
      {R"({"type":"record","name":"r","fields":[{"name":"f","type":"int","field-id":4294967296}]})", "expected 0 to"},
      {R"(["null",{"type":"fixed","name":"x","size":1},{"type":"fixed","name":"x","size":2},
          {"type":"array","items":"x"}])",
       "defined twice and referred to"},
  };
  for (const auto& [json, message] : kCases) {
    auto schema = Schema::Parse(json);
    ASSERT_FALSE(schema) << json;
    EXPECT_EQ(schema.error().kind(), ErrorKind::kCorrupt) << json;
    EXPECT_THAT(schema.error().message(), HasSubstr(message)) << json;
  }
}

TEST(AvroSchema, RefusesDepth) {
  for (const int depth : {60, 70, 100'000}) {
    std::string json = "\"int\"";
    std::string open;
    std::string close;
    for (int i = 0; i < depth; ++i) {
      open += R"({"type":"array","items":)";
      close += "}";
    }
    auto schema = Schema::Parse(open + json + close);
    if (depth == 60) {
      EXPECT_TRUE(schema);
    } else {
      ASSERT_FALSE(schema) << depth;
      EXPECT_EQ(schema.error().kind(), ErrorKind::kNotSupported);
    }
  }
}

// Written side by side, each record holds the one before: as deep as if written inside each other.
TEST(AvroSchema, RefusesDepthThroughReferences) {
  std::string fields = R"({"name":"f0","type":{"type":"record","name":"r0","fields":[]}})";
  for (int i = 1; i < 100; ++i) {
    fields += fmt::format(R"(,{{"name":"f{}","type":{{"type":"record","name":"r{}","fields":[
        {{"name":"a","type":"r{}"}},{{"name":"b","type":"r{}"}}]}}}})",
                          i, i, i - 1, i - 1);
  }
  auto schema = Schema::Parse(R"({"type":"record","name":"root","fields":[)" + fields + "]}");
  ASSERT_FALSE(schema);
  EXPECT_EQ(schema.error().kind(), ErrorKind::kNotSupported);
}

TEST(AvroSchema, RefusesTooManyTypes) {
  std::string json = "[\"null\"";
  for (int i = 0; i < 100'001; ++i) json += R"(,{"type":"int"})";
  auto schema = Schema::Parse(json + "]");
  ASSERT_FALSE(schema);
  EXPECT_THAT(schema.error().message(), HasSubstr("more than 100000 types"));
}

}  // namespace
}  // namespace delenda::avro
