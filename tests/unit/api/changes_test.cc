// Changes through the public headers: whole, by snapshot and in shards they are the same rows.
#include "delenda/changes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "delenda/shard.h"
#include "delenda/table.h"

namespace delenda {
namespace {

OpenOptions Mapped() {
  OpenOptions options;
  options.mappings = {{.from = "/warehouse", .to = DELENDA_FIXTURES "/iceberg"}};
  options.threads = 2;
  return options;
}

Table OpenFixture(const std::string& name) {
  auto table = Table::Open(std::string(DELENDA_FIXTURES "/iceberg/") + name, Mapped());
  if (!table) {
    ADD_FAILURE() << table.error().ToString();
    std::abort();
  }
  return *std::move(table);
}

std::string Lines(Result<RowStream> rows, RowFormat format = RowFormat::kJsonLines) {
  if (!rows) {
    ADD_FAILURE() << rows.error().ToString();
    return {};
  }
  std::string text;
  const auto written = WriteRows(*rows, {.format = format}, [&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  EXPECT_TRUE(written) << written.error().ToString();
  return text;
}

ErrorKind KindOf(const Result<RowStream>& rows) { return rows ? ErrorKind::kInternal : rows.error().kind(); }

TEST(Changes, BySnapshotTheyAreTheSameRowsAndNumberedOn) {
  const Table table = OpenFixture("row_lineage");
  for (const ChangeUpdates updates : {ChangeUpdates::kLineage, ChangeUpdates::kNone}) {
    const ChangeReadOptions options{.updates = updates, .first_ordinal = 40};
    const auto snapshots = table.ChangesBySnapshot(options);
    ASSERT_TRUE(snapshots) << snapshots.error().ToString();
    std::string text;
    int32_t last = 39;
    for (const SnapshotChanges& changes : *snapshots) {
      EXPECT_GT(changes.ordinal(), last);
      last = changes.ordinal();
      const std::string lines = Lines(changes.Read());
      EXPECT_NE(lines.find("\"_commit_snapshot_id\": " + std::to_string(changes.snapshot_id())), std::string::npos);
      EXPECT_NE(lines.find("\"_change_ordinal\": " + std::to_string(changes.ordinal())), std::string::npos);
      text += lines;
    }
    EXPECT_EQ(text, Lines(table.Changes(options)));
    EXPECT_GT(last, 44);
  }
}

TEST(Changes, SayWhatIsWrongWithTheirOptions) {
  const Table table = OpenFixture("cl_basic");
  EXPECT_EQ(KindOf(table.Changes({.updates = ChangeUpdates::kKey})), ErrorKind::kInvalidArgument);
  EXPECT_EQ(KindOf(table.Changes({.key_columns = {"id"}})), ErrorKind::kInvalidArgument);
  EXPECT_EQ(KindOf(table.Changes({.updates = ChangeUpdates::kKey, .key_columns = {"nope"}})), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(table.Changes({.first_ordinal = -1})), ErrorKind::kInvalidArgument);
  EXPECT_EQ(KindOf(table.Changes({.range = {.columns = {{"nope"}}}})), ErrorKind::kNotFound);
  const auto net = table.ChangesBySnapshot({.net = true});
  ASSERT_FALSE(net);
  EXPECT_EQ(net.error().kind(), ErrorKind::kInvalidArgument);
}

TEST(Changes, OfNoColumnOfTheTableAreCounted) {
  const Table table = OpenFixture("cl_basic");
  ChangeReadOptions options;
  options.range.columns.emplace();
  const std::string lines = Lines(table.Changes(options));
  EXPECT_TRUE(lines.starts_with("{\"_change_type\": \"INSERT\", \"_change_ordinal\": 0, ")) << lines.substr(0, 200);
  EXPECT_NE(lines.find("UPDATE_AFTER"), std::string::npos);
}

TEST(Changes, EnvelopesAreOfChangesOnly) {
  const Table table = OpenFixture("cl_basic");
  auto rows = table.Scan();
  ASSERT_TRUE(rows) << rows.error().ToString();
  const auto written =
      WriteRows(*rows, {.format = RowFormat::kDebezium}, [](std::string_view) -> Result<void> { return {}; });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::kInvalidArgument);
}

TEST(Changes, ShardsOfScansAndOfChangesAreToldApart) {
  const Table table = OpenFixture("cl_basic");
  const auto changes = table.PlanChangesJson();
  const auto scan = table.PlanJson();
  ASSERT_TRUE(changes);
  ASSERT_TRUE(scan);
  EXPECT_EQ(Shard::Parse(*changes).error().kind(), ErrorKind::kNotSupported);
  EXPECT_EQ(ChangeShard::Parse(*scan).error().kind(), ErrorKind::kNotSupported);
  const auto shard = ChangeShard::Parse(*changes, Mapped());
  ASSERT_TRUE(shard) << shard.error().ToString();
  EXPECT_EQ(Lines(shard->Changes()), Lines(table.Changes({.raw = true, .updates = ChangeUpdates::kNone})));
}

}  // namespace
}  // namespace delenda
