// Writing manifest lists: Java's lists come out byte by byte (inflated); numbers and row ids are given out as Java
// does.
#include "delenda/iceberg/manifest_list_writer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "avro_blocks.h"
#include "delenda/iceberg/manifest_schema.h"
#include "delenda/iceberg/manifest_writer.h"
#include "delenda/iceberg/table_location.h"
#include "support/fixtures.h"

namespace delenda::iceberg {
namespace {

using testing::TakeApart;

// Every list of the fixtures twice: as it was read, and with all that the commit gave out taken away first.
TEST(ManifestListWriter, WritesJavasListsByteByByte) {
  const auto io = testing::FixtureIO();
  std::set<std::string> done;
  size_t lists = 0;
  size_t assigned = 0;
  for (const std::string& path : testing::FixtureMetadataFiles()) {
    if (path.find("/pyiceberg_") != std::string::npos) continue;
    const auto table = LoadTable(*io, path);
    if (!table || table->metadata.format_version < 2) continue;
    for (const Snapshot& snapshot : table->metadata.snapshots) {
      if (!done.insert(snapshot.manifest_list).second) continue;
      SCOPED_TRACE(snapshot.manifest_list);
      const auto file = io::ReadWholeFile(*io, snapshot.manifest_list);
      if (!file) continue;
      const auto java = TakeApart(*file);
      ASSERT_TRUE(java) << java.error().ToString();
      const int32_t version = std::stoi(java->metadata.at("format-version"));
      if (version == 1) continue;
      avro::SchemaCache schemas;
      auto manifests = ReadManifests(*io, snapshot, schemas);
      ASSERT_TRUE(manifests) << manifests.error().ToString();
      const ManifestListOptions options{.format_version = version,
                                        .snapshot_id = snapshot.snapshot_id,
                                        .parent_snapshot_id = snapshot.parent_id,
                                        .sequence_number = snapshot.sequence_number,
                                        .first_row_id = snapshot.first_row_id.value_or(0)};
      EXPECT_EQ(ManifestFileSchema(version), java->metadata.at("avro.schema"));
      for (const bool take_away : {false, true}) {
        for (ManifestFile& manifest : *manifests) {
          if (!take_away) continue;
          // An upgraded table's first commit gives ids to older manifests too.
          if (manifest.first_row_id && snapshot.first_row_id && *manifest.first_row_id >= *snapshot.first_row_id) {
            ++assigned;
            manifest.first_row_id.reset();
          }
          if (manifest.sequence_number != snapshot.sequence_number) continue;
          manifest.sequence_number = kUnassignedSequenceNumber;
          if (manifest.min_sequence_number == snapshot.sequence_number)
            manifest.min_sequence_number = kUnassignedSequenceNumber;
        }
        const auto ours = WriteManifestList(*manifests, options);
        ASSERT_TRUE(ours) << ours.error().ToString();
        const auto parts = TakeApart(ours->bytes);
        ASSERT_TRUE(parts) << parts.error().ToString();
        EXPECT_EQ(parts->rows, java->rows);
        EXPECT_TRUE(parts->data == java->data) << take_away;
        for (const auto& [key, value] : java->metadata) {
          if (key.starts_with("avro.") || key == "iceberg.schema") continue;
          EXPECT_EQ(parts->metadata.at(key), value) << key;
        }
        if (take_away && version >= 3 && snapshot.added_rows) {
          EXPECT_EQ(ours->next_row_id, *snapshot.first_row_id + *snapshot.added_rows);
        }
      }
      ++lists;
    }
  }
  EXPECT_GE(lists, 200U);
  EXPECT_GE(assigned, 100U);
}

ManifestFile Manifest(std::string path, ManifestContent content, int64_t added_rows, int64_t existing_rows) {
  ManifestFile manifest;
  manifest.path = std::move(path);
  manifest.length = 100;
  manifest.spec_id = 0;
  manifest.content = content;
  manifest.sequence_number = kUnassignedSequenceNumber;
  manifest.min_sequence_number = kUnassignedSequenceNumber;
  manifest.added_snapshot_id = 77;
  manifest.added_files = manifest.existing_files = 1;
  manifest.deleted_files = 0;
  manifest.added_rows = added_rows;
  manifest.existing_rows = existing_rows;
  manifest.deleted_rows = 5;
  return manifest;
}

// Iceberg spec, "First Row ID Assignment": the example's arithmetic, and an upgraded table.
TEST(ManifestListWriter, GivesRowIdsToDataManifestsInOrder) {
  std::vector<ManifestFile> manifests = {
      Manifest("/a", ManifestContent::kData, 10, 5), Manifest("/b", ManifestContent::kDeletes, 3, 0),
      Manifest("/c", ManifestContent::kData, 7, 0), Manifest("/d", ManifestContent::kData, 1, 1)};
  manifests[2].first_row_id = 40;  // of an earlier snapshot
  manifests[2].sequence_number = manifests[2].min_sequence_number = 2;
  manifests[2].added_snapshot_id = 50;
  const auto list = WriteManifestList(
      manifests, {.format_version = 3, .snapshot_id = 77, .sequence_number = 6, .first_row_id = 1000});
  ASSERT_TRUE(list) << list.error().ToString();
  EXPECT_EQ(list->manifests[0].first_row_id, 1000);
  EXPECT_EQ(list->manifests[1].first_row_id, std::nullopt);
  EXPECT_EQ(list->manifests[2].first_row_id, 40);
  EXPECT_EQ(list->manifests[3].first_row_id, 1015);
  EXPECT_EQ(list->next_row_id, 1017);
  EXPECT_EQ(list->manifests[0].sequence_number, 6);
  EXPECT_EQ(list->manifests[0].min_sequence_number, 6);
  EXPECT_EQ(list->manifests[2].sequence_number, 2);

  manifests[2].first_row_id.reset();
  const auto old = WriteManifestList(manifests, {.format_version = 2, .snapshot_id = 77, .sequence_number = 6});
  ASSERT_TRUE(old) << old.error().ToString();
  for (const ManifestFile& manifest : old->manifests) EXPECT_EQ(manifest.first_row_id, std::nullopt);
}

TEST(ManifestListWriter, RefusesWhatReadersWouldMistake) {
  struct Case {
    const char* name;
    int32_t version;
    void (*change)(ManifestFile&);
    ErrorKind kind = ErrorKind::kInvalidArgument;
  };
  const Case cases[] = {
      {"no path", 3, [](ManifestFile& m) { m.path = ""; }},
      {"a path twice", 3, [](ManifestFile& m) { m.path = "/other"; }},
      {"no length", 3, [](ManifestFile& m) { m.length.reset(); }, ErrorKind::kValidationFailed},
      {"no spec", 3, [](ManifestFile& m) { m.spec_id.reset(); }, ErrorKind::kValidationFailed},
      {"no counts", 3, [](ManifestFile& m) { m.existing_rows.reset(); }, ErrorKind::kValidationFailed},
      {"negative count", 3, [](ManifestFile& m) { m.added_rows = -1; }},
      {"unassigned of another snapshot", 3, [](ManifestFile& m) { m.added_snapshot_id = 76; }},
      {"min unassigned of another snapshot", 3,
       [](ManifestFile& m) {
         m.added_snapshot_id = 76;
         m.sequence_number = 3;
       }},
      {"number above the commit's", 3, [](ManifestFile& m) { m.sequence_number = 7; }},
      {"row id in version 2", 2, [](ManifestFile& m) { m.first_row_id = 0; }},
      {"row id of deletes", 3,
       [](ManifestFile& m) {
         m.content = ManifestContent::kDeletes;
         m.first_row_id = 0;
       }},
      {"row ids overflow", 3, [](ManifestFile& m) { m.added_rows = std::numeric_limits<int64_t>::max(); }},
  };
  for (const Case& test : cases) {
    std::vector<ManifestFile> manifests = {Manifest("/other", ManifestContent::kData, 1, 1),
                                           Manifest("/m", ManifestContent::kData, 1, 1)};
    test.change(manifests[1]);
    const auto list = WriteManifestList(
        manifests, {.format_version = test.version, .snapshot_id = 77, .sequence_number = 6, .first_row_id = 10});
    ASSERT_FALSE(list) << test.name;
    EXPECT_EQ(list.error().kind(), test.kind) << test.name << ": " << list.error().ToString();
  }
  EXPECT_FALSE(WriteManifestList({}, {.format_version = 1}));
}

// An empty list of summaries says "no partition fields"; readers look for every field in it.
TEST(ManifestListWriter, UnknownSummariesStayUnknown) {
  std::vector<ManifestFile> manifests = {Manifest("/a", ManifestContent::kData, 1, 0),
                                         Manifest("/b", ManifestContent::kData, 1, 0)};
  manifests[1].partitions_listed = true;
  const auto list = WriteManifestList(manifests, {.format_version = 3, .snapshot_id = 77, .sequence_number = 6});
  ASSERT_TRUE(list);
  auto reader = avro::Reader::Open(list->bytes);
  ASSERT_TRUE(reader);
  const auto columns = reader->ReadAll(avro::Projection::Everything());
  ASSERT_TRUE(columns);
  const avro::Column* partitions = *columns->Required({507}, avro::Storage::kList);
  EXPECT_TRUE(partitions->IsNull(0));
  EXPECT_FALSE(partitions->IsNull(1));
}

}  // namespace
}  // namespace delenda::iceberg
