// How many manifests a table has, and that merging them changes nothing else.
#include "delenda/commit/manifest_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "delenda/commit/upgrade.h"
#include "delenda/iceberg/manifest.h"
#include "unit/commit/memory_table.h"

namespace delenda::commit {
namespace {

using iceberg::EntryStatus;
using iceberg::ManifestContent;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;
using testing::MemoryTable;
using Groups = std::vector<std::vector<size_t>>;

constexpr auto kData = ManifestContent::kData;
constexpr auto kDeletes = ManifestContent::kDeletes;

struct Grouping {
  std::string rule;
  std::vector<ManifestSize> manifests;  // newest first
  ManifestMergePolicy policy;
  Groups groups;
};

class GroupingOf : public ::testing::TestWithParam<Grouping> {};

TEST_P(GroupingOf, Manifests) { EXPECT_EQ(GroupManifests(GetParam().manifests, GetParam().policy), GetParam().groups); }

const ManifestMergePolicy kThree{.enabled = true, .min_count = 3, .target_bytes = 100};

INSTANTIATE_TEST_SUITE_P(
    ManifestMerge, GroupingOf,
    ::testing::Values(
        Grouping{"None", {}, kThree, {}},
        Grouping{"FewerThanTheLeastCountStay", {{kData, 0, 10, true}, {kData, 0, 10}}, kThree, {{0}, {1}}},
        Grouping{"TheNewOneCounts", {{kData, 0, 10, true}, {kData, 0, 10}, {kData, 0, 10}}, kThree, {{0, 1, 2}}},
        Grouping{"LargeOnesStay",
                 {{kData, 0, 10, true}, {kData, 0, 50}, {kData, 0, 10}, {kData, 0, 200}, {kData, 0, 10}},
                 kThree,
                 {{0, 2, 4}, {1}, {3}}},
        Grouping{"AFullBinIsMergedTheRestStays",
                 {{kData, 0, 40, true}, {kData, 0, 40}, {kData, 0, 40}, {kData, 0, 40}},
                 kThree,
                 {{0}, {1}, {2, 3}}},
        Grouping{"ContentsDoNotMix",
                 {{kData, 0, 1, true}, {kDeletes, 0, 1, true}, {kData, 0, 1}, {kDeletes, 0, 1}, {kData, 0, 1}},
                 kThree,
                 {{0, 2, 4}, {1}, {3}}},
        Grouping{"SpecsDoNotMix",
                 {{kData, 1, 1, true}, {kData, 0, 1}, {kData, 1, 1}, {kData, 0, 1}, {kData, 0, 1}, {kData, 1, 1}},
                 kThree,
                 {{0, 2, 5}, {1}, {3}, {4}}},
        Grouping{"NothingIsMergedForItself", {{kData, 0, 1}, {kData, 0, 1}, {kData, 0, 1}}, kThree, {{0}, {1}, {2}}},
        Grouping{"ALeastCountOfOneMergesTwo",
                 {{kData, 0, 1, true}, {kData, 0, 1}},
                 {.enabled = true, .min_count = 1, .target_bytes = 100},
                 {{0, 1}}},
        Grouping{"NotWhenItIsOff",
                 {{kData, 0, 1, true}, {kData, 0, 1}, {kData, 0, 1}},
                 {.enabled = false, .min_count = 1, .target_bytes = 100},
                 {{0}, {1}, {2}}},
        Grouping{"ATargetOfNothingMergesNothing",
                 {{kData, 0, 1, true}, {kData, 0, 1}, {kData, 0, 1}},
                 {.enabled = true, .min_count = 1, .target_bytes = 0},
                 {{0}, {1}, {2}}}),
    [](const auto& one) { return one.param.rule; });

// Commit after commit of small manifests: their number stays bounded, and what has been merged to half the target size
// is not written again.
TEST(ManifestMerge, TheNumberOfManifestsIsBoundedAndSoIsTheWork) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const ManifestMergePolicy policy{.enabled = true, .min_count = 10, .target_bytes = 10000};
  std::vector<ManifestSize> manifests;
  uint64_t added = 0, rewritten = 0;
  for (int commit = 0; commit < 5000; ++commit) {
    manifests.insert(manifests.begin(), {.bytes = 50 + random() % 50, .is_new = true});
    added += manifests.front().bytes;
    std::vector<ManifestSize> next;
    for (const auto& group : GroupManifests(manifests, policy)) {
      ManifestSize sum;
      for (const size_t member : group) sum.bytes += manifests[member].bytes;
      if (group.size() > 1) rewritten += sum.bytes;
      ASSERT_THAT(sum.bytes, Le(10000U));
      next.push_back(sum);
    }
    manifests = std::move(next);
    uint64_t small = 0;
    for (const auto& manifest : manifests) small += manifest.bytes < 5000 ? 1 : 0;
    ASSERT_LE(small, 10U);
  }
  EXPECT_LE(manifests.size(), added / 5000 + 10);
  EXPECT_LE(rewritten, 12 * added);
}

TEST(ManifestMerge, PropertiesAreThoseOfIceberg) {
  const auto standard = *ManifestMergePolicy::From({});
  EXPECT_TRUE(standard.enabled);
  EXPECT_EQ(standard.min_count, 100);
  EXPECT_EQ(standard.target_bytes, 8388608);
  const auto set = *ManifestMergePolicy::From({{"commit.manifest-merge.enabled", "false"},
                                               {"commit.manifest.min-count-to-merge", "7"},
                                               {"commit.manifest.target-size-bytes", "1000"}});
  EXPECT_FALSE(set.enabled);
  EXPECT_EQ(set.min_count, 7);
  EXPECT_EQ(set.target_bytes, 1000);
  for (const char* name :
       {"commit.manifest-merge.enabled", "commit.manifest.min-count-to-merge", "commit.manifest.target-size-bytes"}) {
    const auto wrong = ManifestMergePolicy::From({{name, "many"}});
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message(), HasSubstr(name));
  }
}

std::map<std::string, std::string> MergeAt(int count) {
  return {{"commit.manifest.min-count-to-merge", std::to_string(count)}};
}

struct Entry {
  std::string path;
  EntryStatus status;
  bool states_sequence_numbers;

  bool operator==(const Entry&) const = default;
};
void PrintTo(const Entry& entry, std::ostream* out) {
  *out << entry.path << " " << static_cast<int>(entry.status) << " " << entry.states_sequence_numbers;
}

// The entries of each manifest of the current snapshot, with file names for paths.
std::vector<std::vector<Entry>> Entries(const MemoryTable& table, ManifestContent content) {
  const auto metadata = table.Metadata();
  const auto specs = iceberg::BindSpecs(metadata, metadata.CurrentSchema());
  avro::SchemaCache schemas;
  const auto manifests =
      iceberg::ReadManifests(*table.io_, *metadata.FindSnapshot(*metadata.current_snapshot_id), schemas);
  EXPECT_TRUE(manifests) << manifests.error().ToString();
  std::vector<std::vector<Entry>> all;
  for (const auto& manifest : *manifests) {
    if (manifest.content != content) continue;
    auto& entries = all.emplace_back();
    auto reader = iceberg::ManifestReader::Open(*table.io_, manifest, specs, schemas, {});
    EXPECT_TRUE(reader) << reader.error().ToString();
    while (*reader->NextBlock()) {
      for (size_t row = 0; row < reader->rows(); ++row) {
        const auto file = reader->File(row);
        const std::string& path = content == kData ? file.path : *file.referenced_data_file;
        entries.push_back({path.substr(path.rfind('/') + 1), reader->Status(row), reader->StatesSequenceNumbers(row)});
      }
    }
  }
  return all;
}

struct Numbers {
  std::optional<int64_t> first_row_id, sequence_number;

  bool operator==(const Numbers&) const = default;
};
std::map<std::string, Numbers> NumbersOf(const MemoryTable& table) {
  std::map<std::string, Numbers> numbers;
  for (const auto& [path, live] : table.State())
    numbers[path] = {live.first.first_row_id, live.first.data_sequence_number};
  return numbers;
}

// No two rows have one id, and every row has one.
void ExpectUniqueRowIds(const MemoryTable& table) {
  std::set<int64_t> ids;
  int64_t rows = 0;
  for (const auto& [path, live] : table.State()) {
    ASSERT_TRUE(live.first.first_row_id) << path;
    rows += live.first.record_count;
    for (int64_t i = 0; i < live.first.record_count; ++i) ids.insert(*live.first.first_row_id + i);
  }
  EXPECT_EQ(static_cast<int64_t>(ids.size()), rows);
  EXPECT_TRUE(ids.empty() || *ids.rbegin() < *table.Metadata().next_row_id);
}

TEST(ManifestMerge, ManyAppendsKeepFewManifestsAndAllNumbers) {
  MemoryTable table;
  std::map<std::string, Numbers> numbers;
  for (int i = 0; i < 250; ++i) {
    const std::string name = "f" + std::to_string(i) + ".parquet";
    table.Append(name, 3 + i % 4);
    if (i % 50 != 49 && i != 99 && i != 198) continue;
    const auto now = NumbersOf(table);
    for (const auto& [path, number] : numbers) EXPECT_EQ(now.at(path), number) << path;
    numbers = now;
    EXPECT_THAT(Entries(table, kData).size(), Le(100U));
  }
  EXPECT_EQ(numbers.size(), 250U);
  EXPECT_EQ(numbers.at("/w/t/data/f0.parquet"), (Numbers{0, 1}));
  EXPECT_EQ(numbers.at("/w/t/data/f249.parquet").sequence_number, 250);
  ExpectUniqueRowIds(table);
}

TEST(ManifestMerge, OfRemovedFilesOnlyThoseOfTheSnapshotItselfStay) {
  MemoryTable table(io::MakeMemoryFileIO(), MergeAt(2));
  table.Append("a", 2);
  table.Append("b", 2);
  EXPECT_THAT(Entries(table, kData), ElementsAre(ElementsAre(Entry{"b", EntryStatus::kAdded, false},
                                                             Entry{"a", EntryStatus::kExisting, true})));
  Intent rewrite = table.Update({{"a", {0, 1}}}, "c");
  table.Commit(rewrite);
  EXPECT_THAT(Entries(table, kData),
              ElementsAre(ElementsAre(Entry{"c", EntryStatus::kAdded, false}, Entry{"b", EntryStatus::kExisting, true},
                                      Entry{"a", EntryStatus::kDeleted, true})));
  table.Append("d", 2);
  EXPECT_THAT(Entries(table, kData),
              ElementsAre(ElementsAre(Entry{"d", EntryStatus::kAdded, false}, Entry{"c", EntryStatus::kExisting, true},
                                      Entry{"b", EntryStatus::kExisting, true})));
  ExpectUniqueRowIds(table);
}

TEST(ManifestMerge, ManifestsOfVectorsMergeToo) {
  MemoryTable table(io::MakeMemoryFileIO(), MergeAt(3));
  for (int i = 0; i < 9; ++i) table.Append(std::to_string(i), 4);
  for (int i = 0; i < 9; ++i) {
    table.Commit(table.Delete({{std::to_string(i), {1}}}));
    EXPECT_THAT(Entries(table, kDeletes).size(), Le(3U));
  }
  for (int i = 0; i < 9; ++i) EXPECT_THAT(table.Deleted(std::to_string(i)), ElementsAre(1));
  // A second vector takes the place of the first, which is in a merged manifest.
  table.Commit(table.Delete({{"4", {2}}, {"7", {0}}}));
  EXPECT_THAT(table.Deleted("4"), ElementsAre(1, 2));
  EXPECT_THAT(table.Deleted("7"), ElementsAre(0, 1));
  EXPECT_THAT(table.Deleted("5"), ElementsAre(1));
}

TEST(ManifestMerge, NewManifestsEndAtTheTargetSize) {
  MemoryTable table(io::MakeMemoryFileIO(), {{"commit.manifest.target-size-bytes", "20000"}});
  Intent intent;
  for (int i = 0; i < 3000; ++i) intent.added_files.push_back(MemoryTable::DataFile(std::to_string(i), 1));
  table.Commit(intent);
  EXPECT_GT(Entries(table, kData).size(), 1U);
  EXPECT_EQ(table.State().size(), 3000U);
  ExpectUniqueRowIds(table);
}

// Manifests that come from before an upgrade have no row ids, and get some while they are merged.
TEST(ManifestMerge, AfterAnUpgradeEveryRowHasAnId) {
  for (const int merge_at : {1, 4, 100}) {
    MemoryTable table(io::MakeMemoryFileIO(), MergeAt(merge_at), 2);
    for (int i = 0; i < 5; ++i) table.Append("old" + std::to_string(i), 3);
    ASSERT_TRUE(UpgradeTable(3, false, {.io = table.io_, .point = table.point_.get(), .executor = &table.executor_}));
    for (const auto& [path, live] : table.State()) EXPECT_FALSE(live.first.first_row_id);
    table.Append("new0", 5);
    ExpectUniqueRowIds(table);
    const auto numbers = NumbersOf(table);
    for (int i = 1; i < 9; ++i) table.Append("new" + std::to_string(i), 5);
    table.Commit(table.Delete({{"old1", {0}}, {"new2", {0, 1, 2, 3, 4}}}));
    table.Append("last", 5);
    ExpectUniqueRowIds(table);
    const auto now = NumbersOf(table);
    for (const auto& [path, number] : numbers) EXPECT_EQ(now.at(path), number) << path;
    EXPECT_FALSE(table.IsLive("new2"));
  }
}

}  // namespace
}  // namespace delenda::commit
