#include "delenda/model/pruning.h"

#include <gtest/gtest.h>

#include <limits>

namespace delenda {
namespace {

const Schema& PruningSchema() {
  static const Schema kSchema = Schema::Make(0, {{.id = 1, .name = "i", .type = TypeKind::kLong},
                                                 {.id = 2, .name = "d", .type = TypeKind::kDouble},
                                                 {.id = 3, .name = "s", .type = TypeKind::kString}})
                                    .value();
  return kSchema;
}

bool Could(std::string_view text, const std::optional<ColumnStats>& stats) {
  const auto expr = BindText(text, PruningSchema());
  EXPECT_TRUE(expr) << text;
  return CouldMatch(**expr, [&](const BoundColumn&) { return stats; });
}

ColumnStats Ints(int64_t lower, int64_t upper, int64_t nulls = 0) {
  return {.value_count = 10, .null_count = nulls, .nan_count = {}, .lower = Datum(lower), .upper = Datum(upper)};
}

void ExpectAll(const std::optional<ColumnStats>& stats, const std::vector<std::pair<std::string, bool>>& cases) {
  for (const auto& [text, expected] : cases) EXPECT_EQ(Could(text, stats), expected) << text;
}

TEST(Pruning, OfNumbersFollowsTheBounds) {
  ExpectAll(Ints(10, 20), {{"i < 10", false},
                           {"i < 11", true},
                           {"i <= 9", false},
                           {"i <= 10", true},
                           {"i > 20", false},
                           {"i > 19", true},
                           {"i >= 21", false},
                           {"i >= 20", true},
                           {"i = 9", false},
                           {"i = 10", true},
                           {"i = 21", false},
                           {"i != 10", true},
                           {"i IN (1, 9, 21)", false},
                           {"i IN (1, 15)", true},
                           {"i NOT IN (1, 15)", true},
                           {"i IS NULL", false},
                           {"i IS NOT NULL", true},
                           {"i < 10 OR i > 20", false},
                           {"i < 11 AND i > 20", false},
                           {"i < 11 OR i > 20", true},
                           {"TRUE", true},
                           {"FALSE", false}});
  ExpectAll(Ints(10, 10), {{"i != 10", false}, {"i != 11", true}, {"i NOT IN (10, 11)", true}});
}

TEST(Pruning, WithoutStatisticsPrunesNothing) {
  for (const auto& stats : {std::optional<ColumnStats>(), std::optional<ColumnStats>(ColumnStats{})}) {
    for (const char* text : {"i < 10", "i = 3", "i IS NULL", "i IS NOT NULL", "d IS NAN", "d IS NOT NAN", "s LIKE 'a%'",
                             "i != 3", "s NOT LIKE 'a%'"}) {
      EXPECT_TRUE(Could(text, stats)) << text;
    }
  }
}

TEST(Pruning, UsesCountsOfRowsAndNulls) {
  const ColumnStats all_null{.value_count = 10, .null_count = 10, .nan_count = {}, .lower = {}, .upper = {}};
  ExpectAll(all_null, {{"i = 1", false},
                       {"i != 1", false},
                       {"i NOT IN (1, 2)", false},
                       {"i IS NULL", true},
                       {"i IS NOT NULL", false},
                       {"d IS NAN", false},
                       {"d IS NOT NAN", true},
                       {"s NOT LIKE 'a%'", false}});
  const ColumnStats empty{.value_count = 0, .null_count = {}, .nan_count = {}, .lower = {}, .upper = {}};
  ExpectAll(empty, {{"i = 1", false}, {"i IS NULL", false}, {"d IS NOT NAN", false}});
  EXPECT_TRUE(Could("i IS NULL", Ints(1, 2, 3)));
}

TEST(Pruning, OfFloatsCountsNanAboveEveryNumber) {
  ColumnStats stats{.value_count = 10, .null_count = 0, .nan_count = {}, .lower = Datum(1.0), .upper = Datum(2.0)};
  // Unknown count of NaN: there may be some.
  ExpectAll(stats, {{"d > 5", true},
                    {"d >= 5", true},
                    {"d < 1", false},
                    {"d <= 0.5", false},
                    {"d = 5", false},
                    {"d = 'NaN'", true},
                    {"d IS NAN", true},
                    {"d > 'NaN'", false},
                    {"d >= 'NaN'", true},
                    {"d < 'NaN'", true},
                    {"d <= 'NaN'", true},
                    {"d IN (5, 'NaN')", true},
                    {"d != 1", true}});
  stats.nan_count = 0;
  ExpectAll(stats, {{"d > 5", false},
                    {"d >= 5", false},
                    {"d = 'NaN'", false},
                    {"d IS NAN", false},
                    {"d >= 'NaN'", false},
                    {"d IN (5, 'NaN')", false},
                    {"d IS NOT NAN", true}});
  stats.nan_count = 3;
  ExpectAll(stats, {{"d > 5", true}, {"d = 'NaN'", true}, {"d < 1", false}});
  const ColumnStats only_nan{.value_count = 10, .null_count = 0, .nan_count = 10, .lower = {}, .upper = {}};
  ExpectAll(only_nan, {{"d < 5", false},
                       {"d > 5", true},
                       {"d = 5", false},
                       {"d IS NOT NAN", false},
                       {"d <= 'NaN'", true},
                       {"d < 'NaN'", false},
                       {"d IS NAN", true}});
  // Old writers let NaN into the bounds.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ColumnStats bad{.value_count = 10, .null_count = 0, .nan_count = 0, .lower = Datum(nan), .upper = Datum(nan)};
  ExpectAll(bad, {{"d < 5", true}, {"d > 5", true}, {"d = 5", true}});
  const ColumnStats zeros{.value_count = 10, .null_count = 0, .nan_count = 0, .lower = Datum(0.0), .upper = Datum(0.0)};
  ExpectAll(zeros, {{"d = -0.0", true}, {"d != 0", false}, {"d < 0", false}, {"d > 0", false}});
}

TEST(Pruning, OfTextsAllowsForCutBounds) {
  const ColumnStats stats{.value_count = 10,
                          .null_count = 0,
                          .nan_count = {},
                          .lower = Datum(std::string("abc")),
                          .upper = Datum(std::string("abf"))};
  ExpectAll(stats, {{"s LIKE 'ab%'", true},
                    {"s LIKE 'abd%'", true},
                    {"s LIKE 'abcdefgh%'", true},
                    {"s LIKE 'abb%'", false},
                    {"s LIKE 'abg%'", false},
                    {"s LIKE 'b%'", false},
                    {"s LIKE 'aa%'", false},
                    {"s LIKE 'abf%'", true},
                    {"s LIKE 'abfx%'", false},
                    {"s NOT LIKE 'ab%'", false},
                    {"s NOT LIKE 'abc%'", true},
                    {"s = 'abcd'", true},
                    {"s = 'abfx'", false}});
  const ColumnStats single{.value_count = 10,
                           .null_count = 0,
                           .nan_count = {},
                           .lower = Datum(std::string("abc")),
                           .upper = Datum(std::string("abc"))};
  EXPECT_TRUE(Could("s != 'abc'", single)) << "a bound may be cut short";
}

TEST(Pruning, IgnoresBoundsOfAnotherKind) {
  const ColumnStats stats{.value_count = 10,
                          .null_count = 0,
                          .nan_count = {},
                          .lower = Datum(std::string("x")),
                          .upper = Datum(std::string("y"))};
  for (const char* text : {"i < 10", "i > 10", "i = 10"}) EXPECT_TRUE(Could(text, stats)) << text;
}

}  // namespace
}  // namespace delenda
