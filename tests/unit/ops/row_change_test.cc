// Rows of tables that Spark wrote, deleted, updated and added to: what is left are the peer's rows, changed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "delenda/io/faulting_file_io.h"
#include "delenda/ops/append_rows.h"
#include "delenda/ops/delete_rows.h"
#include "delenda/ops/update_rows.h"
#include "unit/ops/table_copy.h"

namespace delenda::ops {
namespace {

using delenda::testing::ReadJsonLines;
using delenda::testing::Sorted;
using testing::ChangeableTables;
using testing::ColumnToSet;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Json;
using testing::TableCopy;

std::string IdIn(const std::vector<int64_t>& ids) {
  std::string text = "id IN (";
  for (size_t i = 0; i < ids.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
  return text + ")";
}

// Every third id, from the `from`th on.
std::vector<int64_t> SomeIds(const std::vector<Json>& rows, size_t from) {
  std::set<int64_t> ids;
  for (const Json& row : rows) {
    if (!row["id"].is_null()) ids.insert(row["id"].get<int64_t>());
  }
  std::vector<int64_t> some;
  size_t at = 0;
  for (const int64_t id : ids) {
    if (at++ % 3 == from) some.push_back(id);
  }
  return some;
}

bool HasId(const Json& row, const std::vector<int64_t>& ids) {
  return !row["id"].is_null() && std::ranges::binary_search(ids, row["id"].get<int64_t>());
}

class ChangeFixture : public ::testing::TestWithParam<std::string> {};

TEST_P(ChangeFixture, DeletedRowsAreGoneAndNoOthers) {
  TableCopy table(GetParam());
  auto session = table.Session();
  auto rows = ReadJsonLines(GetParam(), "current.jsonl");
  for (const size_t from : {0, 1}) {
    const auto ids = SomeIds(rows, from);
    if (ids.empty()) continue;
    const auto planned = DeleteRows(session, {.where = IdIn(ids), .dry_run = true});
    const auto change = DeleteRows(session, {.where = IdIn(ids)});
    ASSERT_TRUE(change) << change.error().ToString();
    const auto gone = std::erase_if(rows, [&](const Json& row) { return HasId(row, ids); });
    EXPECT_EQ(change->rows_deleted, gone);
    EXPECT_EQ(planned->rows_deleted, gone);
    EXPECT_EQ(planned->files_changed, change->files_changed);
    EXPECT_EQ(planned->files_dropped, change->files_dropped);
    EXPECT_EQ(table.Metadata().current_snapshot_id, change->snapshot_id);
    ASSERT_EQ(Sorted(table.Rows()), Sorted(rows));
  }
  const auto rest = DeleteRows(session, {});
  ASSERT_TRUE(rest) << rest.error().ToString();
  EXPECT_EQ(rest->rows_deleted, rows.size());
  EXPECT_THAT(table.Rows(), ElementsAre());
}

TEST_P(ChangeFixture, UpdatedRowsHaveNewValuesAndTheirOldRowIds) {
  TableCopy table(GetParam());
  auto session = table.Session();
  const auto column = ColumnToSet(session.schema());
  if (!column) return;  // nothing but ids
  const bool is_text = column->type.kind() == TypeKind::kString;
  auto rows = ReadJsonLines(GetParam(), "current.jsonl");
  const auto row_ids = [&] {
    std::multimap<int64_t, Json> ids;
    for (const Json& row : table.Rows({.select = {"id", "_row_id"}, .select_all = false})) {
      if (!row["id"].is_null()) ids.emplace(row["id"].get<int64_t>(), row["_row_id"]);
    }
    return ids;
  };
  const auto ids_before = row_ids();
  const auto some = SomeIds(rows, 1);
  if (some.empty()) return;
  const auto change = UpdateRows(session, {.where = IdIn(some), .set = {{column->name, is_text ? "'new'" : "7"}}});
  ASSERT_TRUE(change) << change.error().ToString();
  uint64_t changed = 0;
  for (Json& row : rows) {
    if (!HasId(row, some)) continue;
    ++changed;
    row[column->name] = is_text ? Json("new") : Json(7);
  }
  EXPECT_EQ(change->rows_updated, changed);
  ASSERT_EQ(Sorted(table.Rows()), Sorted(rows));
  // A row without an id (its file is older than version 3) is given one.
  for (const auto& [id, row_id] : row_ids()) {
    const auto before = ids_before.find(id);
    ASSERT_NE(before, ids_before.end());
    if (ids_before.count(id) == 1 && !before->second.is_null()) {
      EXPECT_EQ(before->second, row_id) << "id " << id;
    }
  }
  const auto sequence = table.Metadata().last_sequence_number;
  for (const Json& row : table.Rows({.select = {"id", "_last_updated_sequence_number"}, .select_all = false})) {
    if (HasId(row, some)) {
      EXPECT_EQ(row["_last_updated_sequence_number"], sequence);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ChangeFixture, ::testing::ValuesIn(ChangeableTables()),
                         [](const auto& param) { return param.param; });

TEST(DeleteRows, NothingThatMatchesMakesNoSnapshot) {
  TableCopy table("mor_dv");
  auto session = table.Session();
  const auto files = table.Files();
  const auto change = DeleteRows(session, {.where = "id = -1"});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_FALSE(change->snapshot_id);
  EXPECT_EQ(change->rows_deleted, 0U);
  EXPECT_EQ(table.Files(), files);
}

TEST(DeleteRows, ADryRunChangesNothing) {
  TableCopy table("mor_dv");
  auto session = table.Session();
  const auto files = table.Files();
  const auto change = DeleteRows(session, {.where = "id < 10", .dry_run = true});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_TRUE(change->is_dry_run);
  EXPECT_GT(change->rows_deleted, 0U);
  EXPECT_EQ(table.Files(), files);
}

// An UPDATE of a branch leaves main alone.
TEST(DeleteRows, BranchesAreChangedOnTheirOwn) {
  TableCopy table("branches_tags");
  auto session = table.Session();
  const auto main = table.Rows();
  const auto audit = table.Rows({.snapshot = {.ref = "audit"}});
  const auto change = DeleteRows(session, {.where = "id = 5", .branch = "audit"});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->rows_deleted, 1U);
  EXPECT_EQ(table.Rows(), main);
  EXPECT_EQ(table.Rows({.snapshot = {.ref = "audit"}}).size(), audit.size() - 1);
  EXPECT_EQ(DeleteRows(session, {.where = "id = 5", .branch = "nowhere"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(DeleteRows(session, {.where = "id = 5", .branch = "v1"}));  // a tag
}

TEST(DeleteRows, TablesOfVersion2AreRefused) {
  TableCopy table("mor_pos_v2_file");
  auto session = table.Session();
  const auto refused = DeleteRows(session, {.where = "id = 5"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  const auto update = UpdateRows(session, {.where = "id = 5", .set = {{"id", "6"}}});
  ASSERT_FALSE(update);
  EXPECT_EQ(update.error().kind(), ErrorKind::kNotSupported);
}

TEST(UpdateRows, AllValuesAreThoseOfTheOldRow) {
  TableCopy table("mor_dv_partitioned");
  auto session = table.Session();
  const auto change = UpdateRows(session, {.where = "id = 3", .set = {{"s", "region || '-' || s"}, {"region", "s"}}});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->rows_updated, 1U);
  EXPECT_EQ(table.ById("s").at(3), "eu-db3");
  EXPECT_EQ(table.ById("region").at(3), "db3");
}

TEST(UpdateRows, WhatDoesNotFitChangesNothing) {
  TableCopy table("mor_dv_partitioned");
  auto session = table.Session();
  const auto files = table.Files();
  const std::vector<std::vector<std::pair<std::string, std::string>>> sets = {
      {}, {{"nothing", "1"}}, {{"v", "'x'"}}, {{"v", "1"}, {"v", "2"}}, {{"v", "v +"}}};
  for (const auto& set : sets) {
    EXPECT_FALSE(UpdateRows(session, {.where = "id < 50", .set = set}));
    EXPECT_EQ(table.Files(), files);
  }
}

TEST(AppendRows, RowsOfAllFilesComeInOneSnapshot) {
  TableCopy table("mor_dv_partitioned");
  auto session = table.Session();
  auto rows = ReadJsonLines("mor_dv_partitioned", "current.jsonl");
  const auto snapshots = table.Metadata().snapshots.size();
  const auto change = AppendRows(
      session, *io::MakeLocalFileIO(),
      {.files = {
           table.Put("a.csv", "id,region,s,ts\n9001,eu,x,2024-02-29T12:00:00Z\n9002,,,2024-02-29T12:00:00Z\n"),
           table.Put("b.jsonl", R"({"id": 9003, "region": "us", "ts": "1969-12-31T23:59:59.999999Z", "v": 2.5})")}});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->rows_added, 3U);
  EXPECT_EQ(table.Metadata().snapshots.size(), snapshots + 1);
  EXPECT_EQ(table.Summary("added-records"), "3");
  for (const char* line : {
           R"({"id": 9001, "region": "eu", "ts": "2024-02-29T12:00:00.000000Z", "s": "x", "v": null})",
           R"({"id": 9002, "region": null, "ts": "2024-02-29T12:00:00.000000Z", "s": null, "v": null})",
           R"({"id": 9003, "region": "us", "ts": "1969-12-31T23:59:59.999999Z", "s": null, "v": 2.5})",
       })
    rows.push_back(Json::parse(line));
  EXPECT_EQ(Sorted(table.Rows()), Sorted(rows));
  // Three rows that nobody had before, with ids that no other row has.
  std::set<int64_t> row_ids;
  for (const auto& [id, row_id] : table.ById("_row_id")) EXPECT_TRUE(row_ids.insert(row_id.get<int64_t>()).second);
}

TEST(AppendRows, RowsThatDoNotFitLeaveNothingBehind) {
  TableCopy table("mor_dv_partitioned");
  auto session = table.Session();
  const auto files = table.Files();
  const auto good = table.Put("good.csv", "id\n9001\n");
  struct Wrong {
    const char* name;
    const char* text;
    const char* error;
  };
  for (const Wrong& wrong : {Wrong{"unknown.csv", "id,colour\n1,red\n", "colour"}, Wrong{"text.csv", "id\nx\n", "x"},
                             Wrong{"range.jsonl", "{\"id\": 1e40}\n", "id"}, Wrong{"bytes.bin", "", "format"}}) {
    const auto change =
        AppendRows(session, *io::MakeLocalFileIO(), {.files = {good, table.Put(wrong.name, wrong.text)}});
    ASSERT_FALSE(change) << wrong.name;
    EXPECT_EQ(change.error().kind(), ErrorKind::kInvalidArgument) << change.error().ToString();
    EXPECT_THAT(change.error().ToString(), HasSubstr(wrong.error));
    EXPECT_THAT(change.error().ToString(), HasSubstr(wrong.name));
    EXPECT_EQ(table.Files(), files);
  }
}

TEST(AppendRows, TablesOfVersion2TakeThem) {
  TableCopy table("mor_pos_v2_file");
  auto session = table.Session();
  const auto rows = table.Rows().size();
  const auto change = AppendRows(session, *io::MakeLocalFileIO(), {.files = {table.Put("a.csv", "id\n9001\n")}});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(table.Rows().size(), rows + 1);
}

// Every I/O operation of an update fails in turn: afterwards the rows are the old ones or the new ones, never a
// mixture, and the old ones if the update says that it failed.
TEST(UpdateRows, AnyFailureLeavesTheOldOrTheNewRows) {
  TableCopy table("cl_basic");
  const auto column = ColumnToSet(table.Metadata().CurrentSchema());
  ASSERT_TRUE(column);
  Executor executor(1);
  const auto ids = SomeIds(table.Rows(), 0);
  int64_t value = 1000;
  for (uint64_t at = 0;; ++at) {
    const auto before = Sorted(table.Rows());
    const std::string set =
        column->type.kind() == TypeKind::kString ? "'" + std::to_string(++value) + "'" : std::to_string(++value);
    const auto faulty = std::make_shared<io::FaultingFileIO>(table.io());
    faulty->Add({.effect = io::FailWith{}, .operation = std::nullopt, .path_contains = "", .skip = at, .times = 1});
    const auto change = [&]() -> Result<RowChange> {
      auto session = DELENDA_TRY(table.TrySession(faulty, executor));
      return UpdateRows(session, {.where = IdIn(ids), .set = {{column->name, set}}});
    }();
    const bool is_over = faulty->operations() <= at;
    size_t updated = 0;
    for (const Json& row : table.Rows()) {
      if (HasId(row, ids) && (row[column->name] == Json(std::to_string(value)) || row[column->name] == Json(value)))
        ++updated;
    }
    EXPECT_TRUE(updated == 0 || updated == ids.size()) << "operation " << at;
    if (change) {
      EXPECT_EQ(updated, ids.size()) << "operation " << at;
    }
    if (!change && change.error().kind() != ErrorKind::kCommitStateUnknown) {
      EXPECT_EQ(Sorted(table.Rows()), before) << "operation " << at << ": " << change.error().ToString();
    }
    if (is_over) break;
    ASSERT_LT(at, 2000U);
  }
}

// Writers that change other rows of the same files at the same time: each change is there, once.
TEST(UpdateRows, RacingWritersLoseNothing) {
  TableCopy table("mor_dv");
  auto rows = ReadJsonLines("mor_dv", "current.jsonl");
  std::vector<int64_t> ids;
  for (const Json& row : rows) ids.push_back(row["id"].get<int64_t>());
  constexpr size_t kWriters = 4, kChanges = 6;
  std::vector<std::thread> threads;
  std::atomic<uint64_t> deleted = 0, updated = 0;
  for (size_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      Executor executor(1);
      auto session = table.Session(table.io(), executor);
      for (size_t i = 0; i < kChanges; ++i) {
        const std::string where = "id = " + std::to_string(ids[i * kWriters + writer]);
        const auto change = writer % 2 == 0 ? DeleteRows(session, {.where = where})
                                            : UpdateRows(session, {.where = where, .set = {{"s", "'raced'"}}});
        ASSERT_TRUE(change) << change.error().ToString();
        deleted += change->rows_deleted;
        updated += change->rows_updated;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<Json> expected;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_changed = i < kWriters * kChanges;
    if (is_changed && i % 2 == 0) continue;
    if (is_changed) rows[i]["s"] = "raced";
    expected.push_back(rows[i]);
  }
  EXPECT_EQ(Sorted(table.Rows()), Sorted(expected));
  EXPECT_EQ(deleted, kWriters * kChanges / 2);
  EXPECT_EQ(updated, kWriters * kChanges / 2);
}

}  // namespace
}  // namespace delenda::ops
