#include "delenda/io/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "delenda/io/counting_file_io.h"

namespace delenda::io {
namespace {

using Members = std::vector<size_t>;

struct GroupCase {
  std::string_view rule;
  std::vector<ByteRange> wanted;
  std::vector<std::pair<ByteRange, Members>> groups;
};

TEST(GroupRanges, Rules) {
  const RangeOptions options{.max_gap = 10, .max_size = 100};
  const std::vector<GroupCase> cases = {
      {"nothing wanted", {}, {}},
      {"neighbours join", {{0, 5}, {5, 5}}, {{{0, 10}, {0, 1}}}},
      {"order does not matter", {{5, 5}, {0, 5}}, {{{0, 10}, {1, 0}}}},
      {"a gap of max_gap joins", {{0, 5}, {15, 5}}, {{{0, 20}, {0, 1}}}},
      {"a gap above max_gap parts", {{0, 5}, {16, 5}}, {{{0, 5}, {0}}, {{16, 5}, {1}}}},
      {"max_size is reached", {{0, 60}, {60, 40}}, {{{0, 100}, {0, 1}}}},
      {"max_size parts", {{0, 60}, {60, 41}}, {{{0, 60}, {0}}, {{60, 41}, {1}}}},
      {"one range may be larger than max_size", {{0, 500}}, {{{0, 500}, {0}}}},
      {"a range inside another needs no request", {{0, 500}, {100, 5}}, {{{0, 500}, {0, 1}}}},
      {"equal ranges are read once", {{7, 3}, {7, 3}}, {{{7, 3}, {0, 1}}}},
      {"overlap", {{0, 10}, {5, 10}}, {{{0, 15}, {0, 1}}}},
      {"empty ranges", {{50, 0}, {0, 4}}, {{{0, 4}, {1}}, {{50, 0}, {0}}}},
      {"the end of the number range", {{~uint64_t{0} - 4, 4}, {~uint64_t{0}, 0}}, {{{~uint64_t{0} - 4, 4}, {0, 1}}}},
  };
  for (const GroupCase& c : cases) {
    const auto groups = GroupRanges(c.wanted, options);
    ASSERT_TRUE(groups) << c.rule;
    std::vector<std::pair<ByteRange, Members>> found;
    for (const RangeGroup& group : *groups) found.emplace_back(group.range, group.members);
    EXPECT_EQ(found, c.groups) << c.rule;
  }
}

TEST(GroupRanges, RefusesRangesPastTheNumberRange) {
  const std::vector<ByteRange> wanted = {{~uint64_t{0}, 1}};
  EXPECT_EQ(GroupRanges(wanted).error().kind(), ErrorKind::kCorrupt);
}

TEST(GroupRanges, CoverEveryRangeOnceWithinTheLimits) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const RangeOptions options{.max_gap = random() % 20, .max_size = 1 + random() % 200};
    std::vector<ByteRange> wanted(random() % 30);
    for (ByteRange& range : wanted) range = {random() % 1000, random() % 40};
    const auto groups = *GroupRanges(wanted, options);
    std::vector<int> seen(wanted.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      const ByteRange all = groups[g].range;
      if (groups[g].members.size() > 1 && all.length > options.max_size) {
        EXPECT_EQ(all, wanted[groups[g].members.front()]) << "seed " << seed;  // one large range and others inside
      }
      if (g > 0) {
        EXPECT_LE(groups[g - 1].range.offset, all.offset) << "seed " << seed;
      }
      for (const size_t i : groups[g].members) {
        ++seen[i];
        EXPECT_GE(wanted[i].offset, all.offset) << "seed " << seed;
        EXPECT_LE(wanted[i].offset + wanted[i].length, all.offset + all.length) << "seed " << seed;
      }
    }
    for (const int times : seen) EXPECT_EQ(times, 1) << "seed " << seed;
  }
}

class ReadRangesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < 1000; ++i) text_ += static_cast<char>(i % 251);
    auto file = *io_.Create("/f");
    ASSERT_TRUE(file->Write(AsBytes(text_)));
    ASSERT_TRUE(file->Close());
  }
  std::string text_;
  CountingFileIO io_{MakeMemoryFileIO()};
};

TEST_F(ReadRangesTest, ReturnsTheRangesInTheOrderAskedForWithOneReadPerGroup) {
  const auto file = *io_.Open("/f");
  const std::vector<ByteRange> wanted = {{500, 10}, {0, 10}, {15, 5}, {515, 20}, {0, 0}};
  const auto found = ReadRanges(*file, wanted, {.max_gap = 8, .max_size = 1000});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(AsText((*found)[i].view), text_.substr(wanted[i].offset, wanted[i].length)) << i;
  }
  EXPECT_EQ(io_.Snapshot().reads, 2u);
  EXPECT_EQ(io_.Snapshot().bytes_read, 20u + 35u);
}

TEST_F(ReadRangesTest, RefusesRangesPastTheEndWithoutAllocatingThem) {
  const auto file = *io_.Open("/f", uint64_t{1} << 60);
  for (const ByteRange range :
       {ByteRange{990, 11}, ByteRange{5000, 1}, ByteRange{0, uint64_t{1} << 50}, ByteRange{~uint64_t{0}, 2}}) {
    const auto found = ReadRanges(*file, std::span(&range, 1));
    ASSERT_FALSE(found) << range.offset;
    EXPECT_EQ(found.error().kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(found.error().context().front().second, "/f");
    EXPECT_EQ(ReadRange(*file, range).error().kind(), ErrorKind::kCorrupt);
  }
}

}  // namespace
}  // namespace delenda::io
