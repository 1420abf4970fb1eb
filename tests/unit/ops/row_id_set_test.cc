// Finding duplicates among many batches of ids, against a naive count.
#include "delenda/ops/row_id_set.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/seed.h"

namespace delenda::ops {
namespace {

TEST(RowIdSet, FindsIdsOfTwoBatchesAndOfOne) {
  RowIdSet set;
  ASSERT_TRUE(set.Add(std::vector<uint64_t>{1, 2, 3}));
  ASSERT_TRUE(set.Add(std::vector<uint64_t>{7, 8}));
  EXPECT_TRUE(set.duplicates().empty());
  ASSERT_TRUE(set.Add(std::vector<uint64_t>{3, 8, 9}));
  EXPECT_EQ(set.duplicates().ToVector(), (std::vector<uint64_t>{3, 8}));
  ASSERT_TRUE(set.Add(std::vector<uint64_t>{20, 21, 20}));
  EXPECT_EQ(set.duplicates().ToVector(), (std::vector<uint64_t>{3, 8, 20}));
  ASSERT_TRUE(set.Add({}));
  EXPECT_EQ(set.ids(), 11U);
  EXPECT_FALSE(set.Add(std::vector<uint64_t>{UINT64_MAX}));
}

TEST(RowIdSet, AgreesWithANaiveCount) {
  const uint64_t seed = delenda::testing::Seed();
  SCOPED_TRACE(::testing::Message() << "DELENDA_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    RowIdSet set;
    std::map<uint64_t, int> counts;
    const uint64_t range = round % 3 == 0 ? 200 : round % 3 == 1 ? 100'000 : uint64_t{1} << 40;
    for (size_t batch = 0, batches = random() % 60; batch < batches; ++batch) {
      std::vector<uint64_t> ids;
      const uint64_t begin = random() % range;
      for (size_t i = 0, count = random() % 50; i < count; ++i)
        ids.push_back(random() % 4 == 0 ? random() % range : begin + i);
      for (const uint64_t id : ids) ++counts[id];
      ASSERT_TRUE(set.Add(ids));
    }
    std::vector<uint64_t> twice;
    for (const auto& [id, count] : counts) {
      if (count > 1) twice.push_back(id);
    }
    ASSERT_EQ(set.duplicates().ToVector(), twice);
  }
}

}  // namespace
}  // namespace delenda::ops
