// Random operations on a table, beside a map of rows: undisturbed, killed at a random step, with a step that fails, or
// with another writer in between. DELENDA_SEED repeats a run; DELENDA_MODEL_SECONDS lengthens it (for each kind of
// table, else 3).
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <random>

#include "delenda/commit/upgrade.h"
#include "delenda/ops/append_rows.h"
#include "delenda/ops/delete_keys.h"
#include "delenda/ops/delete_rows.h"
#include "delenda/ops/merge_rows.h"
#include "delenda/ops/update_rows.h"
#include "delenda/ops/upsert_rows.h"
#include "model/changed_table.h"

namespace delenda::testing {
namespace {

uint64_t NumberOf(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// An operation of the engine, and the same on the map.
struct Operation {
  std::string text;  // for messages
  std::function<Result<ops::RowChange>(commit::TableSession&)> run;
  std::function<void(ModelRows&)> apply;
  bool brings_keys = false;  // may insert a key that another writer has deleted: then with another _row_id
};

using RowList = std::vector<std::pair<int64_t, ModelRow>>;

struct Filter {
  std::string text;
  std::function<bool(int64_t, const ModelRow&)> matches;
};

// What the disturbances came to: a run that never hit a commit has proved nothing.
struct Tally {
  uint64_t sequences = 0, operations = 0;
  uint64_t failed = 0, unknown = 0, survived = 0;  // operations with a fault
  uint64_t raced = 0;                              // operations that had another writer in between

  std::string Text() const {
    return fmt::format("{} sequences, {} operations; with a fault: {} failed, {} unknown, {} done; {} raced", sequences,
                       operations, failed, unknown, survived, raced);
  }
};

class Sequence {
 public:
  Sequence(TableKind kind, uint64_t seed, Tally& tally)
      : kind_(kind), random_(seed), table_(kind, Properties()), tally_(tally) {}

  void RunAll(int operations) {
    ++tally_.sequences;
    if (kind_.born_as_2) {
      for (int i = 0; i < 4 && !::testing::Test::HasFailure(); ++i) Step(Append());
      Step(Upgrade());
    }
    for (int i = 0; i < operations && !::testing::Test::HasFailure(); ++i) Step(Any());
    if (!::testing::Test::HasFailure()) table_.Verify();
  }

 private:
  uint64_t Pick(uint64_t count) { return random_() % count; }
  int64_t PickFrom(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Pick(static_cast<uint64_t>(high - low + 1)));
  }

  std::map<std::string, std::string> Properties() {
    std::map<std::string, std::string> properties = {{"commit.retry.min-wait-ms", "1"}};
    if (Pick(2) == 0) properties["commit.manifest.min-count-to-merge"] = std::to_string(2 + Pick(4));
    if (Pick(3) == 0) properties["write.metadata.compression-codec"] = "gzip";
    if (Pick(2) == 0) properties["write.parquet.row-group-limit"] = "7";
    if (Pick(3) == 0) {
      properties["write.metadata.delete-after-commit.enabled"] = "true";
      properties["write.metadata.previous-versions-max"] = "2";
    }
    return properties;
  }

  std::optional<std::string> AnyRegion() {
    static constexpr const char* kRegions[] = {"eu", "us", "asia"};
    const uint64_t region = Pick(4);
    return region == 3 ? std::nullopt : std::optional<std::string>(kRegions[region]);
  }

  Filter AnyFilter() {
    switch (Pick(6)) {
      case 0: {
        const auto region = AnyRegion();
        return {region ? fmt::format("region = '{}'", *region) : "region IS NULL",
                [region](int64_t, const ModelRow& row) { return row.region == region; }};
      }
      case 1: {
        const int64_t v = PickFrom(0, 20);
        return {fmt::format("v = {}", v), [v](int64_t, const ModelRow& row) { return row.v == v; }};
      }
      case 2:
        if (Pick(6) == 0) return {"TRUE", [](int64_t, const ModelRow&) { return true; }};
        [[fallthrough]];
      case 3: {
        const int64_t id = PickFrom(0, next_id_);
        return {fmt::format("id = {}", id), [id](int64_t other, const ModelRow&) { return other == id; }};
      }
      default: {
        const int64_t low = PickFrom(0, next_id_);
        const int64_t high = low + PickFrom(0, 12);
        return {fmt::format("id BETWEEN {} AND {}", low, high),
                [low, high](int64_t id, const ModelRow&) { return low <= id && id <= high; }};
      }
    }
  }

  Operation Any() {
    switch (Pick(10)) {
      case 0:
      case 1: return Append();
      case 2:
      case 3: return Update();
      case 4: return DeleteKeys();
      case 5:
      case 6: return Upsert();
      case 7: return Merge();
      default: return Delete();
    }
  }

  // Keys that the table has or had, mostly, and new ones; some come twice. None that is being appended just now: an
  // append looks at no keys, so that there would be two rows.
  RowList SomeRows() {
    RowList rows;
    for (uint64_t count = 1 + Pick(8); count > 0; --count) {
      const int64_t id = settled_ids_ == 0 || Pick(3) == 0 ? next_id_++ : PickFrom(0, settled_ids_ - 1);
      rows.emplace_back(id, ModelRow{AnyRegion(), PickFrom(0, 20)});
    }
    return rows;
  }

  Operation Append() {
    RowList rows;
    for (int64_t count = PickFrom(1, 30); count > 0; --count)
      rows.emplace_back(next_id_++, ModelRow{AnyRegion(), PickFrom(0, 20)});
    const std::string file = table_.Put(rows);
    return {fmt::format("append {} rows", rows.size()),
            [this, file](commit::TableSession& session) {
              return ops::AppendRows(session, *table_.io(), {.files = {file}});
            },
            [rows](ModelRows& model) { model.insert(rows.begin(), rows.end()); }};
  }

  Operation Delete() {
    const Filter filter = AnyFilter();
    return {"delete where " + filter.text,
            [filter](commit::TableSession& session) { return ops::DeleteRows(session, {.where = filter.text}); },
            [filter](ModelRows& model) {
              std::erase_if(model, [&](const auto& entry) { return filter.matches(entry.first, entry.second); });
            }};
  }

  Operation Update() {
    const Filter filter = AnyFilter();
    const bool sets_region = Pick(2) == 0;
    const auto region = AnyRegion();
    const int64_t more = PickFrom(0, 3);
    const std::string value = region ? fmt::format("'{}'", *region) : "NULL";
    const auto set = sets_region ? std::pair<std::string, std::string>("region", value)
                                 : std::pair<std::string, std::string>("v", fmt::format("v + {}", more));
    return {fmt::format("update set {} = {} where {}", set.first, set.second, filter.text),
            [filter, set](commit::TableSession& session) {
              return ops::UpdateRows(session, {.where = filter.text, .set = {set}});
            },
            [filter, sets_region, region, more](ModelRows& model) {
              for (auto& [id, row] : model) {
                if (!filter.matches(id, row)) continue;
                if (sets_region) row.region = region;
                if (!sets_region) row.v += more;
              }
            }};
  }

  Operation DeleteKeys() {
    const RowList rows = SomeRows();
    const std::string file = table_.Put(rows);
    const bool by_region = Pick(4) == 0;
    return {fmt::format("delete {} keys by {}", rows.size(), by_region ? "region" : "id"),
            [this, file, by_region](commit::TableSession& session) {
              return ops::DeleteKeys(session, *table_.io(),
                                     {.rows = {.files = {file}, .key = {by_region ? "region" : "id"}}});
            },
            [rows, by_region](ModelRows& model) {
              std::erase_if(model, [&](const auto& entry) {
                return std::ranges::any_of(rows, [&](const auto& key) {
                  return by_region ? key.second.region == entry.second.region : key.first == entry.first;
                });
              });
            }};
  }

  Operation Upsert() {
    const RowList rows = SomeRows();
    const std::string file = table_.Put(rows);
    const bool deletes = Pick(2) == 0;
    const auto run = [this, file, deletes](commit::TableSession& session) {
      return ops::UpsertRows(session, *table_.io(),
                             {.rows = {.files = {file}, .key = {"id"}}, .delete_when = deletes ? "v < 7" : ""});
    };
    const auto apply = [rows, deletes](ModelRows& model) {
      for (const auto& [id, row] : rows) {
        if (deletes && row.v < 7) {
          model.erase(id);
        } else {
          model[id] = row;
        }
      }
    };
    return {fmt::format("upsert {} rows{}", rows.size(), deletes ? ", some of which delete" : ""), run, apply, true};
  }

  Operation Merge() {
    // A key in two rows is an error of merges.
    const RowList some = SomeRows();
    const ModelRows rows(some.begin(), some.end());
    const std::string file = table_.Put({rows.begin(), rows.end()});
    const bool deletes = Pick(2) == 0, inserts = Pick(2) == 0, updates = Pick(2) == 0 || !(deletes || inserts);
    const auto run = [this, file, deletes, inserts, updates](commit::TableSession& session) {
      ops::MergeOptions options{.rows = {.files = {file}, .key = {"id"}}};
      if (deletes) options.matched_delete = "source.v < 7 AND v > 3";
      if (updates) options.matched_update = {{"v", "v + source.v"}, {"region", "source.region"}};
      if (updates) options.matched_update_when = "source.v <> 9";
      if (inserts) options.not_matched_insert = "source.v >= 5";
      return ops::MergeRows(session, *table_.io(), options);
    };
    const auto apply = [rows, deletes, inserts, updates](ModelRows& model) {
      for (const auto& [id, row] : rows) {
        const auto found = model.find(id);
        if (found == model.end()) {
          if (inserts && row.v >= 5) model[id] = row;
        } else if (deletes && row.v < 7 && found->second.v > 3) {
          model.erase(found);
        } else if (updates && row.v != 9) {
          found->second = {row.region, found->second.v + row.v};
        }
      }
    };
    return {fmt::format("merge {} rows:{}{}{}", rows.size(), deletes ? " delete" : "", updates ? " update" : "",
                        inserts ? " insert" : ""),
            run, apply, true};
  }

  static Operation Upgrade() {
    return {"upgrade",
            [](commit::TableSession& session) -> Result<ops::RowChange> {
              DELENDA_TRY(session.Upgrade(3, false));
              return ops::RowChange();
            },
            [](ModelRows&) {}};
  }

  Result<ops::RowChange> RunOn(const Operation& operation, std::shared_ptr<io::FileIO> io) const {
    auto point = DELENDA_TRY(table_.Point(io));
    return RunOn(operation, std::move(io), std::move(point));
  }
  static Result<ops::RowChange> RunOn(const Operation& operation, std::shared_ptr<io::FileIO> io,
                                      std::shared_ptr<catalog::CommitPoint> point) {
    Executor executor(1);
    auto session = DELENDA_TRY(commit::TableSession::Open(std::move(io), std::move(point), executor, {}));
    return operation.run(session);
  }

  ModelRows After(const Operation& operation, ModelRows rows) const {
    operation.apply(rows);
    return rows;
  }

  // The table must have one of these states; the model takes it.
  void Expect(const std::vector<ModelRows>& allowed, const std::string& what, bool keeps_row_ids = true) {
    const auto read = table_.Rows();
    const auto found = std::ranges::find(allowed, read.rows);
    ASSERT_TRUE(found != allowed.end()) << what << ": the table has " << read.rows.size() << " rows, the model "
                                        << allowed.front().size() << Difference(read.rows, allowed.front());
    // Rows keep their ids as long as they live, and no two have one.
    std::map<int64_t, int64_t> owners;
    for (const auto& [id, row_id] : read.row_ids) {
      if (!row_id) continue;
      const auto [owner, is_new] = owners.emplace(*row_id, id);
      ASSERT_TRUE(is_new) << what << ": rows " << id << " and " << owner->second << " have _row_id " << *row_id;
      const auto before = row_ids_.find(id);
      if (keeps_row_ids && before != row_ids_.end() && before->second) {
        ASSERT_EQ(before->second, row_id) << what << ": row " << id;
      }
    }
    if (has_row_ids_) {
      ASSERT_EQ(owners.size(), read.rows.size()) << what << ": rows without _row_id";
    }
    row_ids_ = read.row_ids;
    model_ = read.rows;
  }

  static std::string Difference(const ModelRows& found, const ModelRows& wanted) {
    std::string text;
    const auto show = [&](const char* what, const ModelRows& one, const ModelRows& other) {
      for (const auto& [id, row] : one) {
        const auto same = other.find(id);
        if ((same == other.end() || !(same->second == row)) && text.size() < 500)
          text += fmt::format("\n  {} id {} region {} v {}", what, id, row.region.value_or("NULL"), row.v);
      }
    };
    show("found", found, wanted);
    show("wanted", wanted, found);
    return text;
  }

  void Step(const Operation& operation) {
    Run(operation);
    settled_ids_ = next_id_;
  }

  void Run(const Operation& operation) {
    const bool is_upgrade = operation.text == "upgrade";
    const uint64_t disturbance = Pick(10);
    const uint64_t at = Pick(70);
    ++tally_.operations;
    if (disturbance < 3) {
      WithFault(operation, {.at = at, .done = Pick(2) == 0, .forever = disturbance > 0});
    } else if (disturbance == 3) {
      WithFault(operation, {.at = Pick(6), .done = Pick(2) == 0, .path = ".metadata.json"});
    } else if (disturbance == 4) {
      WithoutAnswer(operation, Pick(2) == 0, Pick(2) == 0);
    } else if (disturbance < 8) {
      WithAnother(operation, at);
    } else {
      Undisturbed(operation);
    }
    if (!is_upgrade || ::testing::Test::HasFailure()) {
      // The first snapshot of version 3 gives ids to all rows, unless the table has none yet.
      const auto metadata = table_.Metadata();
      has_row_ids_ = metadata.format_version >= 3 && metadata.current_snapshot_id &&
                     metadata.FindSnapshot(*metadata.current_snapshot_id)->first_row_id.has_value();
      return;
    }
    if (table_.Metadata().format_version == 2) Undisturbed(operation);
    has_upgraded_ = true;
  }

  void Undisturbed(const Operation& operation) {
    const ModelRows after = After(operation, model_);
    const auto change = RunOn(operation, table_.io());
    ASSERT_TRUE(change) << operation.text << ": " << change.error().ToString();
    ASSERT_EQ(model_.size() + change->rows_added - change->rows_deleted, after.size()) << operation.text;
    Expect({after}, operation.text);
  }

  struct Fault {
    uint64_t at = 0;        // the step of storage that fails
    bool done = false;      // in truth it was done
    bool forever = false;   // nothing works any more afterwards, as for a process that was killed
    std::string path = {};  // steps on such files only
  };

  void WithFault(const Operation& operation, const Fault& fault) {
    const ModelRows before = model_;
    const ModelRows after = After(operation, model_);
    const auto io = std::make_shared<io::FaultingFileIO>(table_.io());
    const auto fail = [&](bool after_the_fact, uint64_t skip, uint64_t times) {
      io->Add({.effect = io::FailWith{.after_the_fact = after_the_fact},
               .operation = std::nullopt,
               .path_contains = fault.path,
               .skip = skip,
               .times = times});
    };
    fail(fault.done, fault.at, 1);
    if (fault.forever) fail(false, fault.at + 1, std::numeric_limits<uint64_t>::max());
    const auto change = RunOn(operation, io);
    const std::string what =
        fmt::format("{}, step {} {}{}: {}", operation.text, fault.at, fault.done ? "done, but failed" : "failed",
                    fault.forever ? " and killed" : "", change ? "done" : change.error().ToString());
    Settle(change, before, after, what);
  }

  // The answer to the publication is lost. `killed`: and nothing works any more.
  void WithoutAnswer(const Operation& operation, bool published, bool killed) {
    const ModelRows before = model_;
    const ModelRows after = After(operation, model_);
    const auto io = std::make_shared<io::FaultingFileIO>(table_.io());
    auto point = table_.Point(io);
    ASSERT_TRUE(point) << point.error().ToString();
    const auto losing = std::make_shared<LosingCommitPoint>(*std::move(point), published, [io, killed] {
      if (killed) io->Add({.effect = io::FailWith{}, .operation = std::nullopt, .path_contains = ""});
    });
    const auto change = RunOn(operation, io, losing);
    Settle(change, before, after,
           fmt::format("{}, {} without an answer{}: {}", operation.text, published ? "published" : "not published",
                       killed ? " and killed" : "", change ? "done" : change.error().ToString()));
  }

  void Settle(const Result<ops::RowChange>& change, const ModelRows& before, const ModelRows& after,
              const std::string& what) {
    if (change) {
      ++tally_.survived;
      Expect({after}, what);
    } else if (change.error().kind() == ErrorKind::kCommitStateUnknown) {
      ++tally_.unknown;
      Expect({after, before}, what);
    } else {
      // What is said to have failed has not happened.
      ++tally_.failed;
      Expect({before}, what);
    }
  }

  // Another writer does something at the n-th step: as if one had come after the other.
  void WithAnother(const Operation& operation, uint64_t at) {
    const Operation other = kind_.born_as_2 && !has_upgraded_ ? Append() : Any();
    bool has_run = false;
    const auto io = std::make_shared<InterruptedFileIO>(table_.io(), at, [&] {
      has_run = true;
      const auto change = RunOn(other, table_.io());
      EXPECT_TRUE(change) << other.text << ": " << change.error().ToString();
    });
    const auto change = RunOn(operation, io);
    const std::string what = fmt::format("{}, at step {} {}", operation.text, at, has_run ? other.text : "nothing");
    ASSERT_TRUE(change) << what << ": " << change.error().ToString();
    tally_.raced += has_run ? 1 : 0;
    if (!has_run) return Expect({After(operation, model_)}, what);
    Expect({After(operation, After(other, model_)), After(other, After(operation, model_))}, what,
           !operation.brings_keys && !other.brings_keys);
  }

  TableKind kind_;
  std::mt19937_64 random_;
  ChangedTable table_;
  Tally& tally_;
  ModelRows model_;
  std::map<int64_t, std::optional<int64_t>> row_ids_;
  int64_t next_id_ = 0;
  int64_t settled_ids_ = 0;  // below: of earlier steps
  bool has_upgraded_ = false;
  bool has_row_ids_ = false;
};

class ChangesModel : public ::testing::TestWithParam<TableKind> {};

TEST_P(ChangesModel, ATableIsWhatAMapOfRowsWouldBe) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(NumberOf("DELENDA_MODEL_SECONDS", 3));
  const char* seed_text = std::getenv("DELENDA_SEED");
  Tally tally;
  do {
    const uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : std::random_device()();
    Sequence(GetParam(), seed, tally).RunAll(30);
    if (HasFailure()) {
      ADD_FAILURE() << "DELENDA_SEED=" << seed;
      return;
    }
  } while (seed_text == nullptr && std::chrono::steady_clock::now() < until);
  fmt::print("{}\n", tally.Text());
}

INSTANTIATE_TEST_SUITE_P(
    Tables, ChangesModel,
    ::testing::Values(TableKind{CatalogKind::kFolder, false, false}, TableKind{CatalogKind::kFolder, true, false},
                      TableKind{CatalogKind::kFolder, false, true}, TableKind{CatalogKind::kFolder, true, true},
                      TableKind{CatalogKind::kSql, false, false}, TableKind{CatalogKind::kSql, true, false},
                      TableKind{CatalogKind::kSql, false, true}, TableKind{CatalogKind::kSql, true, true}),
    [](const auto& one) {
      return fmt::format("{}{}{}", one.param.catalog == CatalogKind::kFolder ? "Folder" : "Sql",
                         one.param.is_partitioned ? "Partitioned" : "", one.param.born_as_2 ? "Upgraded" : "");
    });

}  // namespace
}  // namespace delenda::testing
