// Deletes, upserts and merges by key on tables that Spark wrote, in random sequences, against a list of rows. The seed
// is printed; DELENDA_SEED repeats one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "delenda/io/faulting_file_io.h"
#include "delenda/ops/delete_keys.h"
#include "delenda/ops/merge_rows.h"
#include "delenda/ops/upsert_rows.h"
#include "unit/ops/random_table.h"
#include "unit/ops/table_copy.h"

namespace delenda::ops {
namespace {

using delenda::testing::ReadJsonLines;
using delenda::testing::Sorted;
using testing::ChangeableTables;
using testing::ColumnToSet;
using ::testing::ElementsAre;
using testing::Json;
using testing::RandomTable;
using testing::TableCopy;

// What happens to rows that lie in a list.
class RowModel {
 public:
  RowModel(std::vector<Json> rows, std::vector<std::string> key, std::string column)
      : rows_(std::move(rows)), key_(std::move(key)), column_(std::move(column)) {}

  const std::vector<Json>& rows() const { return rows_; }
  std::vector<std::string>& key() { return key_; }
  Json KeyOf(const Json& row) const {
    Json key = Json::array();
    for (const auto& name : key_) key.push_back(row[name]);
    return key;
  }

  RowChange Delete(const std::vector<Json>& keys) {
    RowChange change;
    for (const Json& key : keys) change.rows_deleted += Erase(KeyOf(key));
    return change;
  }
  // Rows with member "op": "d" only delete.
  RowChange Upsert(const std::vector<Json>& brought) {
    std::map<std::string, Json> last;
    for (const Json& row : brought) last[KeyOf(row).dump()] = row;
    RowChange change;
    for (const auto& [text, row] : last) {
      const size_t gone = Erase(KeyOf(row));
      if (row["op"] == "d") {
        change.rows_deleted += gone;
        continue;
      }
      (gone > 0 ? change.rows_updated : change.rows_added) += 1;
      change.rows_deleted += gone > 0 ? gone - 1 : 0;
      rows_.push_back(WithoutOp(row));
    }
    return change;
  }
  // op d: matched delete; op u: matched update of one column or all; op i: not matched insert.
  RowChange Merge(const std::vector<Json>& brought, bool updates, bool all_columns) {
    RowChange change;
    for (const Json& row : brought) {
      const Json key = KeyOf(row);
      size_t matched = 0;
      for (Json& live : rows_) {
        if (KeyOf(live) != key) continue;
        ++matched;
        if (row["op"] != "u" || !updates) continue;
        if (all_columns) {
          live = WithoutOp(row);
        } else {
          live[column_] = row[column_];
        }
        ++change.rows_updated;
      }
      if (row["op"] == "d") change.rows_deleted += Erase(key);
      if (matched == 0 && row["op"] == "i") {
        ++change.rows_added;
        rows_.push_back(WithoutOp(row));
      }
    }
    return change;
  }

 private:
  size_t Erase(const Json& key) {
    return std::erase_if(rows_, [&](const Json& row) { return KeyOf(row) == key; });
  }
  static Json WithoutOp(Json row) {
    row.erase("op");
    return row;
  }

  std::vector<Json> rows_;
  std::vector<std::string> key_;
  std::string column_;
};

class KeyedFixture : public ::testing::TestWithParam<std::string> {};

TEST_P(KeyedFixture, ChangesByKeyAreThoseOfAListOfRows) {
  RandomTable start(GetParam());
  auto& [seed, random, table, session, column, first_rows] = start;
  if (!column) return;
  const auto below = [&](size_t count) { return start.Below(count); };
  RowModel model(first_rows, {"id"}, column->name);
  const auto files = io::MakeLocalFileIO();

  const auto brought_row = [&](const std::vector<std::string>& ops) {
    Json row = first_rows[below(first_rows.size())];
    const auto& live = model.rows();
    if (!live.empty() && below(2) == 0) {
      row["id"] = live[below(live.size())]["id"];
      row[column->name] = live[below(live.size())][column->name];
    } else {
      row["id"] = start.NewId(60);
      row[column->name] = start.NewValue();
    }
    row["op"] = ops[below(ops.size())];
    return row;
  };
  for (int step = 0; step < 6; ++step) {
    SCOPED_TRACE(fmt::format("DELENDA_SEED={} step {}", seed, step));
    model.key() = {"id"};
    if (below(3) == 0) model.key().push_back(column->name);
    // A few rows, or so many that they do not fit into the memory that is allowed.
    const bool spills = below(3) == 0;
    const size_t count = spills ? 700 : 1 + below(30);
    const size_t operation = below(3);
    std::vector<Json> brought;
    std::set<std::string> known;
    for (size_t i = 0; i < count; ++i) {
      Json row = brought_row(operation == 2 ? std::vector<std::string>{"d", "u", "i", "i", "-"}
                                            : std::vector<std::string>{"d", "u", "u"});
      if (operation == 2 && !known.insert(model.KeyOf(row).dump()).second) continue;
      brought.push_back(std::move(row));
    }
    std::string lines;
    for (const Json& row : brought) lines += row.dump() + "\n";
    const KeyedFiles keyed{.files = {table.Put("rows.jsonl", lines)},
                           .key = model.key(),
                           .memory_budget = spills ? 1 : uint64_t{256} << 20};
    const auto before = table.Rows({.select = {"id", "_row_id"}, .select_all = false});
    // A key column can't be set.
    const bool updates = model.key().size() == 1;
    const bool all_columns = updates && below(2) == 0;
    std::vector<std::pair<std::string, std::string>> set;
    if (updates && !all_columns) set.emplace_back(column->name, "source.\"" + column->name + "\"");
    const auto change_table = [&](bool dry_run) {
      switch (operation) {
        case 0: return DeleteKeys(session, *files, {.rows = keyed, .dry_run = dry_run});
        case 1: return UpsertRows(session, *files, {.rows = keyed, .delete_when = "op = 'd'", .dry_run = dry_run});
        default:
          return MergeRows(session, *files,
                           {.rows = keyed,
                            .matched_delete = "source.op = 'd'",
                            .matched_update = set,
                            .matched_update_all = all_columns,
                            .matched_update_when = updates ? "source.op = 'u'" : "",
                            .not_matched_insert = "source.op = 'i'",
                            .dry_run = dry_run});
      }
    };
    const auto planned = change_table(true);
    ASSERT_TRUE(planned) << planned.error().ToString();
    const auto change = change_table(false);
    ASSERT_TRUE(change) << change.error().ToString();
    const auto expected = operation == 0   ? model.Delete(brought)
                          : operation == 1 ? model.Upsert(brought)
                                           : model.Merge(brought, updates, all_columns);
    for (const auto& report : {*planned, *change}) {
      EXPECT_EQ(report.rows_deleted, expected.rows_deleted) << operation;
      EXPECT_EQ(report.rows_updated, expected.rows_updated) << operation;
      EXPECT_EQ(report.rows_added, expected.rows_added) << operation;
    }
    EXPECT_EQ(planned->files_changed, change->files_changed);
    EXPECT_EQ(planned->files_dropped, change->files_dropped);
    ASSERT_EQ(Sorted(table.Rows()), Sorted(model.rows())) << operation;

    // Row ids: those that were there stay with their keys; new ones are new.
    std::map<std::string, std::multiset<int64_t>> ids_before, ids_after;
    std::set<int64_t> all_before, all_after;
    bool all_known = true;
    for (const Json& row : before) {
      all_known = all_known && !row["_row_id"].is_null();
      if (row["_row_id"].is_null()) continue;
      ids_before[row["id"].dump()].insert(row["_row_id"].get<int64_t>());
      all_before.insert(row["_row_id"].get<int64_t>());
    }
    for (const Json& row : table.Rows({.select = {"id", "_row_id"}, .select_all = false})) {
      ASSERT_FALSE(row["_row_id"].is_null());
      ids_after[row["id"].dump()].insert(row["_row_id"].get<int64_t>());
      EXPECT_TRUE(all_after.insert(row["_row_id"].get<int64_t>()).second) << "two rows of one id";
    }
    if (!all_known || model.key().size() > 1) continue;
    for (const auto& [id, ids] : ids_after) {
      const auto had = ids_before.find(id);
      if (had == ids_before.end()) {
        for (const int64_t row_id : ids) EXPECT_FALSE(all_before.contains(row_id)) << id;
      } else if (had->second.size() == ids.size()) {
        EXPECT_EQ(ids, had->second) << id;
      } else {
        EXPECT_THAT(ids, ElementsAre(*had->second.begin())) << id;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, KeyedFixture, ::testing::ValuesIn(ChangeableTables()),
                         [](const auto& param) { return param.param; });

// Every I/O operation of an upsert fails in turn: afterwards the rows are the old ones or the new ones, never a
// mixture, and the old ones if the upsert says that it failed.
TEST(UpsertRows, AnyFailureLeavesTheOldOrTheNewRows) {
  Executor executor(1);
  for (uint64_t at = 0;; ++at) {
    TableCopy table("cl_basic");
    const auto column = ColumnToSet(table.Metadata().CurrentSchema());
    ASSERT_TRUE(column && column->type.kind() == TypeKind::kString);
    const auto before = table.Rows();
    // Two rows that are there, and one that is not.
    std::string lines;
    for (size_t i = 0; i < 3; ++i) {
      Json row = before[i];
      row[column->name] = "upserted";
      if (i == 2) row["id"] = 5000;
      lines += row.dump() + "\n";
    }
    const auto path = table.Put("fault.jsonl", lines);
    const auto faulty = std::make_shared<io::FaultingFileIO>(table.io());
    faulty->Add({.effect = io::FailWith{}, .operation = std::nullopt, .path_contains = "", .skip = at, .times = 1});
    const auto change = [&]() -> Result<RowChange> {
      auto session = DELENDA_TRY(table.TrySession(faulty, executor));
      return UpsertRows(session, *io::MakeLocalFileIO(), {.rows = {.files = {path}, .key = {"id"}}});
    }();
    const auto after = table.Rows();
    const auto changed = std::ranges::count_if(after, [&](const Json& row) { return row[column->name] == "upserted"; });
    EXPECT_TRUE(changed == 0 || changed == 3) << "operation " << at << ": " << changed;
    EXPECT_EQ(after.size(), before.size() + (changed == 0 ? 0 : 1)) << "operation " << at;
    if (change) {
      EXPECT_EQ(changed, 3) << "operation " << at;
    }
    if (!change && change.error().kind() != ErrorKind::kCommitStateUnknown) {
      EXPECT_EQ(Sorted(after), Sorted(before)) << "operation " << at << ": " << change.error().ToString();
    }
    if (faulty->operations() <= at) break;
    ASSERT_LT(at, 2000U);
  }
}

}  // namespace
}  // namespace delenda::ops
