// Keys against statistics and partitions: nothing that holds a key is ruled out, and what can be ruled out is.
#include "delenda/model/sorted_keys.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "support/seed.h"

namespace delenda {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

SortedValues Longs(std::vector<int64_t> values, bool has_null = false) {
  return SortedValues::OfIntegers(std::move(values), has_null);
}
SortedValues Texts(const std::vector<std::string>& values) {
  return SortedValues::Of(std::vector<Datum>(values.begin(), values.end()));
}
SortedValues Doubles(const std::vector<double>& values) {
  return SortedValues::Of(std::vector<Datum>(values.begin(), values.end()));
}
ColumnStats Between(Datum lower, Datum upper) { return {.lower = std::move(lower), .upper = std::move(upper)}; }

TEST(SortedValues, LieInStatisticsThatMayHoldOneOfThem) {
  const auto big = [](int64_t value) { return Datum(Int128{value} << 64); };
  struct Case {
    const char* name;
    SortedValues values;
    ColumnStats stats;
    bool expected;
  };
  const Case cases[] = {
      {"no values", Longs({}), {}, false},
      {"nothing is known", Longs({5}), {}, true},
      {"a gap holds the bounds", Longs({5, 20}), Between(Datum(int64_t{6}), Datum(int64_t{19})), false},
      {"the lower bound", Longs({5, 20}), Between(Datum(int64_t{5}), Datum(int64_t{19})), true},
      {"the upper bound", Longs({5, 20}), Between(Datum(int64_t{6}), Datum(int64_t{20})), true},
      {"below all", Longs({5, 20}), Between(Datum(int64_t{-9}), Datum(int64_t{4})), false},
      {"above all", Longs({5, 20}), Between(Datum(int64_t{21}), Datum(int64_t{99})), false},
      {"a lower bound alone", Longs({5}), {.lower = Datum(int64_t{6})}, false},
      {"a lower bound alone, below", Longs({5}), {.lower = Datum(int64_t{4})}, true},
      {"an upper bound alone", Longs({5}), {.upper = Datum(int64_t{4})}, false},
      {"an upper bound alone, above", Longs({5}), {.upper = Datum(int64_t{6})}, true},
      {"bounds of another type", Longs({5}), Between(Datum("a"), Datum("b")), true},
      {"no rows", Longs({5}, true), {.value_count = 0}, false},
      {"only NULLs, none wanted", Longs({5}), {.value_count = 3, .null_count = 3}, false},
      {"only NULLs, wanted", Longs({5}, true), {.value_count = 3, .null_count = 3}, true},
      {"NULLs unknown, wanted", Longs({5}, true), Between(Datum(int64_t{6}), Datum(int64_t{7})), true},
      {"no NULLs, wanted",
       Longs({5}, true),
       {.null_count = 0, .lower = Datum(int64_t{6}), .upper = Datum(int64_t{7})},
       false},
      {"NULL alone, none there", Longs({}, true), {.null_count = 0}, false},
      {"texts in a gap", Texts({"ab", "x"}), Between(Datum("abc"), Datum("b")), false},
      {"texts cut short below", Texts({"abcdef"}), Between(Datum("abc"), Datum("abd")), true},
      {"bytes above 127 are high", Texts({"\xff"}), Between(Datum("a"), Datum("b")), false},
      {"decimals beyond 64 bits", SortedValues::Of({big(3)}), Between(big(1), big(2)), false},
      {"decimals beyond 64 bits, within", SortedValues::Of({big(3)}), Between(big(1), big(4)), true},
      {"NaN is not in the bounds", Doubles({kNan}), Between(Datum(1.0), Datum(2.0)), true},
      {"NaN, none there", Doubles({kNan}), {.nan_count = 0, .lower = Datum(1.0), .upper = Datum(2.0)}, false},
      {"NaN and a number", Doubles({kNan, 1.5}), {.nan_count = 0, .lower = Datum(1.0), .upper = Datum(2.0)}, true},
      {"NaN as a bound says nothing", Doubles({7.0}), Between(Datum(kNan), Datum(kNan)), true},
      {"-0.0 lies at 0.0", Doubles({-0.0}), Between(Datum(0.0), Datum(1.0)), true},
      {"true and false", SortedValues::Of({Datum(true)}), Between(Datum(false), Datum(false)), false},
  };
  for (const Case& one : cases) EXPECT_EQ(one.values.CouldLieIn(one.stats), one.expected) << one.name;
}

TEST(SortedValues, ContainPartitionValues) {
  EXPECT_TRUE(Longs({3, 1}).Contains(Datum(int64_t{3})));
  EXPECT_FALSE(Longs({3, 1}).Contains(Datum(int64_t{2})));
  EXPECT_FALSE(Longs({3, 1}).Contains(Datum()));
  EXPECT_TRUE(Longs({3, 1}, true).Contains(Datum()));
  EXPECT_TRUE(Doubles({kNan}).Contains(Datum(-kNan)));
  EXPECT_FALSE(Doubles({1.0}).Contains(Datum(kNan)));
  EXPECT_TRUE(Doubles({0.0}).Contains(Datum(-0.0)));
  EXPECT_TRUE(Longs({3}).Contains(Datum("a"))) << "of another type: not ruled out";
  EXPECT_FALSE(SortedValues().Contains(Datum(int64_t{1})));
}

BoundColumn ColumnOf(int32_t id, Type type) {
  return {.field_id = id, .type = std::move(type), .name = "c", .path = {id}};
}

TEST(SortedKeys, OfSeveralColumnsAreRuledOutByEachOfThem) {
  const SortedKeys keys(
      {{ColumnOf(1, TypeKind::kLong), Longs({1, 9})}, {ColumnOf(2, TypeKind::kString), Texts({"eu"})}});
  const auto could = [&](std::optional<ColumnStats> ids, std::optional<ColumnStats> regions) {
    return keys.CouldHold([&](const BoundColumn& column) { return column.field_id == 1 ? ids : regions; });
  };
  const auto ids = [](int64_t lower, int64_t upper) { return Between(Datum(lower), Datum(upper)); };
  EXPECT_TRUE(could(ids(0, 5), Between(Datum("eu"), Datum("us"))));
  EXPECT_FALSE(could(ids(2, 8), Between(Datum("eu"), Datum("us"))));
  EXPECT_FALSE(could(ids(0, 5), Between(Datum("us"), Datum("us"))));
  EXPECT_TRUE(could(std::nullopt, std::nullopt));
  EXPECT_FALSE(SortedKeys({{ColumnOf(1, TypeKind::kLong), Longs({})}}).CouldHold([](const BoundColumn&) {
    return std::optional<ColumnStats>();
  })) << "no key is in no file";
}

BoundSpec SpecOf(const std::vector<std::pair<int32_t, const char*>>& fields, const Schema& schema) {
  PartitionSpec spec;
  for (const auto& [source, transform] : fields) {
    spec.fields.push_back({.source_id = source,
                           .field_id = static_cast<int32_t>(1000 + spec.fields.size()),
                           .name = "p",
                           .transform = Transform::Parse(transform).value()});
  }
  return BoundSpec::Make(spec, schema);
}

Schema LongAndText() {
  return Schema::Make(0, {{.id = 1, .name = "id", .type = TypeKind::kLong},
                          {.id = 2, .name = "region", .type = TypeKind::kString},
                          {.id = 3, .name = "ts", .type = TypeKind::kTimestamp}})
      .value();
}

TEST(KeyPartitions, PinEveryFieldThatComesFromAKeyColumn) {
  const Schema schema = LongAndText();
  const SortedKeys keys({{ColumnOf(1, TypeKind::kLong), Longs({7, 23})},
                         {ColumnOf(2, TypeKind::kString), SortedValues::Of({Datum("eu-west"), Datum()})}});
  const BoundSpec spec = SpecOf({{1, "truncate[10]"}, {3, "day"}, {2, "truncate[2]"}, {1, "void"}}, schema);
  const KeyPartitions partitions = keys.InPartitionsOf(spec);
  const auto could = [&](Datum tens, Datum region) {
    return partitions.CouldBeIn(PartitionTuple{{std::move(tens), Datum(int64_t{5}), std::move(region), Datum()}});
  };
  EXPECT_TRUE(could(Datum(int64_t{0}), Datum("eu")));
  EXPECT_TRUE(could(Datum(int64_t{20}), Datum()));
  EXPECT_FALSE(could(Datum(int64_t{10}), Datum("eu")));
  EXPECT_FALSE(could(Datum(int64_t{0}), Datum("us")));
  EXPECT_FALSE(could(Datum(), Datum("eu"))) << "id is never NULL in the keys";

  const auto summaries = [&](int64_t lower, int64_t upper, bool nulls) {
    return partitions.CouldBeIn([&](const BoundColumn& field) -> std::optional<ColumnStats> {
      if (field.field_id == 1000)
        return ColumnStats{.null_count = nulls ? std::nullopt : std::optional<int64_t>(0),
                           .lower = Datum(lower),
                           .upper = Datum(upper)};
      return std::nullopt;
    });
  };
  EXPECT_FALSE(summaries(10, 10, true));
  EXPECT_TRUE(summaries(10, 20, false));
}

TEST(KeyPartitions, OfUnpartitionedAndUnknownFieldsRuleNothingOut) {
  const Schema schema = LongAndText();
  const SortedKeys keys({{ColumnOf(1, TypeKind::kLong), Longs({7})}});
  for (const char* transform : {"void", "from_the_future"}) {
    const KeyPartitions partitions = keys.InPartitionsOf(SpecOf({{1, transform}}, schema));
    EXPECT_TRUE(partitions.empty()) << transform;
    EXPECT_TRUE(partitions.CouldBeIn(PartitionTuple{{Datum(int64_t{3})}})) << transform;
  }
  EXPECT_TRUE(keys.InPartitionsOf(SpecOf({}, schema)).CouldBeIn(PartitionTuple{}));
  EXPECT_TRUE(keys.InPartitionsOf(SpecOf({{2, "identity"}}, schema)).CouldBeIn(PartitionTuple{{Datum("us")}}));
  const SortedKeys none({{ColumnOf(1, TypeKind::kLong), Longs({})}});
  EXPECT_FALSE(none.InPartitionsOf(SpecOf({}, schema)).CouldBeIn(PartitionTuple{}));
}

// Iceberg Java before 1.0 stored partitions of times before 1970 one too high.
TEST(KeyPartitions, FindTimesBefore1970WhereOldWritersPutThem) {
  const Schema schema = LongAndText();
  const int64_t noon_before = -int64_t{12} * 3600 * 1000000;
  const SortedKeys keys({{ColumnOf(3, TypeKind::kTimestamp), Longs({noon_before})}});
  const KeyPartitions partitions = keys.InPartitionsOf(SpecOf({{3, "day"}}, schema));
  EXPECT_TRUE(partitions.CouldBeIn(PartitionTuple{{Datum(int64_t{-1})}}));
  EXPECT_TRUE(partitions.CouldBeIn(PartitionTuple{{Datum(int64_t{0})}}));
  EXPECT_FALSE(partitions.CouldBeIn(PartitionTuple{{Datum(int64_t{1})}}));
  EXPECT_FALSE(partitions.CouldBeIn(PartitionTuple{{Datum(int64_t{-2})}}));
}

// Random keys and rows: rows in their partitions, files described by statistics of which parts are missing.
TEST(SortedKeys, NeverLoseAFileThatHoldsAKey) {
  const uint64_t seed = delenda::testing::Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  const Schema schema = LongAndText();
  const std::vector<std::vector<const char*>> transforms = {{"identity", "bucket[4]", "truncate[7]", "void"},
                                                            {"identity", "bucket[3]", "truncate[1]"},
                                                            {"year", "day", "hour"}};
  const auto value = [&](int32_t column) -> Datum {
    if (below(8) == 0) return {};
    if (column == 1) return Datum(below(60) - 30);
    if (column == 2) return Datum(std::string(static_cast<size_t>(below(4)), static_cast<char>('a' + below(3))));
    return Datum((below(200) - 100) * 3'600'000'000);
  };
  int ruled_out = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto columns = static_cast<int32_t>(1 + below(3));
    std::vector<std::vector<Datum>> keys(static_cast<size_t>(1 + below(6)));
    for (auto& key : keys) {
      for (int32_t column = 1; column <= columns; ++column) key.push_back(value(column));
    }
    std::vector<SortedKeys::Column> sorted_columns;
    std::vector<std::pair<int32_t, const char*>> fields;
    for (int32_t column = 1; column <= columns; ++column) {
      const auto at = static_cast<size_t>(column - 1);
      std::vector<Datum> values;
      for (const auto& key : keys) values.push_back(key[at]);
      sorted_columns.push_back(
          {ColumnOf(column, schema.FindById(column)[0]->type), SortedValues::Of(std::move(values))});
      const auto& choice = transforms[at];
      fields.emplace_back(column, choice[static_cast<size_t>(below(choice.size()))]);
    }
    const SortedKeys sorted(std::move(sorted_columns));
    const BoundSpec spec = SpecOf(fields, schema);
    const KeyPartitions partitions = sorted.InPartitionsOf(spec);

    std::vector<std::vector<Datum>> rows(static_cast<size_t>(1 + below(4)));
    for (auto& row : rows) {
      for (int32_t column = 1; column <= columns; ++column) row.push_back(value(column));
    }
    const auto same = [](const std::vector<Datum>& a, const std::vector<Datum>& b) {
      return PartitionTuple{a} == PartitionTuple{b};
    };
    bool holds = false;
    for (const auto& row : rows) {
      const bool is_key = std::ranges::any_of(keys, [&](const auto& key) { return same(row, key); });
      holds = holds || is_key;
      PartitionTuple tuple;
      for (size_t i = 0; i < row.size(); ++i)
        tuple.values.push_back(spec.spec.fields[i].transform.Apply(spec.source_types[i], row[i]).value());
      const bool could = partitions.CouldBeIn(tuple);
      ASSERT_TRUE(could || !is_key) << round;
      ruled_out += could ? 0 : 1;
    }
    const auto stats = [&](const BoundColumn& column) -> std::optional<ColumnStats> {
      const auto at = static_cast<size_t>(column.field_id - 1);
      ColumnStats known{.value_count = static_cast<int64_t>(rows.size()), .null_count = 0};
      for (const auto& row : rows) {
        if (IsNull(row[at])) {
          ++*known.null_count;
          continue;
        }
        if (!known.lower || CompareDatum(row[at], *known.lower) < 0) known.lower = row[at];
        if (!known.upper || CompareDatum(row[at], *known.upper) > 0) known.upper = row[at];
      }
      if (below(5) == 0) known.lower.reset();
      if (below(5) == 0) known.upper.reset();
      if (below(5) == 0) known.null_count.reset();
      return below(9) == 0 ? std::nullopt : std::optional(known);
    };
    const bool could = sorted.CouldHold(stats);
    ASSERT_TRUE(could || !holds) << round;
    ruled_out += could ? 0 : 1;
  }
  EXPECT_GT(ruled_out, 500);
}

}  // namespace
}  // namespace delenda
