// Events by key become data files and vectors: what delta writers and their commits leave, against a list of rows. The
// seed is printed; DELENDA_SEED repeats one.
#include "delenda/ops/delta_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "delenda/ops/commit_deltas.h"
#include "delenda/ops/upsert_rows.h"
#include "unit/ops/delta_table.h"
#include "unit/ops/random_table.h"

namespace delenda::ops::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeltaFixture : public ::testing::TestWithParam<std::string> {};

TEST_P(DeltaFixture, WorkOfSeveralWritersIsThatOfAListOfRows) {
  RandomTable start(GetParam());
  auto& [seed, random, table, session, column, first_rows] = start;
  if (!column) return;
  const auto below = [&](size_t count) { return start.Below(count); };
  std::vector<Json> rows = first_rows;
  const size_t pending = EqualityDeletesOf(table);
  for (int step = 0; step < 3; ++step) {
    SCOPED_TRACE(fmt::format("DELENDA_SEED={} step {}", seed, step));
    std::vector<std::string> key = {"id"};
    if (below(3) == 0) key.push_back(column->name);
    if (below(3) == 0) {
      // Partition columns within the key.
      for (const auto& field : session.default_spec().spec.fields) {
        const auto path = session.schema().FindById(field.source_id);
        if (path.size() != 1 || std::ranges::find(key, path[0]->name) != key.end()) continue;
        const auto kind = path[0]->type.kind();
        if (kind == TypeKind::kString || IsWhole(path[0]->type)) key.push_back(path[0]->name);
      }
    }
    const auto event = [&] {
      Json row = first_rows[below(first_rows.size())];
      if (!rows.empty() && below(2) == 0) {
        row = rows[below(rows.size())];
      } else {
        row["id"] = start.NewId(30);
      }
      if (below(2) == 0) row[column->name] = start.NewValue();
      row["op"] = std::vector<std::string>{"c", "r", "u", "u", "d", "d"}[below(6)];
      return row;
    };
    std::vector<DeltaResult> results;
    std::vector<std::vector<Json>> events(1 + below(4));
    for (size_t worker = 0; worker < events.size(); ++worker) {
      const bool spills = below(4) == 0;
      const size_t count = spills ? 500 : below(25);
      for (size_t i = 0; i < count; ++i) events[worker].push_back(event());
      auto result = WriteDelta(session, table, events[worker],
                               {.key = key, .order = worker * 10, .memory_budget = spills ? 1 : uint64_t{1} << 28});
      ASSERT_TRUE(result) << result.error().ToString();
      results.push_back(*std::move(result));
    }
    for (const auto& of_worker : events) ApplyEvents(rows, of_worker, key);
    // The order number counts, and no other order.
    std::ranges::shuffle(results, random);
    const auto rows_before = table.Rows().size();
    const auto change = CommitDeltas(session, results, {.key_memory = below(2) == 0 ? uint64_t{1} : uint64_t{1} << 28});
    ASSERT_TRUE(change) << change.error().ToString();
    EXPECT_EQ(change->looked_again, 0U);
    ASSERT_EQ(Sorted(table.Rows()), Sorted(rows));
    EXPECT_EQ(EqualityDeletesOf(table), pending) << "a reader sees an equality delete";
    if (pending == 0) {
      EXPECT_EQ(rows_before + change->rows_added - change->rows_deleted, rows.size());
    }
    // No row id twice.
    std::set<int64_t> ids;
    for (const Json& row : table.Rows({.select = {"_row_id"}, .select_all = false}))
      EXPECT_TRUE(ids.insert(row["_row_id"].get<int64_t>()).second);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, DeltaFixture, ::testing::ValuesIn(ChangeableTables()),
                         [](const auto& param) { return param.param; });

// Both ways of an upsert, one after the other on two copies of a table.
TEST(DeltaWriter, UpsertsViaEqualityDeletesLeaveTheRowsOfThoseViaPositions) {
  const uint64_t seed = delenda::testing::Seed();
  std::mt19937_64 random(seed);
  for (const char* name : {"mor_dv_partitioned", "cl_basic", "eq_v3", "upsert_v3"}) {
    SCOPED_TRACE(fmt::format("DELENDA_SEED={} {}", seed, name));
    TableCopy positions(name), equality(name);
    auto by_positions = positions.Session();
    auto by_equality = equality.Session();
    const auto template_rows = ReadJsonLines(name, "current.jsonl");
    const auto files = io::MakeLocalFileIO();
    for (int step = 0; step < 4; ++step) {
      std::string lines;
      for (int i = 0; i < 40; ++i) {
        Json row = template_rows[random() % template_rows.size()];
        if (random() % 2 == 0) row["id"] = 7000 + random() % 20;
        row["op"] = random() % 3 == 0 ? "d" : "u";
        lines += row.dump() + "\n";
      }
      UpsertOptions options{.rows = {.files = {positions.Put("both.jsonl", lines)}, .key = {"id"}},
                            .delete_when = "op = 'd'"};
      options.rows.memory_budget = random() % 2 == 0 ? 1 : uint64_t{1} << 28;
      ASSERT_TRUE(UpsertRows(by_positions, *files, options));
      options.via = UpsertVia::kEqualityDeletes;
      options.dry_run = true;
      const auto files_before = equality.Files();
      const auto planned = UpsertRows(by_equality, *files, options);
      ASSERT_TRUE(planned) << planned.error().ToString();
      EXPECT_EQ(equality.Files(), files_before);
      options.dry_run = false;
      const auto change = UpsertRows(by_equality, *files, options);
      ASSERT_TRUE(change) << change.error().ToString();
      EXPECT_EQ(planned->rows_added, change->rows_added);
      EXPECT_EQ(planned->rows_deleted, change->rows_deleted);
      EXPECT_EQ(planned->files_changed, change->files_changed);
      ASSERT_EQ(Sorted(equality.Rows()), Sorted(positions.Rows()));
    }
  }
  TableCopy table("cl_basic");
  auto session = table.Session();
  const auto refused = UpsertRows(session, *io::MakeLocalFileIO(),
                                  {.rows = {.files = {table.Put("a.csv", "id\n1\n")}, .key = {"id"}},
                                   .strict = true,
                                   .via = UpsertVia::kEqualityDeletes});
  EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
}

TEST_F(DeltaTable, TheLastEventOfAKeyCountsAndItsOldRowGoesFromAnyPartition) {
  auto session = table_.Session();
  const auto files_before = FilesInData();
  auto delta = Delta(session, {Event("c", 9001, "first"), Event("u", 1, "moved", "ap"), Event("u", 9001, "second"),
                               Event("c", 9002, "gone"), Event("d", 9002), Event("d", 2), Event("d", 9003)});
  ASSERT_TRUE(delta) << delta.error().ToString();
  EXPECT_EQ(delta->rows, 2U);
  const auto change = CommitDeltas(session, {&*delta, 1}, {});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->rows_added, 2U);
  EXPECT_EQ(change->rows_deleted, 2U);
  EXPECT_THAT(Values(9001), ElementsAre("second"));
  EXPECT_THAT(Values(1), ElementsAre("moved"));
  EXPECT_THAT(Values(2), IsEmpty());
  EXPECT_THAT(Values(9002), IsEmpty());
  EXPECT_EQ(FilesInData(), files_before + change->files_added) << "key files are deleted";
}

TEST(DeltaOrder, LaterWorkersReplaceAndDeleteRowsOfEarlierOnesInOneSnapshot) {
  TableCopy table("cl_basic");
  auto session = table.Session();
  const auto write = [&](const std::vector<Json>& events, uint64_t order) {
    auto delta = WriteDelta(session, table, events, {.key = {"id"}, .order = order});
    EXPECT_TRUE(delta) << delta.error().ToString();
    return *std::move(delta);
  };
  const auto parquet_files = [&] {
    const auto files = table.Files();
    return std::ranges::count_if(files, [](const std::string& name) { return name.ends_with(".parquet"); });
  };
  auto expected = table.ById("v");
  const auto files_before = parquet_files();
  std::vector<DeltaResult> deltas;
  deltas.push_back(write({PlainEvent("c", 9003, "last")}, 3));
  deltas.push_back(write({PlainEvent("u", 9001, "own"), PlainEvent("d", 9002), PlainEvent("u", 9003, "early")}, 2));
  deltas.push_back(
      write({PlainEvent("c", 9001, "first"), PlainEvent("c", 9002, "gone"), PlainEvent("c", 9004, "stays")}, 1));
  const auto snapshots = table.Metadata().snapshots.size();
  const auto change = CommitDeltas(session, deltas, {});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(table.Metadata().snapshots.size(), snapshots + 1);
  EXPECT_EQ(change->rows_added, 3U);
  EXPECT_EQ(change->rows_deleted, 0U);
  expected[9001] = "own";
  expected[9003] = "last";
  expected[9004] = "stays";
  EXPECT_EQ(table.ById("v"), expected);
  EXPECT_EQ(table.Rows().size(), expected.size());
  EXPECT_EQ(table.Summary("added-dvs"), "2") << "9001 and 9002 beside 9004; 9003 beside 9001";
  EXPECT_EQ(table.Summary("added-position-deletes"), "3");
  EXPECT_EQ(parquet_files(), files_before + 3);

  // A file of which no row is left is not committed.
  std::vector<DeltaResult> more;
  more.push_back(write({PlainEvent("c", 9005, "gone")}, 1));
  more.push_back(write({PlainEvent("d", 9005)}, 2));
  const auto nothing = CommitDeltas(session, more, {});
  ASSERT_TRUE(nothing) << nothing.error().ToString();
  EXPECT_FALSE(nothing->snapshot_id);
  EXPECT_EQ(parquet_files(), files_before + 3);
}

TEST_F(DeltaTable, WhatCannotBeMeantIsRefused) {
  auto session = table_.Session();
  const auto error = [](const auto& result) { return result ? std::string("none") : result.error().ToString(); };
  EXPECT_THAT(error(Delta(session, {Event("x", 1)})), HasSubstr("'x' is no operation"));
  Json no_operation = Event("c", 1);
  no_operation["op"] = nullptr;
  EXPECT_THAT(error(Delta(session, {no_operation})), HasSubstr("column 'op', event 1: 'NULL' is no operation"));
  EXPECT_THAT(error(DeltaWriter::Make(session, {.key = {"nope"}})), HasSubstr("no column 'nope' to be the key"));
  EXPECT_THAT(error(DeltaWriter::Make(session, {.key = {}})), HasSubstr("no key column"));
  EXPECT_THAT(error(DeltaWriter::Make(session, {.key = {"id"}, .operation_column = "s"})),
              HasSubstr("the table has a column 's'"));
  EXPECT_THAT(error(DeltaWriter::Make(session, {.key = {"id"}, .fallback = DeltaFallback::kCommitEqualityDeletes})),
              HasSubstr("'region' of spec 0 is not determined by the key"));
  EXPECT_THAT(error(CommitDeltas(session, {}, {})), HasSubstr("no delta"));
  std::vector<DeltaResult> deltas;
  deltas.push_back(*Delta(session, {Event("c", 9001)}, 1));
  deltas.push_back(*Delta(session, {Event("c", 9001)}, 1));
  EXPECT_THAT(error(CommitDeltas(session, deltas, {})), HasSubstr("two deltas have the order number 1"));
  deltas[1] = *Delta(session, {Event("c", 9001)}, 2, {"id", "region"});
  EXPECT_THAT(error(CommitDeltas(session, deltas, {})), HasSubstr("different keys"));
  EXPECT_THAT(error(CommitDeltas(session, {&deltas[0], 1}, {.branch = "nope"})), HasSubstr("no branch 'nope'"));
  TableCopy elsewhere("cl_basic");
  auto there = elsewhere.Session();
  EXPECT_THAT(error(CommitDeltas(there, {&deltas[0], 1}, {})), HasSubstr("can't be committed to /warehouse/cl_basic"));
  EXPECT_THAT(Values(9001), IsEmpty());
  TableCopy old("eq_int");
  EXPECT_EQ(DeltaWriter::Make(old.Session(), {.key = {"id"}}).error().kind(), ErrorKind::kNotSupported);
}

TEST_F(DeltaTable, ResultsThatNobodyCommitsLeaveNoFile) {
  auto session = table_.Session();
  const auto before = table_.Files();
  {
    ASSERT_TRUE(Delta(session, {Event("c", 9001), Event("d", 1)}));
  }
  EXPECT_EQ(table_.Files(), before);
}

}  // namespace
}  // namespace delenda::ops::testing
