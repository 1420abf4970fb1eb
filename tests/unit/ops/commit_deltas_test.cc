// Commits of deltas while others commit, when tries are used up, and when anything fails: no event is lost, none is
// there twice. The seed is printed; DELENDA_SEED repeats one.
#include "delenda/ops/commit_deltas.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "delenda/iceberg/metadata_writer.h"
#include "delenda/io/faulting_file_io.h"
#include "delenda/ops/convert_deletes.h"
#include "delenda/ops/delete_rows.h"
#include "delenda/ops/update_rows.h"
#include "delenda/ops/upsert_rows.h"
#include "support/seed.h"
#include "unit/ops/delta_table.h"

namespace delenda::ops::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs something just before each of the first publications.
class MeddledPoint final : public catalog::CommitPoint {
 public:
  MeddledPoint(std::shared_ptr<catalog::CommitPoint> inner, std::function<void(int)> meddle, int times)
      : inner_(std::move(inner)), meddle_(std::move(meddle)), times_(times) {}

  Result<std::string> Current() override { return inner_->Current(); }
  Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
    if (count_ < times_) meddle_(count_++);
    return inner_->Publish(base, text, gzip);
  }

 private:
  std::shared_ptr<catalog::CommitPoint> inner_;
  std::function<void(int)> meddle_;
  int times_;
  int count_ = 0;
};

TEST_F(DeltaTable, KeysThatOthersAddMeanwhileAreReplaced) {
  auto point = std::make_shared<MeddledPoint>(
      table_.MakePoint(), [&](int) { ASSERT_TRUE(Append("id,region,s\n9001,us,other\n9002,us,other\n")); }, 1);
  auto session = table_.Session(point);
  const auto delta = Delta(session, {Event("c", 9001, "own"), Event("d", 9003)});
  const auto change = CommitDeltas(session, {&*delta, 1}, {});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->looked_again, 1U);
  EXPECT_EQ(change->rows_deleted, 1U);
  EXPECT_THAT(Values(9001), ElementsAre("own"));
  EXPECT_THAT(Values(9002), ElementsAre("other"));
}

TEST_F(DeltaTable, OtherKeysThatOthersAddMeanwhileDoNotMatter) {
  auto point = std::make_shared<MeddledPoint>(
      table_.MakePoint(), [&](int) { ASSERT_TRUE(Append("id,region,s\n9000,us,other\n9002,us,other\n")); }, 1);
  auto session = table_.Session(point);
  const auto delta = Delta(session, {Event("c", 9001, "own"), Event("u", 3, "own")});
  const auto change = CommitDeltas(session, {&*delta, 1}, {});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->looked_again, 0U);
  EXPECT_EQ(change->attempts, 2U);
  EXPECT_THAT(Values(9001), ElementsAre("own"));
  EXPECT_THAT(Values(3), ElementsAre("own"));
}

// Two deltas of one key that were written at the same time: the one that commits later holds.
TEST_F(DeltaTable, OfTwoCommitsOfAKeyTheLaterOneHolds) {
  auto other = table_.Session();
  const auto theirs = Delta(other, {Event("u", 3, "theirs"), Event("c", 9001, "theirs")});
  auto point = std::make_shared<MeddledPoint>(
      table_.MakePoint(), [&](int) { ASSERT_TRUE(CommitDeltas(other, {&*theirs, 1}, {})); }, 1);
  auto session = table_.Session(point);
  const auto ours = Delta(session, {Event("u", 3, "ours"), Event("c", 9001, "ours")});
  const auto change = CommitDeltas(session, {&*ours, 1}, {});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_GE(change->looked_again, 1U);
  EXPECT_THAT(Values(3), ElementsAre("ours"));
  EXPECT_THAT(Values(9001), ElementsAre("ours"));
}

// Random changes by others before each publication, against a map of the rows.
TEST_F(DeltaTable, KeepsWhatOthersDoMeanwhile) {
  const uint64_t seed = delenda::testing::Seed();
  SCOPED_TRACE(fmt::format("DELENDA_SEED={}", seed));
  std::mt19937_64 random(seed);
  std::map<int64_t, std::string> model;
  for (const Json& row : table_.Rows({.select = {"id", "s"}, .select_all = false}))
    model[row["id"].get<int64_t>()] = row["s"].is_null() ? "" : row["s"].get<std::string>();
  const auto meddle = [&](int) {
    auto session = table_.Session();
    const auto id = std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()))->first;
    const std::string value = fmt::format("m{}", random() % 1000);
    switch (random() % 4) {
      case 0:
        ASSERT_TRUE(DeleteRows(session, {.where = fmt::format("id = {}", id)}));
        model.erase(id);
        return;
      case 1:
        ASSERT_TRUE(UpdateRows(session, {.where = fmt::format("id = {}", id), .set = {{"s", "'" + value + "'"}}}));
        model[id] = value;
        return;
      case 2: {
        const auto theirs = Delta(session, {Event("u", id, value), Event("c", 9001, value, "us")});
        ASSERT_TRUE(CommitDeltas(session, {&*theirs, 1}, {}));
        model[id] = model[9001] = value;
        return;
      }
      default:
        // One that is not there now: nothing but the keys themselves tells that it conflicts.
        for (int64_t added = 9001; added <= 9006; ++added) {
          if (!model.emplace(added, value).second) continue;
          ASSERT_TRUE(Append(fmt::format("id,region,s\n{},ap,{}\n", added, value)));
          return;
        }
    }
  };
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    auto session = table_.Session(std::make_shared<MeddledPoint>(table_.MakePoint(), meddle, 2));
    std::vector<Json> events;
    for (int i = 0; i < 6; ++i) {
      const bool known = random() % 2 == 0;
      const int64_t id = known ? std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()))->first
                               : static_cast<int64_t>(9001 + random() % 6);
      events.push_back(Event(random() % 3 == 0 ? "d" : "u", id, fmt::format("own {} {}", round, i)));
    }
    const auto delta = Delta(session, events);
    ASSERT_TRUE(delta) << delta.error().ToString();
    const auto change = CommitDeltas(session, {&*delta, 1}, {});
    ASSERT_TRUE(change) << change.error().ToString();
    for (const Json& event : events) {
      if (event["op"] == "d") {
        model.erase(event["id"].get<int64_t>());
      } else {
        model[event["id"].get<int64_t>()] = event["s"].get<std::string>();
      }
    }
    std::map<int64_t, std::string> rows;
    for (const Json& row : table_.Rows({.select = {"id", "s"}, .select_all = false})) {
      EXPECT_TRUE(rows.emplace(row["id"].get<int64_t>(), row["s"].is_null() ? "" : row["s"].get<std::string>()).second)
          << row.dump();
    }
    ASSERT_EQ(rows, model);
  }
}

// With others always first, tries are used up.
TEST_F(DeltaTable, WhenTriesAreUsedUpItFailsAndLosesNothing) {
  auto point = std::make_shared<MeddledPoint>(
      table_.MakePoint(), [&](int n) { ASSERT_TRUE(Append(fmt::format("id,region,s\n9001,us,other {}\n", n))); }, 3);
  auto session = table_.Session(point);
  const auto delta = Delta(session, {Event("c", 9001, "own"), Event("d", 3)});
  const auto failed = CommitDeltas(session, {&*delta, 1}, {.most_tries = 2});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), ErrorKind::kCommitConflict);
  EXPECT_THAT(Values(3), ::testing::SizeIs(1));
  const auto again = CommitDeltas(session, {&*delta, 1}, {});
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_THAT(Values(9001), ElementsAre("own"));
  EXPECT_THAT(Values(3), IsEmpty());
}

// The same with the fallback: readers apply equality deletes, and `convert` takes them away. cl_partitioned: by p and
// bucket[2](id), both within the key.
TEST(DeltaFallback, WhenTriesAreUsedUpEqualityDeletesAreCommittedInTheirPartitions) {
  TableCopy table("cl_partitioned");
  const std::vector<std::string> key = {"id", "p"};
  auto other = table.Session();
  auto point = std::make_shared<MeddledPoint>(
      table.MakePoint(),
      [&](int n) {
        const auto path = table.Put("meanwhile.csv", fmt::format("id,p,v\n9001,p0,other {}\n", n));
        ASSERT_TRUE(AppendRows(other, *io::MakeLocalFileIO(), {.files = {path}}));
      },
      3);
  auto session = table.Session(point);
  auto expected = table.Rows();
  std::vector<DeltaResult> deltas;
  // An earlier worker's row 9001: the later one's equality delete does not reach it, a vector or nothing does.
  const std::vector<std::vector<Json>> events = {
      {PlainEvent("c", 9001, "early"), PlainEvent("c", 9002, "own"), PlainEvent("c", 9003, "own")},
      {PlainEvent("u", 9001, "own"), PlainEvent("d", 3)}};
  for (const auto& of_worker : events) {
    auto delta = WriteDelta(session, table, of_worker,
                            {.key = key, .order = deltas.size(), .fallback = DeltaFallback::kCommitEqualityDeletes});
    ASSERT_TRUE(delta) << delta.error().ToString();
    deltas.push_back(*std::move(delta));
    ApplyEvents(expected, of_worker, key);
  }
  const auto change = CommitDeltas(session, deltas, {.most_tries = 2});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
  EXPECT_GT(EqualityDeletesOf(table), 0U);
  const auto live = table.Session().LiveDeletes("main").value();
  for (const ContentFile& file : live) {
    if (file.content != FileContent::kEqualityDeletes) continue;
    EXPECT_THAT(file.equality_ids, ElementsAre(1, 2));
    EXPECT_EQ(file.format, FileFormat::kParquet);
    EXPECT_EQ(file.partition->values.size(), 2U);
  }
  EXPECT_EQ(table.Summary("added-equality-deletes"), "5");
  const auto converted = ConvertDeletes(session, {});
  ASSERT_TRUE(converted) << converted.error().ToString();
  EXPECT_EQ(EqualityDeletesOf(table), 0U);
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
}

// upgraded_v1: partitioned by p once, by nothing (a void transform) since; position delete files from before the
// upgrade.
TEST(DeltaFallback, EqualityDeletesOfAllVoidSpecsReachEveryPartition) {
  TableCopy table("upgraded_v1");
  auto other = table.Session();
  auto point = std::make_shared<MeddledPoint>(
      table.MakePoint(),
      [&](int) {
        const auto path = table.Put("meanwhile.csv", "id,p,v\n9001,p0,theirs\n");
        ASSERT_TRUE(AppendRows(other, *io::MakeLocalFileIO(), {.files = {path}}));
      },
      1);
  auto session = table.Session(point);
  auto expected = table.Rows();
  std::map<Json, std::vector<int64_t>> ids;  // by p
  for (const Json& row : expected) ids[row["p"]].push_back(row["id"]);
  ASSERT_GE(ids.size(), 3U);
  std::vector<Json> events = {PlainEvent("u", 9001, "own")};
  for (const auto& [p, of_partition] : ids) {
    events.push_back(PlainEvent("d", of_partition.front()));
    events.push_back(PlainEvent("u", of_partition.back(), "own"));
  }
  const auto delta =
      WriteDelta(session, table, events, {.key = {"id"}, .fallback = DeltaFallback::kCommitEqualityDeletes});
  ASSERT_TRUE(delta) << delta.error().ToString();
  EXPECT_TRUE(delta->deletes_of_spec.empty());
  const auto change = CommitDeltas(session, {&*delta, 1}, {.most_tries = 1});
  ASSERT_TRUE(change) << change.error().ToString();
  ApplyEvents(expected, events, {"id"});
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
  ASSERT_GT(EqualityDeletesOf(table), 0U);
  const auto live = table.Session().LiveDeletes("main").value();
  for (const ContentFile& file : live) {
    if (file.content == FileContent::kEqualityDeletes) {
      EXPECT_EQ(file.spec_id, 1);
    }
  }

  // A data file that may hold a key has position delete files: a vector beside them would hide them.
  const auto refused = ConvertDeletes(session, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kValidationFailed);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("delenda convert --position-deletes"));
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
  const auto converted = ConvertDeletes(session, {.position_deletes = true});
  ASSERT_TRUE(converted) << converted.error().ToString();
  EXPECT_EQ(EqualityDeletesOf(table), 0U);
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
}

TEST(DeltaFallback, EqualityDeletesOfUnpartitionedTablesAreThoseThatWereWritten) {
  TableCopy table("cl_basic");
  const auto column = ColumnToSet(table.Session().schema())->name;
  const auto rows = table.Rows();
  auto other = table.Session();
  Json theirs = rows[0];
  theirs[column] = "other";
  auto point = std::make_shared<MeddledPoint>(
      table.MakePoint(),
      [&](int n) {
        const auto path = table.Put(fmt::format("{}.jsonl", n), theirs.dump());
        ASSERT_TRUE(UpsertRows(other, *io::MakeLocalFileIO(), {.rows = {.files = {path}, .key = {"id"}}}));
      },
      2);
  auto session = table.Session(point);
  Json updated = rows[0];
  updated[column] = "own";
  updated["op"] = "u";
  Json deleted = rows[1];
  deleted["op"] = "d";
  const auto delta = WriteDelta(session, table, {updated, deleted},
                                {.key = {"id"}, .fallback = DeltaFallback::kCommitEqualityDeletes});
  ASSERT_TRUE(delta) << delta.error().ToString();
  EXPECT_TRUE(delta->deletes_of_spec.empty());
  const auto change = CommitDeltas(session, {&*delta, 1}, {.most_tries = 1});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(EqualityDeletesOf(table), delta->keys.size());
  auto expected = rows;
  ApplyEvents(expected, {updated, deleted}, {"id"});
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
  // The files belong to the table: they outlive the result.
  const auto again = CommitDeltas(session, {&*delta, 1}, {});
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(again->snapshot_id, change->snapshot_id);
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
}

// Nobody asks where the keys are; whoever wants vectors must.
TEST(DeltaFallback, WithoutTriesEqualityDeletesAreCommittedAtOnce) {
  TableCopy table("cl_basic");
  class Unasked final : public KeyPositionResolver {
   public:
    Result<std::vector<KeyPositions>> Resolve(const commit::TableSession&, std::span<const KeyQuery>) const override {
      return InternalError("nobody should ask");
    }
  };
  const Unasked resolver;
  auto session = table.Session();
  auto expected = table.Rows();
  const std::vector<Json> events = {PlainEvent("u", 3, "own"), PlainEvent("c", 9001, "own"), PlainEvent("d", 4)};
  ApplyEvents(expected, events, {"id"});
  const auto aborting = WriteDelta(session, table, events, {.key = {"id"}});
  const auto refused = CommitDeltas(session, {&*aborting, 1}, {.most_tries = 0, .resolver = &resolver});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
  const auto delta =
      WriteDelta(session, table, events, {.key = {"id"}, .fallback = DeltaFallback::kCommitEqualityDeletes});
  const auto change = CommitDeltas(session, {&*delta, 1}, {.most_tries = 0, .resolver = &resolver});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->delete_files_added, 1U);
  EXPECT_EQ(EqualityDeletesOf(table), 1U);
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
}

TEST_F(DeltaTable, ColumnsThatWereAddedSinceAreNoHindranceAndOthersAre) {
  auto session = table_.Session();
  const auto add_column = [&](const Field& field) {
    auto metadata = table_.Metadata();
    auto fields = metadata.CurrentSchema().fields();
    fields.push_back(field);
    fields.back().id = ++metadata.last_column_id;
    metadata.current_schema_id = metadata.CurrentSchema().id() + 100;
    metadata.schemas.push_back(*Schema::Make(metadata.current_schema_id, fields));
    const auto point = table_.MakePoint();
    ASSERT_TRUE(point->Publish(*point->Current(), *iceberg::TableMetadataToJson(metadata), false));
  };
  const auto delta = Delta(session, {Event("c", 9001, "own"), Event("d", 3)});
  add_column({.name = "extra", .type = TypeKind::kLong});
  const auto change = CommitDeltas(session, {&*delta, 1}, {});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_THAT(Values(9001), ElementsAre("own"));
  EXPECT_THAT(Values(3), IsEmpty());

  const auto late = Delta(session, {Event("c", 9002, "own")});
  ASSERT_TRUE(late) << late.error().ToString();
  add_column({.name = "needed", .type = TypeKind::kLong, .required = true});
  const auto refused = CommitDeltas(session, {&*late, 1}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kValidationFailed);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("'needed'"));
}

// The answer to a publication is lost, and nobody can say what became of it.
class LosingPoint final : public catalog::CommitPoint {
 public:
  LosingPoint(std::shared_ptr<catalog::CommitPoint> inner, bool arrives)
      : inner_(std::move(inner)), arrives_(arrives) {}

  Result<std::string> Current() override {
    if (is_down) return IoError("down");
    return inner_->Current();
  }
  Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
    if (is_lost_) return inner_->Publish(base, text, gzip);
    is_lost_ = is_down = true;
    if (arrives_) {
      EXPECT_TRUE(inner_->Publish(base, text, gzip));
    }
    return CommitStateUnknown("the answer is lost");
  }

  bool is_down = false;

 private:
  std::shared_ptr<catalog::CommitPoint> inner_;
  bool arrives_;
  bool is_lost_ = false;
};

TEST_F(DeltaTable, WorkWhoseCommitIsUnknownIsCommittedOnce) {
  for (const bool arrives : {true, false}) {
    SCOPED_TRACE(arrives);
    const auto point = std::make_shared<LosingPoint>(table_.MakePoint(), arrives);
    auto session = table_.Session(point);
    const auto rows = table_.Rows().size();
    const auto snapshots = table_.Metadata().snapshots.size();
    const int64_t id = arrives ? 9001 : 9002;
    const int64_t gone = arrives ? 1 : 2;
    const auto delta = Delta(session, {Event("c", id, "own"), Event("d", gone)});
    ASSERT_TRUE(delta) << delta.error().ToString();
    const auto unknown = CommitDeltas(session, {&*delta, 1}, {});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind(), ErrorKind::kCommitStateUnknown);
    point->is_down = false;
    for (int i = 0; i < 2; ++i) {
      const auto again = CommitDeltas(session, {&*delta, 1}, {});
      ASSERT_TRUE(again) << again.error().ToString();
      EXPECT_EQ(again->snapshot_id, table_.Metadata().current_snapshot_id);
    }
    EXPECT_EQ(table_.Metadata().snapshots.size(), snapshots + 1);
    EXPECT_EQ(table_.Rows().size(), rows);
    EXPECT_THAT(Values(id), ElementsAre("own"));
    EXPECT_THAT(Values(gone), IsEmpty());
  }
  // One that is committed beside one that is not: which of them came later would be lost.
  auto session = table_.Session();
  std::vector<DeltaResult> deltas;
  deltas.push_back(*Delta(session, {Event("c", 9003, "first")}, 1));
  ASSERT_TRUE(CommitDeltas(session, deltas, {}));
  deltas.push_back(*Delta(session, {Event("u", 9003, "second")}, 2));
  const auto refused = CommitDeltas(session, deltas, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("1 of the 2 deltas are committed already"));
  ASSERT_TRUE(CommitDeltas(session, {&deltas[1], 1}, {}));
  EXPECT_THAT(Values(9003), ElementsAre("second"));
}

// cl_basic, in memory.
std::shared_ptr<io::FileIO> InMemory(const TableCopy& table) {
  auto memory = io::MakeMemoryFileIO();
  for (const std::string& name : table.Files()) {
    const std::string path = table.location() + "/" + name;
    const auto bytes = io::ReadWholeFile(*table.io(), path);
    EXPECT_TRUE(bytes && io::WriteWholeFile(*memory, path, *bytes));
  }
  return memory;
}

// Each I/O operation of a cycle fails in turn, before or after it was done; then the cycle is taken up where it failed.
// No event is lost, and none is there twice.
TEST(DeltaFaults, FailuresAtAnyStepLoseNoEventAndDoubleNone) {
  Executor executor(1);
  TableCopy table("cl_basic");
  const auto rows_of = [&](const std::shared_ptr<io::FileIO>& io) {
    const auto loaded = iceberg::LoadTable(*io, table.location());
    const auto plan = plan::PlanScan(loaded->metadata, *io, {}, executor, {});
    EXPECT_TRUE(plan) << plan.error().ToString();
    return Sorted(delenda::testing::ToJson(*delenda::testing::ReadAll(std::make_shared<plan::ScanPlan>(*plan), io)));
  };
  const std::vector<std::vector<Json>> events = {
      {PlainEvent("c", 9001, "early"), PlainEvent("c", 9002, "own"), PlainEvent("d", 3)},
      {PlainEvent("u", 9001, "own"), PlainEvent("u", 0, "own"), PlainEvent("d", 4)}};
  auto expected = table.Rows();
  for (const auto& of_worker : events) ApplyEvents(expected, of_worker, {"id"});
  for (const bool after_the_fact : {false, true}) {
    for (uint64_t at = 0;; ++at) {
      SCOPED_TRACE(fmt::format("operation {}, after the fact: {}", at, after_the_fact));
      const auto memory = InMemory(table);
      const auto faulty = std::make_shared<io::FaultingFileIO>(memory);
      auto session =
          commit::TableSession::Open(faulty, catalog::MakeFolderCommitPoint(faulty, table.location()), executor, {});
      ASSERT_TRUE(session) << session.error().ToString();
      std::vector<DeltaWriter> writers;
      for (const auto& of_worker : events) {
        writers.push_back(*DeltaWriter::Make(*session, {.key = {"id"}, .order = writers.size()}));
        ASSERT_TRUE(WriteEvents(writers.back(), table, session->schema(), {"id"}, of_worker));
      }
      const uint64_t begin = faulty->operations();
      faulty->Add({.effect = io::FailWith{.after_the_fact = after_the_fact},
                   .operation = std::nullopt,
                   .path_contains = "",
                   .skip = at,
                   .times = 1});
      std::vector<DeltaResult> results;
      for (DeltaWriter& writer : writers) {
        auto result = writer.Finish();
        if (!result) result = writer.Finish();
        ASSERT_TRUE(result) << result.error().ToString();
        results.push_back(*std::move(result));
      }
      auto change = CommitDeltas(*session, results, {});
      if (!change) change = CommitDeltas(*session, results, {});
      ASSERT_TRUE(change) << change.error().ToString();
      ASSERT_EQ(rows_of(memory), Sorted(expected));
      if (faulty->operations() - begin <= at) break;
      ASSERT_LT(at, 1000U);
    }
  }
}

}  // namespace
}  // namespace delenda::ops::testing
