#include "delenda/model/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace delenda {
namespace {

using testing::HasSubstr;

const Schema& TestSchema() {
  static const Schema kSchema =
      Schema::Make(
          0,
          {
              {.id = 1, .name = "id", .type = TypeKind::kInt},
              {.id = 2, .name = "big", .type = TypeKind::kLong},
              {.id = 3, .name = "f", .type = TypeKind::kFloat},
              {.id = 4, .name = "d", .type = TypeKind::kDouble},
              {.id = 5, .name = "dec", .type = Type::Decimal(5, 2)},
              {.id = 6, .name = "s", .type = TypeKind::kString},
              {.id = 7, .name = "dt", .type = TypeKind::kDate},
              {.id = 8, .name = "ts", .type = TypeKind::kTimestamp},
              {.id = 9, .name = "tz", .type = TypeKind::kTimestampTz},
              {.id = 10, .name = "b", .type = TypeKind::kBinary},
              {.id = 11, .name = "flag", .type = TypeKind::kBoolean},
              {.id = 12, .name = "u", .type = TypeKind::kUuid},
              {.id = 13,
               .name = "addr",
               .type = Type::Struct({{.id = 14, .name = "city", .type = TypeKind::kString},
                                     {.id = 15,
                                      .name = "geo",
                                      .type = Type::Struct({{.id = 16, .name = "lat", .type = TypeKind::kDouble}})}})},
              {.id = 17, .name = "tags", .type = Type::List({.id = 18, .name = "element", .type = TypeKind::kString})},
              {.id = 19, .name = "select", .type = TypeKind::kInt},
              {.id = 20, .name = "and", .type = TypeKind::kInt},
              {.id = 21, .name = "two words", .type = TypeKind::kInt},
              {.id = 22, .name = "date", .type = TypeKind::kInt},
              {.id = 23, .name = "nothing", .type = TypeKind::kUnknown},
              {.id = 24, .name = "v", .type = TypeKind::kVariant},
              {.id = 25, .name = "größe", .type = TypeKind::kInt},
              {.id = 26, .name = "t", .type = TypeKind::kTime},
              {.id = 27, .name = "q\"q", .type = TypeKind::kInt},
              {.id = 28, .name = "starts", .type = TypeKind::kInt},
          })
          .value();
  return kSchema;
}

std::string Bound(std::string_view text) {
  const auto expr = BindText(text, TestSchema());
  return expr ? (*expr)->ToString() : expr.error().ToString();
}

struct TextPair {
  std::string text;
  std::string bound;
};

class BoundText : public testing::TestWithParam<TextPair> {};

TEST_P(BoundText, IsWhatTheTextMeans) {
  EXPECT_EQ(Bound(GetParam().text), GetParam().bound) << GetParam().text;
  EXPECT_EQ(Bound(GetParam().bound), GetParam().bound) << "read back";
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, BoundText,
    testing::Values(
        TextPair{"", "TRUE"}, TextPair{" \n\t ", "TRUE"}, TextPair{"TRUE", "TRUE"}, TextPair{"not true", "FALSE"},
        TextPair{"id=5", "id = 5"}, TextPair{"id == 5", "id = 5"}, TextPair{"ID <> 5", "id != 5"},
        TextPair{"5 < id", "id > 5"}, TextPair{"5 >= id", "id <= 5"}, TextPair{"'x' = s", "s = 'x'"},
        TextPair{"true = flag", "flag = TRUE"}, TextPair{"flag", "flag = TRUE"}, TextPair{"NOT flag", "flag != TRUE"},
        TextPair{"id > 1 and id < 9 or flag", "(id > 1 AND id < 9) OR flag = TRUE"},
        TextPair{"id > 1 AND (id < 9 OR flag)", "id > 1 AND (id < 9 OR flag = TRUE)"},
        TextPair{"NOT (id > 1 AND s LIKE 'a%')", "id <= 1 OR s NOT STARTS WITH 'a'"},
        TextPair{"id BETWEEN 1 AND 3", "id >= 1 AND id <= 3"}, TextPair{"id NOT BETWEEN 1 AND 3", "id < 1 OR id > 3"},
        TextPair{"id IN (3, 1, 2, 3)", "id IN (1, 2, 3)"}, TextPair{"id IN (3)", "id = 3"},
        TextPair{"id NOT IN (3, 4)", "id NOT IN (3, 4)"}, TextPair{"s LIKE 'abc'", "s = 'abc'"},
        TextPair{"s NOT LIKE 'abc'", "s != 'abc'"}, TextPair{"s LIKE 'a\\%b%'", "s STARTS WITH 'a%b'"},
        TextPair{"s LIKE '%'", "s IS NOT NULL"}, TextPair{"s NOT LIKE '%%'", "FALSE"},
        TextPair{"s STARTS WITH 'O''Brien'", "s STARTS WITH 'O''Brien'"}, TextPair{"s IS NULL", "s IS NULL"},
        TextPair{"NOT s IS NULL", "s IS NOT NULL"}, TextPair{"d IS NOT NAN", "d IS NOT NAN"},
        TextPair{"addr.city = 'x'", "addr.city = 'x'"}, TextPair{"\"addr\".`geo`.lat < 1", "addr.geo.lat < 1"},
        TextPair{"addr IS NOT NULL", "addr IS NOT NULL"}, TextPair{"tags IS NULL", "tags IS NULL"},
        TextPair{"v IS NULL", "v IS NULL"}, TextPair{"select = 1", "select = 1"},
        TextPair{"\"and\" = 1", "\"and\" = 1"}, TextPair{"`two words` = 1", "\"two words\" = 1"},
        TextPair{"date = 1", "date = 1"}, TextPair{"größe = 1", "\"größe\" = 1"},
        TextPair{"\"q\"\"q\" = 1", "\"q\"\"q\" = 1"}, TextPair{"starts = 1", "starts = 1"},
        TextPair{"((((id = 1))))", "id = 1"}, TextPair{"id = 1 AND TRUE", "id = 1"}, TextPair{"id = 1 OR TRUE", "TRUE"},
        TextPair{"id = 1 AND id = 2 AND (id = 3 AND id = 4)", "id = 1 AND id = 2 AND id = 3 AND id = 4"}));

INSTANTIATE_TEST_SUITE_P(
    Literals, BoundText,
    testing::Values(
        TextPair{"id < 1.5", "id <= 1"}, TextPair{"id <= 1.5", "id <= 1"}, TextPair{"id > 1.5", "id >= 2"},
        TextPair{"id >= -1.5", "id >= -1"}, TextPair{"id < -1.5", "id <= -2"}, TextPair{"id = 1.5", "FALSE"},
        TextPair{"id != 1.5", "id IS NOT NULL"}, TextPair{"NOT id = 1.5", "id IS NOT NULL"},
        TextPair{"id = 1.50e1", "id = 15"}, TextPair{"id = +5", "id = 5"}, TextPair{"id = '7'", "id = 7"},
        TextPair{"id < '1.5'", "id <= 1"}, TextPair{"id < 1e30", "id IS NOT NULL"}, TextPair{"id > 1e30", "FALSE"},
        TextPair{"id > -1e30", "id IS NOT NULL"}, TextPair{"id = 2147483648", "FALSE"},
        TextPair{"id <= 2147483647.5", "id IS NOT NULL"}, TextPair{"id != 1e30", "id IS NOT NULL"},
        TextPair{"id IN (1, 1.5, 1e30)", "id = 1"}, TextPair{"id IN (1.5)", "FALSE"},
        TextPair{"id NOT IN (1.5)", "id IS NOT NULL"}, TextPair{"big = 2147483648", "big = 2147483648"},
        TextPair{"big < 99999999999999999999999999999999999999999999", "big IS NOT NULL"},
        TextPair{"dec = 1.5", "dec = 1.50"}, TextPair{"dec < 1.234", "dec <= 1.23"},
        TextPair{"dec > -1.234", "dec >= -1.23"}, TextPair{"dec = 1.234", "FALSE"},
        TextPair{"dec < 1000", "dec IS NOT NULL"}, TextPair{"dec < 999.99", "dec < 999.99"},
        TextPair{"dec > 999.991", "FALSE"}, TextPair{"d = 0.1", "d = 0.1"}, TextPair{"d = -0.0", "d = 0"},
        TextPair{"d > 1e400", "d >= 'Infinity'"}, TextPair{"d = 1e400", "FALSE"},
        TextPair{"d < -1e400", "d <= '-Infinity'"}, TextPair{"d <= 1e400", "d <= 1.7976931348623157e+308"},
        TextPair{"d > 1e-400", "d >= 5e-324"}, TextPair{"d = 'NaN'", "d = 'NaN'"},
        TextPair{"d IN ('NaN', 1)", "d IN (1, 'NaN')"}, TextPair{"d = '-0'", "d = 0"}, TextPair{"f = 0.5", "f = 0.5"},
        TextPair{"f = 0.1", "FALSE"}, TextPair{"f != 0.1", "f IS NOT NULL"},
        TextPair{"f = '0.1'", "f = 0.10000000149011612"}, TextPair{"f < 0.1", "f <= 0.09999999403953552"},
        TextPair{"f > 0.1", "f >= 0.10000000149011612"}, TextPair{"f > 1e39", "f >= 'Infinity'"},
        TextPair{"f < 1e-50", "f <= 0"}, TextPair{"f > -1e-50", "f >= 0"},
        TextPair{"f <= -1e-400", "f <= -1.401298464324817e-45"},
        TextPair{"dt >= '2024-01-01'", "dt >= DATE '2024-01-01'"},
        TextPair{"dt = DATE '2024-01-01'", "dt = DATE '2024-01-01'"},
        TextPair{"DATE '2024-01-01' < dt", "dt > DATE '2024-01-01'"},
        TextPair{"ts < '2024-01-01 10:00'", "ts < TIMESTAMP '2024-01-01T10:00:00.000000'"},
        TextPair{"ts < DATE '2024-01-01'", "ts < TIMESTAMP '2024-01-01T00:00:00.000000'"},
        TextPair{"tz < timestamp '2024-01-01T10:00:00+02:00'", "tz < TIMESTAMP '2024-01-01T08:00:00.000000Z'"},
        TextPair{"t > '10:00'", "t > '10:00:00.000000'"}, TextPair{"b = x'0AFF'", "b = X'0aff'"},
        TextPair{"b = '0x0aff'", "b = X'0aff'"}, TextPair{"b != X''", "b != X''"},
        TextPair{"flag = 'true'", "flag = TRUE"},
        TextPair{"u = 'F79C3E09-677C-4BBD-A479-3F349CB785E7'", "u = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'"},
        TextPair{"id = NULL", "FALSE"}, TextPair{"NOT id = NULL", "FALSE"}, TextPair{"NULL != id", "FALSE"},
        TextPair{"id IN (1, NULL)", "id = 1"}, TextPair{"id IN (NULL)", "FALSE"},
        TextPair{"id NOT IN (1, NULL)", "FALSE"}, TextPair{"NOT id IN (1, NULL)", "FALSE"},
        TextPair{"NOT id NOT IN (1, NULL)", "id = 1"}, TextPair{"id BETWEEN 1 AND NULL", "FALSE"},
        TextPair{"id NOT BETWEEN 1 AND NULL", "id < 1"}, TextPair{"nothing = 5", "FALSE"},
        TextPair{"nothing IS NULL", "nothing IS NULL"}));

struct Refusal {
  std::string text;
  ErrorKind kind;
  std::string message;
};

class RefusedText : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedText, NamesThePlaceAndWhatWasExpected) {
  const auto expr = BindText(GetParam().text, TestSchema());
  ASSERT_FALSE(expr) << GetParam().text;
  EXPECT_EQ(expr.error().kind(), GetParam().kind) << expr.error().ToString();
  EXPECT_THAT(expr.error().message(), HasSubstr(GetParam().message)) << GetParam().text;
}

constexpr ErrorKind kBad = ErrorKind::kInvalidArgument;
constexpr ErrorKind kUnsupported = ErrorKind::kNotSupported;
INSTANTIATE_TEST_SUITE_P(
    All, RefusedText,
    testing::Values(
        Refusal{"id =", kBad, "at byte 4: expected a literal, found the end"},
        Refusal{"id = 5 6", kBad, "at byte 7: expected AND, OR or the end, found '6'"},
        Refusal{"id = name", kBad, "at byte 5: expected a literal (texts stand in single quotes)"},
        Refusal{"(id = 5", kBad, "at byte 7: expected AND, OR or ')'"},
        Refusal{"id = 'x", kBad, "at byte 5: expected the closing '"},
        Refusal{"\"id = 5", kBad, "at byte 0: expected the closing \""},
        Refusal{"id ~ 5", kBad, "unexpected character '~'"},
        Refusal{"id NOT 5", kBad, "expected IN, BETWEEN, LIKE or STARTS WITH"},
        Refusal{"id IN 5", kBad, "expected '('"}, Refusal{"id IN ()", kBad, "expected a literal"},
        Refusal{"id IN (1", kBad, "expected ',' or ')'"}, Refusal{"id IS 5", kBad, "expected NULL, NAN or NOT"},
        Refusal{"id BETWEEN 1 OR 2", kBad, "expected AND"}, Refusal{"and = 1", kBad, "quote a column of this name"},
        Refusal{"5", kBad, "expected a comparison"}, Refusal{"5 < 6", kBad, "expected a column"},
        Refusal{"id = 1..2", kBad, "expected a number"}, Refusal{"id = 12abc", kBad, "found a letter in it"},
        Refusal{"id. = 5", kBad, "expected a name behind '.'"},
        Refusal{"id = 5 AND", kBad, "at byte 10: expected a column"},
        Refusal{"id = 5; DROP", kBad, "at byte 6: unexpected character ';'"},
        Refusal{std::string("id = 5\0", 7), kBad, "control character 0x00"}, Refusal{"s = '\xff'", kBad, "UTF-8"},
        Refusal{"idd = 5", ErrorKind::kNotFound, "did you mean 'id'?"},
        Refusal{"addr.cty = 'x'", ErrorKind::kNotFound, "did you mean 'addr.city'?"},
        Refusal{"qwertyuiop = 5", ErrorKind::kNotFound, "columns are id, big"},
        Refusal{"s = 5", kBad, "cannot be compared with a number"},
        Refusal{"id = 'x'", kBad, "is no value of type int"},
        Refusal{"id = TRUE", kBad, "cannot be compared with a boolean"},
        Refusal{"flag = 1", kBad, "cannot be compared with a number"},
        Refusal{"id", kBad, "cannot be compared with a boolean"},
        Refusal{"dt = 5", kBad, "cannot be compared with a number"}, Refusal{"dt = '2024-02-30'", kBad, "YYYY-MM-DD"},
        Refusal{"ts = '2024-01-01T00:00:00Z'", kBad, "without a zone"},
        Refusal{"s = X'00'", kBad, "cannot be compared with a binary literal"},
        Refusal{"b = X'0'", kBad, "hexadecimal"}, Refusal{"id IS NAN", kBad, "IS NAN needs float or double"},
        Refusal{"id LIKE 'a%'", kBad, "need string"}, Refusal{"id LIKE '5'", kBad, "need string"},
        Refusal{"s LIKE '%a'", kUnsupported, "only 'text' and 'prefix%'"},
        Refusal{"s LIKE 'a_'", kUnsupported, "prefix%"}, Refusal{"s LIKE 'a\\'", kBad, "behind \\"},
        Refusal{"s STARTS 'a'", kBad, "expected WITH"}, Refusal{"s STARTS WITH 5", kBad, "expected a text"},
        Refusal{"tags.element = 'x'", kUnsupported, "inside a list or map"},
        Refusal{"addr = 5", kUnsupported, "only IS [NOT] NULL"}, Refusal{"v = 5", kUnsupported, "only IS [NOT] NULL"},
        Refusal{"tags IS NAN", kUnsupported, "only IS [NOT] NULL"}));

TEST(FilterLimits, BoundDepthAndLength) {
  const auto nested = [](std::string_view unit, std::string_view close, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += unit;
    text += "flag";
    for (int i = 0; i < count; ++i) text += close;
    return text;
  };
  EXPECT_TRUE(BindText(nested("(", ")", 199), TestSchema()));
  EXPECT_THAT(Bound(nested("(", ")", 200)), HasSubstr("nested deeper than 200"));
  EXPECT_THAT(Bound(nested("NOT ", "", 100'000)), HasSubstr("nested deeper than 200"));
  EXPECT_EQ(Bound(nested("NOT ", "", 198)), "flag = TRUE");
  EXPECT_THAT(Bound(std::string((1 << 20) + 1, ' ') + "flag"), HasSubstr("limit of 1048576"));
  std::string chain = "id = 0";
  for (int i = 1; i < 20'000; ++i) chain += fmt::format(" OR id = {}", i);
  const auto flat = BindText(chain, TestSchema());
  ASSERT_TRUE(flat) << "a long chain is not deep";
  EXPECT_EQ((*flat)->children.size(), 20'000U);
}

TEST(Expressions, NameTheTopLevelColumnsThatTheyLookAt) {
  const auto expr = BindText("addr.geo.lat > 1 OR (id = 3 AND addr.city = 'x') OR flag", TestSchema()).value();
  EXPECT_EQ(expr->TopLevelColumns(), (std::vector<int32_t>{1, 11, 13}));
  EXPECT_TRUE(Expr::True()->TopLevelColumns().empty());
  const auto leaf = BindText("addr.geo.lat > 1", TestSchema()).value();
  EXPECT_EQ(leaf->column.path, (std::vector<int32_t>{13, 15, 16}));
  EXPECT_EQ(leaf->column.field_id, 16);
}

TEST(Expressions, NameColumnsAsTheTextDoesBeforeTheyAreKnown) {
  const auto names = [](const char* text) { return ColumnNames(*ParseExpression(text).value()); };
  EXPECT_EQ(names("op = 'd' OR (NOT \"Odd name\" IN (1, 2) AND 3 < source.n) OR op IS NULL"),
            (std::vector<std::string>{"op", "Odd name", "source.n"}));
  EXPECT_TRUE(names("TRUE").empty());
}

struct TruthRow {
  std::string text;
  Datum value;
  Truth truth;
};

TEST(TruthTables, AreThoseOfSql) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Datum null;
  const auto kFalse = Truth::kFalse;
  const auto kTrue = Truth::kTrue;
  const auto kUnknown = Truth::kUnknown;
  const std::vector<TruthRow> rows = {
      {"d IS NULL", null, kTrue},
      {"d IS NULL", Datum(nan), kFalse},
      {"d IS NOT NULL", null, kFalse},
      {"d IS NAN", Datum(nan), kTrue},
      {"d IS NAN", null, kFalse},
      {"d IS NAN", Datum(1.0), kFalse},
      {"d IS NOT NAN", null, kTrue},
      {"d IS NOT NAN", Datum(nan), kFalse},
      {"d > 5", Datum(nan), kTrue},
      {"d < 5", Datum(nan), kFalse},
      {"d >= 'NaN'", Datum(nan), kTrue},
      {"d = 'NaN'", Datum(nan), kTrue},
      {"d != 'NaN'", Datum(nan), kFalse},
      {"d > 'Infinity'", Datum(nan), kTrue},
      {"d < 'NaN'", Datum(1.0), kTrue},
      {"d = 0", Datum(-0.0), kTrue},
      {"d < 0", Datum(-0.0), kFalse},
      {"d > 5", null, kUnknown},
      {"d != 5", null, kUnknown},
      {"d IN (1, 2)", null, kUnknown},
      {"d NOT IN (1, 2)", null, kUnknown},
      {"d IN (1, 2, 5)", Datum(2.0), kTrue},
      {"d IN (1, 2, 5)", Datum(3.0), kFalse},
      {"d NOT IN (1, 2, 5)", Datum(3.0), kTrue},
      {"d IN ('NaN', 1)", Datum(nan), kTrue},
      {"d NOT IN (1, 2)", Datum(nan), kTrue},
      {"s STARTS WITH 'ab'", Datum(std::string("abc")), kTrue},
      {"s STARTS WITH 'ab'", Datum(std::string("a")), kFalse},
      {"s NOT STARTS WITH 'ab'", Datum(std::string("a")), kTrue},
      {"s NOT STARTS WITH 'ab'", null, kUnknown},
      {"s < 'b'", Datum(std::string("a\xff")), kTrue},
      {"flag", Datum(true), kTrue},
      {"NOT flag", Datum(true), kFalse},
      {"NOT flag", null, kUnknown},
  };
  for (const TruthRow& row : rows) {
    const auto expr = BindText(row.text, TestSchema());
    ASSERT_TRUE(expr) << row.text << expr.error().ToString();
    EXPECT_EQ(EvaluateLeaf(**expr, row.value), row.truth) << row.text;
  }
}

TEST(TruthTables, OfAndOrNotAreKleenes) {
  const Datum one(int64_t{1});
  const Datum null;
  // id is 1, big is NULL: TRUE, FALSE and unknown are id = 1, id = 2, big = 1.
  const auto value_of = [&](const BoundColumn& column) -> const Datum& { return column.field_id == 1 ? one : null; };
  const std::string texts[3] = {"id = 2", "id = 1", "big = 1"};  // by Truth
  const Truth truths[3] = {Truth::kFalse, Truth::kTrue, Truth::kUnknown};
  for (size_t a = 0; a < 3; ++a) {
    for (size_t b = 0; b < 3; ++b) {
      const bool any_false = a == 0 || b == 0;
      const bool any_true = a == 1 || b == 1;
      const bool any_unknown = a == 2 || b == 2;
      const Truth both = any_false ? Truth::kFalse : any_unknown ? Truth::kUnknown : Truth::kTrue;
      const Truth either = any_true ? Truth::kTrue : any_unknown ? Truth::kUnknown : Truth::kFalse;
      EXPECT_EQ(EvaluateRow(*BindText(texts[a] + " AND " + texts[b], TestSchema()).value(), value_of), both);
      EXPECT_EQ(EvaluateRow(*BindText(texts[a] + " OR " + texts[b], TestSchema()).value(), value_of), either);
    }
    Expr negation;
    negation.op = Op::kNot;
    negation.children = {BindText(texts[a], TestSchema()).value()};
    const Truth negated[3] = {Truth::kTrue, Truth::kFalse, Truth::kUnknown};
    EXPECT_EQ(EvaluateRow(negation, value_of), negated[a]);
    EXPECT_EQ(EvaluateRow(*BindText("NOT " + texts[a], TestSchema()).value(), value_of), negated[a]);
    EXPECT_EQ(EvaluateRow(*BindText(texts[a], TestSchema()).value(), value_of), truths[a]);
  }
}

}  // namespace
}  // namespace delenda
