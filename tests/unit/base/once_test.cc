#include "delenda/base/once.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <vector>

#include "delenda/base/executor.h"

namespace delenda {
namespace {

using ::testing::HasSubstr;

TEST(OnceResult, LoadsOnceForManyThreads) {
  OnceResult<int> cell;
  std::atomic<int> loads{0};
  std::latch start(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      const auto value = cell.Get([&]() -> Result<int> {
        loads.fetch_add(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return 42;
      });
      ASSERT_TRUE(value);
      EXPECT_EQ(**value, 42);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(loads.load(), 1);
  EXPECT_EQ(*cell.Peek(), 42);
}

TEST(OnceResult, FailureReachesTheWaitersAndTheNextCallTriesAgain) {
  OnceResult<int> cell;
  std::latch loading(1);
  std::latch waiter_near(1);
  std::thread loader([&] {
    const auto value = cell.Get([&]() -> Result<int> {
      loading.count_down();
      waiter_near.wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until the waiter waits
      return IoError("storage is down");
    });
    EXPECT_FALSE(value);
  });
  loading.wait();
  std::atomic<bool> loaded_again = false;
  waiter_near.count_down();
  const auto waited = cell.Get([&]() -> Result<int> {
    loaded_again = true;
    return 1;
  });
  loader.join();
  // Either it waited and got the error, or it came after the failure and loaded: it never hangs.
  if (loaded_again) {
    EXPECT_TRUE(waited);
  } else {
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().kind(), ErrorKind::kIo);
  }
  const auto again = cell.Get([]() -> Result<int> { return 1; });
  ASSERT_TRUE(again);
  EXPECT_EQ(**again, 1);
}

TEST(OnceResult, ExceptionInTheLoaderIsAnErrorForAll) {
  OnceResult<int> cell;
  const auto value = cell.Get([]() -> Result<int> { throw std::runtime_error("boom"); });
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().kind(), ErrorKind::kInternal);
  EXPECT_THAT(value.error().message(), HasSubstr("boom"));
  EXPECT_EQ(cell.Peek(), nullptr);
}

TEST(OnceResult, LoaderThatAsksForItselfFailsInsteadOfHanging) {
  OnceResult<int> cell;
  const auto value = cell.Get([&]() -> Result<int> {
    const auto inner = cell.Get([]() -> Result<int> { return 1; });
    if (!inner) return std::unexpected(inner.error());
    return **inner;
  });
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().kind(), ErrorKind::kInternal);
}

TEST(OnceResult, LoaderMayUseTheExecutorThatItsWaitersBlock) {
  Executor executor(3);
  for (int round = 0; round < 100; ++round) {
    OnceResult<size_t> cell;
    const auto result = executor.ParallelFor(6, [&](size_t) -> Result<void> {
      const auto value = DELENDA_TRY(cell.Get([&]() -> Result<size_t> {
        std::atomic<size_t> sum{0};
        DELENDA_TRY(executor.ParallelFor(10, [&](size_t i) -> Result<void> {
          sum.fetch_add(i);
          return {};
        }));
        return sum.load();
      }));
      EXPECT_EQ(*value, 45u);
      return {};
    });
    EXPECT_TRUE(result);
  }
}

}  // namespace
}  // namespace delenda
