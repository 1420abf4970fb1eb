// Rows from outside made rows of a table: by name, without loss, with errors that name column, row and value.
#include "delenda/write/row_conform.h"

#include <gtest/gtest.h>

#include "delenda/write/schema_from_arrow.h"
#include "unit/write/write_fixture.h"

namespace delenda::write {
namespace {

using testing::Batch;
using testing::ColumnOf;
using testing::SchemaOf;

Result<Batch> ConformOne(const std::shared_ptr<arrow::Schema>& source, const arrow::ArrayVector& columns,
                         const Schema& table, const ConformOptions& options = {}) {
  auto conformer = DELENDA_TRY(RowConformer::Make(*source, table, options));
  return conformer.Conform(*arrow::RecordBatch::Make(source, columns.empty() ? 0 : columns[0]->length(), columns));
}

// A table of one column "c", whose source column has the type.
Result<Batch> ConformColumn(const std::shared_ptr<arrow::Array>& column, const Type& type, bool parse_text = false) {
  return ConformOne(arrow::schema({arrow::field("c", column->type())}), {column},
                    SchemaOf({{.id = 1, .name = "c", .type = type}}), {.parse_text = parse_text});
}

struct CastCase {
  std::shared_ptr<arrow::DataType> source;
  std::string values;
  Type target;
  std::string expected;  // as the target has it; empty: refused
  bool parse_text = false;
};

TEST(RowConformer, CastsWhereNothingIsLost) {
  const auto utc_us = arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
  const CastCase cases[] = {
      {arrow::int8(), "[-128, null, 127]", TypeKind::kInt, "[-128, null, 127]"},
      {arrow::uint16(), "[65535]", TypeKind::kInt, "[65535]"},
      {arrow::int64(), "[2147483647, -2147483648]", TypeKind::kInt, "[2147483647, -2147483648]"},
      {arrow::uint64(), "[9223372036854775807]", TypeKind::kLong, "[9223372036854775807]"},
      {arrow::int32(), "[7]", TypeKind::kLong, "[7]"},
      {arrow::float32(), "[1.5, NaN, -0.0]", TypeKind::kDouble, "[1.5, NaN, -0.0]"},
      {arrow::int32(), "[16777216]", TypeKind::kFloat, "[16777216.0]"},
      {arrow::int64(), "[9007199254740992]", TypeKind::kDouble, "[9007199254740992.0]"},
      {arrow::decimal128(5, 2), R"(["1.23", "-999.99"])", Type::Decimal(9, 2), R"(["1.23", "-999.99"])"},
      {arrow::decimal128(5, 2), R"(["1.20"])", Type::Decimal(9, 4), R"(["1.2000"])"},
      {arrow::decimal128(9, 2), R"(["1.20"])", Type::Decimal(9, 1), R"(["1.2"])"},
      {arrow::decimal256(40, 2), R"(["1.20"])", Type::Decimal(9, 2), R"(["1.20"])"},
      {arrow::int64(), "[-12, null]", Type::Decimal(4, 2), R"(["-12.00", null])"},
      {arrow::uint64(), "[18446744073709551615]", Type::Decimal(20, 0), R"(["18446744073709551615"])"},
      {arrow::date64(), "[86400000]", TypeKind::kDate, "[1]"},
      {arrow::date32(), "[-1]", TypeKind::kTimestamp, "[-86400000000]"},
      {arrow::time32(arrow::TimeUnit::MILLI), "[5]", TypeKind::kTime, "[5000]"},
      {arrow::time64(arrow::TimeUnit::NANO), "[5000]", TypeKind::kTime, "[5]"},
      {arrow::timestamp(arrow::TimeUnit::SECOND), "[-1]", TypeKind::kTimestamp, "[-1000000]"},
      {arrow::timestamp(arrow::TimeUnit::NANO), "[-5000]", TypeKind::kTimestamp, "[-5]"},
      {arrow::timestamp(arrow::TimeUnit::MICRO), "[5]", TypeKind::kTimestampNs, "[5000]"},
      {arrow::timestamp(arrow::TimeUnit::MILLI, "Europe/Paris"), "[5]", TypeKind::kTimestampTz, "[5000]"},
      {arrow::large_utf8(), R"(["ä", null])", TypeKind::kString, R"(["ä", null])"},
      {arrow::utf8_view(), R"(["a rather long text", null])", TypeKind::kString, R"(["a rather long text", null])"},
      {arrow::dictionary(arrow::int8(), arrow::utf8()), R"(["a", null, "a"])", TypeKind::kString,
       R"(["a", null, "a"])"},
      {arrow::fixed_size_binary(2), R"(["ab"])", TypeKind::kBinary, R"(["ab"])"},
      {arrow::fixed_size_binary(16), R"(["0123456789abcdef"])", TypeKind::kUuid, R"(["0123456789abcdef"])"},
      {arrow::utf8(), R"(["30313233-3435-3637-3839-616263646566"])", TypeKind::kUuid, R"(["0123456789abcdef"])"},
      {arrow::null(), "[null, null]", TypeKind::kTimestampTz, "[null, null]"},
      {arrow::large_list(arrow::int16()), "[[1, null], null, []]",
       Type::List({.id = 2, .name = "element", .type = TypeKind::kLong}), "[[1, null], null, []]"},
      {arrow::fixed_size_list(arrow::int16(), 2), "[[1, null]]",
       Type::List({.id = 2, .name = "element", .type = TypeKind::kLong}), "[[1, null]]"},
      {arrow::struct_({arrow::field("B", arrow::int16()), arrow::field("a", arrow::utf8())}),
       R"([{"a": "x", "B": 1}, null])",
       Type::Struct({{.id = 2, .name = "a", .type = TypeKind::kString},
                     {.id = 3, .name = "b", .type = TypeKind::kLong},
                     {.id = 4, .name = "new", .type = TypeKind::kInt, .write_default = Datum(int64_t{9})}}),
       R"([{"a": "x", "b": 1, "new": 9}, null])"},
      {arrow::map(arrow::utf8(), arrow::int16()), R"([[["k", 1]], null])",
       Type::Map({.id = 2, .name = "key", .type = TypeKind::kString, .required = true},
                 {.id = 3, .name = "value", .type = TypeKind::kLong}),
       R"([[["k", 1]], null])"},
      // Texts, when they may be parsed.
      {arrow::utf8(), R"(["1", "-2147483648", "+5", null])", TypeKind::kInt, "[1, -2147483648, 5, null]", true},
      {arrow::utf8(), R"(["9223372036854775807"])", TypeKind::kLong, "[9223372036854775807]", true},
      {arrow::utf8(), R"(["1e3", "NaN", "-Infinity"])", TypeKind::kDouble, "[1000.0, NaN, -Inf]", true},
      {arrow::utf8(), R"(["12345678901234567890123456789012.345678"])", Type::Decimal(38, 6),
       R"(["12345678901234567890123456789012.345678"])", true},
      {arrow::utf8(), R"(["1970-01-02", "1969-12-31"])", TypeKind::kDate, "[1, -1]", true},
      {arrow::utf8(), R"(["1970-01-01T00:00:00.000001", "1970-01-01 00:00"])", TypeKind::kTimestamp, "[1, 0]", true},
      {arrow::utf8(), R"(["1970-01-01T01:00:00+01:00"])", TypeKind::kTimestampTz, "[0]", true},
      {arrow::utf8(), R"(["true", "false"])", TypeKind::kBoolean, "[true, false]", true},
      {arrow::utf8(), R"(["4142"])", TypeKind::kBinary, R"(["AB"])", true},
  };
  for (const CastCase& c : cases) {
    SCOPED_TRACE(c.source->ToString() + " " + c.values + " to " + c.target.ToString());
    const auto conformed = ConformColumn(ColumnOf(c.source, c.values), c.target, c.parse_text);
    ASSERT_TRUE(conformed) << conformed.error().ToString();
    ASSERT_TRUE((*conformed)->ValidateFull().ok()) << (*conformed)->ValidateFull().ToString();
    const auto type = (*conformed)->column(0)->type();
    const auto expected = ColumnOf(type, c.expected);
    EXPECT_TRUE((*conformed)->column(0)->Equals(*expected, arrow::EqualOptions::Defaults().nans_equal(true)))
        << (*conformed)->column(0)->ToString();
  }
}

TEST(RowConformer, RefusesTypesThatCouldLoseSomething) {
  const CastCase cases[] = {
      {arrow::float64(), "[]", TypeKind::kFloat, {}},
      {arrow::float64(), "[]", TypeKind::kLong, {}},
      {arrow::utf8(), "[]", TypeKind::kInt, {}},
      {arrow::int32(), "[]", TypeKind::kString, {}},
      {arrow::binary(), "[]", TypeKind::kString, {}},
      {arrow::boolean(), "[]", TypeKind::kInt, {}},
      {arrow::timestamp(arrow::TimeUnit::MICRO), "[]", TypeKind::kTimestampTz, {}},
      {arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"), "[]", TypeKind::kTimestamp, {}},
      {arrow::timestamp(arrow::TimeUnit::MICRO), "[]", TypeKind::kDate, {}},
      {arrow::date32(), "[]", TypeKind::kTimestampTz, {}},
      {arrow::fixed_size_binary(4), "[]", Type::Fixed(5), {}},
      {arrow::int32(), "[]", Type::List({.id = 2, .name = "element", .type = TypeKind::kInt}), {}},
      {arrow::list(arrow::float64()), "[]", Type::List({.id = 2, .name = "element", .type = TypeKind::kInt}), {}},
  };
  for (const CastCase& c : cases) {
    const auto conformed = ConformColumn(ColumnOf(c.source, c.values), c.target);
    ASSERT_FALSE(conformed) << c.source->ToString() << " to " << c.target.ToString();
    EXPECT_EQ(conformed.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_NE(conformed.error().message().find("without loss"), std::string::npos) << conformed.error().ToString();
  }
}

TEST(RowConformer, ValuesThatDoNotFitNameColumnRowAndValue) {
  struct Case {
    std::shared_ptr<arrow::DataType> source;
    std::string values;
    Type target;
    std::vector<std::string> parts;
    bool parse_text = false;
  };
  const Case cases[] = {
      {arrow::int64(), "[1, 2, 2147483648]", TypeKind::kInt, {"column 'c', row 3, value 2147483648"}},
      {arrow::uint64(), "[1, 9223372036854775808]", TypeKind::kLong, {"row 2", "9223372036854775808"}},
      {arrow::int64(), "[9007199254740993]", TypeKind::kDouble, {"row 1", "9007199254740993"}},
      {arrow::decimal128(9, 3), R"(["1.250", "1.251"])", Type::Decimal(9, 2), {"row 2", "1.251"}},
      {arrow::decimal128(9, 2), R"(["99.99", "100.00"])", Type::Decimal(4, 2), {"row 2", "100.00"}},
      {arrow::int32(), "[99, -100]", Type::Decimal(4, 2), {"row 2", "-100", "decimal(4, 2)"}},
      {arrow::timestamp(arrow::TimeUnit::NANO), "[1000, 1001]", TypeKind::kTimestamp, {"row 2", "lose data"}},
      {arrow::utf8(), R"(["1", "x1", "2"])", TypeKind::kInt, {"row 2, value x1", "'x1' is no value of type int"}, true},
      {arrow::utf8(), R"(["1.5"])", TypeKind::kLong, {"'1.5' is no value of type long"}, true},
      {arrow::utf8(), R"(["2024-02-30"])", TypeKind::kDate, {"2024-02-30"}, true},
      {arrow::utf8(), R"([""])", TypeKind::kInt, {"row 1"}, true},
      {arrow::list(arrow::int64()),
       "[[1], [], [2, 2147483648]]",
       Type::List({.id = 2, .name = "element", .type = TypeKind::kInt}),
       {"column 'c', row 3", "2147483648"}},
  };
  for (const Case& c : cases) {
    const auto conformed = ConformColumn(ColumnOf(c.source, c.values), c.target, c.parse_text);
    ASSERT_FALSE(conformed) << c.values;
    EXPECT_EQ(conformed.error().kind(), ErrorKind::kInvalidArgument);
    for (const std::string& part : c.parts) {
      EXPECT_NE(conformed.error().ToString().find(part), std::string::npos) << conformed.error().ToString();
    }
  }
}

// What lies in the slots below a NULL is no value.
TEST(RowConformer, HiddenValuesBelowNullStructsAreNotLookedAt) {
  const auto type = arrow::struct_({arrow::field("x", arrow::int64())});
  const auto x = ColumnOf(arrow::int64(), "[1, 99999999999]");
  const auto valid = ColumnOf(arrow::boolean(), "[true, false]")->data()->buffers[1];
  const auto column = std::make_shared<arrow::StructArray>(type, 2, arrow::ArrayVector{x}, valid, 1);
  const auto conformed = ConformColumn(column, Type::Struct({{.id = 2, .name = "x", .type = TypeKind::kInt}}));
  ASSERT_TRUE(conformed) << conformed.error().ToString();
  EXPECT_TRUE((*conformed)->column(0)->IsNull(1));
}

TEST(RowConformer, RowsAreCountedOverAllBatchesAndSlices) {
  const auto source = arrow::schema({arrow::field("c", arrow::list(arrow::int64()))});
  const Schema table =
      SchemaOf({{.id = 1, .name = "c", .type = Type::List({.id = 2, .name = "element", .type = TypeKind::kInt})}});
  auto conformer = RowConformer::Make(*source, table, {});
  ASSERT_TRUE(conformer);
  const auto batch = testing::BatchOf(source, {"[[1, 2], [3], [], [4, 5], [2147483648]]"});
  const auto first = conformer->Conform(*batch->Slice(1, 3));
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_TRUE((*first)->ValidateFull().ok());
  EXPECT_TRUE((*first)->column(0)->Equals(*ColumnOf((*first)->column(0)->type(), "[[3], [], [4, 5]]")));
  const auto second = conformer->Conform(*batch->Slice(3));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find("row 5"), std::string::npos) << second.error().ToString();
}

TEST(RowConformer, MatchesColumnsByName) {
  const Schema table = SchemaOf(
      {{.id = 1, .name = "id", .type = TypeKind::kLong, .required = true},
       {.id = 2, .name = "Name", .type = TypeKind::kString},
       {.id = 3, .name = "n", .type = TypeKind::kInt, .write_default = Datum(int64_t{5})},
       {.id = 4, .name = "req", .type = TypeKind::kInt, .required = true, .write_default = Datum(int64_t{7})}});
  const auto column = [](const char* name) { return arrow::field(name, arrow::int64()); };
  const auto ids = ColumnOf(arrow::int64(), "[1, 2]");
  const auto names = ColumnOf(arrow::utf8(), R"(["a", null])");
  const auto both = ConformOne(arrow::schema({arrow::field("name", arrow::utf8()), column("ID")}), {names, ids}, table);
  ASSERT_TRUE(both) << both.error().ToString();
  EXPECT_EQ((*both)->schema()->field_names(), (std::vector<std::string>{"id", "Name", "n", "req"}));
  EXPECT_EQ((*both)->column(2)->ToString(), ColumnOf(arrow::int32(), "[5, 5]")->ToString());
  EXPECT_EQ((*both)->column(3)->ToString(), ColumnOf(arrow::int32(), "[7, 7]")->ToString());

  struct Case {
    arrow::FieldVector fields;
    arrow::ArrayVector columns;
    const char* message;
  };
  const Case cases[] = {
      {{column("id"), column("extra")}, {ids, ids}, "the table has no column 'extra': it has id, Name, n, req"},
      {{column("id"), column("ID")}, {ids, ids}, "two columns for 'id': 'id' and 'ID'"},
      {{arrow::field("name", arrow::utf8())}, {names}, "column 'id' is required and has no default: the rows lack it"},
      {{column("id")}, {ColumnOf(arrow::int64(), "[1, null]")}, "column id is required: row 2 has NULL"},
  };
  for (const Case& c : cases) {
    const auto conformed = ConformOne(arrow::schema(c.fields), c.columns, table);
    ASSERT_FALSE(conformed) << c.message;
    EXPECT_EQ(conformed.error().message(), c.message);
    EXPECT_EQ(conformed.error().kind(), ErrorKind::kInvalidArgument);
  }
  EXPECT_TRUE(
      ConformOne(arrow::schema({column("id"), column("extra")}), {ids, ids}, table, {.ignore_unknown_columns = true}));
}

TEST(RowConformer, NamesThatDifferByCaseOnlyNeedTheExactName) {
  const Schema table =
      SchemaOf({{.id = 1, .name = "a", .type = TypeKind::kLong}, {.id = 2, .name = "A", .type = TypeKind::kLong}});
  const auto ids = ColumnOf(arrow::int64(), "[1]");
  const auto exact = ConformOne(arrow::schema({arrow::field("A", arrow::int64())}), {ids}, table);
  ASSERT_TRUE(exact) << exact.error().ToString();
  EXPECT_TRUE((*exact)->column(0)->IsNull(0));
  EXPECT_TRUE((*exact)->column(1)->IsValid(0));
}

TEST(SchemaFromArrow, GivesNewIdsLevelByLevel) {
  const auto uuid = arrow::field("u", arrow::fixed_size_binary(16), false,
                                 arrow::KeyValueMetadata::Make({"ARROW:extension:name"}, {"arrow.uuid"}));
  const auto source =
      arrow::schema({arrow::field("a", arrow::int16(), false, parquet::FieldIdMetadata(77)),
                     arrow::field("s", arrow::struct_({arrow::field("x", arrow::list(arrow::uint32())), uuid})),
                     arrow::field("m", arrow::map(arrow::large_utf8(), arrow::timestamp(arrow::TimeUnit::NANO, "UTC"))),
                     arrow::field("d", arrow::dictionary(arrow::int8(), arrow::utf8_view()))});
  const auto schema = SchemaFromArrow(*source);
  ASSERT_TRUE(schema) << schema.error().ToString();
  const Schema expected =
      SchemaOf({{.id = 1, .name = "a", .type = TypeKind::kInt, .required = true},
                {.id = 2,
                 .name = "s",
                 .type = Type::Struct(
                     {{.id = 5, .name = "x", .type = Type::List({.id = 7, .name = "element", .type = TypeKind::kLong})},
                      {.id = 6, .name = "u", .type = TypeKind::kUuid, .required = true}})},
                {.id = 3,
                 .name = "m",
                 .type = Type::Map({.id = 8, .name = "key", .type = TypeKind::kString, .required = true},
                                   {.id = 9, .name = "value", .type = TypeKind::kTimestampTzNs})},
                {.id = 4, .name = "d", .type = TypeKind::kString}});
  EXPECT_EQ(schema->fields(), expected.fields());
}

TEST(SchemaFromArrow, RefusesWhatNoTableTypeHolds) {
  for (const auto& type :
       {arrow::uint64(), arrow::duration(arrow::TimeUnit::SECOND), arrow::month_interval(), arrow::decimal256(50, 2)}) {
    const auto schema = SchemaFromArrow(*arrow::schema({arrow::field("c", arrow::list(type))}));
    ASSERT_FALSE(schema) << type->ToString();
    EXPECT_EQ(schema.error().kind(), ErrorKind::kNotSupported);
  }
}

TEST(WithFreshIds, KeepsIdentifierFieldsAndOrder) {
  const auto old =
      Schema::Make(3,
                   {{.id = 40, .name = "l", .type = Type::List({.id = 50, .name = "element", .type = TypeKind::kInt})},
                    {.id = 30, .name = "k", .type = TypeKind::kLong, .required = true}},
                   {30});
  ASSERT_TRUE(old);
  const auto fresh = WithFreshIds(*old);
  ASSERT_TRUE(fresh) << fresh.error().ToString();
  EXPECT_EQ(fresh->fields()[0].id, 1);
  EXPECT_EQ(fresh->fields()[1].id, 2);
  EXPECT_EQ(fresh->fields()[0].type.fields()[0].id, 3);
  EXPECT_EQ(fresh->identifier_ids(), std::vector<int32_t>{2});
}

}  // namespace
}  // namespace delenda::write
