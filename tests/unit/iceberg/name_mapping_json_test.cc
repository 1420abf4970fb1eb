// Name mappings in JSON (Iceberg spec, "Name Mapping Serialization").
#include "delenda/iceberg/name_mapping_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace delenda::iceberg {
namespace {

using ::testing::HasSubstr;

MappedField Named(std::optional<int32_t> id, std::vector<std::string> names, std::vector<MappedField> fields = {}) {
  return {.id = id, .names = std::move(names), .fields = std::move(fields)};
}

TEST(NameMappingJson, ReadsTheExampleOfTheSpecification) {
  const auto mapping = NameMappingFromText(R"([
    {"field-id": 1, "names": ["id", "record_id"]},
    {"field-id": 2, "names": ["data"]},
    {"field-id": 3, "names": ["location"], "fields": [
      {"field-id": 4, "names": ["latitude", "lat"]},
      {"field-id": 5, "names": ["longitude", "long"]}]}])");
  ASSERT_TRUE(mapping) << mapping.error().ToString();
  const NameMapping expected = {
      {Named(1, {"id", "record_id"}), Named(2, {"data"}),
       Named(3, {"location"}, {Named(4, {"latitude", "lat"}), Named(5, {"longitude", "long"})})}};
  EXPECT_EQ(*mapping, expected);
  json::Writer out(json::Writer::Style::kCompact);
  NameMappingToJson(*mapping, out);
  const auto again = NameMappingFromText(std::move(out).Finish());
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(*again, *mapping);
}

TEST(NameMappingJson, IdNamesAndFieldsMayBeMissing) {
  const auto mapping = NameMappingFromText(
      R"([{"names": ["x"]}, {"field-id": 2}, {"field-id": 3, "names": []}, {"field-id": null, "names": ["y", "y"], "fields": null}])");
  ASSERT_TRUE(mapping) << mapping.error().ToString();
  const NameMapping expected = {{Named({}, {"x"}), Named(2, {}), Named(3, {}), Named({}, {"y"})}};
  EXPECT_EQ(*mapping, expected);
  EXPECT_EQ(NameMappingFromText("[]").value(), NameMapping());
}

TEST(NameMappingJson, OneNameMayStandInEachLevel) {
  const auto mapping = NameMappingFromText(
      R"([{"field-id": 1, "names": ["a"], "fields": [{"field-id": 2, "names": ["a"]}]}, {"field-id": 3, "names": ["a.a"]}])");
  ASSERT_TRUE(mapping) << mapping.error().ToString();
  EXPECT_EQ(mapping->fields[0].fields[0].names, std::vector<std::string>{"a"});
}

TEST(NameMappingJson, RefusesWhatIsWrong) {
  const struct {
    const char* what;
    std::string text;
    const char* message;
  } cases[] = {
      {"no JSON", "[{", "byte"},
      {"empty text", "", "byte"},
      {"an object", R"({"field-id": 1})", "expected an array"},
      {"a field that is a number", "[1]", "$[0]"},
      {"an id that is text", R"([{"field-id": "1", "names": ["a"]}])", "$[0].field-id"},
      {"an id above 32 bits", R"([{"field-id": 4294967297, "names": ["a"]}])", "$[0].field-id"},
      {"names that are text", R"([{"field-id": 1, "names": "a"}])", "$[0].names"},
      {"a name that is a number", R"([{"field-id": 1, "names": ["a", 2]}])", "$[0].names[1]"},
      {"one name for two fields", R"([{"field-id": 1, "names": ["a"]}, {"field-id": 2, "names": ["b", "a"]}])",
       "$[1].names[1]: the name 'a' stands for two fields"},
      {"one name for two nested fields",
       R"([{"field-id": 1, "names": ["s"], "fields": [{"field-id": 2, "names": ["a"]}, {"field-id": 3, "names": ["a"]}]}])",
       "$[0].fields[1].names[0]: the name 'a'"},
      {"one id twice", R"([{"field-id": 1, "names": ["a"], "fields": [{"field-id": 1, "names": ["b"]}]}])",
       "$[0].fields[0]: field id 1 stands there twice"},
      {"fields that are an object", R"([{"field-id": 1, "names": ["a"], "fields": {}}])", "$[0].fields"},
  };
  for (const auto& test : cases) {
    const auto mapping = NameMappingFromText(test.text);
    ASSERT_FALSE(mapping.has_value()) << test.what;
    EXPECT_EQ(mapping.error().kind(), ErrorKind::kCorrupt) << test.what;
    EXPECT_THAT(mapping.error().ToString(), HasSubstr(test.message)) << test.what;
    EXPECT_THAT(mapping.error().ToString(), HasSubstr("schema.name-mapping.default")) << test.what;
  }
}

TEST(NameMappingJson, RefusesToNestWithoutBound) {
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += R"([{"names": ["a"], "fields": )";
    text += "[]";
    for (int i = 0; i < levels; ++i) text += "}]";
    return text;
  };
  EXPECT_TRUE(NameMappingFromText(nested(40)));
  for (const int levels : {70, 10'000}) {
    const auto mapping = NameMappingFromText(nested(levels));
    ASSERT_FALSE(mapping);
    EXPECT_EQ(mapping.error().kind(), ErrorKind::kCorrupt);
  }
}

}  // namespace
}  // namespace delenda::iceberg
