// Rules of the metadata file: one broken at a time, in the metadata of a table that Spark wrote.
#include "delenda/iceberg/metadata_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "delenda/iceberg/table_location.h"
#include "support/fixtures.h"

namespace delenda::iceberg {
namespace {

struct BrokenMetadata {
  const char* name;
  std::function<void(TableMetadata&)> make;
  std::vector<const Check*> checks;
  std::string place, what;
};

void PrintTo(const BrokenMetadata& broken, std::ostream* out) { *out << broken.name; }

class MetadataRule : public ::testing::TestWithParam<BrokenMetadata> {};

Snapshot& Newest(TableMetadata& metadata) { return metadata.snapshots.back(); }

const BrokenMetadata kBrokenMetadata[] = {
    {"Whole", [](TableMetadata&) {}, {}, "", ""},
    {"RefsNameSnapshotsThatExist",
     [](TableMetadata& m) { m.refs["audit"] = {.snapshot_id = 7, .is_branch = false}; },
     {&checks::kRefUnknownSnapshot},
     "tag audit",
     "names snapshot 7"},
    {"SnapshotIdsAreUnique",
     [](TableMetadata& m) { m.snapshots.push_back(m.snapshots.front()); },
     {&checks::kSnapshotTwice},
     "snapshot ",
     "two snapshots"},
    {"SequenceNumbersAscendFromParentToChild",
     [](TableMetadata& m) { Newest(m).sequence_number -= 1; },
     {&checks::kSequenceOrder},
     "snapshot ",
     "its parent"},
    {"NoSequenceNumberIsAboveTheLastOne",
     [](TableMetadata& m) { m.last_sequence_number -= 1; },
     {&checks::kSequenceLast},
     "snapshot ",
     "the table's last one is"},
    {"NoSnapshotIsItsOwnAncestor",
     [](TableMetadata& m) {
       m.snapshots.front().parent_id = Newest(m).snapshot_id;
       for (auto& snapshot : m.snapshots) snapshot.sequence_number = 0;
     },
     {&checks::kParentLoop, &checks::kParentLoop, &checks::kParentLoop, &checks::kParentLoop},
     "snapshot ",
     "its own ancestor"},
    {"SchemasOfSnapshotsExist",
     [](TableMetadata& m) { Newest(m).schema_id = 99; },
     {&checks::kSchemaUnknown},
     "snapshot ",
     "schema 99"},
    {"NoColumnIdIsAboveTheLastOne",
     [](TableMetadata& m) { m.last_column_id = 1; },
     {&checks::kColumnIdLast},
     "schema 0",
     "last-column-id is 1"},
    {"NoPartitionFieldIdIsAboveTheLastOne",
     [](TableMetadata& m) {
       m.specs.front().fields.push_back({.source_id = 1, .field_id = 1005, .name = "p", .transform = {}});
     },
     {&checks::kPartitionIdLast},
     "partition spec 0",
     "field 'p' of id 1005"},
    {"VersionThreeHasANextRowId",
     [](TableMetadata& m) {
       m.next_row_id.reset();
       for (auto& snapshot : m.snapshots) snapshot.first_row_id = snapshot.added_rows = std::nullopt;
     },
     {&checks::kRowIdNext},
     "next-row-id",
     "is missing"},
    {"NoRowIdIsAtOrAboveTheNextOne",
     [](TableMetadata& m) {
       for (auto& snapshot : m.snapshots) snapshot.first_row_id = snapshot.added_rows = std::nullopt;
       Newest(m).first_row_id = *m.next_row_id - 3;
       Newest(m).added_rows = 4;
     },
     {&checks::kRowIdNext},
     "snapshot ",
     "gave 4 row ids"},
    {"RowIdsDoNotOverflow",
     [](TableMetadata& m) {
       Newest(m).first_row_id = INT64_MAX;
       Newest(m).added_rows = 1;
     },
     {&checks::kRowIdNext},
     "snapshot ",
     "next-row-id is"},
    {"FirstRowIdAndAddedRowsComeTogether",
     [](TableMetadata& m) { Newest(m).added_rows.reset(); },
     {&checks::kRowIdSnapshot},
     "snapshot ",
     "both must be given"},
};

TEST_P(MetadataRule, IsHeld) {
  auto table = LoadTable(*testing::FixtureIO(), testing::FixtureTable("cl_dv_removed"));
  ASSERT_TRUE(table) << table.error().ToString();
  GetParam().make(table->metadata);
  const Findings findings = CheckTableMetadata(table->metadata);
  std::vector<const Check*> found;
  for (const auto& finding : findings) found.push_back(finding.check);
  ASSERT_EQ(found, GetParam().checks) << (findings.empty() ? "" : findings.front().what);
  if (findings.empty()) return;
  EXPECT_TRUE(findings.front().place.starts_with(GetParam().place)) << findings.front().place;
  EXPECT_THAT(findings.front().what, ::testing::HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(All, MetadataRule, ::testing::ValuesIn(kBrokenMetadata),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace delenda::iceberg
