#include "delenda/formats/positions/position_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace delenda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kKey = uint64_t{1} << 32;

PositionSet Of(std::vector<uint64_t> positions) { return PositionSet::FromPositions(positions).value(); }

TEST(PositionSetTest, IsEmptyByDefault) {
  const PositionSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.cardinality(), 0u);
  EXPECT_EQ(set.Min(), std::nullopt);
  EXPECT_EQ(set.Max(), std::nullopt);
  EXPECT_EQ(set.Select(0), std::nullopt);
  EXPECT_EQ(set.Rank(UINT64_MAX), 0u);
  EXPECT_THAT(set.Runs(), IsEmpty());
  EXPECT_EQ(set, Of({}));
}

TEST(PositionSetTest, FromPositions_TakesAnyOrderAndDuplicates) {
  const PositionSet set = Of({7, 3 * kKey + 1, 5, 7, 0, 5, kKey - 1});
  EXPECT_THAT(set.ToVector(), ElementsAre(0, 5, 7, kKey - 1, 3 * kKey + 1));
  EXPECT_EQ(set.cardinality(), 5u);
  EXPECT_EQ(set.Min(), 0u);
  EXPECT_EQ(set.Max(), 3 * kKey + 1);
}

TEST(PositionSetTest, FromPositions_TakesTheLastPositionAndRefusesTheNext) {
  EXPECT_EQ(Of({PositionSet::kMaxPosition}).Max(), PositionSet::kMaxPosition);
  for (const uint64_t position : {PositionSet::kMaxPosition + 1, UINT64_MAX}) {
    const auto set = PositionSet::FromPositions(std::vector<uint64_t>{1, position, 2});
    ASSERT_FALSE(set.has_value());
    EXPECT_EQ(set.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(set.error().message(), HasSubstr(std::to_string(position)));
  }
}

TEST(PositionSetTest, FromRanges_MergesTouchingAndOverlappingRanges) {
  const std::vector<PositionRun> ranges = {{10, 20}, {15, 25}, {25, 30}, {40, 40}, {50, 60}, {52, 54}};
  const auto set = PositionSet::FromRanges(ranges);
  ASSERT_TRUE(set.has_value());
  EXPECT_THAT(set->Runs(), ElementsAre(PositionRun{10, 30}, PositionRun{50, 60}));
}

TEST(PositionSetTest, FromRange_CrossesKeysAndFillsWholeOnes) {
  const auto set = PositionSet::FromRange(kKey - 5, 4 * kKey + 3);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->cardinality(), 3 * kKey + 8);
  EXPECT_THAT(set->Runs(), ElementsAre(PositionRun{kKey - 5, 4 * kKey + 3}));
  EXPECT_TRUE(set->ContainsRange(kKey - 5, 4 * kKey + 3));
  EXPECT_FALSE(set->ContainsRange(kKey - 6, kKey));
  EXPECT_FALSE(set->ContainsRange(4 * kKey, 4 * kKey + 4));
  EXPECT_EQ(set->Rank(2 * kKey), kKey + 5);
  EXPECT_EQ(set->Select(kKey + 5), 2 * kKey);
}

TEST(PositionSetTest, FromRange_RefusesBackwardTooHighAndAbsurdlyLongRanges) {
  const std::vector<PositionRun> bad = {{5, 4}, {0, PositionSet::kMaxPosition + 2}, {0, uint64_t{1} << 62}};
  for (const PositionRun& run : bad) {
    const auto set = PositionSet::FromRange(run.begin, run.end);
    ASSERT_FALSE(set.has_value()) << run.begin << " to " << run.end;
    EXPECT_EQ(set.error().kind(), ErrorKind::kInvalidArgument);
  }
  EXPECT_EQ(PositionSet::FromRange(PositionSet::kMaxPosition, PositionSet::kMaxPosition + 1)->cardinality(), 1u);
}

TEST(PositionSetTest, Rank_CountsOnlyMembersStrictlyBelow) {
  const PositionSet set = Of({0, 3, 4, 2 * kKey});
  const std::vector<std::pair<uint64_t, uint64_t>> cases = {
      {0, 0}, {1, 1}, {3, 1}, {4, 2}, {5, 3}, {kKey, 3}, {2 * kKey, 3}, {2 * kKey + 1, 4}, {UINT64_MAX, 4}};
  std::vector<uint64_t> asked;
  for (const auto& [position, rank] : cases) {
    EXPECT_EQ(set.Rank(position), rank) << position;
    asked.push_back(position);
  }
  const std::vector<uint64_t> ranks = set.RankMany(asked);
  for (size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(ranks[i], cases[i].second) << asked[i];
  EXPECT_THAT(set.RankMany(std::vector<uint64_t>{5, 0, 5}), ElementsAre(3, 0, 3)) << "any order";
}

TEST(PositionSetTest, Runs_JoinAcrossKeysAndAreClipped) {
  const PositionSet set = Of({kKey - 2, kKey - 1, kKey, kKey + 1, kKey + 3});
  EXPECT_THAT(set.Runs(), ElementsAre(PositionRun{kKey - 2, kKey + 2}, PositionRun{kKey + 3, kKey + 4}));
  EXPECT_THAT(set.Runs(kKey - 1, kKey + 1), ElementsAre(PositionRun{kKey - 1, kKey + 1}));
  EXPECT_THAT(set.Runs(kKey + 2, kKey + 3), IsEmpty());
  EXPECT_THAT(set.Runs(9, 9), IsEmpty());
}

TEST(PositionSetTest, ASetOperationLeavesItsOperandsAlone) {
  const PositionSet a = Of({1, 2, 3, kKey});
  const PositionSet copy = a;
  const PositionSet b = Of({2, kKey, 5 * kKey});
  EXPECT_THAT(a.Union(b).ToVector(), ElementsAre(1, 2, 3, kKey, 5 * kKey));
  EXPECT_THAT(a.Difference(b).ToVector(), ElementsAre(1, 3));
  EXPECT_THAT(a.Intersection(b).ToVector(), ElementsAre(2, kKey));
  EXPECT_EQ(a, copy);
  EXPECT_THAT(a.ToVector(), ElementsAre(1, 2, 3, kKey));
  EXPECT_FALSE(a == b);
}

TEST(PositionSetTest, FillMask_WritesArrowBitOrderAndZeroPadding) {
  const PositionSet set = Of({0, 9, 10, 12});
  std::array<uint8_t, 3> mask = {0xaa, 0xaa, 0xaa};
  EXPECT_EQ(set.FillMask(0, 12, mask.data(), MaskBits::kMembers), 3u);
  EXPECT_THAT(mask, ElementsAre(0b0000'0001, 0b0000'0110, 0xaa)) << "two bytes and no more";
  EXPECT_EQ(set.FillMask(9, 12, mask.data(), MaskBits::kNonMembers), 3u);
  EXPECT_THAT(mask, ElementsAre(0b1111'0100, 0b0000'1111, 0xaa));
  EXPECT_EQ(set.FillMask(9, 0, mask.data(), MaskBits::kNonMembers), 0u);
}

TEST(PositionSetTest, FillMask_ReachesTheEndOfAKeyAndOfAllPositions) {
  const PositionSet set = PositionSet::FromRange(kKey - 100'000, kKey).value();
  std::array<uint8_t, 2> mask{};
  EXPECT_EQ(set.FillMask(kKey - 8, 16, mask.data(), MaskBits::kMembers), 8u);
  EXPECT_THAT(mask, ElementsAre(0xff, 0x00));
  EXPECT_EQ(Of({PositionSet::kMaxPosition}).FillMask(PositionSet::kMaxPosition, 9, mask.data(), MaskBits::kMembers),
            1u);
  EXPECT_THAT(mask, ElementsAre(0x01, 0x00));
}

TEST(PositionSetTest, ManyThreadsReadOneSet) {
  const PositionSet set = PositionSet::FromRange(1'000, 200'000).value().Union(Of({5, kKey + 5}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = set, &wrong] {
      std::vector<uint8_t> mask(32'000);
      for (int round = 0; round < 20; ++round) {
        wrong += copy.FillMask(0, 8 * mask.size(), mask.data(), MaskBits::kMembers) != 199'001;
        wrong += copy.Rank(kKey) != 199'001;
        wrong += copy.Union(copy.Difference(copy)).ToPortable() != copy.ToPortable();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace delenda
