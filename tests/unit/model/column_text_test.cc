// Columns and partitions as a person writes them.
#include "delenda/model/column_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delenda/model/partition_text.h"

namespace delenda {
namespace {

using ::testing::HasSubstr;

std::string Shown(const Schema& schema) {
  std::string text;
  for (const Field& field : schema.fields()) {
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : ", ", field.name, field.type.ToString(),
                        field.required ? " NOT NULL" : "");
    if (field.write_default) text += " DEFAULT " + DatumToText(field.type, *field.write_default);
  }
  return text;
}

TEST(Columns, AreParsed) {
  for (const auto& [text, columns] : std::initializer_list<std::pair<const char*, const char*>>{
           {"id long", "id: long"},
           {"id long NOT NULL, region string", "id: long NOT NULL, region: string"},
           {" id\n bigint not null ,\n a BOOL null", "id: long NOT NULL, a: boolean"},
           {"a boolean,b int,c long,d float,e double,f decimal(9, 2),g date,h time,i timestamp,j timestamptz,"
            "k timestamp_ns,l timestamptz_ns,m string,n uuid,o fixed[16],p binary,q decimal(5)",
            "a: boolean, b: int, c: long, d: float, e: double, f: decimal(9, 2), g: date, h: time, i: timestamp, "
            "j: timestamptz, k: timestamp_ns, l: timestamptz_ns, m: string, n: uuid, o: fixed[16], p: binary, "
            "q: decimal(5, 0)"},
           {"\"odd, \"\"name\"\"\" int, `ünï` string, größe int", "odd, \"name\": int, ünï: string, größe: int"},
           // Words of the language are names where a name is expected.
           {"list list<int>, map map<string, long>, not int NOT NULL, default int",
            "list: list<int>, map: map<string, long>, not: int NOT NULL, default: int"},
           {"a int DEFAULT -5, b string DEFAULT 'it''s', c date NOT NULL DEFAULT '2024-02-29', d boolean DEFAULT true, "
            "e decimal(5, 2) DEFAULT 1.5 NOT NULL, f double DEFAULT 1e3, g string DEFAULT '7'",
            "a: int DEFAULT -5, b: string DEFAULT it's, c: date NOT NULL DEFAULT 2024-02-29, d: boolean DEFAULT true, "
            "e: decimal(5, 2) NOT NULL DEFAULT 1.50, f: double DEFAULT 1000, g: string DEFAULT 7"}}) {
    const auto schema = ParseColumns(text);
    ASSERT_TRUE(schema) << text << ": " << schema.error().ToString();
    EXPECT_EQ(Shown(*schema), columns);
  }
}

TEST(Columns, Nest) {
  const auto schema = ParseColumns(
      "place struct<lat double NOT NULL, lon: double>, tags list<string NOT NULL>, "
      "seen map<string, list<struct<at timestamptz, n int>> NOT NULL>");
  ASSERT_TRUE(schema) << schema.error().ToString();
  const Schema::Path lat = schema->FindByName("place.lat");
  ASSERT_EQ(lat.size(), 2U);
  EXPECT_TRUE(lat.back()->required);
  EXPECT_FALSE(schema->FindByName("place.lon").back()->required);
  EXPECT_TRUE(schema->FindByName("tags.element").back()->required);
  EXPECT_TRUE(schema->FindByName("seen.key").back()->required);
  EXPECT_TRUE(schema->FindByName("seen.value").back()->required);
  EXPECT_EQ(schema->FindByName("seen.value.element.at").back()->type.kind(), TypeKind::kTimestampTz);
}

TEST(Columns, AreRefusedWithThePlace) {
  std::string deep = "a ";
  for (int i = 0; i < 10000; ++i) deep += "list<";
  for (const auto& [text, message] : std::initializer_list<std::pair<std::string, const char*>>{
           {"", "at byte 0: expected the name of a column, found the end"},
           {"id", "at byte 2: expected a type, found the end"},
           {"id long region string", "at byte 8: expected ',' or the end, found 'region'"},
           {"id long,", "expected the name of a column"},
           {"id text", "column type 'text' is not known"},
           {"id long NOT", "expected NULL"},
           {"id decimal(39, 2)", "1 <= precision <= 38"},
           {"id decimal(2, x)", "expected a whole number, found 'x'"},
           {"id fixed[", "expected a whole number"},
           {"id list<long", "expected '>'"},
           {"id map<string>", "expected ','"},
           {"id struct<>", "expected the name of a member"},
           {"id long, id string", "'id' appears twice"},
           {"id int DEFAULT 'x'", "column 'id'"},
           {"id int DEFAULT 3000000000", "column 'id'"},
           {"id int DEFAULT", "expected a default"},
           {"\"id long", "expected the closing \""},
           {"id long; drop", "unexpected character 0x3b"},
           {"a\xff int", "no valid UTF-8"},
           {"\"\" int", "expected the name of a column"},
           {"1st int", "expected the name of a column, found '1st'"},
           {deep, "nest deeper"}}) {
    const auto refused = ParseColumns(text);
    ASSERT_FALSE(refused) << text.substr(0, 50);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument) << text.substr(0, 50);
    EXPECT_THAT(refused.error().message(), HasSubstr(message)) << text.substr(0, 50);
  }
}

const Schema& Table() {
  static const Schema kTable = *ParseColumns(
      "id long, ts timestamptz, region string, day date, name string, \"odd.name\" int, place struct<lat double, zip "
      "string>, tags list<string>, price decimal(9, 2), part_bucket string, part int");
  return kTable;
}

std::string Shown(const PartitionSpec& spec) {
  std::string text;
  for (const PartitionField& field : spec.fields) {
    text += fmt::format("{}{}: {}: {}({})", text.empty() ? "" : ", ", field.field_id, field.name,
                        field.transform.ToString(), FullName(Table().FindById(field.source_id)));
  }
  return text;
}

// Names: org.apache.iceberg.PartitionSpec.Builder.
TEST(Partitioning, IsParsed) {
  for (const auto& [text, fields] : std::initializer_list<std::pair<const char*, const char*>>{
           {"region", "1000: region: identity(region)"},
           {"bucket(16, id), day(ts), region",
            "1000: id_bucket: bucket[16](id), 1001: ts_day: day(ts), 1002: region: identity(region)"},
           {"truncate(4, name),truncate(10, price)",
            "1000: name_trunc: truncate[4](name), 1001: price_trunc: truncate[10](price)"},
           {"year(ts), month(day)", "1000: ts_year: year(ts), 1001: day_month: month(day)"},
           {"HOURS( ts )", "1000: ts_hour: hour(ts)"},
           {"void(region)", "1000: region_null: void(region)"},
           {"day, day(day)", "1000: day: identity(day), 1001: day_day: day(day)"},
           {"place.zip, bucket(8, \"odd.name\"), `name`",
            "1000: place.zip: identity(place.zip), 1001: odd.name_bucket: bucket[8](odd.name), 1002: name: "
            "identity(name)"}}) {
    const auto spec = ParsePartitioning(text, Table());
    ASSERT_TRUE(spec) << text << ": " << spec.error().ToString();
    EXPECT_EQ(Shown(*spec), fields);
    EXPECT_EQ(spec->spec_id, 0);
  }
}

TEST(Partitioning, IsRefused) {
  for (const auto& [text, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "expected a column or a transform"},
           {"colour", "there is no column 'colour'"},
           {"bucket(id, 16)", "expected a whole number, then the column, found 'id'"},
           {"bucket(0, id)", "bucket[0]"},
           {"bucket(-1, id)", "bucket[-1]"},
           {"bucket(99999999999, id)", "expected a whole number"},
           {"id region", "expected ',' or the end"},
           {"zorder(id)", "'zorder' is no transform"},
           {"day(id)", "day does not take 'id', of type long"},
           {"hour(day)", "hour does not take 'day', of type date"},
           {"bucket(4, place)", "does not take 'place'"},
           {"place", "does not take 'place'"},
           {"tags.element", "lies within a list or map"},
           {"day(ts), hour(ts)", "ts_hour is redundant beside ts_day"},
           {"bucket(4, id), bucket(4, id)", "redundant"},
           {"bucket(4, id), bucket(8, id)", "two fields are named 'id_bucket'"},
           {"bucket(4, part)", "has the name of another column"},
           {"region,", "expected a column or a transform"},
           {"day(ts", "expected ')'"}}) {
    const auto refused = ParsePartitioning(text, Table());
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message(), HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace delenda
