// Random filters, projections, limits and splits over fixture tables, against a plain scan filtered row by row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "delenda/read/count.h"
#include "delenda/read/scan_stream.h"
#include "unit/read/read_fixture.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the fixtures' vocabulary

// A literal that lies near values of the column, as --where wants it; empty for columns that have no order.
std::string LiteralFrom(const Field& column, const Json& value) {
  if (value.is_null()) return "";
  switch (column.type.kind()) {
    case TypeKind::kInt:
    case TypeKind::kLong: return value.dump();
    case TypeKind::kFloat:
    case TypeKind::kDouble: return value.is_number() ? value.dump() : "'" + value.get<std::string>() + "'";
    case TypeKind::kDecimal: return value.get<std::string>();
    case TypeKind::kBoolean: return value.dump();
    case TypeKind::kDate: return "DATE '" + value.get<std::string>() + "'";
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz: return "TIMESTAMP '" + value.get<std::string>() + "'";
    case TypeKind::kString: {
      std::string text = "'";
      for (const char c : value.get<std::string>()) text += c == '\'' ? "''" : std::string(1, c);
      return text + "'";
    }
    case TypeKind::kUuid: return "'" + value.get<std::string>() + "'";
    case TypeKind::kBinary:
    case TypeKind::kFixed: return "X'" + value.get<std::string>() + "'";
    default: return "";
  }
}

class Queries {
 public:
  Queries(const Schema& schema, const std::vector<Json>& rows, uint64_t seed)
      : schema_(schema), rows_(rows), random_(seed) {}

  size_t Below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }

  std::string Filter(int depth) {
    const size_t shape = depth == 0 ? 0 : Below(6);
    if (shape == 1) return fmt::format("({} AND {})", Filter(depth - 1), Filter(depth - 1));
    if (shape == 2) return fmt::format("({} OR {})", Filter(depth - 1), Filter(depth - 1));
    if (shape == 3) return fmt::format("NOT ({})", Filter(depth - 1));
    const Field& column = schema_.fields()[Below(schema_.fields().size())];
    const std::string name = '"' + column.name + '"';
    if (Below(8) == 0) return name + (Below(2) == 0 ? " IS NULL" : " IS NOT NULL");
    const std::string literal = LiteralFrom(column, rows_[Below(rows_.size())][column.name]);
    if (literal.empty()) return name + " IS NOT NULL";
    if (Below(6) == 0) {
      const std::string other = LiteralFrom(column, rows_[Below(rows_.size())][column.name]);
      return fmt::format("{} {}IN ({}{})", name, Below(2) == 0 ? "NOT " : "", literal,
                         other.empty() ? "" : ", " + other);
    }
    static const std::vector<std::string> kOperators = {"=", "!=", "<", "<=", ">", ">="};
    return fmt::format("{} {} {}", name, kOperators[Below(kOperators.size())], literal);
  }

 private:
  const Schema& schema_;
  const std::vector<Json>& rows_;
  std::mt19937_64 random_;
};

// The value of a leaf's column, out of the row's JSON: an independent way from the arrays.
Datum FromJson(const Type& type, const Json& value) {
  if (value.is_null()) return Datum();
  if (type.kind() == TypeKind::kFloat && value.is_number()) return Datum(static_cast<float>(value.get<double>()));
  if (type.kind() == TypeKind::kDouble && value.is_number()) return Datum(value.get<double>());
  if (type.is_nested()) return Datum(true);  // for IS NULL only
  const auto datum = DatumFromText(type, value.is_string() ? value.get<std::string>() : value.dump());
  EXPECT_TRUE(datum) << value;
  return datum ? *datum : Datum();
}

class FixtureFilter : public ::testing::TestWithParam<std::string> {};

TEST_P(FixtureFilter, RandomQueriesReturnTheRowsThatMatch) {
  const std::string& name = GetParam();
  const std::vector<Json> rows = ReadJsonLines(name, "current.jsonl");
  ASSERT_FALSE(rows.empty());
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const Schema schema = (*PlanFixture(name))->schema;
  Queries queries(schema, rows, seed);
  for (int i = 0; i < 40; ++i) {
    plan::ScanRequest request;
    request.where = queries.Filter(2);
    request.select_all = false;
    for (const Field& field : schema.fields()) {
      if (queries.Below(3) == 0) request.select.push_back(field.name);
    }
    if (queries.Below(3) == 0) request.split_size = 4'000 + queries.Below(20'000);
    SCOPED_TRACE(request.where);
    const auto bound = BindText(request.where, schema);
    ASSERT_TRUE(bound) << bound.error().ToString();
    std::vector<Json> expected;
    for (const Json& row : rows) {
      Datum value;
      const Truth truth = EvaluateRow(**bound, [&](const BoundColumn& column) -> const Datum& {
        value = FromJson(column.type, row[column.name]);
        return value;
      });
      if (truth != Truth::kTrue) continue;
      Json projected = Json::object();
      for (const std::string& column : request.select) projected[column] = row[column];
      expected.push_back(std::move(projected));
    }
    const auto plan = PlanFixture(name, request);
    ASSERT_TRUE(plan) << plan.error().ToString();
    ReadOptions options;
    options.threads = 1 + queries.Below(3);
    options.ordered = queries.Below(2) == 0;
    options.batch_rows = static_cast<int64_t>(1 + queries.Below(300));
    const auto batches = ReadAll(*plan, FixtureIO(), options);
    ASSERT_TRUE(batches) << batches.error().ToString();
    if (request.select.empty()) {
      ASSERT_EQ(static_cast<size_t>(RowsIn(*batches)), expected.size());
    } else {
      ASSERT_EQ(Sorted(ToJson(*batches)), Sorted(expected));
    }
    const auto count = CountRows(*plan, FixtureIO(), options);
    ASSERT_TRUE(count) << count.error().ToString();
    ASSERT_EQ(count->rows, expected.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, FixtureFilter,
                         ::testing::Values("mor_dv", "mor_dv_partitioned", "mor_dv_transforms", "mor_mixed",
                                           "mor_pos_v2_partition", "pos_v2_edge", "schema_evo", "upgraded_v1",
                                           "row_lineage"),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace delenda::read
