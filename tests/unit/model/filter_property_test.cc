// Filters against their naive meaning, on random rows. Each failure prints the seed of its round.
#include <gtest/gtest.h>

#include <algorithm>

#include "delenda/model/partition.h"
#include "delenda/model/pruning.h"
#include "unit/model/random_filter.h"

namespace delenda {
namespace {

constexpr int kRounds = 2'000;

std::function<const Datum&(const BoundColumn&)> ValuesOf(const RandomRow& row) {
  return [&row](const BoundColumn& column) -> const Datum& { return row[static_cast<size_t>(column.field_id - 1)]; };
}

bool Selects(const Expr& expr, const RandomRow& row) { return EvaluateRow(expr, ValuesOf(row)) == Truth::kTrue; }

template <typename Round>
void ForRandomFilters(const Round& round) {
  const uint64_t base = std::random_device{}();
  for (uint64_t i = 0; i < kRounds; ++i) {
    const uint64_t seed = base + i;
    RandomModel model(seed);
    const NaiveFilter filter = RandomFilters(&model).Any(static_cast<int>(model.Between(0, 4)));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, filter.text));
    const auto expr = BindText(filter.text, RandomSchema());
    ASSERT_TRUE(expr) << expr.error().ToString();
    round(&model, filter, **expr);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomFilter, SelectsWhatPlainReadingSelectsAlsoUnderNot) {
  ForRandomFilters([](RandomModel* model, const NaiveFilter& filter, const Expr& expr) {
    const NaiveFilter negation = RandomFilters::Not(filter);
    const auto negated = BindText(negation.text, RandomSchema());
    ASSERT_TRUE(negated) << negated.error().ToString();
    for (int i = 0; i < 10; ++i) {
      const RandomRow row = model->Row();
      const Truth truth = filter.evaluate(row);
      ASSERT_EQ(Selects(expr, row), truth == Truth::kTrue) << expr.ToString();
      ASSERT_EQ(Selects(**negated, row), truth == Truth::kFalse) << (*negated)->ToString();
    }
  });
}

TEST(RandomFilter, TextBindsToTheEqualExpression) {
  ForRandomFilters([](RandomModel* model, const NaiveFilter&, const Expr& expr) {
    const std::string text = expr.ToString();
    const auto again = BindText(text, RandomSchema());
    ASSERT_TRUE(again) << text << ": " << again.error().ToString();
    ASSERT_EQ((*again)->ToString(), text);
    for (int i = 0; i < 5; ++i) {
      const RandomRow row = model->Row();
      ASSERT_EQ(EvaluateRow(expr, ValuesOf(row)), EvaluateRow(**again, ValuesOf(row))) << text;
    }
  });
}

// Statistics of a column over rows, with parts left out and text bounds cut short at random.
std::optional<ColumnStats> StatsOver(RandomModel* model, const std::vector<RandomRow>& rows, size_t column) {
  if (model->Chance(5)) return std::nullopt;
  ColumnStats stats;
  int64_t nulls = 0;
  int64_t nans = 0;
  for (const RandomRow& row : rows) {
    const Datum& value = row[column];
    if (IsNull(value)) ++nulls;
    if (IsNan(value)) ++nans;
    if (IsNull(value) || IsNan(value)) continue;
    if (!stats.lower || CompareDatum(value, *stats.lower) < 0) stats.lower = value;
    if (!stats.upper || CompareDatum(value, *stats.upper) > 0) stats.upper = value;
  }
  if (stats.lower && std::holds_alternative<std::string>(*stats.lower) && model->Chance(50)) {
    const auto kept = static_cast<size_t>(model->Between(0, 3));
    stats.lower = Datum(std::get<std::string>(*stats.lower).substr(0, kept));
    std::string upper = std::get<std::string>(*stats.upper);
    if (upper.size() > kept) {
      upper.resize(kept);
      while (!upper.empty() && upper.back() == '\xff') upper.pop_back();
      if (!upper.empty()) upper.back() = static_cast<char>(static_cast<unsigned char>(upper.back()) + 1);
      stats.upper = upper.empty() ? std::optional<Datum>() : std::optional<Datum>(upper);
    }
  }
  if (model->Chance(80)) stats.value_count = static_cast<int64_t>(rows.size());
  if (model->Chance(80)) stats.null_count = nulls;
  if (model->Chance(70)) stats.nan_count = nans;
  if (model->Chance(10)) stats.lower.reset();
  if (model->Chance(10)) stats.upper.reset();
  return stats;
}

TEST(RandomFilter, PruningNeverLosesAMatchingRow) {
  int pruned = 0;
  ForRandomFilters([&](RandomModel* model, const NaiveFilter&, const Expr& expr) {
    for (int set = 0; set < 3; ++set) {
      std::vector<RandomRow> rows;
      for (int64_t i = model->Between(1, 4); i > 0; --i) rows.push_back(model->Row());
      std::vector<std::optional<ColumnStats>> stats;
      for (size_t column = 0; column < RandomSchema().fields().size(); ++column)
        stats.push_back(StatsOver(model, rows, column));
      const bool could =
          CouldMatch(expr, [&](const BoundColumn& column) { return stats[static_cast<size_t>(column.field_id - 1)]; });
      const bool matches =
          std::any_of(rows.begin(), rows.end(), [&](const RandomRow& row) { return Selects(expr, row); });
      ASSERT_TRUE(could || !matches) << expr.ToString();
      if (!could) ++pruned;
    }
  });
  EXPECT_GT(pruned, kRounds / 4) << "pruning that never prunes proves nothing";
}

BoundSpec RandomSpec(RandomModel* model) {
  PartitionSpec spec;
  const std::vector<std::string> names = {"identity",    "bucket[1]",    "bucket[3]",    "truncate[1]", "truncate[2]",
                                          "truncate[7]", "truncate[10]", "truncate[16]", "year",        "month",
                                          "day",         "hour",         "void",         "zorder"};
  const int64_t count = model->Between(1, 4);
  while (static_cast<int64_t>(spec.fields.size()) < count) {
    const Field& source = model->Pick(RandomSchema().fields());
    const Transform transform = Transform::Parse(model->Pick(names)).value();
    const bool fits =
        transform.kind() == Transform::Kind::kUnknown || transform.Apply(source.type, Datum()).has_value();
    if (!fits) continue;
    const auto id = static_cast<int32_t>(1000 + spec.fields.size());
    spec.fields.push_back(
        {.source_id = source.id, .field_id = id, .name = fmt::format("p{}", id), .transform = transform});
  }
  return BoundSpec::Make(spec, RandomSchema());
}

// The tuple as a writer makes it; an old writer has calendar values before 1970 one too high.
PartitionTuple TupleOf(RandomModel* model, const BoundSpec& spec, const RandomRow& row) {
  PartitionTuple tuple;
  for (size_t i = 0; i < spec.spec.fields.size(); ++i) {
    const Transform& transform = spec.spec.fields[i].transform;
    if (transform.kind() == Transform::Kind::kUnknown) {
      tuple.values.push_back(model->Chance(50) ? Datum() : Datum(std::string("z")));
      continue;
    }
    Datum value =
        transform.Apply(spec.source_types[i], row[static_cast<size_t>(spec.spec.fields[i].source_id - 1)]).value();
    const bool calendar = transform.kind() == Transform::Kind::kYear || transform.kind() == Transform::Kind::kMonth ||
                          transform.kind() == Transform::Kind::kHour ||
                          (transform.kind() == Transform::Kind::kDay && spec.source_types[i].kind() != TypeKind::kDate);
    if (auto* number = std::get_if<int64_t>(&value); calendar && number != nullptr && *number < 0 && model->Chance(30))
      ++*number;
    tuple.values.push_back(std::move(value));
  }
  return tuple;
}

TEST(RandomFilter, ProjectionAndResidualAgreeWithTheRowsOfThePartition) {
  int decided = 0;
  int excluded = 0;
  ForRandomFilters([&](RandomModel* model, const NaiveFilter&, const Expr& expr) {
    const BoundSpec spec = RandomSpec(model);
    const ExprRef projected = ProjectInclusive(expr, spec);
    for (int i = 0; i < 8; ++i) {
      const RandomRow row = model->Row();
      const PartitionTuple tuple = TupleOf(model, spec, row);
      const auto partition_value = [&](const BoundColumn& column) -> const Datum& {
        return tuple.values[static_cast<size_t>(column.field_id - 1000)];
      };
      const bool in_partition = EvaluateRow(*projected, partition_value) == Truth::kTrue;
      const bool selected = Selects(expr, row);
      ASSERT_TRUE(in_partition || !selected) << projected->ToString() << " in " << PartitionText(spec, tuple);
      if (!in_partition) ++excluded;
      // The same for a manifest that holds this one partition.
      const bool manifest = CouldMatch(*projected, [&](const BoundColumn& column) -> std::optional<ColumnStats> {
        const Datum& value = partition_value(column);
        ColumnStats stats{.value_count = 1,
                          .null_count = IsNull(value) ? 1 : 0,
                          .nan_count = IsNan(value) ? 1 : 0,
                          .lower = {},
                          .upper = {}};
        if (!IsNull(value) && !IsNan(value)) stats.lower = stats.upper = value;
        return stats;
      });
      ASSERT_TRUE(manifest || !selected) << projected->ToString() << " in " << PartitionText(spec, tuple);
      const ExprRef residual = ResidualFor(expr, spec, tuple);
      ASSERT_EQ(Selects(*residual, row), selected) << residual->ToString() << " in " << PartitionText(spec, tuple);
      if (residual->ToString() != expr.ToString()) ++decided;
    }
  });
  EXPECT_GT(decided, kRounds / 2);
  EXPECT_GT(excluded, kRounds / 20);
}

}  // namespace
}  // namespace delenda
