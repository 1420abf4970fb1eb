// One commit after the other, and pairs of commits that were planned on the same state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "delenda/iceberg/manifest_list.h"
#include "delenda/io/counting_file_io.h"
#include "delenda/io/faulting_file_io.h"
#include "unit/commit/memory_table.h"

namespace delenda::commit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MemoryTable;
using testing::Set;

std::string Summary(const iceberg::TableMetadata& metadata, const std::string& key) {
  const auto& summary = metadata.FindSnapshot(*metadata.current_snapshot_id)->summary;
  const auto found = summary.find(key);
  return found == summary.end() ? "-" : found->second;
}

TEST(Commit, AppendsGetRowIdsAndSequenceNumbers) {
  MemoryTable table;
  table.Append("a.parquet", 10);
  table.Append("b.parquet", 5);
  const auto metadata = table.Metadata();
  EXPECT_EQ(metadata.last_sequence_number, 2);
  EXPECT_EQ(metadata.next_row_id, 15);
  EXPECT_EQ(metadata.snapshots[1].parent_id, metadata.snapshots[0].snapshot_id);
  EXPECT_EQ(metadata.snapshots[1].first_row_id, 10);
  EXPECT_EQ(metadata.snapshots[1].added_rows, 5);
  EXPECT_EQ(Summary(metadata, "total-records"), "15");
  EXPECT_EQ(Summary(metadata, "added-data-files"), "1");
  EXPECT_EQ(metadata.metadata_log.size(), 2U);
  const auto state = table.State();
  EXPECT_EQ(state.at("/w/t/data/b.parquet").first.first_row_id, 10);
  EXPECT_EQ(state.at("/w/t/data/b.parquet").first.data_sequence_number, 2);
}

TEST(Commit, ANewVectorTakesThePlaceOfTheOldOne) {
  MemoryTable table;
  table.Append("a.parquet", 10);
  EXPECT_EQ(table.Commit(table.Delete({{"a.parquet", {3}}})).deleted_rows, 1U);
  EXPECT_EQ(table.Commit(table.Delete({{"a.parquet", {3, 7}}})).deleted_rows, 1U);
  EXPECT_EQ(table.Commit(table.Delete({{"a.parquet", {1}}})).deleted_rows, 1U);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(1, 3, 7));
  const auto metadata = table.Metadata();
  EXPECT_EQ(Summary(metadata, "added-dvs"), "1");
  EXPECT_EQ(Summary(metadata, "removed-dvs"), "1");
  EXPECT_EQ(Summary(metadata, "total-delete-files"), "1");
  EXPECT_EQ(Summary(metadata, "total-position-deletes"), "3");
  EXPECT_EQ(Summary(metadata, "total-records"), "10");
}

// The manifest of data files that stay is read to find them, and not again when the one of their vectors is rewritten.
TEST(Commit, ReadsTheManifestsOfDataFilesOnce) {
  const auto io = std::make_shared<io::CountingFileIO>(io::MakeMemoryFileIO(), io::CountingFileIO::Detail::kPerPath);
  MemoryTable table(io);
  table.Append("a.parquet", 10);
  table.Commit(table.Delete({{"a.parquet", {3}}}));
  const auto metadata = table.Metadata();
  avro::SchemaCache schemas;
  const auto manifests =
      iceberg::ReadManifests(*io, *metadata.FindSnapshot(*metadata.current_snapshot_id), schemas).value();
  const auto data =
      std::ranges::find(manifests, iceberg::ManifestContent::kData, &iceberg::ManifestFile::content)->path;
  const Intent intent = table.Delete({{"a.parquet", {7}}});
  io->Reset();
  table.Commit(intent);
  EXPECT_EQ(io->SnapshotOf(data).opens, 1U);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3, 7));
}

TEST(Commit, DeletingNothingMakesNoSnapshot) {
  MemoryTable table;
  table.Append("a.parquet", 10);
  table.Commit(table.Delete({{"a.parquet", {3}}}));
  const auto head = table.Head();
  const auto committed = table.Commit(table.Delete({{"a.parquet", {3}}}));
  EXPECT_FALSE(committed.snapshot_id);
  EXPECT_EQ(table.Head(), head);
}

TEST(Commit, AFileWithoutLiveRowsIsDroppedWithItsVector) {
  MemoryTable table;
  table.Append("a.parquet", 3);
  table.Append("b.parquet", 3);
  table.Commit(table.Delete({{"a.parquet", {0}}, {"b.parquet", {1}}}));
  EXPECT_EQ(table.Commit(table.Delete({{"a.parquet", {1, 2}}})).deleted_rows, 2U);
  EXPECT_FALSE(table.IsLive("a.parquet"));
  EXPECT_THAT(table.Deleted("b.parquet"), ElementsAre(1));
  const auto metadata = table.Metadata();
  EXPECT_EQ(Summary(metadata, "deleted-data-files"), "1");
  EXPECT_EQ(Summary(metadata, "removed-dvs"), "1");
  EXPECT_EQ(Summary(metadata, "total-delete-files"), "1");
  EXPECT_EQ(Summary(metadata, "total-records"), "3");
}

TEST(Commit, UndeletesBringRowsBack) {
  MemoryTable table;
  table.Append("a.parquet", 5);
  table.Commit(table.Delete({{"a.parquet", {1, 2}}}));
  Intent undelete = table.Delete({{"a.parquet", {}}});
  undelete.operation = Operation::kOverwrite;
  undelete.deletes[0].deleted = Set({2});
  EXPECT_EQ(table.Commit(undelete).restored_rows, 1U);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(2));
  undelete = table.Delete({{"a.parquet", {}}});
  undelete.operation = Operation::kOverwrite;
  undelete.deletes[0].deleted = Set({});
  table.Commit(undelete);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre());
  EXPECT_EQ(Summary(table.Metadata(), "total-delete-files"), "0");
}

TEST(Commit, TablesOfVersion2TakeAppendsOnly) {
  MemoryTable table(io::MakeMemoryFileIO(), {}, 2);
  table.Append("a.parquet", 5);
  const auto refused = table.Try(table.Delete({{"a.parquet", {1}}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("run delenda upgrade --to 3"));
}

// Two operations planned on one state, of which `first` commits first. The design's merge rule, case by case.
struct Race {
  std::string name;
  std::function<Intent(const MemoryTable&)> first, second;
  std::string again;                   // part of the reason, if the second has to look again; else it commits
  std::vector<uint64_t> deleted = {};  // of a.parquet afterwards
  uint64_t second_rows = 0;            // that the second deleted
};

class RaceOf : public ::testing::TestWithParam<Race> {};

Intent DeleteRows(const MemoryTable& table, std::vector<uint64_t> rows) {
  return table.Delete({{"a.parquet", std::move(rows)}});
}
Intent UpdateRows(const MemoryTable& table, std::vector<uint64_t> rows) {
  const std::string copies = "copy-of-" + std::to_string(rows[0]) + ".parquet";
  return table.Update({{"a.parquet", std::move(rows)}}, copies);
}
Intent Rewrite(const MemoryTable& table) {
  Intent intent;
  intent.operation = Operation::kReplace;
  intent.base_snapshot_id = table.Head();
  const auto live = table.State().at("/w/t/data/a.parquet");
  intent.rewritten_files = {{.file = live.first, .before = live.second}};
  intent.added_files = {MemoryTable::DataFile("compacted.parquet", 9)};
  return intent;
}
Intent AppendFile(const MemoryTable&) {
  Intent intent;
  intent.added_files = {MemoryTable::DataFile("new.parquet", 4)};
  return intent;
}
// Beside what else it does, the intent has read rows of a.parquet.
Intent HasRead(const MemoryTable& table, Intent intent, std::vector<uint64_t> rows) {
  intent.base_snapshot_id = table.Head();
  intent.read_rows = {{.file = table.State().at("/w/t/data/a.parquet").first, .positions = Set(std::move(rows))}};
  return intent;
}
Intent Serializable(Intent intent) {
  intent.isolation = Isolation::kSerializable;
  return intent;
}

TEST_P(RaceOf, ASecondCommitMergesOrLooksAgain) {
  const Race& race = GetParam();
  MemoryTable table;
  table.Append("a.parquet", 10);
  table.Commit(table.Delete({{"a.parquet", {0}}}));
  const Intent first = race.first(table), second = race.second(table);
  table.Commit(first);
  const auto outcome = table.Try(second);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  if (const auto* again = std::get_if<LookAgain>(&*outcome)) {
    EXPECT_FALSE(race.again.empty()) << again->reason;
    EXPECT_THAT(again->reason, HasSubstr(race.again));
    return;
  }
  EXPECT_EQ(race.again, "");
  EXPECT_EQ(std::get<Committed>(*outcome).deleted_rows, race.second_rows);
  if (race.deleted.empty())
    EXPECT_FALSE(table.IsLive("a.parquet"));
  else
    EXPECT_EQ(table.Deleted("a.parquet"), race.deleted);
}

const auto kDelete3 = [](const MemoryTable& table) { return DeleteRows(table, {3}); };
const auto kDelete5 = [](const MemoryTable& table) { return DeleteRows(table, {5}); };
const auto kDeleteAll = [](const MemoryTable& table) { return DeleteRows(table, {1, 2, 3, 4, 5, 6, 7, 8, 9}); };
const auto kUpdate3 = [](const MemoryTable& table) { return UpdateRows(table, {3}); };
const auto kUpdate5 = [](const MemoryTable& table) { return UpdateRows(table, {5}); };
const auto kUndelete0 = [](const MemoryTable& table) {
  Intent intent = DeleteRows(table, {});
  intent.operation = Operation::kOverwrite;
  intent.deletes[0].deleted = Set({});
  return intent;
};

INSTANTIATE_TEST_SUITE_P(
    MergeRule, RaceOf,
    ::testing::Values(
        Race{"DeletesOfOtherRowsMerge", kDelete3, kDelete5, "", {0, 3, 5}, 1},
        Race{"DeletesOfTheSameRowMeet", kDelete3, kDelete3, "", {0, 3}, 0},
        Race{"ADeleteOfAnUpdatedRowLooksAgain", kUpdate3, kDelete3, "changed by others"},
        Race{"AnUpdateOfADeletedRowLooksAgain", kDelete3, kUpdate3, "changed by others"},
        Race{"TwoUpdatesOfARowLookAgain", kUpdate3, kUpdate3, "changed by others"},
        Race{"UpdatesOfOtherRowsMerge", kUpdate3, kUpdate5, "", {0, 3, 5}, 1},
        Race{"ADeleteBesideAnUpdateMerges", kUpdate3, kDelete5, "", {0, 3, 5}, 1},
        Race{"AnUpdateBesideADeleteMerges", kDelete3, kUpdate5, "", {0, 3, 5}, 1},
        Race{"ADeleteOfAFileThatADeleteDropped", kDeleteAll, kDelete3, "", {}, 0},
        Race{"AnUpdateInAFileThatADeleteDropped", kDeleteAll, kUpdate3, "was removed"},
        Race{"DroppingAFileBesideADelete", kDelete3, kDeleteAll, "", {}, 8},
        Race{"DroppingAFileBesideAnUpdateLooksAgain", kUpdate3, kDeleteAll, "changed by others"},
        Race{"ADeleteInACompactedFileLooksAgain", Rewrite, kDelete3, "was removed"},
        Race{"AnUpdateInACompactedFileLooksAgain", Rewrite, kUpdate3, "was removed"},
        Race{"CompactionBesideADeleteLooksAgain", kDelete3, Rewrite, "other rows"},
        Race{"CompactionOfACompactedFileLooksAgain", Rewrite, Rewrite, "was removed"},
        Race{"AppendsFitEverything", kUpdate3, AppendFile, "", {0, 3}, 0},
        Race{"ADeleteAfterAnUndeleteKeepsIt", kUndelete0, kDelete3, "", {3}, 1},
        Race{"AnUndeleteAfterADeleteKeepsIt", kDelete3, kUndelete0, "", {3}, 0},
        Race{"SnapshotIsolationIgnoresAppends", AppendFile, kDelete3, "", {0, 3}, 1},
        Race{"SerializableOperationsSeeAppends", AppendFile,
             [](const MemoryTable& table) { return Serializable(DeleteRows(table, {3})); }, "may match were added"},
        Race{"SerializableOperationsSeeNewCopies", kUpdate5,
             [](const MemoryTable& table) { return Serializable(DeleteRows(table, {3})); }, "may match were added"},
        Race{"SerializableOperationsSeeRestoredRows", kUndelete0,
             [](const MemoryTable& table) { return Serializable(DeleteRows(table, {3})); }, "brought back"},
        Race{"SerializableOperationsIgnoreCompactionElsewhere",
             [](const MemoryTable&) {
               Intent intent;
               intent.operation = Operation::kReplace;
               intent.added_files = {MemoryTable::DataFile("compacted.parquet", 4)};
               return intent;
             },
             [](const MemoryTable& table) { return Serializable(DeleteRows(table, {3})); },
             "",
             {0, 3},
             1},
        Race{"ADeletedRowThatWasReadLooksAgain", kDelete3,
             [](const MemoryTable& table) { return HasRead(table, AppendFile(table), {2, 3}); }, "that were read"},
        Race{"AnUpdatedRowThatWasReadLooksAgain", kUpdate3,
             [](const MemoryTable& table) { return HasRead(table, DeleteRows(table, {5}), {3}); }, "that were read"},
        Race{"AReadRowInADroppedFileLooksAgain", kDeleteAll,
             [](const MemoryTable& table) { return HasRead(table, AppendFile(table), {3}); }, "was removed"},
        Race{"AReadRowInACompactedFileLooksAgain", Rewrite,
             [](const MemoryTable& table) { return HasRead(table, AppendFile(table), {3}); }, "was removed"},
        Race{"OtherRowsThanThoseThatWereReadDoNotMatter",
             kUpdate3,
             [](const MemoryTable& table) { return HasRead(table, UpdateRows(table, {5}), {4, 6}); },
             "",
             {0, 3, 5},
             1},
        Race{"KeysAreLookedUpInAddedFiles", AppendFile,
             [](const MemoryTable& table) {
               Intent intent = UpdateRows(table, {3});
               intent.touches_added = [](const std::vector<ContentFile>& files) -> Result<bool> {
                 return files.size() == 1 && files[0].path.ends_with("new.parquet");
               };
               return intent;
             },
             "same keys"},
        Race{"KeysThatWereNotAddedDoNotMatter",
             AppendFile,
             [](const MemoryTable& table) {
               Intent intent = UpdateRows(table, {3});
               intent.touches_added = [](const std::vector<ContentFile>&) -> Result<bool> { return false; };
               return intent;
             },
             "",
             {0, 3},
             1},
        Race{"KeysAreLookedUpForInsertsToo", AppendFile,
             [](const MemoryTable& table) {
               Intent intent = AppendFile(table);
               intent.added_files[0].path += "2";
               intent.base_snapshot_id = table.Head();
               intent.touches_added = [](const std::vector<ContentFile>&) -> Result<bool> { return true; };
               return intent;
             },
             "same keys"}),
    [](const auto& param) { return param.param.name; });

TEST(Commit, TheConflictFilterIsHeldAgainstBounds) {
  MemoryTable table;
  table.Append("a.parquet", 10);
  Intent intent = Serializable(table.Delete({{"a.parquet", {3}}}));
  intent.conflict_filter = *BindText("id < 100", table.Metadata().CurrentSchema());
  const auto append = [&](const std::string& name, int64_t low) {
    Intent other;
    other.added_files = {MemoryTable::DataFile(name, 1)};
    auto metrics = std::make_shared<FileMetrics>();
    const auto bound = *DatumToBound(TypeKind::kLong, Datum(low));
    metrics->lower_bounds[1] = metrics->upper_bounds[1] = std::string(AsText(bound));
    metrics->value_counts[1] = 1;
    metrics->null_counts[1] = 0;
    other.added_files[0].metrics = metrics;
    table.Commit(other);
  };
  append("far.parquet", 100);
  EXPECT_EQ(table.LooksAgain(intent), "");
  intent = Serializable(table.Delete({{"a.parquet", {4}}}));
  intent.conflict_filter = *BindText("id < 100", table.Metadata().CurrentSchema());
  append("near.parquet", 99);
  EXPECT_THAT(table.LooksAgain(intent), HasSubstr("near.parquet"));
}

TEST(Commit, ABaseThatWasRolledBackLooksAgain) {
  MemoryTable table;
  table.Append("a.parquet", 10);
  const auto first = *table.Head();
  table.Append("b.parquet", 10);
  const Intent intent = table.Delete({{"a.parquet", {3}}});
  auto metadata = table.Metadata();
  metadata.current_snapshot_id = first;
  metadata.refs.at("main").snapshot_id = first;
  ASSERT_TRUE(table.point_->Publish(*table.point_->Current(), *iceberg::TableMetadataToJson(metadata), false));
  EXPECT_THAT(table.LooksAgain(intent), HasSubstr("no ancestor"));
}

TEST(Commit, ALostRaceIsTriedAgainAndLeavesNoFiles) {
  MemoryTable table;
  table.Append("a.parquet", 10);
  const Intent mine = table.Delete({{"a.parquet", {3}}});
  const auto before = table.Files("metadata").size();

  // Another writer commits between this one's reading and publishing.
  class Interrupted final : public catalog::CommitPoint {
   public:
    Interrupted(catalog::CommitPoint& inner, std::function<void()> meanwhile)
        : inner_(inner), meanwhile_(std::move(meanwhile)) {}
    Result<std::string> Current() override { return inner_.Current(); }
    Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
      if (auto run = std::exchange(meanwhile_, nullptr)) run();
      return inner_.Publish(base, text, gzip);
    }

   private:
    catalog::CommitPoint& inner_;
    std::function<void()> meanwhile_;
  };
  Interrupted point(*table.point_, [&] { table.Commit(table.Delete({{"a.parquet", {5}}})); });
  const auto outcome = table.Try(mine, point, table.io_);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(std::get<Committed>(*outcome).attempts, 2U);
  EXPECT_EQ(std::get<Committed>(*outcome).merged_files, 1U);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3, 5));
  // Each commit: metadata, manifest list, the manifest of vectors; the second also the old one, rewritten.
  EXPECT_EQ(table.Files("metadata").size(), before + 3 + 4);
  EXPECT_EQ(table.Files("data").size(), 2U);
}

// Runs something when a metadata file has just become visible, before the commit point looks around.
class Overtaken final : public io::FaultingFileIO {
 public:
  Overtaken(std::shared_ptr<io::FileIO> inner, std::function<void()> meanwhile)
      : FaultingFileIO(std::move(inner)), meanwhile_(std::move(meanwhile)) {}

  Result<std::unique_ptr<io::OutputFile>> Create(std::string_view path) override {
    auto file = DELENDA_TRY(FaultingFileIO::Create(path));
    if (!path.ends_with(".metadata.json") || !meanwhile_) return file;
    return std::make_unique<File>(std::move(file), std::exchange(meanwhile_, nullptr));
  }

 private:
  class File final : public io::OutputFile {
   public:
    File(std::unique_ptr<io::OutputFile> inner, std::function<void()> meanwhile)
        : inner_(std::move(inner)), meanwhile_(std::move(meanwhile)) {}
    Result<void> Write(ByteView bytes) override { return inner_->Write(bytes); }
    Result<void> Close() override {
      DELENDA_TRY(inner_->Close());
      meanwhile_();
      return {};
    }

   private:
    std::unique_ptr<io::OutputFile> inner_;
    std::function<void()> meanwhile_;
  };

  std::function<void()> meanwhile_;
};

// Whoever reads the new version at once and builds on it also moves the hint past it. Taking the version back then
// would lose it, and break the one that was built on it.
TEST(Commit, AVersionThatOthersBuiltOnAtOnceIsCommitted) {
  MemoryTable table;
  table.Append("a.parquet", 10);
  const Intent mine = table.Delete({{"a.parquet", {3}}});
  const auto io = std::make_shared<Overtaken>(table.io_, [&] { table.Commit(table.Delete({{"a.parquet", {5}}})); });
  const auto point = catalog::MakeFolderCommitPoint(io, MemoryTable::kLocation);
  const auto outcome = table.Try(mine, *point, io);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  ASSERT_TRUE(std::holds_alternative<Committed>(*outcome));
  EXPECT_EQ(std::get<Committed>(*outcome).attempts, 1U);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3, 5));
  table.Commit(table.Delete({{"a.parquet", {7}}}));
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3, 5, 7));
  EXPECT_EQ(table.Metadata().snapshots.size(), 4U);
}

// A writer that names its files in another way (its properties ask for another compression) can make a file of the same
// version at the same moment. Readers prefer the plain one; nobody's changes may come twice, and ours are not lost.
TEST(Commit, TwoSpellingsOfOneVersionNeverDoubleAChange) {
  for (const bool ours_is_gzip : {false, true}) {
    for (const bool others_build_on_ours : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", ours_is_gzip, others_build_on_ours));
      std::map<std::string, std::string> properties;
      if (ours_is_gzip) properties["write.metadata.compression-codec"] = "gzip";
      MemoryTable table(io::MakeMemoryFileIO(), properties);
      table.Append("a.parquet", 10);  // version 2
      const auto before = *iceberg::LoadTable(*table.io_, MemoryTable::kLocation);
      const Intent mine = table.Delete({{"a.parquet", {3}}});
      const auto io = std::make_shared<Overtaken>(table.io_, [&] {
        if (others_build_on_ours) table.Commit(table.Delete({{"a.parquet", {5}}}));
        iceberg::TableMetadata theirs = before.metadata;
        theirs.properties["theirs"] = "true";
        const std::string path =
            fmt::format("{}/metadata/v3{}.metadata.json", MemoryTable::kLocation, ours_is_gzip ? "" : ".gz");
        ASSERT_TRUE(io::WriteWholeFile(*table.io_, path,
                                       *catalog::MetadataBytes(*iceberg::TableMetadataToJson(theirs), !ours_is_gzip)));
      });
      const auto point = catalog::MakeFolderCommitPoint(io, MemoryTable::kLocation);
      const auto outcome = table.Try(mine, *point, io);
      ASSERT_TRUE(outcome) << outcome.error().ToString();
      const auto& committed = std::get<Committed>(*outcome);
      EXPECT_EQ(committed.attempts, ours_is_gzip && !others_build_on_ours ? 2U : 1U);
      const auto metadata = table.Metadata();
      EXPECT_EQ(metadata.properties.contains("theirs"), ours_is_gzip && !others_build_on_ours);
      EXPECT_EQ(metadata.snapshots.size(), others_build_on_ours ? 3U : 2U);
      EXPECT_NE(metadata.FindSnapshot(*committed.snapshot_id), nullptr);
      EXPECT_EQ(table.Deleted("a.parquet"),
                others_build_on_ours ? (std::vector<uint64_t>{3, 5}) : std::vector<uint64_t>{3});
      table.Commit(table.Delete({{"a.parquet", {7}}}));
    }
  }
}

// The answer to a publication is lost, the table does not have it, and then it arrives after all.
TEST(Commit, ALatePublicationIsNotMadeTwice) {
  class Late final : public catalog::CommitPoint {
   public:
    explicit Late(catalog::CommitPoint& inner) : inner_(inner) {}
    Result<std::string> Current() override {
      // Once to see whether it is there; it arrives before the next attempt.
      if (late_ && looks_++ == 1) {
        EXPECT_TRUE(std::exchange(late_, nullptr)());
      }
      return inner_.Current();
    }
    Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
      EXPECT_EQ(publications_++, 0);
      late_ = [this, base = std::string(base), text = std::string(text), gzip] {
        return inner_.Publish(base, text, gzip);
      };
      return CommitStateUnknown("the answer was lost");
    }

   private:
    catalog::CommitPoint& inner_;
    std::function<Result<std::string>()> late_;
    int looks_ = 0, publications_ = 0;
  };
  MemoryTable table;
  table.Append("a.parquet", 10);
  Intent intent;
  intent.added_files = {MemoryTable::DataFile("b.parquet", 5)};
  ASSERT_TRUE(io::WriteWholeFile(*table.io_, intent.added_files[0].path, AsBytes("rows")));
  Late point(*table.point_);
  Executor executor(1);
  {
    write::StagedFiles staged(table.io_);
    staged.Add(intent.added_files[0].path);
    const auto outcome = commit::Commit(intent, staged, {.io = table.io_, .point = &point, .executor = &executor});
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(std::get<Committed>(*outcome).attempts, 2U);
    EXPECT_EQ(std::get<Committed>(*outcome).snapshot_id, table.Head());
  }
  EXPECT_EQ(table.Metadata().snapshots.size(), 2U);
  EXPECT_TRUE(table.io_->Stat(intent.added_files[0].path));
  table.Append("c.parquet", 1);
  EXPECT_EQ(table.State().size(), 3U);
}

// Every I/O operation of a commit fails in turn: afterwards the table is at the old or the new state, and if the commit
// says that it failed, it is the old one.
TEST(Commit, AnyFailureLeavesTheOldOrTheNewState) {
  for (const bool after_the_fact : {false, true}) {
    for (uint64_t at = 0;; ++at) {
      MemoryTable table;
      table.Append("a.parquet", 10);
      table.Commit(table.Delete({{"a.parquet", {0}}}));
      const Intent intent = table.Delete({{"a.parquet", {3}}});
      const auto files = table.Files("metadata").size() + table.Files("data").size();
      const auto faulty = std::make_shared<io::FaultingFileIO>(table.io_);
      faulty->Add({.effect = io::FailWith{.after_the_fact = after_the_fact},
                   .operation = std::nullopt,
                   .path_contains = "",
                   .skip = at,
                   .times = 1});
      const auto point = catalog::MakeFolderCommitPoint(faulty, MemoryTable::kLocation);
      const auto outcome = table.Try(intent, *point, faulty);
      const bool is_over = faulty->operations() <= at;
      const auto deleted = table.Deleted("a.parquet");
      if (outcome) {
        EXPECT_THAT(deleted, ElementsAre(0, 3)) << "operation " << at;
      } else if (outcome.error().kind() != ErrorKind::kCommitStateUnknown) {
        EXPECT_THAT(deleted, ElementsAre(0)) << "operation " << at << ": " << outcome.error().ToString();
        // A file whose making failed after the fact is not known to exist; none else may stay.
        EXPECT_LE(table.Files("metadata").size() + table.Files("data").size(), files + 1) << "operation " << at;
      }
      // Whatever happened, the table goes on.
      table.Commit(table.Delete({{"a.parquet", {7}}}));
      if (is_over) break;
    }
  }
}

// Writers that race for one file, without pause: every acknowledged delete is there, once.
TEST(Commit, RacingDeletersLoseNothing) {
  constexpr uint64_t kWriters = 6, kCommits = 12;
  MemoryTable table;
  table.Append("a.parquet", 1000);
  std::vector<std::thread> threads;
  std::atomic<uint64_t> merged = 0, deleted = 0;
  for (uint64_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      Executor executor(1);
      const auto point = catalog::MakeFolderCommitPoint(table.io_, MemoryTable::kLocation);
      for (uint64_t i = 0; i < kCommits; ++i) {
        const Intent intent = table.Delete({{"a.parquet", {writer * 100 + i}}});
        write::StagedFiles staged(table.io_);
        const auto outcome =
            commit::Commit(intent, staged, {.io = table.io_, .point = point.get(), .executor = &executor});
        ASSERT_TRUE(outcome) << outcome.error().ToString();
        ASSERT_TRUE(std::holds_alternative<Committed>(*outcome)) << std::get<LookAgain>(*outcome).reason;
        merged += std::get<Committed>(*outcome).merged_files;
        deleted += std::get<Committed>(*outcome).deleted_rows;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<uint64_t> expected;
  for (uint64_t writer = 0; writer < kWriters; ++writer) {
    for (uint64_t i = 0; i < kCommits; ++i) expected.push_back(writer * 100 + i);
  }
  EXPECT_EQ(table.Deleted("a.parquet"), expected);
  EXPECT_EQ(deleted, kWriters * kCommits);
  EXPECT_GT(merged, 0U);
  EXPECT_EQ(table.Metadata().snapshots.size(), kWriters * kCommits + 1);
}

}  // namespace
}  // namespace delenda::commit
