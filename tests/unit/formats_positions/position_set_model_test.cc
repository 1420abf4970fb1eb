// Every operation of PositionSet against std::set on random sets. The seed is printed; DELENDA_SEED repeats a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>

#include "delenda/formats/positions/position_set.h"
#include "support/seed.h"

namespace delenda {
namespace {

using Model = std::set<uint64_t>;
constexpr uint64_t kKey = uint64_t{1} << 32;
constexpr int kRounds = 40;

class PositionSetModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    seed_ = delenda::testing::Seed();
    random_.seed(seed_);
  }

  uint64_t Below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }

  // Where a set's positions lie: near 0, over the edge of a container or of a key, at a far key, at the very end.
  uint64_t Base() {
    switch (Below(6)) {
      case 0: return 0;
      case 1: return 65'536 - Below(500);
      case 2: return kKey * (1 + Below(4)) - Below(70'000);
      case 3: return kKey * 1'000 + Below(kKey);
      case 4: return PositionSet::kMaxPosition - 400'000;
      default: return Below(1'000'000);
    }
  }

  void AddPart(Model& model, uint64_t base) {
    switch (Below(6)) {
      case 0:  // sparse over a wide span
        for (uint64_t i = Below(300); i-- > 0;)
          model.insert(std::min(base + Below(3 * kKey), PositionSet::kMaxPosition));
        break;
      case 1:  // dense at random: bitset containers
        for (uint64_t i = 0, share = 1 + Below(20), n = Below(90'000); i < n; ++i) {
          if (Below(21) < share) model.insert(base + i);
        }
        break;
      case 2:  // clusters: run containers
        for (uint64_t cluster = Below(60), at = base; cluster-- > 0; at += Below(3'000)) {
          for (uint64_t end = at + Below(400); at < end; ++at) model.insert(model.end(), at);
        }
        break;
      case 3:  // every second one: a bitset container that no run helps
        for (uint64_t i = 0, n = Below(140'000); i < n; i += 2) model.insert(base + i);
        break;
      case 4:  // full containers
        for (uint64_t i = 0, n = Below(140'000); i < n; ++i) model.insert(base + i);
        break;
      default:  // a few
        for (uint64_t i = Below(6); i-- > 0;) model.insert(base + Below(100'000));
    }
  }

  Model RandomModel() {
    Model model;
    for (uint64_t parts = Below(4); parts-- > 0;) AddPart(model, Base());
    std::erase_if(model, [](uint64_t position) { return position > PositionSet::kMaxPosition; });
    return model;
  }

  // A model that shares much with `other`.
  Model Mutated(const Model& other) {
    Model model = RandomModel();
    const uint64_t keep = Below(101);
    for (const uint64_t position : other) {
      if (Below(100) < keep) model.insert(model.end(), position);
    }
    return model;
  }

  // Made in one of several ways, so that containers of every type and history meet.
  PositionSet Build(const Model& model) {
    std::vector<uint64_t> positions(model.begin(), model.end());
    switch (Below(4)) {
      case 0: {
        std::ranges::shuffle(positions, random_);
        return PositionSet::FromPositions(positions).value();
      }
      case 1: {
        std::vector<PositionRun> runs;
        for (const uint64_t position : positions) {
          if (!runs.empty() && runs.back().end == position) {
            ++runs.back().end;
          } else {
            runs.push_back({position, position + 1});
          }
        }
        return PositionSet::FromRanges(runs).value();
      }
      case 2: {
        const auto half = std::partition(positions.begin(), positions.end(), [&](uint64_t) { return Below(2) == 0; });
        return PositionSet::FromPositions({positions.begin(), half})
            .value()
            .Union(PositionSet::FromPositions({half, positions.end()}).value());
      }
      default: return PositionSet::FromPortable(PositionSet::FromPositions(positions).value().ToPortable()).value();
    }
  }

  // A position near a member, or anywhere.
  uint64_t Probe(const Model& model) {
    if (model.empty() || Below(10) == 0) return Below(PositionSet::kMaxPosition + 10);
    const auto member = model.lower_bound(*model.begin() + Below(*model.rbegin() - *model.begin() + 1));
    const uint64_t near = *member + Below(200);
    return near < 100 ? near : near - 100;
  }

  uint64_t seed_ = 0;
  std::mt19937_64 random_;
};

std::vector<uint64_t> Sorted(const Model& model) { return {model.begin(), model.end()}; }

std::vector<PositionRun> NaiveRuns(const Model& model, uint64_t begin, uint64_t end) {
  std::vector<PositionRun> runs;
  for (auto at = model.lower_bound(begin); at != model.end() && *at < end; ++at) {
    if (!runs.empty() && runs.back().end == *at) {
      ++runs.back().end;
    } else {
      runs.push_back({*at, *at + 1});
    }
  }
  return runs;
}

TEST_F(PositionSetModelTest, SetOperationsEqualThoseOfStdSet) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "DELENDA_SEED=" << seed_ << " round " << round);
    const Model a = RandomModel();
    const Model b = Mutated(a);
    const PositionSet set_a = Build(a);
    const PositionSet set_b = Build(b);
    ASSERT_EQ(set_a.cardinality(), a.size());
    ASSERT_EQ(set_a.ToVector(), Sorted(a));

    std::vector<uint64_t> expected;
    std::ranges::set_union(a, b, std::back_inserter(expected));
    ASSERT_EQ(set_a.Union(set_b).ToVector(), expected);
    ASSERT_EQ(set_a.Union(set_b), set_b.Union(set_a));
    expected.clear();
    std::ranges::set_difference(a, b, std::back_inserter(expected));
    ASSERT_EQ(set_a.Difference(set_b).ToVector(), expected);
    ASSERT_EQ(set_b.ContainsAll(set_a), expected.empty());
    expected.clear();
    std::ranges::set_intersection(a, b, std::back_inserter(expected));
    ASSERT_EQ(set_a.Intersection(set_b).ToVector(), expected);
    ASSERT_EQ(set_a.Intersects(set_b), !expected.empty());
    ASSERT_EQ(set_a == set_b, a == b);
    ASSERT_TRUE(set_a.ContainsAll(set_a.Difference(set_b)));
    ASSERT_EQ(set_a.Difference(set_b).Union(set_a.Intersection(set_b)), set_a);
  }
}

TEST_F(PositionSetModelTest, LookUpsEqualThoseOfStdSet) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "DELENDA_SEED=" << seed_ << " round " << round);
    const Model model = RandomModel();
    const std::vector<uint64_t> sorted = Sorted(model);
    const PositionSet set = Build(model);
    ASSERT_EQ(set.Min(), model.empty() ? std::nullopt : std::optional(*model.begin()));
    ASSERT_EQ(set.Max(), model.empty() ? std::nullopt : std::optional(*model.rbegin()));
    std::vector<uint64_t> probes;
    for (int i = 0; i < 200; ++i) probes.push_back(Probe(model));
    const auto rank = [&](uint64_t position) {
      return static_cast<uint64_t>(std::ranges::lower_bound(sorted, position) - sorted.begin());
    };
    for (const uint64_t position : probes) {
      ASSERT_EQ(set.Contains(position), model.contains(position)) << position;
      ASSERT_EQ(set.Rank(position), rank(position)) << position;
      const uint64_t end = position + Below(3) * Below(100'000) + Below(4);
      ASSERT_EQ(set.CountInRange(position, end), rank(end) - rank(position)) << position << " to " << end;
      ASSERT_EQ(set.ContainsRange(position, end), rank(end) - rank(position) == end - position)
          << position << " to " << end;
      const uint64_t nth = Below(model.size() + 2);
      ASSERT_EQ(set.Select(nth), nth < sorted.size() ? std::optional(sorted[nth]) : std::nullopt) << nth;
    }
    std::ranges::sort(probes);
    const std::vector<uint64_t> ranks = set.RankMany(probes);
    for (size_t i = 0; i < probes.size(); ++i) ASSERT_EQ(ranks[i], rank(probes[i])) << probes[i];
  }
}

TEST_F(PositionSetModelTest, RunsAndMasksEqualThoseOfStdSet) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "DELENDA_SEED=" << seed_ << " round " << round);
    const Model model = RandomModel();
    const PositionSet set = Build(model);
    ASSERT_EQ(set.Runs(), NaiveRuns(model, 0, UINT64_MAX));
    for (int i = 0; i < 6; ++i) {
      const uint64_t begin = Probe(model);
      const uint64_t count = Below(3) == 0 ? Below(70) : Below(200'000);
      ASSERT_EQ(set.Runs(begin, begin + count), NaiveRuns(model, begin, begin + count)) << begin << " + " << count;

      std::vector<uint8_t> members((count + 7) / 8 + 1, 0xcd);
      std::vector<uint8_t> others = members;
      std::vector<uint8_t> expected_members((count + 7) / 8, 0);
      std::vector<uint8_t> expected_others = expected_members;
      uint64_t found = 0;
      auto at = model.lower_bound(begin);
      for (uint64_t row = 0; row < count; ++row) {
        const bool in = at != model.end() && *at == begin + row;
        if (in) ++at;
        found += in;
        (in ? expected_members : expected_others)[row / 8] |= static_cast<uint8_t>(1u << (row % 8));
      }
      expected_members.push_back(0xcd);  // the byte behind the mask stays
      expected_others.push_back(0xcd);
      ASSERT_EQ(set.FillMask(begin, count, members.data(), MaskBits::kMembers), found) << begin << " + " << count;
      ASSERT_EQ(set.FillMask(begin, count, others.data(), MaskBits::kNonMembers), found);
      ASSERT_TRUE(members == expected_members) << begin << " + " << count;
      ASSERT_TRUE(others == expected_others) << begin << " + " << count;
    }
  }
}

TEST_F(PositionSetModelTest, PortableBytesDependOnTheMembersOnly) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "DELENDA_SEED=" << seed_ << " round " << round);
    const Model model = RandomModel();
    const PositionSet set = Build(model);
    const Bytes bytes = set.ToPortable();
    ASSERT_EQ(bytes.size(), set.PortableSize());
    ASSERT_EQ(bytes, Build(model).ToPortable());
    const auto decoded = PositionSet::FromPortable(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().ToString();
    ASSERT_EQ(*decoded, set);
    ASSERT_EQ(decoded->ToPortable(), bytes);
  }
}

}  // namespace
}  // namespace delenda
