// Planning of changes on histories that the project's own writers make: rules by name, counts of work, and random
// histories against a model that holds every snapshot's state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "delenda/io/counting_file_io.h"
#include "delenda/plan/change_planner.h"
#include "delenda/plan/delete_index.h"
#include "support/seed.h"
#include "unit/plan/table_history.h"

namespace delenda::plan {
namespace {

using ::testing::AllOf;
using testing::Commit;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NameOf;
using testing::TableHistory;
using ::testing::UnorderedElementsAreArray;
using Kind = ChangeTask::Kind;

Result<ChangePlan> PlanOf(TableHistory& table, const ChangeRequest& request, io::FileIO* io = nullptr) {
  Executor executor(2);
  return PlanChanges(table.metadata(), io == nullptr ? *table.io() : *io, request, executor, {});
}

ChangeRequest Between(std::optional<int64_t> from, std::optional<int64_t> to = std::nullopt) {
  return {.from = {.snapshot_id = from}, .to = {.snapshot_id = to}};
}

std::string KindName(Kind kind) {
  switch (kind) {
    case Kind::kAddedRows: return "added";
    case Kind::kDeletedDataFile: return "removed";
    case Kind::kDeletedRows: return "deleted";
    case Kind::kRestoredRows: break;
  }
  return "restored";
}

// "0 1007 deleted a {} {1.puffin@4}"
std::string TaskText(uint64_t ordinal, int64_t snapshot, Kind kind, const std::string& path,
                     const std::set<std::string>& before, const std::set<std::string>& after) {
  return fmt::format("{} {} {} {} {{{}}} {{{}}}", ordinal, snapshot, KindName(kind), path, fmt::join(before, ","),
                     fmt::join(after, ","));
}

std::string Short(const std::string& name) { return name.substr(std::string_view("mem/data/").size()); }

std::set<std::string> Names(const ChangePlan& plan, const DeleteState& state) {
  std::set<std::string> names;
  if (state.dv) names.insert(Short(NameOf(plan.deletes.at(*state.dv))));
  for (const uint32_t index : state.position_deletes) names.insert(Short(NameOf(plan.deletes.at(index))));
  for (const uint32_t index : state.equality_deletes) names.insert(Short(NameOf(plan.deletes.at(index))));
  return names;
}

std::vector<std::string> Texts(const Result<ChangePlan>& plan) {
  if (!plan) return {plan.error().ToString()};
  std::vector<std::string> texts;
  for (const auto& task : plan->tasks) {
    texts.push_back(TaskText(task.change_ordinal, task.commit_snapshot_id, task.kind, Short(task.file.path),
                             Names(*plan, task.before), Names(*plan, task.after)));
  }
  return texts;
}

// ---- Rules

TEST(ChangeRules, ADvOnAnExistingFileIsLookedUpAndADvThatReplacesItTellsOfBoth) {
  TableHistory table;
  const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "x");
  const int64_t first = table.Apply({.add = {a, b}});
  table.Apply({.operation = "delete", .add = {table.Dv(a, 1, 2)}});
  table.Apply({.operation = "delete", .add = {table.Dv(a, 2, 3)}, .remove = {"mem/data/1.puffin@4"}});
  EXPECT_THAT(Texts(PlanOf(table, Between(first))), ElementsAre("0 1007 deleted a.parquet {} {1.puffin@4}",
                                                                "1 1014 deleted a.parquet {1.puffin@4} {2.puffin@4}",
                                                                "1 1014 restored a.parquet {1.puffin@4} {2.puffin@4}"));
  // The replaced DV is known from its DELETED entry, though the snapshot that added it is outside the range.
  EXPECT_THAT(Texts(PlanOf(table, Between(1007))), ElementsAre("0 1014 deleted a.parquet {1.puffin@4} {2.puffin@4}",
                                                               "0 1014 restored a.parquet {1.puffin@4} {2.puffin@4}"));
}

TEST(ChangeRules, ADvCommittedWithItsFileBelongsToItsAddedRows) {
  TableHistory table;
  const auto a = table.DataFile("a", "x");
  table.Apply({.operation = "overwrite", .add = {a, table.Dv(a, 1, 2)}});
  const auto plan = PlanOf(table, {});
  EXPECT_THAT(Texts(plan), ElementsAre("0 1000 added a.parquet {} {1.puffin@4}"));
  EXPECT_EQ(plan->tasks.front().estimated_rows, 8U);
  EXPECT_EQ(plan->tasks.front().estimated_bytes, 1040U);
  EXPECT_EQ(plan->tasks.front().file.first_row_id, 0);
}

TEST(ChangeRules, AFileGoesWithTheDvThatWasLiveInTheParentWhetherOrNotItsEntryGoesToo) {
  for (const bool entry_goes : {true, false}) {
    TableHistory table;
    const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "x");
    table.Apply({.add = {b}});
    table.Apply({.add = {a}});
    const int64_t from = table.Apply({.operation = "delete", .add = {table.Dv(a, 1, 2)}});
    Commit removal{.operation = "overwrite", .remove = {a.path}};
    if (entry_goes) removal.remove.push_back("mem/data/1.puffin@4");
    table.Apply(removal);
    // An entry that was left behind and goes later changes nothing.
    if (!entry_goes) table.Apply({.operation = "delete", .remove = {"mem/data/1.puffin@4"}});
    const auto plan = PlanOf(table, Between(from));
    EXPECT_THAT(Texts(plan), ElementsAre("0 1021 removed a.parquet {1.puffin@4} {}")) << entry_goes;
    // The removed file keeps its row ids: its rows are the ones that were inserted.
    EXPECT_EQ(plan->tasks.front().file.first_row_id, 10);
    EXPECT_EQ(plan->tasks.front().estimated_rows, 8U);
  }
}

TEST(ChangeRules, ADvThatIsRemovedRestoresItsRows) {
  TableHistory table;
  const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "x");
  table.Apply({.add = {a, b}});
  const int64_t from = table.Apply({.operation = "delete", .add = {table.Dv(a, 1, 2), table.Dv(b, 1, 3, 44)}});
  table.Apply({.operation = "overwrite", .remove = {"mem/data/1.puffin@44"}});
  EXPECT_THAT(Texts(PlanOf(table, Between(from))), ElementsAre("0 1014 restored b.parquet {1.puffin@44} {}"));
}

TEST(ChangeRules, ReplaceSnapshotsHaveNoTasksButTheirDvsAreTheStateThatLaterOnesStartFrom) {
  TableHistory table;
  const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "x"), c = table.DataFile("c", "x");
  const int64_t first = table.Apply({.add = {a, b}});
  table.Apply({.operation = "delete", .add = {table.Dv(a, 1, 2)}});
  table.Apply({.operation = "replace", .add = {table.Dv(a, 2, 2)}, .remove = {"mem/data/1.puffin@4"}});
  table.Apply({.operation = "replace", .add = {c}, .remove = {b.path}});
  table.Apply({.operation = "delete", .add = {table.Dv(a, 3, 4)}, .remove = {"mem/data/2.puffin@4"}});
  const auto plan = PlanOf(table, Between(first));
  EXPECT_THAT(Texts(plan), ElementsAre("0 1007 deleted a.parquet {} {1.puffin@4}",
                                       "1 1028 deleted a.parquet {2.puffin@4} {3.puffin@4}",
                                       "1 1028 restored a.parquet {2.puffin@4} {3.puffin@4}"));
  EXPECT_EQ(plan->metrics.replace_snapshots, 2U);
  EXPECT_EQ(plan->metrics.changelog_snapshots, 2U);
}

TEST(ChangeRules, DeletesComeBeforeInsertsAndTheFilterPrunesFilesAndDvsByPartition) {
  TableHistory table;
  const auto ax = table.DataFile("ax", "x"), ay = table.DataFile("ay", "y"), bx = table.DataFile("bx", "x");
  const int64_t first = table.Apply({.add = {ax, ay}});
  table.Apply({.operation = "overwrite", .add = {bx, table.Dv(ay, 1, 1), table.Dv(ax, 1, 1, 44)}});
  EXPECT_THAT(Texts(PlanOf(table, Between(first))),
              ElementsAre("0 1007 deleted ax.parquet {} {1.puffin@44}", "0 1007 deleted ay.parquet {} {1.puffin@4}",
                          "0 1007 added bx.parquet {} {}"));
  ChangeRequest request = Between(first);
  request.where = "p = 'y' AND id > 3";
  const auto plan = PlanOf(table, request);
  EXPECT_THAT(Texts(plan), ElementsAre("0 1007 deleted ay.parquet {} {1.puffin@4}"));
  EXPECT_EQ(plan->tasks.front().residual->ToString(), "id > 3");
}

TEST(ChangeRules, DeletedEntriesThatLaterSnapshotsCarryOnAreNotTheirs) {
  TableHistory table;
  const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "y");
  table.Apply({.add = {a}});
  table.Apply({.operation = "delete", .add = {table.Dv(a, 1, 1)}});
  const int64_t removal = table.Apply({.operation = "delete", .remove = {a.path, "mem/data/1.puffin@4"}});
  table.Apply({.add = {b}, .keep_dead = true});
  EXPECT_EQ(table.manifests(1021).size(), 3U);
  EXPECT_THAT(Texts(PlanOf(table, Between(removal))), ElementsAre("0 1021 added b.parquet {} {}"));
}

TEST(ChangeRules, AnAddedDvWithoutItsFileIsCorrupt) {
  TableHistory table;
  const auto a = table.DataFile("a", "x"), gone = table.DataFile("gone", "x");
  const int64_t first = table.Apply({.add = {a}});
  table.Apply({.operation = "delete", .add = {table.Dv(gone, 1, 1)}});
  const auto plan = PlanOf(table, Between(first));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(plan.error().message(), AllOf(HasSubstr("gone.parquet"), HasSubstr("matches no data file")));
}

TEST(ChangeRules, ADvInAnotherPartitionThanItsFileIsCorrupt) {
  TableHistory table;
  const auto a = table.DataFile("a", "x");
  const int64_t first = table.Apply({.add = {a, table.DataFile("b", "y")}});
  auto dv = table.Dv(a, 1, 1);
  dv.partition = table.DataFile("b", "y").partition;
  table.Apply({.operation = "delete", .add = {dv}});
  const auto plan = PlanOf(table, Between(first));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind(), ErrorKind::kCorrupt);
}

TEST(ChangeRules, TwoDvsForOneFileAreCorrupt) {
  TableHistory table;
  const auto a = table.DataFile("a", "x");
  const int64_t first = table.Apply({.add = {a}});
  table.Apply({.operation = "delete", .add = {table.Dv(a, 1, 1)}});
  table.Apply({.operation = "delete", .add = {table.Dv(a, 2, 2)}});  // the old one stays
  const auto plan = PlanOf(table, Between(first));
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message(), HasSubstr("two deletion vectors"));
}

// Else all that 1.puffin had deleted before would be told again.
TEST(ChangeRules, ASnapshotThatDropsFilesWithoutDeletedEntriesIsCorrupt) {
  for (const bool drops_dv : {true, false}) {
    TableHistory table;
    const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "x");
    table.Apply({.add = {a, b}});
    const int64_t from = table.Apply({.operation = "delete", .add = {table.Dv(a, 1, 2), table.Dv(b, 1, 2, 44)}});
    if (drops_dv)
      table.Apply({.operation = "delete", .add = {table.Dv(a, 2, 3)}, .drop = {"mem/data/1.puffin@4"}});
    else
      table.Apply({.operation = "delete", .drop = {b.path}});
    const auto plan = PlanOf(table, Between(from));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind(), ErrorKind::kCorrupt);
    EXPECT_THAT(plan.error().message(),
                AllOf(HasSubstr("snapshot 1014"), HasSubstr(drops_dv ? "delete files" : "data files")));
  }
}

TEST(ChangeRules, ADvThatSpellsThePathInAnotherWayIsAppliedWithAWarning) {
  TableHistory table;
  auto a = table.DataFile("a", "x");
  a.path = "file:///w/a.parquet";
  const int64_t first = table.Apply({.add = {a}});
  auto dv = table.Dv(a, 1, 1);
  dv.referenced_data_file = "/w/a.parquet";
  table.Apply({.operation = "delete", .add = {dv}});
  const auto plan = PlanOf(table, Between(first));
  ASSERT_TRUE(plan) << plan.error().ToString();
  ASSERT_EQ(plan->tasks.size(), 1U);
  EXPECT_EQ(plan->tasks.front().file.path, a.path);
  EXPECT_THAT(plan->warnings, ElementsAre(HasSubstr("another spelling")));
}

TEST(ChangeRules, ADeleteThatOnlyAReplaceSnapshotRemovedIsIgnoredAndOneThatAChangelogSnapshotRemovedIsRefused) {
  for (const std::string operation : {"replace", "delete"}) {
    TableHistory table(2);
    const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "y"), c = table.DataFile("c", "y");
    table.Apply({.add = {a, b}});
    const int64_t from = table.Apply({.operation = "delete", .add = {table.EqualityDeletes(a, 1)}});
    table.metadata().format_version = 3;
    table.Apply({.operation = operation, .remove = {"mem/data/eq-1.parquet"}});
    table.Apply({.add = {c}, .keep_dead = true});
    const auto plan = PlanOf(table, Between(from));
    if (operation == "replace") {
      EXPECT_THAT(Texts(plan), ElementsAre("0 1021 added c.parquet {} {}"));
      continue;
    }
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind(), ErrorKind::kNotSupported);
    EXPECT_THAT(plan.error().message(), AllOf(HasSubstr("equality deletes"), HasSubstr("removed by snapshot 1014"),
                                              HasSubstr("eq-1.parquet"), HasSubstr("--resolve-deletes")));
  }
}

TEST(ChangeRules, ALiveDeleteIsRefusedWhateverTheFilterAndThoughItsManifestWasCarriedOver) {
  TableHistory table(2);
  const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "y");
  table.Apply({.add = {a}});
  const int64_t from = table.Apply({.operation = "delete", .add = {table.PositionDeletes(a, 1, false)}});
  table.metadata().format_version = 3;
  table.Apply({.add = {b}});
  ChangeRequest request = Between(from);
  request.where = "p = 'y'";
  const auto plan = PlanOf(table, request);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(plan.error().message(),
              AllOf(HasSubstr("position deletes"), HasSubstr("live in snapshot 1014"), HasSubstr("pos-1.parquet")));
  request.resolve_deletes = true;
  EXPECT_THAT(Texts(PlanOf(table, request)), ElementsAre("0 1014 added b.parquet {} {}"));
}

TEST(ChangeRules, Version2WithoutDeletesHasChangesAndWithDeletesNeedsThemResolved) {
  TableHistory table(2);
  const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "x");
  table.Apply({.add = {a}});
  const int64_t second = table.Apply({.add = {b}});
  table.Apply({.operation = "delete", .add = {table.EqualityDeletes(a, 1)}});
  EXPECT_THAT(Texts(PlanOf(table, Between({}, second))),
              ElementsAre("0 1000 added a.parquet {} {}", "1 1007 added b.parquet {} {}"));
  const auto refused = PlanOf(table, Between(second));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  EXPECT_EQ(refused.error().message(), "Delete files are only supported in changelog scans of format version 3 tables");
  ChangeRequest resolved = Between(second);
  resolved.resolve_deletes = true;
  EXPECT_THAT(Texts(PlanOf(table, resolved)),
              ElementsAre("0 1014 deleted a.parquet {} {eq-1.parquet}", "0 1014 deleted b.parquet {} {eq-1.parquet}"));
}

TEST(ChangeRules, AnEqualityDeleteAppliesToOlderFilesOfItsPartitionAndAGlobalOneToAllOlderFiles) {
  TableHistory table(2);
  const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "y"), c = table.DataFile("c", "x");
  const int64_t first = table.Apply({.add = {a, b}});
  table.Apply({.operation = "overwrite", .add = {c, table.EqualityDeletes(a, 1)}});
  const auto global = table.DataFile("g", "", 10, TableHistory::kUnpartitioned);
  table.Apply({.operation = "delete", .add = {table.EqualityDeletes(global, 2)}});
  ChangeRequest request = Between(first);
  request.resolve_deletes = true;
  EXPECT_THAT(Texts(PlanOf(table, request)),
              ElementsAre("0 1007 deleted a.parquet {} {eq-1.parquet}", "0 1007 added c.parquet {} {}",
                          "1 1014 deleted a.parquet {eq-1.parquet} {eq-1.parquet,eq-2.parquet}",
                          "1 1014 deleted b.parquet {} {eq-2.parquet}", "1 1014 deleted c.parquet {} {eq-2.parquet}"));
}

// ---- Ranges

TEST(ChangeRange, GoesAlongTheLineOfParents) {
  TableHistory table;
  const auto a = table.DataFile("a", "x"), b = table.DataFile("b", "x"), c = table.DataFile("c", "x");
  const int64_t first = table.Apply({.add = {a}});
  const int64_t rolled_back = table.Apply({.add = {b}});
  const int64_t current = table.Apply({.add = {c}, .parent = first});
  EXPECT_THAT(Texts(PlanOf(table, Between(first))), ElementsAre("0 1014 added c.parquet {} {}"));
  EXPECT_THAT(Texts(PlanOf(table, {})), ElementsAre("0 1000 added a.parquet {} {}", "1 1014 added c.parquet {} {}"));
  // What was rolled back can be asked for by its id, but not as part of the branch.
  EXPECT_THAT(Texts(PlanOf(table, Between(first, rolled_back))), ElementsAre("0 1007 added b.parquet {} {}"));
  for (ChangeRequest request : {Between(rolled_back), Between(rolled_back, current), Between(current, first),
                                ChangeRequest{.to = {.snapshot_id = rolled_back}, .branch = "main"}}) {
    const auto plan = PlanOf(table, request);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind(), ErrorKind::kInvalidArgument);
    const auto ids = request.branch ? std::pair(rolled_back, current)
                                    : std::pair(*request.from.snapshot_id, request.to.snapshot_id.value_or(current));
    EXPECT_THAT(plan.error().message(),
                AllOf(HasSubstr(std::to_string(ids.first)), HasSubstr(std::to_string(ids.second))));
  }
}

TEST(ChangeRange, IsGivenByIdsRefsAndTimes) {
  TableHistory table;
  const int64_t one = table.Apply({.add = {table.DataFile("a", "x")}});
  const int64_t two = table.Apply({.add = {table.DataFile("b", "x")}});
  const int64_t three = table.Apply({.add = {table.DataFile("c", "x")}});
  auto& metadata = table.metadata();
  metadata.refs["release"] = {.snapshot_id = two, .is_branch = false};
  metadata.refs["audit"] = {.snapshot_id = two};
  for (const auto& snapshot : metadata.snapshots)
    metadata.snapshot_log.push_back({.timestamp_ms = snapshot.timestamp_ms, .snapshot_id = snapshot.snapshot_id});
  const auto ordinals = [&](const ChangeRequest& request) -> std::vector<int64_t> {
    const auto plan = PlanOf(table, request);
    if (!plan) return {-1 - static_cast<int64_t>(plan.error().kind())};
    std::vector<int64_t> snapshots;
    for (const auto& task : plan->tasks) snapshots.push_back(task.commit_snapshot_id);
    return snapshots;
  };
  EXPECT_THAT(ordinals({.from = {.ref = "release"}}), ElementsAre(three));
  EXPECT_THAT(ordinals({.from = {.ref = "release"}, .from_inclusive = true}), ElementsAre(two, three));
  EXPECT_THAT(ordinals({.from = {.snapshot_id = one}, .from_inclusive = true}), ElementsAre(one, two, three));
  EXPECT_THAT(ordinals({.from = {.snapshot_id = one}, .branch = "audit"}), ElementsAre(two));
  EXPECT_THAT(ordinals({.from = {.as_of_ms = metadata.snapshots[1].timestamp_ms + 1}}), ElementsAre(three));
  EXPECT_THAT(ordinals({.to = {.as_of_ms = metadata.snapshots[1].timestamp_ms}}), ElementsAre(one, two));
  EXPECT_THAT(ordinals({.from = {.snapshot_id = three}}), IsEmpty());  // nothing new
  const auto kind = [](ErrorKind of) { return ElementsAre(-1 - static_cast<int64_t>(of)); };
  EXPECT_THAT(ordinals({.from = {.snapshot_id = 5}}), kind(ErrorKind::kNotFound));
  EXPECT_THAT(ordinals({.branch = "nothing"}), kind(ErrorKind::kNotFound));
  EXPECT_THAT(ordinals({.branch = "release"}), kind(ErrorKind::kInvalidArgument));  // a tag
  EXPECT_THAT(ordinals({.from_inclusive = true}), kind(ErrorKind::kInvalidArgument));
  EXPECT_THAT(ordinals({.to = {.snapshot_id = three}, .branch = "audit"}), kind(ErrorKind::kInvalidArgument));
  EXPECT_THAT(ordinals({.select = {"_deleted"}, .select_all = false}), kind(ErrorKind::kInvalidArgument));
  EXPECT_THAT(ordinals({.select = {"nothing"}, .select_all = false}), kind(ErrorKind::kNotFound));
}

TEST(ChangeRange, MayStartFromAnExpiredSnapshotWhoseChildIsKept) {
  TableHistory table;
  const auto a = table.DataFile("a", "x");
  const int64_t one = table.Apply({.add = {a}});
  table.Apply({.operation = "delete", .add = {table.Dv(a, 1, 1)}});
  const int64_t three =
      table.Apply({.operation = "delete", .add = {table.Dv(a, 2, 2)}, .remove = {"mem/data/1.puffin@4"}});
  table.Apply({.add = {table.DataFile("b", "x")}});
  auto& snapshots = table.metadata().snapshots;
  snapshots.erase(snapshots.begin(), snapshots.begin() + 2);
  const auto plan = PlanOf(table, Between(1007));
  EXPECT_THAT(Texts(plan),
              ElementsAre("0 1014 deleted a.parquet {1.puffin@4} {2.puffin@4}",
                          "0 1014 restored a.parquet {1.puffin@4} {2.puffin@4}", "1 1021 added b.parquet {} {}"));
  EXPECT_EQ(plan->from_snapshot_id, 1007);
  // From the start: what is known, and a word that it is not all.
  const auto all = PlanOf(table, {});
  EXPECT_EQ(Texts(all), Texts(plan));
  EXPECT_THAT(all->warnings, ElementsAre(HasSubstr("1007")));
  EXPECT_EQ(PlanOf(table, Between(one)).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(PlanOf(table, {.from = {.snapshot_id = 1007}, .from_inclusive = true}).error().kind(),
            ErrorKind::kNotFound);
  EXPECT_TRUE(PlanOf(table, {.from = {.snapshot_id = three}, .from_inclusive = true}));
}

TEST(ChangeRange, OfATableWithoutSnapshotsIsEmpty) {
  TableHistory table;
  const auto plan = PlanOf(table, {});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->tasks, IsEmpty());
  EXPECT_EQ(plan->to_snapshot_id, std::nullopt);
}

// ---- Counts

uint64_t ReadsOf(const io::CountingFileIO& io, const std::vector<iceberg::ManifestFile>& manifests) {
  uint64_t reads = 0;
  for (const auto& manifest : manifests) reads += io.SnapshotOf(manifest.path).opens;
  return reads;
}

TEST(ChangeCounts, DeleteManifestsThatManySnapshotsShareAreReadOnceEach) {
  TableHistory table;
  std::vector<ContentFile> files;
  for (int i = 0; i < 8; ++i) files.push_back(table.DataFile(fmt::format("f{}", i), fmt::format("p{}", i)));
  const int64_t first = table.Apply({.add = files});
  for (int i = 0; i < 8; ++i)
    table.Apply({.operation = "delete", .add = {table.Dv(files[static_cast<size_t>(i)], i, 1)}});
  for (int i = 0; i < 30; ++i) table.Apply({.add = {table.DataFile(fmt::format("n{}", i), "n")}});
  io::CountingFileIO io(table.io(), io::CountingFileIO::Detail::kPerPath);
  const auto plan = PlanOf(table, Between(first), &io);
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(plan->metrics.changelog_snapshots, 38U);
  EXPECT_EQ(plan->metrics.delete_manifests_read, 8U);
  // 30 of appends, and the first one, in which all eight files are found.
  EXPECT_EQ(plan->metrics.data_manifests_read, 31U);
  for (const auto& manifest : table.manifests(*table.metadata().current_snapshot_id))
    EXPECT_EQ(io.SnapshotOf(manifest.path).opens, 1U) << manifest.path;
  EXPECT_EQ(io.Snapshot().opens, 39U + 8U + 31U);  // lists (that of `from` too), delete manifests, data manifests
}

TEST(ChangeCounts, OneNewDvReadsOnlyDataManifestsWhosePartitionsCanMatch) {
  TableHistory table;
  ContentFile touched;
  constexpr int kManifests = 50, kFiles = 1000;
  int64_t from = 0;
  for (int m = 0; m < kManifests; ++m) {
    std::vector<ContentFile> files;
    for (int i = 0; i < kFiles; ++i)
      files.push_back(table.DataFile(fmt::format("f{}-{}", m, i), fmt::format("p{:02}", m)));
    if (m == 17) touched = files[500];
    from = table.Apply({.add = std::move(files)});
  }
  from = table.Apply({.operation = "delete", .add = {table.Dv(table.DataFile("f3-1", "p03"), 1, 1)}});
  const int64_t to = table.Apply({.operation = "delete", .add = {table.Dv(touched, 2, 1)}});
  io::CountingFileIO io(table.io(), io::CountingFileIO::Detail::kPerPath);
  const auto plan = PlanOf(table, Between(from), &io);
  EXPECT_THAT(Texts(plan), ElementsAre(fmt::format("0 {} deleted f17-500.parquet {{}} {{2.puffin@4}}", to)));
  EXPECT_EQ(plan->metrics.delete_manifests_read, 2U);
  EXPECT_EQ(plan->metrics.data_manifests_read, 1U);
  EXPECT_EQ(io.Snapshot().opens, 2U + 2U + 1U);  // lists, delete manifests, data manifest
  // Appends alone look nothing up.
  const int64_t append = table.Apply({.add = {table.DataFile("new", "p17")}});
  io.Reset();
  EXPECT_THAT(Texts(PlanOf(table, Between(to, append), &io)), ElementsAre(HasSubstr("added new.parquet")));
  EXPECT_EQ(ReadsOf(io, table.manifests(append)), 3U);  // two of deletes, the new one
}

// ---- Random histories

class RandomHistory {
 public:
  RandomHistory(uint64_t seed, bool dvs_only) : random_(seed), dvs_only_(dvs_only), table_(dvs_only ? 3 : 2) {}

  TableHistory& table() { return table_; }

  void Grow(int snapshots) {
    for (int i = 0; i < snapshots; ++i) Step();
  }

  // What planning must give for the changelog snapshots after `from` (none: all), and how many replace snapshots.
  std::vector<std::string> Expected(std::optional<int64_t> from, bool only_x) {
    std::vector<const iceberg::Snapshot*> line;
    for (auto id = table_.metadata().current_snapshot_id; id && id != from;) {
      line.push_back(table_.metadata().FindSnapshot(*id));
      id = line.back()->parent_id;
    }
    std::vector<std::string> tasks;
    uint64_t ordinal = 0;
    for (auto at = line.rbegin(); at != line.rend(); ++at) {
      if ((*at)->operation == "replace") continue;
      AddExpected(**at, ordinal++, only_x, tasks);
    }
    return tasks;
  }

  int64_t RandomAncestor() {
    std::vector<int64_t> line;
    for (auto id = table_.metadata().current_snapshot_id; id;) {
      line.push_back(*id);
      id = table_.metadata().FindSnapshot(*id)->parent_id;
    }
    return line[Below(line.size())];
  }

 private:
  size_t Below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }
  bool Chance(int percent) { return Below(100) < static_cast<size_t>(percent); }

  ContentFile NewFile() {
    static constexpr int32_t kSpecs[] = {TableHistory::kByRegion, TableHistory::kByRegion, TableHistory::kUnpartitioned,
                                         TableHistory::kByPrefix};
    static constexpr const char* kRegions[] = {"x", "y", "z"};
    return table_.DataFile(fmt::format("f{}", ++counter_), kRegions[Below(3)], 10, kSpecs[Below(4)]);
  }

  void Step() {
    Commit commit;
    if (!dvs_only_ && table_.metadata().format_version == 2 && Chance(15)) table_.metadata().format_version = 3;
    if (table_.metadata().snapshots.size() > 2 && Chance(8)) commit.parent = RandomAncestor();  // a rollback
    const auto parent = commit.parent ? commit.parent : table_.metadata().current_snapshot_id;
    const auto live = parent ? table_.Live(*parent) : std::map<std::string, ContentFile>();
    commit.operation = Chance(20) ? "replace" : "overwrite";
    commit.merge = Chance(25);
    commit.keep_dead = Chance(30);
    commit.in_old_manifest = Chance(30);
    std::vector<ContentFile> data;
    std::map<std::string, std::string> dv_of;  // data file → name of its DV
    std::set<std::string> removed;
    for (const auto& [name, file] : live) {
      if (file.content == FileContent::kData) data.push_back(file);
      if (file.IsDeletionVector()) dv_of[*file.referenced_data_file] = name;
      // Deletes of other kinds, and DVs whose file is gone, leave now and then.
      const bool is_left =
          file.IsDeletionVector() ? !live.contains(*file.referenced_data_file) : file.content != FileContent::kData;
      if (is_left && Chance(12)) removed.insert(name);
    }
    for (const auto& file : data) {
      const auto dv = dv_of.find(file.path);
      if (Chance(10)) {
        removed.insert(file.path);
        if (dv != dv_of.end() && Chance(70)) removed.insert(dv->second);
      } else if (table_.metadata().format_version == 3 && Chance(25)) {
        if (dv != dv_of.end()) removed.insert(dv->second);
        if (dv == dv_of.end() || Chance(80)) AddDv(commit, file);
      }
    }
    for (size_t i = 0, count = Below(4); i < count; ++i) {
      const ContentFile file = NewFile();
      commit.add.push_back(file);
      if (table_.metadata().format_version == 3 && Chance(25)) AddDv(commit, file);
    }
    if (!dvs_only_) {
      for (size_t i = 0, count = Below(3); i < count; ++i) {
        const ContentFile of = data.empty() || Chance(20) ? NewFile() : data[Below(data.size())];
        if (Chance(50))
          commit.add.push_back(table_.EqualityDeletes(of, ++counter_));
        else if (table_.metadata().format_version == 2)
          commit.add.push_back(table_.PositionDeletes(of, ++counter_, Chance(40)));
      }
    }
    commit.remove.assign(removed.begin(), removed.end());
    table_.Apply(commit);
  }

  // Several in one Puffin file.
  void AddDv(Commit& commit, const ContentFile& file) {
    commit.add.push_back(table_.Dv(file, static_cast<int>(table_.metadata().snapshots.size()),
                                   static_cast<int64_t>(1 + Below(10)), 4 + 40 * ++counter_));
  }

  static std::set<std::string> StateOf(const std::map<std::string, ContentFile>& live, const ContentFile& file) {
    std::set<std::string> dvs, positions, equality;
    for (const auto& [name, deletes] : live) {
      if (deletes.content == FileContent::kData) continue;
      const bool same_partition = deletes.spec_id == file.spec_id && *deletes.partition == *file.partition;
      const bool names_it = !deletes.referenced_data_file || *deletes.referenced_data_file == file.path;
      if (deletes.content == FileContent::kEqualityDeletes) {
        const bool is_global = deletes.spec_id == TableHistory::kUnpartitioned;
        if ((is_global || same_partition) && file.data_sequence_number < deletes.data_sequence_number)
          equality.insert(Short(name));
      } else if (same_partition && names_it && file.data_sequence_number <= deletes.data_sequence_number) {
        (deletes.IsDeletionVector() ? dvs : positions).insert(Short(name));
      }
    }
    equality.merge(dvs.empty() ? positions : dvs);
    return equality;
  }

  void AddExpected(const iceberg::Snapshot& snapshot, uint64_t ordinal, bool only_x, std::vector<std::string>& tasks) {
    const auto after = table_.Live(snapshot.snapshot_id);
    const auto before = snapshot.parent_id ? table_.Live(*snapshot.parent_id) : std::map<std::string, ContentFile>();
    const auto add = [&](const ContentFile& file, Kind kind, const std::set<std::string>& old_state,
                         const std::set<std::string>& new_state) {
      // Unpartitioned files may hold any row.
      if (only_x && file.spec_id != TableHistory::kUnpartitioned && file.partition->values != std::vector{Datum("x")})
        return;
      tasks.push_back(TaskText(ordinal, snapshot.snapshot_id, kind, Short(file.path), old_state, new_state));
    };
    for (const auto& [name, file] : after) {
      if (file.content != FileContent::kData) continue;
      const auto new_state = StateOf(after, file);
      if (!before.contains(name)) {
        add(file, Kind::kAddedRows, {}, new_state);
        continue;
      }
      const auto old_state = StateOf(before, file);
      if (!std::ranges::includes(old_state, new_state)) add(file, Kind::kDeletedRows, old_state, new_state);
      if (!std::ranges::includes(new_state, old_state)) add(file, Kind::kRestoredRows, old_state, new_state);
    }
    for (const auto& [name, file] : before) {
      if (file.content == FileContent::kData && !after.contains(name))
        add(file, Kind::kDeletedDataFile, StateOf(before, file), {});
    }
  }

  std::mt19937_64 random_;
  bool dvs_only_;
  TableHistory table_;
  int counter_ = 0;
};

TEST(ChangeModel, RandomHistoriesGiveTheDifferencesOfStates) {
  const uint64_t seed = delenda::testing::Seed();
  size_t tasks = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    const bool dvs_only = round % 2 == 0;
    SCOPED_TRACE(::testing::Message() << "DELENDA_SEED=" << seed << " round " << round);
    RandomHistory history(seed + round, dvs_only);
    history.Grow(12);
    for (const bool only_x : {false, true}) {
      for (std::optional<int64_t> from : {std::optional<int64_t>(), std::optional(history.RandomAncestor())}) {
        ChangeRequest request = Between(from);
        if (only_x) request.where = "p = 'x'";
        const auto expected = history.Expected(from, only_x);
        request.resolve_deletes = true;
        ASSERT_THAT(Texts(PlanOf(history.table(), request)), UnorderedElementsAreArray(expected));
        tasks += expected.size();
        if (!dvs_only) continue;
        request.resolve_deletes = false;
        ASSERT_THAT(Texts(PlanOf(history.table(), request)), UnorderedElementsAreArray(expected));
      }
    }
  }
  EXPECT_GT(tasks, 2000U);
}

}  // namespace
}  // namespace delenda::plan
