// Upgrades change the format version, and what the higher one asks for, in the metadata alone.
#include "delenda/commit/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "delenda/io/faulting_file_io.h"
#include "unit/commit/memory_table.h"

namespace delenda::commit {
namespace {

using ::testing::HasSubstr;
using testing::MemoryTable;

Result<Upgraded> Upgrade(const MemoryTable& table, int32_t version, bool dry_run = false) {
  Executor executor(1);
  return UpgradeTable(version, dry_run, {.io = table.io_, .point = table.point_.get(), .executor = &executor});
}

// Iceberg spec, "Row Lineage for Upgraded Tables": next-row-id begins at 0, snapshots stay as they are; the next commit
// gives ids to all data manifests.
TEST(Upgrade, MakesVersion3InTheMetadataAlone) {
  MemoryTable table(io::MakeMemoryFileIO(), {}, 2);
  table.Append("a", 10);
  table.Append("b", 5);
  const auto before = table.Metadata();
  const auto files = table.Files("metadata").size();
  const auto done = Upgrade(table, 3);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(done->from, 2);
  EXPECT_EQ(done->attempts, 1U);
  EXPECT_EQ(table.Files("metadata").size(), files + 1);
  const auto after = table.Metadata();
  EXPECT_EQ(after.format_version, 3);
  EXPECT_EQ(after.next_row_id, 0);
  EXPECT_EQ(after.table_uuid, before.table_uuid);
  EXPECT_EQ(after.current_snapshot_id, before.current_snapshot_id);
  EXPECT_EQ(after.last_sequence_number, before.last_sequence_number);
  EXPECT_GE(after.last_updated_ms, before.last_updated_ms);
  EXPECT_EQ(after.metadata_log.size(), before.metadata_log.size() + 1);
  EXPECT_EQ(after.metadata_log.back().metadata_file, "/w/t/metadata/v3.metadata.json");
  ASSERT_EQ(after.snapshots.size(), 2U);
  for (const auto& snapshot : after.snapshots) EXPECT_FALSE(snapshot.first_row_id || snapshot.added_rows);

  table.Commit(table.Delete({{"a", {3}}}));
  const auto next = table.Metadata();
  EXPECT_EQ(next.next_row_id, 15);
  EXPECT_EQ(next.snapshots.back().first_row_id, 0);
  EXPECT_EQ(next.snapshots.back().added_rows, 15);
  std::set<std::optional<int64_t>> first_ids;
  for (const auto& [path, live] : table.State()) first_ids.insert(live.first.first_row_id);
  EXPECT_TRUE(first_ids == (std::set<std::optional<int64_t>>{0, 5}) ||
              first_ids == (std::set<std::optional<int64_t>>{0, 10}));
}

TEST(Upgrade, ToTheSameVersionChangesNothing) {
  MemoryTable table;
  const auto files = table.Files("metadata");
  const auto done = Upgrade(table, 3);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(done->from, 3);
  EXPECT_EQ(table.Files("metadata"), files);
}

TEST(Upgrade, ADryRunChangesNothing) {
  MemoryTable table(io::MakeMemoryFileIO(), {}, 2);
  const auto files = table.Files("metadata");
  const auto done = Upgrade(table, 3, true);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(done->from, 2);
  EXPECT_EQ(table.Files("metadata"), files);
}

TEST(Upgrade, NeverGoesDown) {
  MemoryTable table;
  for (const int version : {2, 1, 0, 4}) {
    const auto refused = Upgrade(table, version);
    ASSERT_FALSE(refused) << version;
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument) << version;
  }
  EXPECT_THAT(Upgrade(table, 2).error().message(), HasSubstr("can't be brought back"));
}

// As Iceberg 0.8 wrote it: one schema and spec, no ids, no UUID, no refs.
constexpr const char* kVersion1 = R"({"format-version":1,"location":"/w/t","last-updated-ms":1600000000000,
  "last-column-id":2,"schema":{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"},
  {"id":2,"name":"region","required":false,"type":"string","doc":"where"}]},
  "partition-spec":[{"name":"region","transform":"identity","source-id":2}],
  "properties":{},"current-snapshot-id":-1,"snapshots":[],"snapshot-log":[]})";

TEST(Upgrade, Version1GetsWhatItLacks) {
  for (const int version : {2, 3}) {
    const auto parsed = iceberg::TableMetadata::Parse(AsBytes(kVersion1));
    ASSERT_TRUE(parsed) << parsed.error().ToString();
    const auto upgraded =
        UpgradedMetadata({.metadata_path = "/w/t/metadata/v1.metadata.json", .metadata = *parsed}, version);
    ASSERT_TRUE(upgraded) << upgraded.error().ToString();
    const auto text = iceberg::TableMetadataToJson(*upgraded);
    ASSERT_TRUE(text) << text.error().ToString();
    EXPECT_THAT(*text, HasSubstr(R"("schemas":[{"type":"struct","schema-id":0,)"));
    EXPECT_THAT(*text, HasSubstr(R"("partition-specs":[{"spec-id":0,"fields":[{"name":"region","transform":"identity",)"
                                 R"("source-id":2,"field-id":1000}]}],"last-partition-id":1000)"));
    EXPECT_THAT(*text, HasSubstr(R"("last-sequence-number":0)"));
    const auto read = iceberg::TableMetadata::Parse(AsBytes(*text));
    ASSERT_TRUE(read) << read.error().ToString();
    EXPECT_EQ(read->format_version, version);
    EXPECT_EQ(read->table_uuid.size(), 36U);
    EXPECT_EQ(read->next_row_id.has_value(), version == 3);
    EXPECT_FALSE(read->current_snapshot_id);
  }
}

// Whatever fails: the table is at the old or the new version, and an upgrade that says it failed did not happen.
TEST(Upgrade, AnyFailureLeavesTheOldOrTheNewVersion) {
  for (const bool after_the_fact : {false, true}) {
    for (uint64_t at = 0;; ++at) {
      MemoryTable table(io::MakeMemoryFileIO(), {}, 2);
      table.Append("a", 10);
      const auto faulty = std::make_shared<io::FaultingFileIO>(table.io_);
      faulty->Add({.effect = io::FailWith{.after_the_fact = after_the_fact},
                   .operation = std::nullopt,
                   .path_contains = "",
                   .skip = at,
                   .times = 1});
      const auto point = catalog::MakeFolderCommitPoint(faulty, MemoryTable::kLocation);
      const auto done = UpgradeTable(3, false, {.io = faulty, .point = point.get(), .executor = &table.executor_});
      if (done) {
        EXPECT_EQ(table.Metadata().format_version, 3) << "operation " << at;
      } else if (done.error().kind() != ErrorKind::kCommitStateUnknown) {
        EXPECT_EQ(table.Metadata().format_version, 2) << "operation " << at << ": " << done.error().ToString();
      }
      const auto again = Upgrade(table, 3);
      EXPECT_TRUE(again) << "operation " << at << ": " << again.error().ToString();
      table.Commit(table.Delete({{"a", {3}}}));
      if (faulty->operations() <= at) break;
    }
  }
}

// Appends and the upgrade at the same time: neither is lost.
TEST(Upgrade, IsTriedAgainWhenOthersWereFaster) {
  MemoryTable table(io::MakeMemoryFileIO(), {}, 2);
  std::thread appends([&] {
    for (int i = 0; i < 20; ++i) table.Append(std::to_string(i), 1);
  });
  const auto done = Upgrade(table, 3);
  appends.join();
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(table.Metadata().format_version, 3);
  EXPECT_EQ(table.Metadata().snapshots.size(), 20U);
  EXPECT_EQ(table.State().size(), 20U);
}

}  // namespace
}  // namespace delenda::commit
