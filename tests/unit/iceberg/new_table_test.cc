// The first metadata of a table, as the reference implementation writes it.
#include "delenda/iceberg/new_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "delenda/iceberg/metadata_check.h"
#include "delenda/iceberg/metadata_writer.h"
#include "delenda/model/column_text.h"
#include "delenda/model/partition_text.h"

namespace delenda::iceberg {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

NewTable Table(const char* columns, const char* partitions = "") {
  NewTable table{.location = "/w/t", .schema = *ParseColumns(columns), .spec = {}};
  if (*partitions != '\0') table.spec = *ParsePartitioning(partitions, table.schema);
  return table;
}

// Uuid and time differ in every table.
std::string Text(const NewTable& table) {
  const auto metadata = MakeNewTable(table);
  EXPECT_TRUE(metadata) << metadata.error().ToString();
  if (!metadata) return {};
  EXPECT_THAT(CheckTableMetadata(*metadata), IsEmpty());
  const auto text = TableMetadataToJson(*metadata);
  EXPECT_TRUE(text) << text.error().ToString();
  return std::regex_replace(
      std::regex_replace(*text, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
      std::regex("\"last-updated-ms\":[0-9]{13}"), "\"last-updated-ms\":NOW");
}

// Members and values of tests/fixtures' first metadata files, which Spark wrote.
TEST(NewTable, HasTheMembersThatSparkWrites) {
  EXPECT_EQ(Text(Table("id long NOT NULL, ts timestamptz", "bucket(4, id), day(ts)")),
            R"({"format-version":3,"table-uuid":"UUID","location":"/w/t","last-sequence-number":0,)"
            R"("last-updated-ms":NOW,"last-column-id":2,"current-schema-id":0,"schemas":[{"type":"struct",)"
            R"("schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"},)"
            R"({"id":2,"name":"ts","required":false,"type":"timestamptz"}]}],"default-spec-id":0,)"
            R"("partition-specs":[{"spec-id":0,"fields":[{"name":"id_bucket","transform":"bucket[4]","source-id":1,)"
            R"("field-id":1000},{"name":"ts_day","transform":"day","source-id":2,"field-id":1001}]}],)"
            R"("last-partition-id":1001,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],)"
            R"("properties":{"write.parquet.compression-codec":"zstd"},"current-snapshot-id":null,"next-row-id":0,)"
            R"("refs":{},"snapshots":[],"statistics":[],"partition-statistics":[],"snapshot-log":[],)"
            R"("metadata-log":[]})");
}

TEST(NewTable, OfVersion2HasNoRowIds) {
  NewTable table = Table("id long, a struct<b int, c list<string>>");
  table.format_version = 2;
  table.properties = {{"write.parquet.compression-codec", "snappy"}, {"owner", "me"}};
  const std::string text = Text(table);
  EXPECT_THAT(text, HasSubstr(R"("format-version":2)"));
  EXPECT_THAT(text, HasSubstr(R"("last-column-id":5)"));
  EXPECT_THAT(text, HasSubstr(R"("partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999)"));
  EXPECT_THAT(text, HasSubstr(R"("properties":{"owner":"me","write.parquet.compression-codec":"snappy"})"));
  EXPECT_THAT(text, HasSubstr(R"("current-snapshot-id":-1,"refs")"));
}

TEST(NewTable, IdentifiersMustBeRequiredAndComparable) {
  const Schema schema = *ParseColumns(
      "id long NOT NULL, region string, v double NOT NULL, place struct<zip string NOT NULL> NOT NULL, "
      "other struct<zip string NOT NULL>, tags list<string NOT NULL> NOT NULL");
  for (const auto& [column, required, message] :
       std::initializer_list<std::tuple<const char*, bool, const char*>>{{"id", false, ""},
                                                                         {"place.zip", false, ""},
                                                                         {"region", true, ""},
                                                                         {"other.zip", true, ""},
                                                                         {"region", false, "'region' is optional"},
                                                                         {"other.zip", false, "'other' is optional"},
                                                                         {"v", true, "it is of type double"},
                                                                         {"place", true, "it is of type struct"},
                                                                         {"tags", true, "it is of type list"},
                                                                         {"tags.element", true, "within a list"},
                                                                         {"colour", true, "no column 'colour'"}}) {
    NewTable table{.location = "/w/t", .schema = {}, .spec = {}};
    const auto made = [&]() -> Result<TableMetadata> {
      table.schema = DELENDA_TRY(WithIdentifiers(schema, {column}, required));
      return MakeNewTable(table);
    }();
    if (*message == '\0') {
      ASSERT_TRUE(made) << column << ": " << made.error().ToString();
      const auto path = made->CurrentSchema().FindByName(column);
      EXPECT_EQ(made->CurrentSchema().identifier_ids(), std::vector<int32_t>{path.back()->id});
      for (const Field* field : path) EXPECT_TRUE(field->required) << column;
    } else {
      ASSERT_FALSE(made) << column;
      EXPECT_THAT(made.error().message(), HasSubstr(message)) << column;
    }
  }
}

TEST(NewTable, WhatNoTableCanHaveIsRefused) {
  const auto refused = [](NewTable table, const char* message) {
    const auto made = MakeNewTable(table);
    ASSERT_FALSE(made) << message;
    EXPECT_EQ(made.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(made.error().message(), HasSubstr(message));
  };
  NewTable table = Table("id long");
  table.format_version = 1;
  refused(table, "format version 1");
  table = Table("id long");
  table.schema = Schema();
  refused(table, "at least one column");
  for (const char* name : {"_file", "_pos", "_row_id", "_last_updated_sequence_number", "_change_type"})
    refused(Table(fmt::format("id long, {} int", name).c_str()), "readers add one of that name");
  for (const char* columns : {"id long, a struct<b timestamp_ns>", "a variant", "a unknown", "a int DEFAULT 1"}) {
    table = Table(columns);
    table.format_version = 2;
    refused(table, "needs format version 3");
  }
  table = Table("id long");
  table.properties = {{"format-version", "2"}};
  refused(table, "state it as the table's format version");
  table.properties = {{"current-snapshot-id", "2"}};
  refused(table, "no property");
}

}  // namespace
}  // namespace delenda::iceberg
