// The stream: order, bounds, limit, errors, cancellation, early end.
#include "delenda/read/scan_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "delenda/io/faulting_file_io.h"
#include "unit/read/plan_builder.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary
using ::testing::ElementsAre;

constexpr int64_t kFiles = 7;
constexpr int64_t kRowsPerFile = 100;

PlanBuilder SevenFiles() {
  PlanBuilder table({MakeField(1, "id", TypeKind::kLong, true)});
  for (int64_t i = 0; i < kFiles; ++i) {
    table.AddFile(fmt::format("/t/{}.parquet", i), IdFile(i * kRowsPerFile, kRowsPerFile, 10 + 15 * (i % 3)),
                  kRowsPerFile);
  }
  return table;
}

std::vector<int64_t> AllIds() {
  std::vector<int64_t> ids(kFiles * kRowsPerFile);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

ReadOptions Threads(size_t threads, bool ordered) {
  ReadOptions options;
  options.threads = threads;
  options.ordered = ordered;
  options.batch_rows = 4;
  return options;
}

TEST(ScanStream, OrderedGivesFileThenPositionOrder) {
  PlanBuilder table = SevenFiles();
  for (const size_t threads : {size_t{1}, size_t{2}, size_t{3}, size_t{8}}) {
    for (int round = 0; round < 5; ++round) {
      const auto batches = table.Read(Threads(threads, true));
      ASSERT_TRUE(batches) << batches.error().ToString();
      ASSERT_EQ(Ids(*batches), AllIds());
    }
  }
}

TEST(ScanStream, UnorderedGivesEveryRowOnce) {
  PlanBuilder table = SevenFiles();
  for (const size_t threads : {size_t{2}, size_t{3}, size_t{8}}) {
    const auto batches = table.Read(Threads(threads, false));
    ASSERT_TRUE(batches) << batches.error().ToString();
    std::vector<int64_t> ids = Ids(*batches);
    std::ranges::sort(ids);
    EXPECT_EQ(ids, AllIds());
  }
}

TEST(ScanStream, SlowFilesChangeNoOrder) {
  PlanBuilder table = SevenFiles();
  const auto slow = std::make_shared<io::FaultingFileIO>(table.memory());
  for (const char* path : {"/t/0.", "/t/3."}) {
    slow->Add(
        {.effect = io::Delay{std::chrono::milliseconds(30)}, .operation = io::Operation::kRead, .path_contains = path});
  }
  const auto batches = ReadAll(table.shared_plan(), slow, Threads(3, true));
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_EQ(Ids(*batches), AllIds());
}

TEST(ScanStream, FirstErrorEndsItForGood) {
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    for (const bool ordered : {false, true}) {
      PlanBuilder table = SevenFiles();
      const auto faulty = std::make_shared<io::FaultingFileIO>(table.memory());
      faulty->Add({.effect = io::FailWith{.kind = ErrorKind::kPermissionDenied},
                   .operation = io::Operation::kRead,
                   .path_contains = "/t/4."});
      const auto stream = OpenScan(table.shared_plan(), faulty, Threads(threads, ordered));
      ASSERT_TRUE(stream);
      Result<std::shared_ptr<arrow::RecordBatch>> batch = nullptr;
      do {
        batch = (*stream)->Next();
      } while (batch && *batch != nullptr);
      ASSERT_FALSE(batch);
      EXPECT_EQ(batch.error().kind(), ErrorKind::kPermissionDenied);
      EXPECT_THAT(batch.error().ToString(), ::testing::HasSubstr("/t/4.parquet"));
      for (int i = 0; i < 3; ++i) {
        const auto again = (*stream)->Next();
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().ToString(), batch.error().ToString());
      }
    }
  }
}

// Every single operation of storage may fail: the stream then says so instead of ending early.
TEST(ScanStream, FailureOfAnyOperationIsReported) {
  PlanBuilder table = SevenFiles();
  table.AddVectors("/t/d.puffin", {{0, {1, 2}}, {3, {5}}});
  table.AddPositionDeletes("/t/p.parquet", {{"/t/1.parquet", 7}}, {1});
  const auto counted = std::make_shared<io::FaultingFileIO>(table.memory());
  ASSERT_TRUE(ReadAll(table.shared_plan(), counted, Threads(2, true)));
  for (uint64_t skip = 0; skip < counted->operations(); ++skip) {
    const auto faulty = std::make_shared<io::FaultingFileIO>(table.memory());
    faulty->Add({.effect = io::FailWith{}, .operation = std::nullopt, .path_contains = "", .skip = skip, .times = 1});
    const auto batches = ReadAll(table.shared_plan(), faulty, Threads(2, true));
    if (faulty->operations() > skip) {
      ASSERT_FALSE(batches) << "operation " << skip;
    }
  }
}

TEST(ScanStream, DestroyedEarlyStopsItsThreads) {
  PlanBuilder table = SevenFiles();
  for (int take = 0; take < 12; ++take) {
    const auto stream = OpenScan(table.shared_plan(), table.io(), Threads(3, take % 2 == 0));
    ASSERT_TRUE(stream);
    for (int i = 0; i < take; ++i) ASSERT_TRUE((*stream)->Next());
  }
}

TEST(ScanStream, CancelledIsAnError) {
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    PlanBuilder table = SevenFiles();
    ReadOptions options = Threads(threads, false);
    const auto stream = OpenScan(table.shared_plan(), table.io(), options);
    ASSERT_TRUE(stream);
    ASSERT_TRUE((*stream)->Next());
    options.hooks.cancel.Cancel();
    const auto batch = (*stream)->Next();
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().kind(), ErrorKind::kCancelled);
  }
}

TEST(ScanStream, LimitCountsLiveRowsAndReadsLittle) {
  PlanBuilder table = SevenFiles();
  table.AddVectors("/t/d.puffin", {{0, {0, 1, 2, 3, 4, 5, 6}}});
  ReadOptions options = Threads(1, true);
  options.limit = 5;
  const auto batches = table.Read(options);
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_THAT(Ids(*batches), ElementsAre(7, 8, 9, 10, 11));
  EXPECT_EQ(table.io()->SnapshotOf("/t/1.parquet").opens, 0U);
}

TEST(ScanStream, ProgressEndsAtItsTotal) {
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    PlanBuilder table = SevenFiles();
    ReadOptions options = Threads(threads, false);
    std::atomic<uint64_t> calls{0}, most{0}, total{0};
    options.hooks.progress = [&](const Progress& progress) {
      ++calls;
      uint64_t seen = most;
      while (progress.done > seen && !most.compare_exchange_weak(seen, progress.done)) {
      }
      if (progress.total != 0) total = progress.total;
    };
    ASSERT_TRUE(table.Read(options));
    EXPECT_EQ(calls, most);
    EXPECT_EQ(total, most);
  }
}

TEST(ScanStream, NoColumnsStillGiveRowCounts) {
  PlanBuilder table = SevenFiles();
  table.AddVectors("/t/d.puffin", {{2, {0, 50, 99}}});
  table.plan().columns.clear();
  const auto batches = table.Read(Threads(2, false));
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_EQ(RowsIn(*batches), kFiles * kRowsPerFile - 3);
  EXPECT_EQ(batches->front()->num_columns(), 0);
  // Footers tell how many rows there are; no column is read.
  for (int64_t i = 0; i < kFiles; ++i) EXPECT_EQ(table.io()->SnapshotOf(fmt::format("/t/{}.parquet", i)).reads, 1U);
}

TEST(ScanStream, EmptyPlanEndsAtOnce) {
  PlanBuilder table({MakeField(1, "id", TypeKind::kLong, true)});
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    const auto batches = table.Read(Threads(threads, true));
    ASSERT_TRUE(batches);
    EXPECT_TRUE(batches->empty());
  }
}

// Positions stay ordinals of the file when row groups are pruned by statistics and rows by the filter.
TEST(ScanStream, FilterPrunesRowGroupsAndKeepsPositions) {
  PlanBuilder table = SevenFiles();
  table.AddVectors("/t/d.puffin", {{4, {95, 96}}});
  table.AddPositionColumn();
  table.Where("id >= 493 AND id < 502");
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    const auto stream = OpenScan(table.shared_plan(), table.io(), Threads(threads, true));
    ASSERT_TRUE(stream);
    Batches batches;
    while (const auto batch = (*stream)->Next().value()) batches.push_back(batch);
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (const Json& row : ToJson(batches)) rows.emplace_back(row["id"], row["_pos"]);
    EXPECT_THAT(rows, ElementsAre(std::pair(493, 93), std::pair(494, 94), std::pair(497, 97), std::pair(498, 98),
                                  std::pair(499, 99), std::pair(500, 0), std::pair(501, 1)));
    EXPECT_GE((*stream)->metrics().row_groups_pruned, 30U);
    EXPECT_EQ((*stream)->metrics().rows, 7U);
  }
}

}  // namespace
}  // namespace delenda::read
