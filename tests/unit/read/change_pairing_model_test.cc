// Pairing of change rows on random histories, against naive models: every mode, budget and cut into batches. The seed
// is printed; DELENDA_SEED repeats a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "delenda/read/change_pairing.h"
#include "support/seed.h"
#include "unit/read/change_rows.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary

enum class Lineage { kNone, kAll, kUpgraded, kWeird };

struct HistoryKind {
  Lineage lineage = Lineage::kAll;
  bool unique_ids = true;
  size_t first_rows = 20;
  int snapshots = 6;
};

struct History {
  std::vector<std::string> before;  // contents of the table
  std::vector<std::string> after;
  std::vector<ChangeRow> changes;  // raw
};

class Histories {
 public:
  explicit Histories(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }

  TableRow RandomRow(bool unique_id) {
    TableRow row;
    if (unique_id)
      row.id = next_id_++;
    else if (Chance(90))
      row.id = static_cast<int64_t>(Below(12));
    const char* names[] = {"", "a", "b", "a longer name that is no small string"};
    if (Chance(80)) row.name = names[Below(4)];
    const double scores[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), 1.5};
    if (Chance(60)) row.score = scores[Below(4)];
    if (Chance(40)) {
      row.tags.emplace();
      for (uint64_t i = Below(3); i > 0; --i)
        row.tags->push_back(Chance(70) ? std::optional(static_cast<int32_t>(Below(2))) : std::nullopt);
    }
    if (Chance(30)) row.info = {Chance(80) ? std::optional(static_cast<int32_t>(Below(2))) : std::nullopt, "x"};
    return row;
  }

  History Make(const HistoryKind& kind) {
    History history;
    kind_ = kind;
    std::vector<Live> live;
    sequence_ = 1;
    for (size_t i = 0; i < kind.first_rows; ++i) live.push_back(New());
    if (kind.lineage == Lineage::kUpgraded) {
      for (Live& row : live) row.row_id = row.last_updated = std::nullopt;
    }
    for (const Live& row : live) history.before.push_back(TextOf(row.row));
    for (int32_t ordinal = 0; ordinal < kind.snapshots; ++ordinal) {
      ++sequence_;
      const uint64_t what = Below(5);  // 0: only deletes, 1: only inserts, else all
      std::vector<ChangeRow> deleted, inserted;
      std::vector<Live> next;
      const auto change = [&](const char* type, const Live& row) {
        return ChangeRow{
            .type = type, .ordinal = ordinal, .row = row.row, .row_id = row.row_id, .last_updated = row.last_updated};
      };
      for (Live& row : live) {
        const uint64_t fate = what == 1 ? 0 : what == 0 ? Below(2) : Below(6);
        if (fate == 0) {
          next.push_back(row);
          continue;
        }
        deleted.push_back(change("DELETE", row));
        if (fate == 1 && Chance(50)) continue;  // gone
        if (what == 0) continue;
        Live copy = row;
        if (fate == 2 || fate == 3) {  // updated, perhaps to what it was
          if (fate == 2) {
            copy.row = RandomRow(false);
            if (kind_.unique_ids) copy.row.id = row.row.id;
          }
          copy.last_updated = sequence_;
        }
        if (kind_.lineage == Lineage::kNone) copy.row_id = copy.last_updated = std::nullopt;
        if (kind_.lineage == Lineage::kUpgraded && !copy.row_id) {
          copy.row_id = next_row_id_++;
          copy.last_updated = sequence_;
        }
        inserted.push_back(change("INSERT", copy));
        next.push_back(copy);
      }
      for (uint64_t i = what == 0 ? 0 : Below(kind_.first_rows / 2 + 2); i > 0; --i) {
        next.push_back(New());
        inserted.push_back(change("INSERT", next.back()));
      }
      std::ranges::shuffle(deleted, random_);
      std::ranges::shuffle(inserted, random_);
      history.changes.insert(history.changes.end(), deleted.begin(), deleted.end());
      history.changes.insert(history.changes.end(), inserted.begin(), inserted.end());
      live = std::move(next);
    }
    history.changes = Numbered(std::move(history.changes));
    for (const Live& row : live) history.after.push_back(TextOf(row.row));
    return history;
  }

 private:
  struct Live {
    TableRow row;
    std::optional<int64_t> row_id = std::nullopt;
    std::optional<int64_t> last_updated = std::nullopt;
  };

  Live New() {
    Live live{.row = RandomRow(kind_.unique_ids)};
    if (kind_.lineage == Lineage::kNone) return live;
    live.row_id = next_row_id_++;
    live.last_updated = sequence_;
    if (kind_.lineage == Lineage::kWeird) {  // what no writer should do
      if (Chance(60)) live.row_id = static_cast<int64_t>(Below(10));
      if (Chance(20)) live.row_id = std::nullopt;
      if (Chance(20)) live.last_updated = std::nullopt;
    }
    return live;
  }

  std::mt19937_64 random_;
  HistoryKind kind_;
  int64_t next_id_ = 0;
  int64_t next_row_id_ = 0;
  int64_t sequence_ = 0;
};

// A row of the models; contents and keys as numbers, equal for equal ones.
struct ModelRow {
  const ChangeRow* change = nullptr;
  int content = 0;
  int key = 0;
  bool lineage() const { return change->row_id && change->last_updated; }
};

// Nothing: an error of this kind is due.
using ModelResult = std::pair<std::vector<ChangeRow>, std::optional<ErrorKind>>;

class Model {
 public:
  Model(const std::vector<ChangeRow>& changes, const PairingOptions& options) : options_(options) {
    std::map<std::string, int> numbers;
    const auto number = [&](const std::string& text) {
      return numbers.emplace(text, static_cast<int>(numbers.size())).first->second;
    };
    for (const ChangeRow& change : changes) {
      TableRow key;
      for (const std::string& column : options.key_columns) {
        if (column == "id") key.id = change.row.id;
        if (column == "score") key.score = change.row.score;
      }
      rows_.push_back({&change, number(TextOf(change.row)), number("key " + TextOf(key))});
    }
  }

  ModelResult Run() {
    if (options_.net) return Net();
    std::vector<ChangeRow> result;
    ForEachSnapshot([&](auto& deletes, auto& inserts) {
      std::vector<std::pair<ModelRow, ModelRow>> pairs;
      Pair(deletes, inserts, pairs);
      for (const ModelRow& row : deletes) result.push_back(*row.change);
      // By the place of the insert.
      std::ranges::sort(pairs, {}, [](const auto& pair) { return pair.second.change->pos; });
      for (const auto& [before, after] : pairs) AddPair(result, *before.change, *after.change);
      for (const ModelRow& row : inserts) result.push_back(*row.change);
    });
    return {result, error_};
  }

 private:
  using Rows = std::vector<ModelRow>;

  template <typename Visit>
  void ForEachSnapshot(Visit&& visit) {
    for (size_t begin = 0; begin < rows_.size() && !error_;) {
      Rows deletes, inserts;
      size_t end = begin;
      for (; end < rows_.size() && rows_[end].change->ordinal == rows_[begin].change->ordinal; ++end)
        (rows_[end].change->type == "DELETE" ? deletes : inserts).push_back(rows_[end]);
      visit(deletes, inserts);
      begin = end;
    }
  }

  // Each insert takes the first delete that matches.
  template <typename Matches, typename Found>
  static void Match(Rows& deletes, Rows& inserts, Matches&& matches, Found&& found) {
    Rows left;
    for (const ModelRow& insert : inserts) {
      const auto at = std::ranges::find_if(deletes, [&](const ModelRow& row) { return matches(row, insert); });
      if (at == deletes.end()) {
        left.push_back(insert);
        continue;
      }
      found(*at, insert);
      deletes.erase(at);
    }
    inserts = std::move(left);
  }

  // Rows of one `_row_id`. `lineage`: with a last-updated number.
  template <typename Found>
  static void MatchRowIds(Rows& deletes, Rows& inserts, bool lineage, Found&& found) {
    Match(
        deletes, inserts,
        [&](const ModelRow& a, const ModelRow& b) {
          return a.change->row_id && a.change->row_id == b.change->row_id && (!lineage || (a.lineage() && b.lineage()));
        },
        found);
  }

  // `by_lineage`: rows pair by lineage before any vanish by value.
  template <typename Found>
  void RemoveCarryOvers(Rows& deletes, Rows& inserts, bool by_lineage, Found&& paired) {
    const auto nothing = [](const ModelRow&, const ModelRow&) {};
    if (options_.carry_overs == CarryOvers::kRemove) {
      Match(
          deletes, inserts,
          [](const ModelRow& a, const ModelRow& b) {
            return a.lineage() && b.lineage() && a.change->row_id == b.change->row_id &&
                   a.change->last_updated == b.change->last_updated && a.content == b.content;
          },
          nothing);
      if (by_lineage) MatchRowIds(deletes, inserts, true, paired);
    }
    const bool equal = options_.carry_overs == CarryOvers::kRemoveEqual;
    if (equal || options_.carry_overs == CarryOvers::kRemove) {
      Match(
          deletes, inserts,
          [&](const ModelRow& a, const ModelRow& b) {
            return a.content == b.content && (equal || !(a.lineage() && b.lineage()));
          },
          nothing);
    }
  }

  void Pair(Rows& deletes, Rows& inserts, std::vector<std::pair<ModelRow, ModelRow>>& pairs) {
    const bool by_lineage = options_.updates == Updates::kLineage;
    const auto add = [&](const ModelRow& before, const ModelRow& after) { pairs.emplace_back(before, after); };
    RemoveCarryOvers(deletes, inserts, by_lineage, add);
    if (by_lineage) MatchRowIds(deletes, inserts, false, add);
    if (options_.updates == Updates::kKey) {
      std::map<int, std::pair<int, int>> counts;
      for (const ModelRow& row : deletes) ++counts[row.key].first;
      for (const ModelRow& row : inserts) ++counts[row.key].second;
      for (const auto& [key, count] : counts) {
        if (count.first > 0 && count.second > 0 && count.first + count.second > 2)
          error_ = ErrorKind::kValidationFailed;
      }
      Match(deletes, inserts, [](const ModelRow& a, const ModelRow& b) { return a.key == b.key; }, add);
    }
  }

  static void AddPair(std::vector<ChangeRow>& rows, ChangeRow before, ChangeRow after) {
    before.type = "UPDATE_BEFORE";
    after.type = "UPDATE_AFTER";
    rows.push_back(std::move(before));
    rows.push_back(std::move(after));
  }

  ModelResult Net() {
    const bool by_key = !options_.key_columns.empty();
    std::map<int64_t, Rows> chains;
    ForEachSnapshot([&](Rows& deletes, Rows& inserts) {
      RemoveCarryOvers(deletes, inserts, false, [](const ModelRow&, const ModelRow&) {});
      for (const Rows* rows : {&deletes, &inserts}) {
        for (const ModelRow& row : *rows) {
          if (!by_key && !row.change->row_id) {
            error_ = ErrorKind::kInvalidArgument;
            return;
          }
          Rows& chain = chains[by_key ? row.key : *row.change->row_id];
          const bool deleted = row.change->type == "DELETE";
          if (!chain.empty() &&
              (chain.back().change->type == row.change->type || (deleted && chain.back().content != row.content))) {
            error_ = ErrorKind::kValidationFailed;
            return;
          }
          chain.push_back(row);
        }
      }
    });
    if (error_) return {{}, error_};
    // Ordinal, rank, place of the change that decides the order.
    std::map<std::tuple<int32_t, int, int64_t>, std::vector<ChangeRow>> result;
    const auto place = [](const ModelRow& row, int rank) {
      return std::tuple(row.change->ordinal, rank, row.change->pos);
    };
    for (const auto& [identity, chain] : chains) {
      const ModelRow& first = chain.front();
      const ModelRow& last = chain.back();
      const bool was = first.change->type == "DELETE";
      const bool is = last.change->type == "INSERT";
      if (was && is && first.content == last.content) continue;
      if (was && is && options_.updates != Updates::kNone) {
        AddPair(result[place(last, 1)], *first.change, *last.change);
        continue;
      }
      if (was) result[place(first, 0)].push_back(*first.change);
      if (is) result[place(last, 2)].push_back(*last.change);
    }
    std::vector<ChangeRow> rows;
    for (const auto& [at, changes] : result) rows.insert(rows.end(), changes.begin(), changes.end());
    return {rows, std::nullopt};
  }

  PairingOptions options_;
  std::vector<ModelRow> rows_;
  std::optional<ErrorKind> error_;
};

// Every row that goes was there.
void ExpectApplies(const History& history, const std::vector<ChangeRow>& changes) {
  std::multiset<std::string> rows(history.before.begin(), history.before.end());
  for (const ChangeRow& change : changes) {
    const std::string text = TextOf(change.row);
    if (change.type == "INSERT" || change.type == "UPDATE_AFTER") {
      rows.insert(text);
      continue;
    }
    const auto at = rows.find(text);
    ASSERT_NE(at, rows.end()) << change.type << " of a row that is not there: " << text;
    rows.erase(at);
  }
  EXPECT_EQ(rows, std::multiset<std::string>(history.after.begin(), history.after.end()));
}

void ExpectNoIdenticalPair(const std::vector<ChangeRow>& changes, bool by_value) {
  using Identity = std::tuple<int32_t, std::string, std::optional<int64_t>, std::optional<int64_t>>;
  std::set<Identity> deleted;
  for (const ChangeRow& change : changes) {
    Identity identity(change.ordinal, TextOf(change.row), std::nullopt, std::nullopt);
    if (!by_value && change.row_id && change.last_updated)
      identity = {change.ordinal, "", change.row_id, change.last_updated};
    if (change.type == "DELETE") deleted.insert(identity);
    if (change.type == "INSERT") {
      EXPECT_FALSE(deleted.contains(identity)) << std::get<1>(identity);
    }
  }
}

class ChangePairingModel : public ::testing::Test {
 protected:
  ChangePairingModel() { seed_ = delenda::testing::Seed(); }

  // All modes on one history, each with the budgets.
  void Check(const HistoryKind& kind, uint64_t seed, const std::vector<uint64_t>& budgets, bool exact = true) {
    Histories histories(seed);
    const History history = histories.Make(kind);
    for (const CarryOvers carry_overs : {CarryOvers::kKeep, CarryOvers::kRemove, CarryOvers::kRemoveEqual}) {
      for (const Updates updates : {Updates::kNone, Updates::kLineage, Updates::kKey}) {
        for (const bool net : {false, true}) {
          for (const bool keys : {false, true}) {
            PairingOptions options{.carry_overs = carry_overs, .updates = updates, .net = net};
            if (keys) options.key_columns = {"score", "id"};
            if (updates == Updates::kKey && !keys) continue;
            if (net && !keys && carry_overs == CarryOvers::kRemoveEqual) continue;
            const ModelResult expected = Model(history.changes, options).Run();
            for (const uint64_t budget : budgets) {
              options.memory_budget = budget;
              options.batch_rows = 1 + static_cast<int64_t>(histories.Below(200));
              SCOPED_TRACE(fmt::format("DELENDA_SEED={} lineage {} carry-overs {} updates {} net {} keys {} budget {}",
                                       seed, static_cast<int>(kind.lineage), static_cast<int>(carry_overs),
                                       static_cast<int>(updates), net, keys, budget));
              CheckOne(history, options, expected, histories.Below(1000), exact);
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }

  void CheckOne(const History& history, const PairingOptions& options, const ModelResult& model, uint64_t cut,
                bool exact) {
    PairingMetrics metrics;
    const auto changes = Paired(history.changes, options, 1 + static_cast<int64_t>(cut), cut, &metrics);
    spilled_ = spilled_ || metrics.spilled_bytes > 0;
    const auto& [expected, error] = model;
    if (error) {
      ASSERT_FALSE(changes);
      // Of several errors, which comes first is open: net changes can lack lineage and be undefined too.
      const auto refuses_net = [](ErrorKind kind) {
        return kind == ErrorKind::kInvalidArgument || kind == ErrorKind::kValidationFailed;
      };
      if (options.net && refuses_net(*error)) {
        EXPECT_TRUE(refuses_net(changes.error().kind())) << changes.error().ToString();
      } else if (exact) {
        EXPECT_EQ(changes.error().kind(), *error) << changes.error().ToString();
      }
      ++refused_;
      return;
    }
    if (!exact && !changes && options.net) return;
    ASSERT_TRUE(changes) << changes.error().ToString();
    if (exact) {
      ASSERT_EQ(TextsOf(*changes), TextsOf(expected));
    }
    ExpectApplies(history, *changes);
    if (options.carry_overs != CarryOvers::kKeep && !options.net && exact)
      ExpectNoIdenticalPair(*changes, options.carry_overs == CarryOvers::kRemoveEqual);
    ++compared_;
  }

  uint64_t seed_ = 0;
  bool spilled_ = false;
  int refused_ = 0;
  int compared_ = 0;
};

// Under a sanitizer the model takes thirty times as long: it gets a part of the histories, another one with each seed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

TEST_F(ChangePairingModel, SmallHistories) {
  for (uint64_t round = 0; round < (kIsSanitized ? 5 : 15) && !HasFailure(); ++round) {
    for (const Lineage lineage : {Lineage::kNone, Lineage::kAll, Lineage::kUpgraded}) {
      const HistoryKind kind{
          .lineage = lineage, .unique_ids = round % 3 != 0, .first_rows = round % 12, .snapshots = 4};
      Check(kind, seed_ + round, {uint64_t{256} << 20, 1});
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(refused_, 0);
  EXPECT_GT(compared_, kIsSanitized ? 100 : 500);
}

TEST_F(ChangePairingModel, LargeHistoriesSpill) {
  for (const Lineage lineage : {Lineage::kNone, Lineage::kAll, Lineage::kUpgraded}) {
    if (kIsSanitized && static_cast<uint64_t>(lineage) % 3 != seed_ % 3) continue;
    for (const bool unique_ids : {true, false}) {
      const HistoryKind kind{.lineage = lineage, .unique_ids = unique_ids, .first_rows = 400, .snapshots = 3};
      Check(kind, seed_, {unique_ids ? uint64_t{60'000} : uint64_t{16'000}});
      if (HasFailure()) return;
    }
  }
  EXPECT_TRUE(spilled_);
}

// Which rows pair is open where several wrongly share a row id; the changes must still lead from state to state.
TEST_F(ChangePairingModel, RepeatedRowIdsAreNoReasonForWrongRows) {
  for (uint64_t round = 0; round < (kIsSanitized ? 3 : 5) && !HasFailure(); ++round) {
    const HistoryKind kind{.lineage = Lineage::kWeird, .unique_ids = false, .first_rows = 20 * round, .snapshots = 3};
    Check(kind, seed_ + round, {uint64_t{256} << 20, 1}, false);
  }
}

}  // namespace
}  // namespace delenda::read
