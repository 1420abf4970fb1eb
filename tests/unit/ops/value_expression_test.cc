// The right side of SET: exact arithmetic, or an error.
#include "delenda/ops/value_expression.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace delenda::ops {
namespace {

using ::testing::HasSubstr;

const Schema kSchema = *Schema::Make(
    0, {{.id = 1, .name = "i", .type = TypeKind::kInt},
        {.id = 2, .name = "l", .type = TypeKind::kLong},
        {.id = 3, .name = "d", .type = TypeKind::kDouble},
        {.id = 4, .name = "s", .type = TypeKind::kString},
        {.id = 5, .name = "m", .type = Type::Decimal(9, 2)},
        {.id = 6, .name = "day", .type = TypeKind::kDate},
        {.id = 7, .name = "b", .type = TypeKind::kBoolean},
        {.id = 8, .name = "st", .type = Type::Struct({{.id = 9, .name = "x", .type = TypeKind::kLong}})},
        {.id = 10, .name = "li", .type = Type::List({.id = 11, .name = "element", .type = TypeKind::kLong})}});

std::shared_ptr<arrow::RecordBatch> Batch() {
  arrow::Int32Builder i;
  EXPECT_TRUE(i.AppendValues({1, 2147483647}).ok() && i.AppendNull().ok());
  arrow::Int64Builder l;
  EXPECT_TRUE(l.AppendValues({10, 20, 30}).ok());
  arrow::DoubleBuilder d;
  EXPECT_TRUE(d.AppendValues({0.5, 1.5, 2.5}).ok());
  arrow::StringBuilder s;
  EXPECT_TRUE(s.AppendValues(std::vector<std::string>{"a", "b"}).ok() && s.AppendNull().ok());
  arrow::Decimal128Builder m(arrow::decimal128(9, 2));
  for (const int64_t value : {100, 1050, 9999999}) EXPECT_TRUE(m.Append(arrow::Decimal128(value)).ok());
  arrow::Date32Builder day;
  EXPECT_TRUE(day.AppendValues({0, 1, 2}).ok());
  arrow::BooleanBuilder b;
  EXPECT_TRUE(b.AppendValues(std::vector<bool>{true, false, true}).ok());
  const auto schema = arrow::schema({arrow::field("i", arrow::int32()), arrow::field("l", arrow::int64()),
                                     arrow::field("d", arrow::float64()), arrow::field("s", arrow::utf8()),
                                     arrow::field("m", arrow::decimal128(9, 2)), arrow::field("day", arrow::date32()),
                                     arrow::field("b", arrow::boolean()),
                                     arrow::field("st", arrow::struct_({arrow::field("x", arrow::int64())}))});
  arrow::Int64Builder x;
  EXPECT_TRUE(x.AppendValues({7, 8, 9}).ok());
  // The second struct is NULL, whatever lies below it.
  const auto valid = arrow::Buffer::FromString("\x05");
  const auto st =
      std::make_shared<arrow::StructArray>(schema->field(7)->type(), 3, arrow::ArrayVector{*x.Finish()}, valid);
  return arrow::RecordBatch::Make(
      schema, 3, {*i.Finish(), *l.Finish(), *d.Finish(), *s.Finish(), *m.Finish(), *day.Finish(), *b.Finish(), st});
}

// "[1, null, 3]", or the error.
std::string Evaluated(const std::string& column, const std::string& text, int64_t rows = 3) {
  const auto expression = ValueExpression::Parse(text, kSchema, *kSchema.FindByName(column)[0]);
  if (!expression) return "error: " + expression.error().message();
  const auto values = expression->Evaluate(*Batch()->Slice(0, rows));
  if (!values) return "error: " + values.error().message();
  std::string joined;
  for (int64_t i = 0; i < (*values)->length(); ++i)
    joined += (i == 0 ? "" : ", ") + (*values)->GetScalar(i).ValueOrDie()->ToString();
  return joined;
}

struct Case {
  const char* column;
  const char* text;
  const char* values;
  int64_t rows = 3;
};

TEST(ValueExpression, ComputesByRow) {
  const Case cases[] = {
      {"l", "l + 1", "11, 21, 31"},
      {"l", "l -1", "9, 19, 29"},
      {"l", "-l", "-10, -20, -30"},
      {"l", "2 * (l + i)", "22", 1},
      {"l", "l * 2 - 3 * 4", "8, 28, 48"},
      {"i", "i", "1, 2147483647, null"},
      {"i", "NULL", "null, null, null"},
      {"i", "7", "7, 7, 7"},
      {"d", "l / 4", "2.5, 5, 7.5"},
      {"d", "d * 2", "1, 3, 5"},
      {"d", "1e3", "1000, 1000, 1000"},
      {"s", "s || '!'", "a!, b!, null"},
      {"s", "'it''s ' || l", "it's 10, it's 20, it's 30"},
      {"m", "m + 0.05", "1.05, 10.55, 100000.04"},
      {"m", "12.5", "12.50, 12.50, 12.50"},
      {"day", "'2024-02-29'", "2024-02-29, 2024-02-29, 2024-02-29"},
      {"day", "DATE '1970-01-05'", "1970-01-05, 1970-01-05, 1970-01-05"},
      {"b", "FALSE", "false, false, false"},
      {"l", "st.x + 1", "8, null, 10"},
      {"l", "ST.X", "7, null, 9"},
  };
  for (const auto& one : cases) EXPECT_EQ(Evaluated(one.column, one.text, one.rows), one.values) << one.text;
}

TEST(ValueExpression, WhatDoesNotFitIsAnErrorAndNeverWrapsOrRounds) {
  EXPECT_THAT(Evaluated("i", "i + 1"), HasSubstr("column 'i'"));  // 2147483648
  EXPECT_THAT(Evaluated("i", "l * 1000000000"), HasSubstr("column 'i'"));
  EXPECT_THAT(Evaluated("l", "l * 9223372036854775807"), HasSubstr("overflow"));
  EXPECT_THAT(Evaluated("l", "d"), HasSubstr("column 'l'"));          // 0.5
  EXPECT_THAT(Evaluated("m", "m * 0.001"), HasSubstr("column 'm'"));  // 0.00100
  EXPECT_THAT(Evaluated("m", "12.505"), HasSubstr("error"));
  EXPECT_THAT(Evaluated("i", "3000000000"), HasSubstr("error"));
}

TEST(ValueExpression, SaysWhereATextIsWrong) {
  EXPECT_THAT(Evaluated("l", "l +"), HasSubstr("at byte 3: expected a value, found the end"));
  EXPECT_THAT(Evaluated("l", "l l"), HasSubstr("at byte 2"));
  EXPECT_THAT(Evaluated("l", "(l"), HasSubstr("expected ')'"));
  EXPECT_THAT(Evaluated("l", "nope + 1"), HasSubstr("no column 'nope'"));
  EXPECT_THAT(Evaluated("l", "st.y"), HasSubstr("no column 'st.y'"));
  EXPECT_THAT(Evaluated("l", "li.element"), HasSubstr("lies in a list"));
  EXPECT_THAT(Evaluated("l", ""), HasSubstr("expected a value"));
  EXPECT_THAT(Evaluated("day", "'tomorrow'"), HasSubstr("error"));
  EXPECT_THAT(Evaluated("l", std::string(300, '(') + "1"), HasSubstr("nested too deeply"));
}

TEST(ValueExpression, NamesTheColumnsThatItReads) {
  const auto expression = ValueExpression::Parse("l + (I - l)", kSchema, *kSchema.FindByName("l")[0]);
  ASSERT_TRUE(expression) << expression.error().ToString();
  EXPECT_THAT(expression->columns(), ::testing::ElementsAre("l", "i"));
}

}  // namespace
}  // namespace delenda::ops
