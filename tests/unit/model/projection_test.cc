#include <gtest/gtest.h>

#include <limits>

#include "delenda/model/partition.h"
#include "delenda/model/sorted_keys.h"

namespace delenda {
namespace {

const Schema& ProjectionSchema() {
  static const Schema kSchema = Schema::Make(0,
                                             {
                                                 {.id = 1, .name = "id", .type = TypeKind::kInt},
                                                 {.id = 2, .name = "s", .type = TypeKind::kString},
                                                 {.id = 3, .name = "ts", .type = TypeKind::kTimestamp},
                                                 {.id = 4, .name = "dt", .type = TypeKind::kDate},
                                                 {.id = 5, .name = "dec", .type = Type::Decimal(9, 2)},
                                                 {.id = 6, .name = "d", .type = TypeKind::kDouble},
                                                 {.id = 7, .name = "big", .type = TypeKind::kLong},
                                             })
                                    .value();
  return kSchema;
}

// One partition field "p" on a column.
BoundSpec SpecOf(std::string_view column, std::string_view transform) {
  PartitionSpec spec;
  spec.fields.push_back({.source_id = ProjectionSchema().FindByName(column).back()->id,
                         .field_id = 1000,
                         .name = "p",
                         .transform = Transform::Parse(transform).value()});
  return BoundSpec::Make(spec, ProjectionSchema());
}

struct ProjectionCase {
  std::string column;
  std::string transform;
  std::string filter;
  std::string projected;
};

TEST(InclusiveProjection, OfEveryTransform) {
  const std::vector<ProjectionCase> cases = {
      {"s", "identity", "s = 'eu' AND id > 5", "p = 'eu'"},
      {"s", "identity", "s = 'eu' OR id > 5", "TRUE"},
      {"s", "identity", "s IN ('a', 'b') OR s IS NULL", "p IN ('a', 'b') OR p IS NULL"},
      {"d", "identity", "d IS NAN", "p IS NAN"},
      {"s", "void", "s IS NOT NULL", "TRUE"},
      {"s", "void", "s = 'x'", "TRUE"},
      {"s", "zorder", "s = 'x'", "TRUE"},
      {"s", "hour", "s = 'x'", "TRUE"},
      {"id", "bucket[16]", "id = 34", "p = 3"},
      {"id", "bucket[16]", "id != 34", "TRUE"},
      {"id", "bucket[16]", "id < 34", "TRUE"},
      {"id", "bucket[16]", "id IS NULL", "p IS NULL"},
      {"id", "truncate[10]", "id < 20", "p <= 10"},  // no int wraps into sight, but see below
      {"id", "truncate[10]", "id <= 20", "p <= 20"},
      {"id", "truncate[10]", "id > 19", "p >= 20"},
      {"id", "truncate[10]", "id >= 19", "p >= 10"},
      {"id", "truncate[10]", "id = -1", "p = -10"},
      {"id", "truncate[10]", "id IN (1, 2, 15)", "p IN (0, 10)"},
      {"id", "truncate[10]", "id != 15", "TRUE"},
      {"id", "truncate[16]", "id < 20", "p <= 16"},
      {"id", "truncate[2000000000]", "id < 20", "TRUE"},
      {"dec", "truncate[50]", "dec < 10.50", "p <= 10.00"},
      {"dec", "truncate[50]", "dec > 10.49", "p >= 10.50"},
      {"s", "truncate[3]", "s = 'iceberg'", "p = 'ice'"},
      {"s", "truncate[3]", "s < 'iceberg'", "p <= 'ice'"},
      {"s", "truncate[3]", "s < 'ic'", "p < 'ic'"},
      {"s", "truncate[3]", "s >= 'iceberg'", "p >= 'ice'"},
      {"s", "truncate[3]", "s LIKE 'ic%'", "p STARTS WITH 'ic'"},
      {"s", "truncate[3]", "s LIKE 'ice%'", "p = 'ice'"},
      {"s", "truncate[3]", "s LIKE 'iceb%'", "p = 'ice'"},
      {"s", "truncate[3]", "s NOT LIKE 'ice%'", "p NOT STARTS WITH 'ice'"},
      {"s", "truncate[3]", "s NOT LIKE 'iceb%'", "TRUE"},
      {"s", "truncate[3]", "s != 'ic'", "p != 'ic'"},
      {"s", "truncate[3]", "s != 'ice'", "TRUE"},
      {"s", "truncate[3]", "s NOT IN ('a', 'iceberg', 'b')", "p NOT IN ('a', 'b')"},
      {"ts", "day", "ts > '2024-02-29T12:00:00'", "p >= DATE '2024-02-29'"},
      {"ts", "day", "ts < '2024-02-29T00:00:00'", "p <= DATE '2024-02-28'"},
      {"ts", "hour", "ts = '1970-01-01T05:30:00'", "p = 5"},
      {"ts", "month", "ts >= '1970-02-01'", "p >= 1"},
      {"ts", "year", "ts != '1970-02-01'", "TRUE"},
      {"dt", "day", "dt < '1969-12-31'", "p <= DATE '1969-12-30'"},
      // Old writers rounded towards zero: one too high before 1970.
      {"ts", "day", "ts < '1969-12-31T10:00:00'", "p <= DATE '1970-01-01'"},
      {"ts", "day", "ts = '1969-12-31T10:00:00'", "p IN (DATE '1969-12-31', DATE '1970-01-01')"},
      {"dt", "year", "dt <= '1968-05-01'", "p <= -1"},
      {"dt", "month", "dt = '1969-12-05'", "p IN (-1, 0)"},
      {"ts", "hour", "ts >= '1969-12-31T10:00:00'", "p >= -14"},
  };
  for (const ProjectionCase& one : cases) {
    const auto filter = BindText(one.filter, ProjectionSchema());
    ASSERT_TRUE(filter) << one.filter;
    const std::string text = ProjectInclusive(**filter, SpecOf(one.column, one.transform))->ToString();
    // truncate[10] on int: the wrapped partition of the lowest ints stays in.
    const std::string wrapped = one.projected + " OR p = 2147483646";
    const bool may_wrap = one.transform == "truncate[10]" && one.projected.find("<=") != std::string::npos;
    EXPECT_EQ(text, may_wrap ? wrapped : one.projected) << one.transform << ": " << one.filter;
  }
}

TEST(InclusiveProjection, KeepsTheLowestIntsThatWrapToTheTop) {
  const BoundSpec spec = SpecOf("id", "truncate[10]");
  const Datum least(int64_t{std::numeric_limits<int32_t>::min()});
  const Datum stored = spec.spec.fields[0].transform.Apply(TypeKind::kInt, least).value();
  for (const char* text : {"id < 0", "id <= -2147483648", "id < -2147483641", "id = -2147483648", "id >= -2147483648",
                           "id > -2147483648"}) {
    const auto projected = ProjectInclusive(*BindText(text, ProjectionSchema()).value(), spec);
    const auto value_of = [&](const BoundColumn&) -> const Datum& { return stored; };
    EXPECT_EQ(EvaluateRow(*projected, value_of), Truth::kTrue) << text << " -> " << projected->ToString();
    EXPECT_NE(ResidualFor(*BindText(text, ProjectionSchema()).value(), spec, {{stored}})->op, Op::kFalse) << text;
  }
}

// Files that were written before the column became a long: their partitions wrapped within 32 bits.
TEST(InclusiveProjection, KeepsTheLowestIntsOfAColumnThatBecameALong) {
  const Schema schema = Schema::Make(0, {{.id = 1, .name = "id", .type = TypeKind::kLong}}).value();
  PartitionSpec fields;
  fields.fields.push_back(
      {.source_id = 1, .field_id = 1000, .name = "p", .transform = Transform::Parse("truncate[10]").value()});
  const BoundSpec spec = BoundSpec::Make(fields, schema);
  const Datum least(int64_t{std::numeric_limits<int32_t>::min()});
  const Datum stored = fields.fields[0].transform.Apply(TypeKind::kInt, least).value();
  const auto value_of = [&](const BoundColumn&) -> const Datum& { return stored; };
  for (const char* text : {"id < 0", "id <= -2147483648", "id < -2147483641", "id = -2147483648",
                           "id IN (3, -2147483648)", "id >= -2147483648", "id > -2147483648"}) {
    const ExprRef filter = BindText(text, schema).value();
    EXPECT_EQ(EvaluateRow(*ProjectInclusive(*filter, spec), value_of), Truth::kTrue) << text;
    EXPECT_NE(ResidualFor(*filter, spec, {{stored}})->op, Op::kFalse) << text;
  }
  EXPECT_NE(ResidualFor(*BindText("id > 0", schema).value(), spec, {{stored}})->op, Op::kTrue);
  const SortedKeys keys({{{.field_id = 1, .type = TypeKind::kLong, .name = "id", .path = {1}},
                          SortedValues::Of({least, Datum(int64_t{3})})}});
  EXPECT_TRUE(keys.InPartitionsOf(spec).CouldBeIn(PartitionTuple{{stored}}));
  EXPECT_FALSE(keys.InPartitionsOf(spec).CouldBeIn(PartitionTuple{{Datum(int64_t{10})}}));
}

TEST(InclusiveProjection, OfTwoFieldsOnOneColumnAsksBoth) {
  PartitionSpec spec;
  spec.fields.push_back({.source_id = 3, .field_id = 1000, .name = "y", .transform = Transform::Parse("year").value()});
  spec.fields.push_back({.source_id = 3, .field_id = 1001, .name = "h", .transform = Transform::Parse("hour").value()});
  const BoundSpec bound = BoundSpec::Make(spec, ProjectionSchema());
  EXPECT_EQ(ProjectInclusive(*BindText("ts >= '1971-01-01'", ProjectionSchema()).value(), bound)->ToString(),
            "y >= 1 AND h >= 8760");
}

struct ResidualCase {
  std::string column;
  std::string transform;
  std::string filter;
  Datum value;
  std::string residual;
};

TEST(Residual, ReplacesWhatThePartitionDecides) {
  using std::string;
  const auto text = [](std::string value) { return Datum(std::move(value)); };
  const auto num = [](int64_t value) { return Datum(value); };
  const std::vector<ResidualCase> cases = {
      {"s", "identity", "s = 'eu' AND id > 5", text("eu"), "id > 5"},
      {"s", "identity", "s = 'eu' AND id > 5", text("us"), "FALSE"},
      {"s", "identity", "s = 'eu' OR id > 5", text("us"), "id > 5"},
      {"s", "identity", "s != 'eu'", Datum(), "FALSE"},
      {"s", "identity", "s IS NULL", Datum(), "TRUE"},
      {"d", "identity", "d > 5", Datum(std::numeric_limits<double>::quiet_NaN()), "TRUE"},
      {"d", "identity", "d IS NOT NAN", Datum(), "TRUE"},
      {"s", "void", "s IS NULL", Datum(), "s IS NULL"},
      {"s", "zorder", "s IS NULL", Datum(), "s IS NULL"},
      {"id", "bucket[16]", "id = 34", num(3), "id = 34"},
      {"id", "bucket[16]", "id = 34", num(4), "FALSE"},
      {"id", "bucket[16]", "id != 34", num(4), "TRUE"},
      {"id", "bucket[16]", "id != 34", num(3), "id != 34"},
      {"id", "bucket[16]", "id < 34", num(3), "id < 34"},
      {"id", "bucket[16]", "id < 34", Datum(), "FALSE"},
      {"id", "truncate[10]", "id < 20", num(10), "TRUE"},
      {"id", "truncate[10]", "id < 19", num(10), "id < 19"},
      {"id", "truncate[10]", "id < 10", num(10), "FALSE"},
      {"id", "truncate[10]", "id >= 10", num(10), "TRUE"},
      {"id", "truncate[10]", "id = 25", num(10), "FALSE"},
      {"id", "truncate[1]", "id = 25", num(25), "TRUE"},
      {"id", "truncate[10]", "id != 25", num(10), "TRUE"},
      {"id", "truncate[10]", "id NOT IN (25, 35)", num(10), "TRUE"},
      {"dec", "truncate[50]", "dec < 10.50", Datum(Int128{1000}), "TRUE"},
      {"s", "truncate[3]", "s < 'icf'", text("ice"), "TRUE"},
      {"s", "truncate[3]", "s < 'ice'", text("ice"), "FALSE"},
      {"s", "truncate[3]", "s < 'iceb'", text("ice"), "s < 'iceb'"},
      {"s", "truncate[3]", "s >= 'ice'", text("ice"), "TRUE"},
      {"s", "truncate[3]", "s > 'ic'", text("ice"), "TRUE"},
      {"s", "truncate[3]", "s = 'ic'", text("ic"), "TRUE"},
      {"s", "truncate[3]", "s = 'iceberg'", text("ice"), "s = 'iceberg'"},
      {"s", "truncate[3]", "s LIKE 'ic%'", text("ice"), "TRUE"},
      {"s", "truncate[3]", "s LIKE 'iceb%'", text("ice"), "s STARTS WITH 'iceb'"},
      {"s", "truncate[3]", "s NOT LIKE 'x%'", text("ice"), "TRUE"},
      {"ts", "day", "ts >= '2024-02-29T12:00'", num(19783), "TRUE"},  // 2024-03-01
      {"ts", "day", "ts >= '2024-02-29T12:00'", num(19782), "ts >= TIMESTAMP '2024-02-29T12:00:00.000000'"},
      {"ts", "day", "ts >= '2024-02-29T12:00'", num(19781), "FALSE"},
      {"dt", "day", "dt = '1970-01-01'", num(0), "TRUE"},
      // Partition 0 of an old writer holds the end of 1969 too.
      {"ts", "day", "ts >= '1970-01-01'", num(0), "ts >= TIMESTAMP '1970-01-01T00:00:00.000000'"},
      {"ts", "day", "ts >= '1969-12-31'", num(0), "TRUE"},
      {"ts", "year", "ts < '1971-01-01'", num(0), "TRUE"},
      {"dt", "month", "dt >= '1970-01-01'", num(1), "TRUE"},
      {"dt", "month", "dt >= '1970-01-01'", num(0), "dt >= DATE '1970-01-01'"},
  };
  for (const ResidualCase& one : cases) {
    const auto filter = BindText(one.filter, ProjectionSchema());
    ASSERT_TRUE(filter) << one.filter;
    EXPECT_EQ(ResidualFor(**filter, SpecOf(one.column, one.transform), {{one.value}})->ToString(), one.residual)
        << one.transform << ": " << one.filter;
  }
}

}  // namespace
}  // namespace delenda
