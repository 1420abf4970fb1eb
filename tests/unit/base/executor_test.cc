#include "delenda/base/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <random>
#include <set>
#include <stdexcept>

namespace delenda {
namespace {

using ::testing::HasSubstr;

class ExecutorThreads : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Counts, ExecutorThreads, ::testing::Values(1, 2, 4, 9));

TEST_P(ExecutorThreads, ParallelFor_RunsEveryIndexOnce) {
  Executor executor(GetParam());
  for (const size_t count : {0u, 1u, 2u, 3u, 100u, 1000u}) {
    std::vector<std::atomic<int>> seen(count);
    ASSERT_TRUE(executor.ParallelFor(count, [&](size_t i) -> Result<void> {
      seen[i].fetch_add(1);
      return {};
    }));
    for (const auto& times : seen) EXPECT_EQ(times.load(), 1);
  }
}

TEST_P(ExecutorThreads, ParallelFor_ReturnsTheErrorOfTheLowestIndex) {
  Executor executor(GetParam());
  std::mt19937 random(20240611);
  for (int round = 0; round < 200; ++round) {
    std::set<size_t> failing;
    for (int i = 0; i < 5; ++i) failing.insert(random() % 100);
    const auto result = executor.ParallelFor(100, [&](size_t i) -> Result<void> {
      if (i == *failing.begin()) std::this_thread::sleep_for(std::chrono::microseconds(50));  // let the later ones win
      if (failing.contains(i)) return Corrupt("item {}", i);
      return {};
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message(), fmt::format("item {}", *failing.begin())) << "round " << round;
  }
}

TEST_P(ExecutorThreads, ParallelFor_StartsNothingNewAfterAFailure) {
  Executor executor(GetParam());
  std::atomic<size_t> ran{0};
  const auto result = executor.ParallelFor(100000, [&](size_t i) -> Result<void> {
    ran.fetch_add(1);
    if (i == 3) return IoError("stop");
    return {};
  });
  EXPECT_FALSE(result);
  EXPECT_LT(ran.load(), 100000u);
}

TEST(Executor, ParallelFor_WithOneThreadRunsInOrderOnTheCaller) {
  Executor executor(1);
  std::vector<size_t> order;
  const auto caller = std::this_thread::get_id();
  ASSERT_TRUE(executor.ParallelFor(50, [&](size_t i) -> Result<void> {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
    return {};
  }));
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(order.size(), 50u);
}

TEST(Executor, ParallelFor_UsesSeveralThreadsAtOnce) {
  Executor executor(3);
  std::latch all_there(3);  // hangs unless three items run at the same time
  EXPECT_TRUE(executor.ParallelFor(3, [&](size_t) -> Result<void> {
    all_there.arrive_and_wait();
    return {};
  }));
}

TEST_P(ExecutorThreads, ParallelFor_NestsWithoutDeadlock) {
  Executor executor(GetParam());
  std::atomic<int> leaves{0};
  const auto result = executor.ParallelFor(8, [&](size_t) {
    return executor.ParallelFor(8, [&](size_t) {
      return executor.ParallelFor(4, [&](size_t) -> Result<void> {
        leaves.fetch_add(1);
        return {};
      });
    });
  });
  EXPECT_TRUE(result);
  EXPECT_EQ(leaves.load(), 8 * 8 * 4);
}

TEST_P(ExecutorThreads, ParallelFor_StopsWhenCancelled) {
  Executor executor(GetParam());
  CancelToken cancel;
  std::atomic<size_t> ran{0};
  const auto result = executor.ParallelFor(
      100000,
      [&](size_t i) -> Result<void> {
        ran.fetch_add(1);
        if (i == 10) cancel.Cancel();
        return {};
      },
      cancel);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kCancelled);
  EXPECT_LT(ran.load(), 100000u);
}

TEST_P(ExecutorThreads, ParallelFor_RunsNothingWhenCancelledBefore) {
  Executor executor(GetParam());
  CancelToken cancel;
  cancel.Cancel();
  std::atomic<int> ran{0};
  const auto result = executor.ParallelFor(
      10,
      [&](size_t) -> Result<void> {
        ran.fetch_add(1);
        return {};
      },
      cancel);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kCancelled);
  EXPECT_EQ(ran.load(), 0);
}

TEST_P(ExecutorThreads, ParallelFor_CancelledAfterTheLastItemIsNoFailure) {
  Executor executor(GetParam());
  CancelToken cancel;
  EXPECT_TRUE(executor.ParallelFor(
      1,
      [&](size_t) -> Result<void> {
        cancel.Cancel();
        return {};
      },
      cancel));
}

TEST_P(ExecutorThreads, ParallelFor_TurnsAnExceptionIntoAnError) {
  Executor executor(GetParam());
  const auto result = executor.ParallelFor(20, [](size_t i) -> Result<void> {
    if (i == 7) throw std::runtime_error("surprise");
    return {};
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kInternal);
  EXPECT_THAT(result.error().message(), HasSubstr("surprise"));
}

TEST_P(ExecutorThreads, Submit_RunsEverythingBeforeTheDestructorEnds) {
  std::atomic<int> ran{0};
  {
    Executor executor(GetParam());
    for (int i = 0; i < 500; ++i) executor.Submit([&] { ran.fetch_add(1); });
  }
  EXPECT_EQ(ran.load(), 500);
}

TEST(Executor, Submit_TakesMoveOnlyTasks) {
  std::atomic<int> got{0};
  {
    Executor executor(2);
    executor.Submit([value = std::make_unique<int>(7), &got] { got = *value; });
  }
  EXPECT_EQ(got.load(), 7);
}

TEST(Executor, ManyThreadsShareOneExecutor) {
  Executor executor(3);
  std::atomic<int> ran{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        EXPECT_TRUE(executor.ParallelFor(20, [&](size_t) -> Result<void> {
          ran.fetch_add(1);
          return {};
        }));
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(ran.load(), 4 * 50 * 20);
}

TEST(Executor, ThreadCountDefaultsToTheHardware) {
  EXPECT_GE(Executor().threads(), 1u);
  EXPECT_EQ(Executor(5).threads(), 5u);
}

}  // namespace
}  // namespace delenda
