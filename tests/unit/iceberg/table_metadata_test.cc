// Table metadata: spec "Table Metadata" and "Appendix C", checked on the fixtures' files and on spelled-out documents.
#include "delenda/iceberg/table_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/table_location.h"
#include "support/fixtures.h"

namespace delenda::iceberg {
namespace {

using testing::ExpectedLines;
using testing::FixtureIO;
using testing::FixtureTable;
using ::testing::HasSubstr;

class MetadataOfFixture : public ::testing::TestWithParam<std::string> {};

TEST_P(MetadataOfFixture, HoldsTheSnapshotsThatJavaSees) {
  const auto table = LoadTable(*FixtureIO(), FixtureTable(GetParam()));
  ASSERT_TRUE(table) << table.error().ToString();
  for (const auto& line : ExpectedLines(GetParam(), "snapshots.jsonl")) {
    const auto expected = line.root();
    const Snapshot* snapshot = table->metadata.FindSnapshot(*expected.Get<int64_t>("snapshot_id"));
    ASSERT_NE(snapshot, nullptr);
    EXPECT_EQ(snapshot->parent_id, *expected.Optional<int64_t>("parent_id"));
    EXPECT_EQ(snapshot->sequence_number, *expected.Get<int64_t>("sequence_number"));
    EXPECT_EQ(snapshot->operation, *expected.Get<std::string>("operation"));
    if (const auto schema_id = *expected.Optional<int32_t>("schema_id")) {
      EXPECT_EQ(snapshot->schema_id, schema_id);
    }
    if (const auto records = *expected.Optional<int64_t>("total-records")) {
      EXPECT_EQ(snapshot->summary.at("total-records"), std::to_string(*records));
    }
    avro::SchemaCache schemas;
    const auto manifests = ReadManifests(*FixtureIO(), *snapshot, schemas);
    ASSERT_TRUE(manifests) << manifests.error().ToString();
    const auto count = [&](ManifestContent content) {
      return std::ranges::count(*manifests, content, &ManifestFile::content);
    };
    if (const auto data = *expected.Optional<int64_t>("data_manifests")) {
      EXPECT_EQ(count(ManifestContent::kData), *data);
    }
    if (const auto deletes = *expected.Optional<int64_t>("delete_manifests")) {
      EXPECT_EQ(count(ManifestContent::kDeletes), *deletes);
    }
  }
}

std::vector<std::string> TablesWithSnapshots() {
  std::vector<std::string> names;
  for (const auto& name : testing::ReadableIcebergTables()) {
    if (testing::HasExpected(name, "snapshots.jsonl")) names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Iceberg, MetadataOfFixture, ::testing::ValuesIn(TablesWithSnapshots()),
                         [](const auto& test) { return test.param; });

// A smallest document of each format version.
std::string Document(int version, const std::string& more = "") {
  std::string text =
      R"({"format-version": )" + std::to_string(version) +
      R"(, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "/t", "last-updated-ms": 1, "last-column-id": 3)";
  const std::string fields =
      R"json([{"id": 1, "name": "x", "required": true, "type": "long"}, {"id": 2, "name": "y", "required": false,
    "type": {"type": "list", "element-id": 3, "element-required": false, "element": "decimal(9, 2)"}}])json";
  if (version == 1) {
    text += R"(, "schema": {"type": "struct", "fields": )" + fields +
            R"(}, "partition-spec": [{"name": "x_b", "transform": "bucket[4]", "source-id": 1}])";
  } else {
    text += R"(, "last-sequence-number": 7, "schemas": [{"type": "struct", "schema-id": 0, "fields": )" + fields +
            R"(}], "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "default-spec-id": 0)";
  }
  return text + more + "}";
}

TEST(TableMetadata, ReadsEveryFormatVersion) {
  for (const int version : {1, 2, 3}) {
    const auto metadata = TableMetadata::Parse(AsBytes(Document(version)));
    ASSERT_TRUE(metadata) << metadata.error().ToString();
    EXPECT_EQ(metadata->format_version, version);
    EXPECT_EQ(metadata->last_sequence_number, version == 1 ? 0 : 7) << "version 1 has no sequence numbers";
    EXPECT_FALSE(metadata->current_snapshot_id.has_value());
    const auto path = metadata->CurrentSchema().FindByName("y.element");
    ASSERT_EQ(path.size(), 2U);
    EXPECT_EQ(path.back()->type.ToString(), "decimal(9, 2)");
    EXPECT_EQ(metadata->specs.at(0).fields.size(), version == 1 ? 1U : 0U);
    if (version == 1) {
      EXPECT_EQ(metadata->specs[0].fields[0].field_id, 1000) << "version 1 counts partition field ids from 1000";
    }
  }
}

TEST(TableMetadata, RefusesDocumentsThatBreakTheSpec) {
  const std::string snapshot = R"({"snapshot-id": 5, "timestamp-ms": 1, "manifest-list": "/l", "sequence-number": 1})";
  struct Case {
    std::string text;
    ErrorKind kind;
    const char* message;
  };
  for (
      const auto& [text, kind, message] : {
          Case{"", ErrorKind::kCorrupt, ""},
          Case{"[]", ErrorKind::kCorrupt, "$"},
          Case{Document(4), ErrorKind::kNotSupported, "version 4"},
          Case{Document(0), ErrorKind::kCorrupt, "format-version"},
          Case{R"({"format-version": "2"})", ErrorKind::kCorrupt, "$.format-version"},
          Case{R"({"format-version": 2.5})", ErrorKind::kCorrupt, "$.format-version"},
          Case{Document(2, R"(, "current-snapshot-id": 6, "snapshots": [)" + snapshot + "]"), ErrorKind::kCorrupt,
               "current-snapshot-id names no snapshot"},
          Case{
              Document(
                  2,
                  R"(, "current-snapshot-id": 5, "refs": {"main": {"snapshot-id": 6, "type": "branch"}}, "snapshots": [)" +
                      snapshot + "]"),
              ErrorKind::kCorrupt, "differ"},
          Case{Document(2, R"(, "refs": {"a": {"snapshot-id": 6, "type": "bough"}})"), ErrorKind::kCorrupt, "$.refs.a"},
          Case{Document(2, R"(, "snapshots": [{"snapshot-id": 5, "timestamp-ms": 1}])"), ErrorKind::kCorrupt,
               "manifest-list"},
          Case{
              Document(
                  3, R"(, "snapshots": [{"snapshot-id": 5, "timestamp-ms": 1, "manifest-list": "/l", "key-id": "k"}])"),
              ErrorKind::kNotSupported, "encrypted"},
          Case{Document(2, R"(, "snapshots": [{"snapshot-id": 99999999999999999999}])"), ErrorKind::kCorrupt,
               "$.snapshots[0].snapshot-id"},
          Case{Document(2).substr(0, 200), ErrorKind::kCorrupt, ""},
      }) {
    const auto metadata = TableMetadata::Parse(AsBytes(text));
    ASSERT_FALSE(metadata) << text;
    EXPECT_EQ(metadata.error().kind(), kind) << metadata.error().ToString();
    EXPECT_THAT(metadata.error().ToString(), HasSubstr(message));
  }
}

TEST(TableMetadata, TakesMinusOneAsNoCurrentSnapshot) {
  const auto metadata = TableMetadata::Parse(AsBytes(Document(1, R"(, "current-snapshot-id": -1)")));
  ASSERT_TRUE(metadata);
  EXPECT_FALSE(metadata->current_snapshot_id.has_value());
  const auto selected = SelectSnapshot(*metadata, {});
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->snapshot, nullptr);
}

TEST(SelectSnapshot, FindsByIdRefAndTime) {
  const auto table = LoadTable(*FixtureIO(), FixtureTable("branches_tags"));
  ASSERT_TRUE(table);
  const auto& metadata = table->metadata;
  const auto current = SelectSnapshot(metadata, {});
  ASSERT_TRUE(current);
  EXPECT_EQ(current->snapshot->snapshot_id, *metadata.current_snapshot_id);
  const auto main = SelectSnapshot(metadata, {.ref = "main"});
  EXPECT_EQ(main->snapshot, current->snapshot);
  const auto tag = SelectSnapshot(metadata, {.ref = "v1"});
  ASSERT_TRUE(tag);
  EXPECT_EQ(SelectSnapshot(metadata, {.snapshot_id = tag->snapshot->snapshot_id})->snapshot, tag->snapshot);
  // The log holds what was current on main: at the time of an entry it is that entry's snapshot, just before it the
  // previous one's.
  for (size_t i = 0; i < metadata.snapshot_log.size(); ++i) {
    const auto& entry = metadata.snapshot_log[i];
    EXPECT_EQ(SelectSnapshot(metadata, {.as_of_ms = entry.timestamp_ms})->snapshot->snapshot_id, entry.snapshot_id);
    const auto before = SelectSnapshot(metadata, {.as_of_ms = entry.timestamp_ms - 1});
    if (i == 0) {
      EXPECT_EQ(before.error().kind(), ErrorKind::kNotFound);
    } else {
      EXPECT_EQ(before->snapshot->snapshot_id, metadata.snapshot_log[i - 1].snapshot_id);
    }
  }
  EXPECT_EQ(SelectSnapshot(metadata, {.snapshot_id = 1}).error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(SelectSnapshot(metadata, {.ref = "nope"}).error().message(), HasSubstr("audit, main, v1"));
  EXPECT_EQ(SelectSnapshot(metadata, {.snapshot_id = 1, .ref = "main"}).error().kind(), ErrorKind::kInvalidArgument);
}

TEST(SelectSnapshot, ReadsTagsAndIdsWithTheirOwnSchemaAndBranchesWithTheCurrentOne) {
  const auto table = LoadTable(*FixtureIO(), FixtureTable("schema_evo"));
  ASSERT_TRUE(table);
  const auto& metadata = table->metadata;
  const Snapshot& first = metadata.snapshots.front();
  ASSERT_NE(first.schema_id, metadata.current_schema_id);
  EXPECT_EQ(SelectSnapshot(metadata, {.snapshot_id = first.snapshot_id})->schema->id(), *first.schema_id);
  EXPECT_EQ(SelectSnapshot(metadata, {.ref = "main"})->schema->id(), metadata.current_schema_id);
  EXPECT_EQ(SelectSnapshot(metadata, {})->schema->id(), metadata.current_schema_id);
}

}  // namespace
}  // namespace delenda::iceberg
