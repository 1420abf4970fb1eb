// Scans of tables that Spark and PyIceberg wrote, against what those engines read from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "delenda/read/count.h"
#include "delenda/read/scan_stream.h"
#include "unit/read/read_fixture.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the fixtures' vocabulary

std::vector<std::string> ScannableTables() {
  std::vector<std::string> names;
  for (const std::string& name : ReadableIcebergTables()) {
    if (HasExpected(name, "plan.jsonl") && HasExpected(name, "current.jsonl") && name != "v3_variant") {
      names.push_back(name);
    }
  }
  return names;
}

class FixtureScan : public ::testing::TestWithParam<std::string> {};

TEST_P(FixtureScan, ReturnsThePeersRows) {
  const std::vector<std::string> expected = Sorted(ReadJsonLines(GetParam(), "current.jsonl"));
  const auto plan = PlanFixture(GetParam());
  ASSERT_TRUE(plan) << plan.error().ToString();
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    for (const bool ordered : {false, true}) {
      for (const int64_t batch_rows : {7, 65536}) {
        ReadOptions options;
        options.threads = threads;
        options.ordered = ordered;
        options.batch_rows = batch_rows;
        const auto batches = ReadAll(*plan, FixtureIO(), options);
        ASSERT_TRUE(batches) << batches.error().ToString();
        ASSERT_EQ(Sorted(ToJson(*batches)), expected) << threads << " threads, batches of " << batch_rows;
      }
    }
  }
}

TEST_P(FixtureScan, OrderedStreamIsThatOfOneThread) {
  plan::ScanRequest request;
  request.with_metadata = true;
  request.split_size = 10'000;
  const auto plan = PlanFixture(GetParam(), request);
  ASSERT_TRUE(plan) << plan.error().ToString();
  ReadOptions options;
  options.threads = 1;
  options.batch_rows = 13;
  const auto serial = ReadAll(*plan, FixtureIO(), options);
  ASSERT_TRUE(serial) << serial.error().ToString();
  options.threads = 3;
  options.ordered = true;
  const auto parallel = ReadAll(*plan, FixtureIO(), options);
  ASSERT_TRUE(parallel) << parallel.error().ToString();
  EXPECT_EQ(ToJson(*parallel), ToJson(*serial));
}

// Positions are ordinals in the file, whatever else of the scan changes.
class FixturePositions : public ::testing::TestWithParam<std::string> {};

TEST_P(FixturePositions, AreThoseThatThePeerReturns) {
  plan::ScanRequest request;
  request.select_all = false;
  request.select = {"_file", "_pos"};
  const auto plan = PlanFixture(GetParam(), request);
  ASSERT_TRUE(plan) << plan.error().ToString();
  ReadOptions options;
  options.threads = 2;
  const auto batches = ReadAll(*plan, FixtureIO(), options);
  ASSERT_TRUE(batches) << batches.error().ToString();
  std::map<std::string, std::set<int64_t>> live;
  for (const Json& row : ToJson(*batches)) {
    EXPECT_TRUE(live[row["_file"]].insert(row["_pos"].get<int64_t>()).second) << row;
  }
  size_t files = 0;
  for (const Json& line : ReadJsonLines(GetParam(), "deleted-positions.jsonl")) {
    std::set<int64_t> expected;
    for (int64_t p = 0; p < line["records"].get<int64_t>(); ++p) expected.insert(p);
    for (const Json& p : line["deleted"]) expected.erase(p.get<int64_t>());
    EXPECT_EQ(live[line["path"]], expected) << line["path"];
    ++files;
  }
  EXPECT_EQ(live.size(), files);
}

TEST_P(FixtureScan, CountIsTheNumberOfRows) {
  const auto expected = ReadJsonLines(GetParam(), "current.jsonl").size();
  const auto plan = PlanFixture(GetParam());
  ASSERT_TRUE(plan) << plan.error().ToString();
  const auto count = CountRows(*plan, FixtureIO(), {});
  ASSERT_TRUE(count) << count.error().ToString();
  EXPECT_EQ(count->rows, expected);
  EXPECT_EQ(count->files_by_metadata + count->files_read, (*plan)->tasks.size());
}

TEST_P(FixtureScan, LimitGivesThatManyLiveRows) {
  const auto rows = ReadJsonLines(GetParam(), "current.jsonl");
  const std::multiset<std::string> all = [&] {
    std::multiset<std::string> lines;
    for (const Json& row : rows) lines.insert(row.dump());
    return lines;
  }();
  const auto plan = PlanFixture(GetParam());
  ASSERT_TRUE(plan) << plan.error().ToString();
  for (const uint64_t limit : {uint64_t{0}, uint64_t{1}, uint64_t{17}, uint64_t{100000}}) {
    for (const size_t threads : {size_t{1}, size_t{3}}) {
      ReadOptions options;
      options.limit = limit;
      options.threads = threads;
      options.batch_rows = 8;
      const auto batches = ReadAll(*plan, FixtureIO(), options);
      ASSERT_TRUE(batches) << batches.error().ToString();
      const auto got = ToJson(*batches);
      EXPECT_EQ(got.size(), std::min<size_t>(limit, rows.size()));
      for (const Json& row : got) EXPECT_TRUE(all.contains(row.dump())) << row;
    }
  }
}

TEST_P(FixtureScan, VerifiedFootersAgree) {
  const auto plan = PlanFixture(GetParam());
  ASSERT_TRUE(plan) << plan.error().ToString();
  ReadOptions options;
  options.verify_footers = true;
  const auto batches = ReadAll(*plan, FixtureIO(), options);
  EXPECT_TRUE(batches) << batches.error().ToString();
}

TEST(DamagedFixture, IsRefusedWithTheRightKind) {
  const std::vector<std::pair<std::string, ErrorKind>> cases = {{"invalid_dv_bitmap", ErrorKind::kCorrupt},
                                                                {"invalid_dv_cardinality", ErrorKind::kCorrupt},
                                                                {"invalid_dv_crc", ErrorKind::kCorrupt},
                                                                {"invalid_dv_missing", ErrorKind::kNotFound},
                                                                {"invalid_dv_wrong_range", ErrorKind::kCorrupt}};
  for (const auto& [name, kind] : cases) {
    for (const size_t threads : {size_t{1}, size_t{3}}) {
      const auto plan = PlanFixture(name);
      ASSERT_TRUE(plan) << plan.error().ToString();
      ReadOptions options;
      options.threads = threads;
      const auto batches = ReadAll(*plan, FixtureIO(), options);
      ASSERT_FALSE(batches) << name;
      EXPECT_EQ(batches.error().kind(), kind) << batches.error().ToString();
      EXPECT_THAT(batches.error().ToString(), ::testing::HasSubstr(".puffin")) << name;
    }
  }
}

TEST(VariantFixture, IsRefusedOnlyWhenTheColumnIsWanted) {
  const auto plan = PlanFixture("v3_variant");
  ASSERT_TRUE(plan) << plan.error().ToString();
  const auto stream = OpenScan(*plan, FixtureIO(), {});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(stream.error().ToString(), ::testing::HasSubstr("variant"));
  plan::ScanRequest request;
  request.select_all = false;
  request.select = {"id"};
  const auto narrow = PlanFixture("v3_variant", request);
  ASSERT_TRUE(narrow) << narrow.error().ToString();
  const auto batches = ReadAll(*narrow, FixtureIO());
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_GT(RowsIn(*batches), 0);
}

INSTANTIATE_TEST_SUITE_P(Tables, FixtureScan, ::testing::ValuesIn(ScannableTables()),
                         [](const auto& param) { return param.param; });

std::vector<std::string> TablesWithPositions() {
  std::vector<std::string> names = ScannableTables();
  std::erase_if(names, [](const std::string& name) { return !HasExpected(name, "deleted-positions.jsonl"); });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Tables, FixturePositions, ::testing::ValuesIn(TablesWithPositions()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace delenda::read
