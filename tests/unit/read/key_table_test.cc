// Which rows have one key, and which number it gets.
#include "delenda/read/key_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/seed.h"
#include "unit/read/key_rows.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the fixtures' vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

KeyTable TableOf(const Schema& schema, const std::vector<int32_t>& ids) {
  std::vector<plan::KeyField> fields;
  for (const int32_t id : ids) fields.push_back(KeyFieldOf(schema, id));
  return KeyTable::Make(std::move(fields)).value();
}

TEST(KeyTable, NumbersKeysInTheOrderInWhichTheyCame) {
  const Schema schema = Schema::Make(0, {MakeField(1, "id", TypeKind::kLong)}).value();
  KeyTable table = TableOf(schema, {1});
  EXPECT_THAT(table.Add({Longs({7, 9, 7, std::nullopt})}, 4).value(), ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(table.Add({Longs({std::nullopt, 4})}, 2).value(), ElementsAre(2, 3));
  EXPECT_EQ(table.size(), 4);
  EXPECT_THAT(table.Find({Longs({4, 5, std::nullopt, 9})}, 4).value(), ElementsAre(3, -1, 2, 1));
  Selection wanted(4, true);
  wanted.Drop(0);
  EXPECT_THAT(table.Find({Longs({4, 5, std::nullopt, 9})}, 4, &wanted).value(), ElementsAre(-1, -1, 2, 1));
  EXPECT_EQ(table.Values(), (std::vector<std::vector<Datum>>{
                                {Datum(int64_t{7})}, {Datum(int64_t{9})}, {Datum()}, {Datum(int64_t{4})}}));
}

TEST(KeyTable, WithoutKeysFindsNone) {
  const Schema schema =
      Schema::Make(0, {MakeField(1, "id", TypeKind::kLong), MakeField(2, "t", TypeKind::kString)}).value();
  EXPECT_THAT(TableOf(schema, {1}).Find({Longs({0, std::nullopt})}, 2).value(), ElementsAre(-1, -1));
  EXPECT_THAT(TableOf(schema, {2}).Find({Texts({"", std::nullopt})}, 2).value(), ElementsAre(-1, -1));
  EXPECT_TRUE(TableOf(schema, {1}).sorted()->empty());
}

// Values of every type that a key may have come back as they went in, and only equal ones are found.
TEST(KeyTable, HoldsValuesOfEveryType) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto fixed = arrow::fixed_size_binary(2);
  const auto decimal = arrow::decimal128(38, 2);
  const auto big = arrow::Decimal128::FromString("123456789012345678901234567890123456.78").ValueOrDie();
  struct Case {
    Type type;
    std::shared_ptr<arrow::Array> values;
    std::vector<int64_t> numbers;
  };
  using D = std::optional<double>;
  using T = std::optional<std::string>;
  const Case cases[] = {
      {TypeKind::kBoolean, MakeArray<arrow::BooleanBuilder, bool>({true, false, true}), {0, 1, 0}},
      {TypeKind::kInt, MakeArray<arrow::Int32Builder, int32_t>({-1, 2, -1}), {0, 1, 0}},
      {TypeKind::kDate, MakeArray<arrow::Date32Builder, int32_t>({-1, 2, -1}), {0, 1, 0}},
      {TypeKind::kTimestampNs,
       MakeArray<arrow::TimestampBuilder, int64_t>({5, 6, 5}, arrow::timestamp(arrow::TimeUnit::NANO)),
       {0, 1, 0}},
      {TypeKind::kDouble, MakeArray<arrow::DoubleBuilder, double>({nan, D(0.0), D(-0.0), -nan, D()}), {0, 1, 2, 0, 3}},
      {Type::Decimal(38, 2),
       MakeArray<arrow::Decimal128Builder, arrow::Decimal128>({big, -big, arrow::Decimal128(1), big}, decimal),
       {0, 1, 2, 0}},
      {TypeKind::kString, Texts({"a", "", T(), "ab", "a"}), {0, 1, 2, 3, 0}},
      {TypeKind::kBinary,
       MakeArray<arrow::BinaryBuilder, std::string>({"\xff", T(std::string("\0", 1)), "\xff"}),
       {0, 1, 0}},
      {Type::Fixed(2), MakeArray<arrow::FixedSizeBinaryBuilder, std::string>({"ab", "cd", "ab"}, fixed), {0, 1, 0}},
  };
  for (const Case& one : cases) {
    const Schema schema = Schema::Make(0, {MakeField(1, "k", one.type)}).value();
    KeyTable table = TableOf(schema, {1});
    EXPECT_EQ(table.Add({one.values}, one.values->length()).value(), one.numbers) << one.type.ToString();
    EXPECT_EQ(table.Find({one.values}, one.values->length()).value(), one.numbers) << one.type.ToString();
    // Values of slices lie elsewhere in their buffers.
    const auto sliced = table.Find({one.values->Slice(1, 2)}, 2).value();
    EXPECT_THAT(sliced, ElementsAre(one.numbers[1], one.numbers[2])) << one.type.ToString();
    const auto sorted = table.sorted();
    for (const auto& key : table.Values())
      EXPECT_TRUE(sorted->columns()[0].values.Contains(key[0])) << one.type.ToString();
  }
}

TEST(KeyTable, EqualsANaiveModel) {
  const uint64_t seed = Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const Schema schema = Schema::Make(0, TableFields()).value();
  for (const std::vector<int32_t>& layout :
       std::vector<std::vector<int32_t>>{{2}, {3}, {4}, {6}, {2, 3}, {3, 2}, {4, 6}, {2, 3, 4, 6}}) {
    std::vector<ModelRow> rows;
    for (int64_t i = 0; i < 2000; ++i) rows.push_back(RandomRow(random, i));
    std::vector<std::optional<int64_t>> k;
    std::vector<std::optional<std::string>> t;
    std::vector<std::optional<double>> d;
    for (const auto& row : rows) {
      k.push_back(row.k);
      t.push_back(row.t);
      d.push_back(row.d);
    }
    const auto batch = arrow::RecordBatch::Make(
        arrow::schema({IdField(1, "id", arrow::int64()), IdField(2, "k", arrow::int64()),
                       IdField(3, "t", arrow::utf8()), IdField(4, "d", arrow::float64()),
                       IdField(5, "st", arrow::struct_({IdField(6, "a", arrow::int32())}))}),
        2000, {LongRange(0, 2000), Longs(k), Texts(t), MakeArray<arrow::DoubleBuilder, double>(d), StructOf(rows)});
    KeyTable table = TableOf(schema, layout);
    const auto columns_of = [&](int64_t begin, int64_t count) {
      return table.ColumnsOf(schema, *batch->Slice(begin, count)).value();
    };
    std::map<std::string, int64_t> model;
    const auto text = [&](const ModelRow& row) {
      std::string all;
      for (const int32_t field : layout) all += KeyValueText(row, field) + "|";
      return all;
    };
    const auto added = table.Add(columns_of(0, 1000), 1000).value();
    for (size_t i = 0; i < 1000; ++i) {
      const auto expected = model.emplace(text(rows[i]), static_cast<int64_t>(model.size())).first->second;
      ASSERT_EQ(added[i], expected) << text(rows[i]);
    }
    EXPECT_EQ(table.size(), static_cast<int64_t>(model.size()));
    const auto found = table.Find(columns_of(1000, 1000), 1000).value();
    for (size_t i = 0; i < 1000; ++i) {
      const auto known = model.find(text(rows[1000 + i]));
      ASSERT_EQ(found[i], known == model.end() ? KeyTable::kNone : known->second) << text(rows[1000 + i]);
    }
  }
}

TEST(KeyTable, GrowsAndKeepsItsBudget) {
  const Schema schema =
      Schema::Make(0, {MakeField(1, "id", TypeKind::kLong), MakeField(2, "t", TypeKind::kString)}).value();
  KeyTable integers = TableOf(schema, {1});
  const auto many = LongRange(-50000, 50000);
  const auto numbers = integers.Add({many}, 100000).value();
  EXPECT_EQ(numbers, integers.Find({many}, 100000).value());
  EXPECT_EQ(integers.size(), 100000);
  EXPECT_GE(integers.memory(), 100000U * 16);
  for (const int32_t id : {1, 2}) {
    KeyTable small = KeyTable::Make({KeyFieldOf(schema, id)}, 1000).value();
    std::vector<std::optional<std::string>> texts;
    for (int i = 0; i < 100; ++i) texts.emplace_back(std::to_string(i));
    const auto refused = small.Add({id == 1 ? LongRange(0, 100) : Texts(texts)}, 100);
    ASSERT_FALSE(refused) << id;
    EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
    EXPECT_THAT(refused.error().ToString(), HasSubstr("memory budget of 1000 bytes"));
  }
}

TEST(KeyTable, TakesColumnsByNameThatTellRowsApart) {
  const Schema schema = Schema::Make(0, {MakeField(1, "id", TypeKind::kLong), MakeField(2, "d", TypeKind::kDouble),
                                         MakeField(3, "st", Type::Struct({MakeField(4, "a", TypeKind::kInt)})),
                                         MakeField(5, "l", Type::List(MakeField(6, "element", TypeKind::kInt)))})
                            .value();
  const auto kind_of = [&](const std::vector<std::string>& names) {
    const auto table = KeyTable::ForColumns(schema, names);
    return table ? std::nullopt : std::optional(table.error().kind());
  };
  EXPECT_EQ(kind_of({"ID", "st.a"}), std::nullopt);
  EXPECT_EQ(kind_of({}), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of({"nope"}), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of({"id", "id"}), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of({"d"}), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of({"st"}), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of({"l.element"}), ErrorKind::kInvalidArgument);
  const auto table = KeyTable::ForColumns(schema, {"st.a"}).value();
  EXPECT_EQ(table.keys()[0].path, (std::vector<int32_t>{3, 4}));
}

}  // namespace
}  // namespace delenda::read
