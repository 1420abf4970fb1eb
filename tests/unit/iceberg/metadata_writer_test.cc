// Writing table metadata: every file of the reference implementation comes out with the same content.
#include "delenda/iceberg/metadata_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "avro_blocks.h"
#include "delenda/base/gzip.h"
#include "delenda/formats/json/json.h"
#include "delenda/formats/json/writer.h"
#include "delenda/iceberg/schema_json.h"

namespace delenda::iceberg {
namespace {

// The value with the members of all objects sorted. `skip`: members of the root that are left out.
std::string Sorted(json::Value value, const std::vector<std::string>& skip = {}) {
  if (value.is_array()) {
    std::string text = "[";
    const auto array = value.As<json::Array>();
    for (const auto item : *array) text += Sorted(item) + ",";
    return text + "]";
  }
  if (value.is_object()) {
    std::vector<std::string> members;
    const auto object = value.As<json::Object>();
    for (const auto member : *object) {
      if (std::ranges::find(skip, member.key()) != skip.end()) continue;
      members.push_back(std::string(member.key()) + ":" + Sorted(member));
    }
    std::ranges::sort(members);
    std::string text = "{";
    for (const auto& member : members) text += member + ",\n";
    return text + "}";
  }
  json::Writer writer;
  writer.Copy(value);
  return std::move(writer).Finish();
}

std::string Text(const json::Value& value) {
  json::Writer writer;
  writer.Copy(value);
  return std::move(writer).Finish();
}

Bytes Plain(const std::string& path) {
  Bytes bytes = testing::BytesOfFile(path);
  return IsGzip(bytes) ? *Gunzip(bytes, uint64_t{1} << 30) : bytes;
}

TEST(MetadataWriter, WritesJavasMetadataAgain) {
  size_t same = 0;
  size_t refused = 0;
  size_t schemas = 0;
  for (const std::string& path : testing::FixtureMetadataFiles()) {
    SCOPED_TRACE(path);
    const Bytes java = Plain(path);
    const auto document = json::Document::Parse(java);
    ASSERT_TRUE(document);
    const auto metadata = TableMetadata::Parse(java);
    ASSERT_TRUE(metadata) << metadata.error().ToString();
    const auto text = TableMetadataToJson(*metadata);
    if (metadata->format_version == 1) {
      ASSERT_FALSE(text);
      EXPECT_EQ(text.error().kind(), ErrorKind::kNotSupported);
      ++refused;
      continue;
    }
    ASSERT_TRUE(text) << text.error().ToString();
    const auto ours = json::Document::Parse(*text);
    ASSERT_TRUE(ours) << ours.error().ToString();
    std::vector<std::string> skip;
    if (path.find("/pyiceberg_") != std::string::npos) {
      // PyIceberg leaves members without content out, or writes them as null.
      skip = {"statistics", "partition-statistics", "snapshot-log", "metadata-log", "current-snapshot-id"};
    }
    ASSERT_EQ(Sorted(ours->root(), skip), Sorted(document->root(), skip));
    // Members in Java's order too.
    if (skip.empty() && !metadata->refs.empty() && metadata->format_version == 3) {
      std::string mine;
      std::string theirs;
      const auto my_members = ours->root().As<json::Object>();
      const auto their_members = document->root().As<json::Object>();
      for (const auto member : *my_members) mine += std::string(member.key()) + " ";
      for (const auto member : *their_members) theirs += std::string(member.key()) + " ";
      EXPECT_EQ(mine, theirs);
    }
    const auto again = TableMetadata::Parse(AsBytes(*text));
    ASSERT_TRUE(again) << again.error().ToString();
    const auto text_again = TableMetadataToJson(*again);
    ASSERT_TRUE(text_again);
    EXPECT_EQ(*text_again, *text);

    // Schemas and specs from their parts, not from the text that was kept.
    TableMetadata bare = *metadata;
    bare.as_read = {};
    const auto rebuilt = TableMetadataToJson(bare);
    ASSERT_TRUE(rebuilt) << rebuilt.error().ToString();
    if (AsText(java).find("\"doc\"") == std::string_view::npos) {
      const auto rebuilt_document = json::Document::Parse(*rebuilt);
      ASSERT_TRUE(rebuilt_document);
      for (const char* member : {"schemas", "partition-specs"}) {
        EXPECT_EQ(Sorted(*rebuilt_document->root().Member(member)), Sorted(*document->root().Member(member)));
      }
      schemas += metadata->schemas.size();
    }
    ++same;
  }
  EXPECT_GE(same, 350U);
  EXPECT_GE(refused, 3U);
  EXPECT_GE(schemas, 350U);
}

// A version 3 table with everything that only has to be kept.
constexpr std::string_view kFull = R"({
"format-version":3,"table-uuid":"u","location":"/t","last-sequence-number":5,"last-updated-ms":9,"last-column-id":4,
"current-schema-id":1,"schemas":[
 {"type":"struct","schema-id":0,"fields":[{"id":1,"name":"a","required":true,"type":"int","doc":"first \"a\""}]},
 {"type":"struct","schema-id":1,"identifier-field-ids":[1],"fields":[
  {"id":1,"name":"a","required":true,"type":"int","doc":"kept","initial-default":7,"write-default":8,"later":[1]},
  {"id":2,"name":"s","required":false,"type":{"type":"struct","fields":[
    {"id":3,"name":"x","required":false,"type":"string","initial-default":"é"}]},"initial-default":{}}]}],
"default-spec-id":2,"partition-specs":[
 {"spec-id":2,"fields":[{"name":"z","transform":"zorder[8]","source-ids":[1,3],"field-id":1005}]}],
"last-partition-id":1007,"default-sort-order-id":3,"sort-orders":[
 {"order-id":0,"fields":[]},
 {"order-id":3,"fields":[{"transform":"bucket[4]","source-id":1,"direction":"desc","null-order":"nulls-last"}]}],
"properties":{"k":"v","empty":""},"current-snapshot-id":12,"next-row-id":50,
"refs":{"main":{"snapshot-id":12,"type":"branch","min-snapshots-to-keep":3,"max-snapshot-age-ms":4},
 "t":{"snapshot-id":11,"type":"tag","max-ref-age-ms":5}},
"snapshots":[
 {"snapshot-id":11,"timestamp-ms":1,"summary":{"operation":"append"},"manifest-list":"/t/l1"},
 {"sequence-number":5,"snapshot-id":12,"parent-snapshot-id":11,"timestamp-ms":2,"summary":{"operation":"delete","x":"y"},
  "manifest-list":"/t/l2","schema-id":1,"first-row-id":20,"added-rows":30}],
"statistics":[{"snapshot-id":12,"statistics-path":"/t/s.puffin","file-size-in-bytes":10,"file-footer-size-in-bytes":5,
 "blob-metadata":[{"type":"t","snapshot-id":12,"sequence-number":5,"fields":[1],"properties":{"ndv":"2"}}]}],
"partition-statistics":[{"snapshot-id":12,"statistics-path":"/t/p.parquet","file-size-in-bytes":10}],
"snapshot-log":[{"timestamp-ms":1,"snapshot-id":11},{"timestamp-ms":2,"snapshot-id":12}],
"metadata-log":[{"timestamp-ms":1,"metadata-file":"/t/v1.metadata.json"}],
"encryption-keys":[],"future":{"nested":[1,null,true,1.5,"x"]}})";

TEST(MetadataWriter, KeepsWhatItDoesNotUse) {
  const auto metadata = TableMetadata::Parse(AsBytes(kFull));
  ASSERT_TRUE(metadata) << metadata.error().ToString();
  EXPECT_EQ(metadata->last_partition_id, 1007);
  EXPECT_EQ(metadata->default_sort_order_id, 3);
  EXPECT_EQ(metadata->sort_orders.size(), 2U);
  ASSERT_EQ(metadata->statistics.size(), 1U);
  EXPECT_EQ(metadata->statistics[0].snapshot_id, 12);
  EXPECT_EQ(metadata->statistics[0].path, "/t/s.puffin");
  ASSERT_EQ(metadata->metadata_log.size(), 1U);
  EXPECT_EQ(metadata->metadata_log[0].metadata_file, "/t/v1.metadata.json");
  const auto text = TableMetadataToJson(*metadata);
  ASSERT_TRUE(text) << text.error().ToString();
  const auto before = json::Document::Parse(kFull);
  const auto after = json::Document::Parse(*text);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(Sorted(after->root()), Sorted(before->root()));
}

// The text that was read is not used for something else that was put under its id.
TEST(MetadataWriter, ChangedSchemasAndSpecsAreWrittenAsTheyAre) {
  auto metadata = *TableMetadata::Parse(AsBytes(kFull));
  metadata.schemas[0] = *Schema::Make(0, {{.id = 1, .name = "b", .type = TypeKind::kLong, .required = true}});
  metadata.specs[0].fields[0] = {.source_id = 1, .field_id = 1005, .name = "n", .transform = *Transform::Parse("day")};
  const auto text = TableMetadataToJson(metadata);
  ASSERT_TRUE(text) << text.error().ToString();
  const auto after = json::Document::Parse(*text);
  ASSERT_TRUE(after);
  const auto schemas = *after->root().Get<json::Array>("schemas");
  EXPECT_EQ(Text(*schemas.begin()),
            R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"b","required":true,"type":"long"}]})");
  const auto specs = *after->root().Get<json::Array>("partition-specs");
  EXPECT_EQ(Text(*specs.begin()),
            R"({"spec-id":2,"fields":[{"name":"n","transform":"day","source-id":1,"field-id":1005}]})");
}

TEST(MetadataWriter, RefusesMetadataThatNoReaderTakes) {
  struct Case {
    const char* name;
    void (*change)(TableMetadata&);
    ErrorKind kind = ErrorKind::kInvalidArgument;
  };
  const Case cases[] = {
      {"version 1", [](TableMetadata& m) { m.format_version = 1; }, ErrorKind::kNotSupported},
      {"version 4", [](TableMetadata& m) { m.format_version = 4; }, ErrorKind::kNotSupported},
      {"no uuid", [](TableMetadata& m) { m.table_uuid = ""; }},
      {"no location", [](TableMetadata& m) { m.location = ""; }},
      {"no such schema", [](TableMetadata& m) { m.current_schema_id = 9; }},
      {"no such spec", [](TableMetadata& m) { m.default_spec_id = 9; }},
      {"no next row id", [](TableMetadata& m) { m.next_row_id.reset(); }},
      {"row ids above the next one", [](TableMetadata& m) { m.next_row_id = 49; }},
      {"row ids half", [](TableMetadata& m) { m.snapshots[1].added_rows.reset(); }},
      {"snapshot above the last number", [](TableMetadata& m) { m.last_sequence_number = 4; }},
      {"no manifest list", [](TableMetadata& m) { m.snapshots[0].manifest_list = ""; }, ErrorKind::kNotSupported},
      {"current is not main", [](TableMetadata& m) { m.current_snapshot_id = 11; }},
      {"main without current", [](TableMetadata& m) { m.current_snapshot_id.reset(); }},
      {"current without main", [](TableMetadata& m) { m.refs.erase("main"); }},
      {"tag of nothing", [](TableMetadata& m) { m.refs["t"].snapshot_id = 10; }},
      {"encryption keys", [](TableMetadata& m) { m.other_members[0].second = "[{}]"; }, ErrorKind::kNotSupported},
      {"location no UTF-8", [](TableMetadata& m) { m.location = "/\xff"; }},
      {"list no UTF-8", [](TableMetadata& m) { m.snapshots[0].manifest_list = "/\xff"; }},
      {"property no UTF-8", [](TableMetadata& m) { m.properties["a"] = "\xff"; }},
      {"ref no UTF-8", [](TableMetadata& m) { m.refs["\xff"] = {.snapshot_id = 11}; }},
  };
  for (const Case& test : cases) {
    auto metadata = *TableMetadata::Parse(AsBytes(kFull));
    test.change(metadata);
    const auto text = TableMetadataToJson(metadata);
    ASSERT_FALSE(text) << test.name;
    EXPECT_EQ(text.error().kind(), test.kind) << test.name << ": " << text.error().ToString();
  }
}

TEST(MetadataWriter, ATableWithoutSnapshotHasNoCurrentOne) {
  auto metadata = *TableMetadata::Parse(AsBytes(kFull));
  metadata.snapshots.clear();
  metadata.refs.clear();
  metadata.current_snapshot_id.reset();
  EXPECT_NE(TableMetadataToJson(metadata)->find("\"current-snapshot-id\":null"), std::string::npos);
  metadata.format_version = 2;
  EXPECT_NE(TableMetadataToJson(metadata)->find("\"current-snapshot-id\":-1"), std::string::npos);
}

// Iceberg spec, "JSON single-value serialization": the examples of its table.
TEST(SchemaToJson, WritesDefaultsAsTheSpecificationDoes) {
  struct Case {
    Type type;
    Datum value;
    const char* json;
  };
  const auto text_value = [](const Type& type, std::string_view text) { return *DatumFromText(type, text); };
  const Type uuid = TypeKind::kUuid;
  const std::vector<Case> cases = {
      {TypeKind::kBoolean, Datum(true), "true"},
      {TypeKind::kInt, Datum(int64_t{34}), "34"},
      {TypeKind::kLong, Datum(int64_t{34}), "34"},
      {TypeKind::kFloat, Datum(1.1F), "1.1"},
      {TypeKind::kFloat, Datum(1.0F), "1.0"},
      {TypeKind::kDouble, Datum(1.0), "1.0"},
      {Type::Decimal(9, 2), Datum(Int128{1420}), "\"14.20\""},
      {TypeKind::kDate, text_value(TypeKind::kDate, "2017-11-16"), "\"2017-11-16\""},
      {TypeKind::kTime, Datum(int64_t{81068123456}), "\"22:31:08.123456\""},
      {TypeKind::kTimestamp, Datum(int64_t{1510871468123456}), "\"2017-11-16T22:31:08.123456\""},
      {TypeKind::kTimestampTz, Datum(int64_t{1510871468123456}), "\"2017-11-16T22:31:08.123456+00:00\""},
      {TypeKind::kTimestampNs, Datum(int64_t{1510871468123456789}), "\"2017-11-16T22:31:08.123456789\""},
      {TypeKind::kTimestampTzNs, Datum(int64_t{1510871468123456789}), "\"2017-11-16T22:31:08.123456789+00:00\""},
      {TypeKind::kString, Datum(std::string("iceberg")), "\"iceberg\""},
      {uuid, text_value(uuid, "f79c3e09-677c-4bbd-a479-3f349cb785e7"), "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\""},
      {Type::Fixed(4), Datum(std::string("\x00\x01\x02\xff", 4)), "\"000102FF\""},
      {TypeKind::kBinary, Datum(std::string("\x00\x01\x02\xff", 4)), "\"000102FF\""},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.type.ToString());
    const auto schema = Schema::Make(
        1, {{.id = 1, .name = "c", .type = test.type, .initial_default = test.value, .write_default = test.value}});
    ASSERT_TRUE(schema);
    json::Writer writer;
    ASSERT_TRUE(SchemaToJson(*schema, writer));
    const std::string text = std::move(writer).Finish();
    EXPECT_EQ(text, fmt::format(R"({{"type":"struct","schema-id":1,"fields":[{{"id":1,"name":"c","required":false,)"
                                R"("type":"{}","initial-default":{},"write-default":{}}}]}})",
                                test.type.ToString(), test.json, test.json));
    const auto document = json::Document::Parse(text);
    ASSERT_TRUE(document);
    const auto again = SchemaFromJson(document->root());
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_EQ(again->fields(), schema->fields());
  }
  const Type real = TypeKind::kDouble;
  const auto nan = Schema::Make(1, {{.id = 1, .name = "c", .type = real, .initial_default = Datum(std::nan(""))}});
  json::Writer writer;
  EXPECT_EQ(SchemaToJson(*nan, writer).error().kind(), ErrorKind::kNotSupported);
  const auto wrong =
      Schema::Make(1, {{.id = 1, .name = "c", .type = TypeKind::kInt, .initial_default = Datum(std::string("x"))}});
  EXPECT_EQ(SchemaToJson(*wrong, writer).error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace delenda::iceberg
