// Random filters, projections, limits, splits and threads on every table, against a naive filter of the peer's rows.
// DELENDA_SEED repeats a run, DELENDA_RUNS lengthens it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "delenda/table.h"
#include "interop/naive_table.h"
#include "interop/random_filter.h"
#include "interop/table_text.h"
#include "support/fixtures.h"
#include "support/seed.h"

namespace delenda {
namespace {

using testing::Cell;
using testing::FilterSource;
using testing::Json;
using testing::Logic;
using testing::NaiveColumn;
using testing::NaiveRow;
using testing::RandomFilter;

constexpr uint64_t kRuns = 200;
constexpr size_t kMaxThreads = 3;

struct BaseRow {
  std::vector<std::string> members;  // "name": value, as the engine wrote them; _file and _pos last
  NaiveRow cells;
};

class RandomScan : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (size_t threads = 1; threads <= kMaxThreads; ++threads) {
      auto table = testing::OpenFixture(GetParam(), threads);
      ASSERT_TRUE(table.has_value()) << table.error().ToString();
      tables_.push_back(*std::move(table));
    }
    const Json schema = testing::SchemaIn(tables_[0].metadata_path());
    testing::AddColumns(schema.at("fields"), "", {}, columns_);
    for (const Json& field : schema.at("fields")) names_.push_back(field.at("name"));
    ReadBase(schema);
  }

  // All rows in the order of the plan: their values must be the peer's, then they are what random scans are compared
  // with.
  void ReadBase(const Json& schema) {
    ScanOptions all;
    all.with_metadata = true;
    all.ordered = true;
    const auto lines = testing::ScanLines(tables_[0], all);
    ASSERT_TRUE(lines.has_value()) << lines.error().ToString();
    std::vector<std::string> found;
    for (const std::string& line : *lines) {
      Json row = Json::parse(line);
      BaseRow base;
      base.members = testing::MemberTexts(line);
      ASSERT_EQ(base.members.size(), names_.size() + 2) << line;
      for (const NaiveColumn& column : columns_) base.cells.push_back(testing::CellIn(row, column));
      ASSERT_TRUE(by_place_.emplace(Place(base), rows_.size()).second) << "row given twice: " << line;
      rows_.push_back(std::move(base));
      row.erase("_file");
      row.erase("_pos");
      testing::Canonicalise(row, schema);
      found.push_back(row.dump());
    }
    std::ranges::sort(found);
    ASSERT_EQ(found, testing::ExpectedRows(GetParam(), "current.jsonl", schema));
  }

  static std::string Place(const BaseRow& row) { return row.members[row.members.size() - 2] + row.members.back(); }

  static std::string Line(const BaseRow& row, const std::vector<size_t>& members) {
    std::string line = "{";
    for (const size_t at : members) line += (line.size() > 1 ? ", " : "") + row.members[at];
    return line + "}";
  }

  std::vector<Table> tables_;  // by number of threads
  std::vector<NaiveColumn> columns_;
  std::vector<std::string> names_;
  std::vector<BaseRow> rows_;
  std::map<std::string, size_t> by_place_;
};

TEST_P(RandomScan, EqualsTheNaiveFilter) {
  if (HasFatalFailure()) return;
  const uint64_t seed = delenda::testing::Seed();
  const char* runs_text = std::getenv("DELENDA_RUNS");
  const uint64_t runs = runs_text != nullptr ? std::strtoull(runs_text, nullptr, 10) : kRuns;
  std::mt19937_64 random(seed);
  std::vector<NaiveRow> cells;
  for (const BaseRow& row : rows_) cells.push_back(row.cells);
  FilterSource filters(columns_, cells, random);
  uint64_t selective = 0;
  for (uint64_t run = 0; run < runs && !HasFailure(); ++run) {
    const auto chance = [&](uint64_t percent) { return random() % 100 < percent; };
    ScanOptions options;
    RandomFilter filter{"", [](const NaiveRow&) { return Logic::kYes; }};
    if (!chance(5)) filter = filters.Next();
    options.where = filter.text;
    std::vector<size_t> members;
    for (size_t i = 0; i < names_.size() + 2; ++i) members.push_back(i);
    const bool all_columns = chance(30);
    if (all_columns) {
      options.with_metadata = chance(70);
      if (!options.with_metadata) members.resize(names_.size());
    } else {
      std::ranges::shuffle(members, random);
      members.resize(1 + random() % members.size());
      options.columns.emplace();
      for (const size_t at : members)
        options.columns->push_back(at < names_.size() ? names_[at] : at == names_.size() ? "_file" : "_pos");
    }
    options.ordered = chance(50);
    if (chance(30)) options.limit = random() % (chance(50) ? 10 : rows_.size() + 5);
    if (chance(50)) options.split_size = 1 + random() % (chance(50) ? 500 : 50000);
    const Table& table = tables_[random() % kMaxThreads];

    std::vector<std::string> expected;
    for (const BaseRow& row : rows_) {
      if (filter.matches(row.cells) == Logic::kYes) expected.push_back(Line(row, members));
    }
    SCOPED_TRACE(fmt::format("run {} of seed {}, filter: {}\ncolumns {}, limit {}, split {}, ordered {}", run, seed,
                             filter.text, options.columns ? fmt::format("{}", fmt::join(*options.columns, ",")) : "*",
                             options.limit ? std::to_string(*options.limit) : "none", options.split_size,
                             options.ordered));
    const auto scanned = testing::ScanLines(table, options);
    ASSERT_TRUE(scanned.has_value()) << scanned.error().ToString();
    auto got = *scanned;
    const uint64_t wanted = std::min<uint64_t>(expected.size(), options.limit.value_or(UINT64_MAX));
    selective += !expected.empty() && expected.size() < rows_.size();
    ASSERT_EQ(got.size(), wanted) << expected.size() << " rows match";
    if (options.ordered) {
      expected.resize(wanted);
    } else {
      std::ranges::sort(got);
      std::ranges::sort(expected);
    }
    if (options.limit) {
      EXPECT_TRUE(options.ordered ? got == expected : std::ranges::includes(expected, got))
          << "rows that should not be";
    } else if (got != expected) {
      const auto at = std::ranges::mismatch(got, expected);
      ADD_FAILURE() << "got " << *at.in1 << "\ninstead of " << *at.in2;
    }
    if (run % 4 == 0) {
      ScanOptions counted;
      counted.where = filter.text;
      counted.split_size = options.split_size;
      const auto count = table.Count(counted);
      ASSERT_TRUE(count.has_value()) << count.error().ToString();
      EXPECT_EQ(count->rows, options.limit ? count->rows : wanted);
    }
  }
  fmt::print("{} of {} filters took some rows and left some\n", selective, runs);
}

// _file and _pos: every position of every live data file is either returned once or in the peer's list of deleted ones.
TEST_P(RandomScan, PositionsAreThoseThatThePeerKeeps) {
  if (HasFatalFailure() || !testing::HasExpected(GetParam(), "deleted-positions.jsonl")) return;
  std::map<std::string, std::set<int64_t>> live;
  for (const BaseRow& row : rows_) {
    const Json place = Json::parse("{" + row.members[row.members.size() - 2] + "," + row.members.back() + "}");
    live[place.at("_file")].insert(place.at("_pos").get<int64_t>());
  }
  for (const std::string& line : testing::LinesOf(GetParam(), "deleted-positions.jsonl")) {
    const Json file = Json::parse(line);
    std::set<int64_t> expected;
    for (int64_t position = 0; position < file.at("records").get<int64_t>(); ++position) expected.insert(position);
    for (const Json& position : file.at("deleted")) expected.erase(position.get<int64_t>());
    EXPECT_EQ(live[file.at("path")], expected) << file.at("path");
    live.erase(file.at("path").get<std::string>());
  }
  for (const auto& [path, positions] : live) EXPECT_TRUE(positions.empty()) << path;
}

INSTANTIATE_TEST_SUITE_P(Iceberg, RandomScan, ::testing::ValuesIn(testing::RandomScanTables()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace delenda
