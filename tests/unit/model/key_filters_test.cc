// Filters made of keys: what they say within their budget, and that no row with a key is lost.
#include "delenda/model/key_filters.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "support/seed.h"

namespace delenda {
namespace {

using Rows = std::vector<std::vector<Datum>>;

BoundColumn KeyColumn(int32_t id, const char* name, Type type) {
  return {.field_id = id, .type = std::move(type), .name = name, .path = {id}};
}

ExprRef FilterOf(const std::vector<BoundColumn>& columns, const Rows& rows, size_t budget) {
  std::vector<SortedKeys::Column> sorted;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<Datum> values;
    for (const auto& row : rows) values.push_back(row[i]);
    sorted.push_back({columns[i], SortedValues::Of(std::move(values))});
  }
  return KeyFilter(SortedKeys(std::move(sorted)), rows.size(), budget, [&] { return rows; });
}
const BoundColumn kId = KeyColumn(1, "id", TypeKind::kLong);
const BoundColumn kText = KeyColumn(2, "t", TypeKind::kString);
const BoundColumn kDouble = KeyColumn(3, "d", TypeKind::kDouble);

Rows Ids(const std::vector<std::pair<int64_t, int64_t>>& ranges) {
  Rows rows;
  for (const auto& [first, last] : ranges) {
    for (int64_t id = first; id <= last; ++id) rows.push_back({Datum(id)});
  }
  return rows;
}
std::string Text(const std::vector<BoundColumn>& columns, const Rows& rows, size_t budget) {
  return FilterOf(columns, rows, budget)->ToString();
}

TEST(KeyFilter, BudgetIsSharedOutAmongTheTablesFiles) {
  EXPECT_EQ(KeyComparisonBudget(std::nullopt), 200U);
  EXPECT_EQ(KeyComparisonBudget(-1), 200U);
  EXPECT_EQ(KeyComparisonBudget(0), 1000U);
  EXPECT_EQ(KeyComparisonBudget(2000), 1000U);
  EXPECT_EQ(KeyComparisonBudget(200'000), 1000U);
  EXPECT_EQ(KeyComparisonBudget(400'000), 500U);
  EXPECT_EQ(KeyComparisonBudget(1'000'000), 200U);
  EXPECT_EQ(KeyComparisonBudget(50'000'000), 200U);
}

TEST(KeyFilter, NamesFewKeys) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    std::vector<BoundColumn> columns;
    Rows rows;
    size_t budget;
    const char* expected;
  };
  const Case cases[] = {
      {{kId}, {}, 200, "FALSE"},
      {{kId}, {{Datum(int64_t{3})}}, 200, "id = 3"},
      {{kId}, {{Datum(int64_t{3})}, {Datum(int64_t{1})}}, 200, "id IN (1, 3)"},
      {{kId}, {{Datum()}}, 200, "id IS NULL"},
      {{kId}, {{Datum(int64_t{3})}, {Datum()}}, 200, "id = 3 OR id IS NULL"},
      {{kDouble}, {{Datum(nan)}, {Datum(1.5)}}, 200, "d = 1.5 OR d IS NAN"},
      {{kId, kText},
       {{Datum(int64_t{1}), Datum("a")}, {Datum(int64_t{2}), Datum()}},
       200,
       "id IN (1, 2) AND (t = 'a' OR t IS NULL)"},
      // Keys × columns is what counts: 2 × 2 are more than 3.
      {{kId, kText}, {{Datum(int64_t{1}), Datum("a")}, {Datum(int64_t{2}), Datum()}}, 3, "id >= 1 AND id <= 2"},
      {{kId, kText}, {{Datum(), Datum("a")}, {Datum(), Datum("b")}}, 3, "id IS NULL"},
  };
  for (const Case& one : cases) EXPECT_EQ(Text(one.columns, one.rows, one.budget), one.expected);
}

TEST(KeyFilter, PutsUpTo200KeysIntoOneChunk) {
  const auto filter = FilterOf({kId}, Ids({{1, 401}}), 1000);
  ASSERT_EQ(filter->op, Op::kOr);
  ASSERT_EQ(filter->children.size(), 3U);
  EXPECT_EQ(filter->children[0]->values.size(), 200U);
  EXPECT_EQ(filter->children[1]->values.size(), 200U);
  EXPECT_EQ(filter->children[2]->ToString(), "id = 401");
  EXPECT_EQ(FilterOf({kId}, Ids({{1, 200}}), 200)->op, Op::kIn);
}

TEST(KeyFilter, GivesRangesOfManyKeysBetweenTheLargestGaps) {
  EXPECT_EQ(Text({kId}, Ids({{1, 150}, {160, 300}, {7000, 7000}}), 200),
            "(id >= 1 AND id <= 150) OR (id >= 160 AND id <= 300) OR id = 7000");
  // A budget of 4 comparisons is 2 ranges: the widest gap splits.
  EXPECT_EQ(Text({kId}, Ids({{1, 3}, {5, 6}, {90, 91}}), 4), "(id >= 1 AND id <= 6) OR (id >= 90 AND id <= 91)");
  // No gap skips a value.
  EXPECT_EQ(Text({kId}, Ids({{1, 500}}), 200), "id >= 1 AND id <= 500");
  // From end to end of 64 bits.
  EXPECT_EQ(Text({kId},
                 {{Datum(std::numeric_limits<int64_t>::min())},
                  {Datum(std::numeric_limits<int64_t>::max())},
                  {Datum(int64_t{0})},
                  {Datum(int64_t{1})}},
                 3),
            "id >= -9223372036854775808 AND id <= 9223372036854775807");
  EXPECT_EQ(Text({kText}, {{Datum("key-a")}, {Datum("key-b")}, {Datum("key-y")}, {Datum()}, {Datum("key-z")}}, 4),
            "(t >= 'key-a' AND t <= 'key-b') OR (t >= 'key-y' AND t <= 'key-z') OR t IS NULL");
}

// Random keys of every shape: the filter holds for all of them, whatever the budget; IN lists for no other row of one
// column.
TEST(KeyFilter, IsTrueForEveryKey) {
  const uint64_t seed = delenda::testing::Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  const auto value = [&](const BoundColumn& column) -> Datum {
    if (below(9) == 0) return {};
    if (column.field_id == 1) return Datum(below(400) - 200);
    if (column.field_id == 2)
      return Datum(std::string(static_cast<size_t>(below(4)), static_cast<char>('a' + below(9))));
    return below(9) == 0 ? Datum(std::numeric_limits<double>::quiet_NaN()) : Datum(static_cast<double>(below(99)) / 4);
  };
  for (int round = 0; round < 400; ++round) {
    std::vector<BoundColumn> columns = {kId, kText, kDouble};
    std::ranges::shuffle(columns, random);
    columns.resize(static_cast<size_t>(1 + below(3)));
    Rows rows(static_cast<size_t>(1 + below(300)));
    for (auto& row : rows) {
      for (const auto& column : columns) row.push_back(value(column));
    }
    const auto budget = static_cast<size_t>(2 + below(600));
    const auto filter = FilterOf(columns, rows, budget);
    const auto holds = [&](const std::vector<Datum>& row) {
      return EvaluateRow(*filter, [&](const BoundColumn& column) -> const Datum& {
               const auto at = std::ranges::find(columns, column.field_id, &BoundColumn::field_id);
               return row[static_cast<size_t>(at - columns.begin())];
             }) == Truth::kTrue;
    };
    for (const auto& row : rows) ASSERT_TRUE(holds(row)) << filter->ToString();
    if (columns.size() > 1 || rows.size() > budget) continue;
    for (int i = 0; i < 50; ++i) {
      const std::vector<Datum> other = {value(columns[0])};
      const bool is_key =
          std::ranges::any_of(rows, [&](const auto& row) { return CompareDatum(row[0], other[0]) == 0; });
      ASSERT_EQ(holds(other), is_key) << filter->ToString();
    }
  }
}

TEST(PartitionPin, HoldsForTheRowsOfThePartition) {
  const Schema schema =
      Schema::Make(0, {{.id = 1, .name = "id", .type = TypeKind::kLong},
                       {.id = 2, .name = "region", .type = TypeKind::kString},
                       {.id = 3, .name = "ts", .type = TypeKind::kTimestamp},
                       {.id = 4, .name = "s", .type = Type::Struct({{.id = 5, .name = "a", .type = TypeKind::kInt}})}})
          .value();
  const auto pin = [&](int32_t source, const char* transform, Datum value) {
    PartitionSpec spec;
    spec.fields.push_back(
        {.source_id = source, .field_id = 1000, .name = "p", .transform = Transform::Parse(transform).value()});
    return PartitionPin(BoundSpec::Make(spec, schema), PartitionTuple{{std::move(value)}}, schema)->ToString();
  };
  EXPECT_EQ(pin(2, "identity", Datum("eu")), "region = 'eu'");
  EXPECT_EQ(pin(2, "identity", Datum()), "region IS NULL");
  EXPECT_EQ(pin(5, "identity", Datum(int64_t{3})), "s.a = 3");
  EXPECT_EQ(pin(2, "truncate[2]", Datum("eu")), BindText("region LIKE 'eu%'", schema).value()->ToString());
  EXPECT_EQ(pin(2, "truncate[3]", Datum("eu")), "region = 'eu'");
  EXPECT_EQ(pin(1, "truncate[10]", Datum(int64_t{-10})), "id >= -10 AND id <= -1");
  EXPECT_EQ(pin(1, "bucket[4]", Datum(int64_t{3})), "id IS NOT NULL");
  EXPECT_EQ(pin(1, "bucket[4]", Datum()), "id IS NULL");
  EXPECT_EQ(pin(1, "void", Datum()), "TRUE");
  EXPECT_EQ(pin(1, "from_the_future", Datum("x")), "TRUE");
  EXPECT_EQ(pin(3, "day", Datum(int64_t{1})),
            BindText("ts >= '1970-01-02T00:00:00' AND ts <= '1970-01-02T23:59:59.999999'", schema).value()->ToString());
}

}  // namespace
}  // namespace delenda
