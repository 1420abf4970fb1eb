// Handing results on in order, whatever the order in which they become ready.
#include "delenda/plan/manifest_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "delenda/plan/path_slots.h"

namespace delenda::plan {
namespace {

TEST(InOrder, RunsStepsInOrderAndOneAtATime) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  constexpr size_t kCount = 2000;
  std::vector<size_t> order(kCount);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::shuffle(order, random);
  InOrder in_order(kCount);
  std::vector<size_t> ran;
  std::atomic<int> inside = 0;
  std::atomic<size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (size_t i = next++; i < kCount; i = next++) {
          in_order.Put(order[i], [&, index = order[i]]() -> Result<void> {
            if (inside.fetch_add(1) != 0) return InternalError("two steps at a time");
            ran.push_back(index);
            inside.fetch_sub(1);
            return {};
          });
        }
      });
    }
  }
  EXPECT_FALSE(in_order.error()) << in_order.error()->ToString();
  ASSERT_EQ(ran.size(), kCount);
  EXPECT_TRUE(std::ranges::is_sorted(ran));
}

TEST(InOrder, RunsNothingBehindAFailure) {
  InOrder in_order(4);
  int ran = 0;
  const auto count = [&]() -> Result<void> {
    ++ran;
    return {};
  };
  in_order.Put(2, count);
  in_order.Put(0, count);
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(in_order.failed());
  in_order.Put(1, []() -> Result<void> { return Corrupt("the second"); });
  in_order.Put(3, count);
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(in_order.failed());
  EXPECT_EQ(in_order.error()->message(), "the second");
}

TEST(PathSlots, TellApartWhatHasOneHash) {
  // 30 texts that share three hashes: only the comparison can tell.
  const auto hash = [](uint32_t i) { return uint64_t{i % 3} << 62; };
  PathSlots slots(30);
  for (uint32_t i = 0; i < 30; ++i)
    EXPECT_EQ(slots.FindOrAdd(hash(i), i, [&](uint32_t other) { return other == i; }), PathSlots::kNone);
  for (uint32_t i = 0; i < 30; ++i) {
    EXPECT_EQ(slots.FindOrAdd(hash(i), 99, [&](uint32_t other) { return other == i; }), i);
    EXPECT_EQ(slots.Find(hash(i), [&](uint32_t other) { return other == i; }), i);
  }
  EXPECT_EQ(slots.Find(hash(0), [](uint32_t) { return false; }), PathSlots::kNone);
  EXPECT_EQ(PathSlots().Find(1, [](uint32_t) { return true; }), PathSlots::kNone);
  EXPECT_EQ(PathSlots(0).Find(1, [](uint32_t) { return true; }), PathSlots::kNone);
}

}  // namespace
}  // namespace delenda::plan
