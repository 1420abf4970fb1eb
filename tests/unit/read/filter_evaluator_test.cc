// The vectorised filter against the row-wise meaning of the same expression.
#include "delenda/read/filter_evaluator.h"

#include <arrow/api.h>
#include <arrow/array/concatenate.h>
#include <gtest/gtest.h>

#include "delenda/read/arrow_type.h"
#include "delenda/read/constant_array.h"
#include "unit/model/random_filter.h"

namespace delenda::read {
namespace {

std::shared_ptr<arrow::Array> ToArray(const Field& field, const std::vector<Datum>& values) {
  const auto type = ToArrowType(field.type).value();
  arrow::ArrayVector pieces;
  for (const Datum& value : values) pieces.push_back(ConstantArray(field.type, type, value, 1).value());
  // One more in front, cut off again: arrays need not begin at their buffers' first slot.
  pieces.insert(pieces.begin(), arrow::MakeArrayOfNull(type, 3).ValueOrDie());
  return arrow::Concatenate(pieces).ValueOrDie()->Slice(3);
}

TEST(FilterEvaluator, AgreesWithEveryRow) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  RandomModel model(seed);
  RandomFilters filters(&model);
  const auto& fields = RandomSchema().fields();
  constexpr int64_t kRows = 131;
  for (int round = 0; round < 12; ++round) {
    std::vector<RandomRow> rows;
    for (int64_t i = 0; i < kRows; ++i) rows.push_back(model.Row());
    std::vector<std::shared_ptr<arrow::Array>> arrays;
    for (size_t c = 0; c < fields.size(); ++c) {
      std::vector<Datum> values;
      for (const RandomRow& row : rows) values.push_back(row[c]);
      arrays.push_back(ToArray(fields[c], values));
    }
    for (int i = 0; i < 60; ++i) {
      const NaiveFilter filter = filters.Any(3);
      const auto bound = BindText(filter.text, RandomSchema());
      ASSERT_TRUE(bound) << filter.text << ": " << bound.error().ToString();
      const auto evaluator = FilterEvaluator::Make(*bound, RandomSchema());
      ASSERT_TRUE(evaluator) << evaluator.error().ToString();
      std::vector<std::shared_ptr<arrow::Array>> columns;
      for (const Field& field : evaluator->fields()) columns.push_back(arrays[static_cast<size_t>(field.id - 1)]);
      const auto selected = evaluator->Evaluate(columns, kRows);
      ASSERT_TRUE(selected) << filter.text << ": " << selected.error().ToString();
      for (int64_t row = 0; row < kRows; ++row) {
        const auto& values = rows[static_cast<size_t>(row)];
        const Truth truth = EvaluateRow(**bound, [&](const BoundColumn& column) -> const Datum& {
          return values[static_cast<size_t>(column.field_id - 1)];
        });
        ASSERT_EQ(selected->Kept(row), truth == Truth::kTrue) << filter.text << ", row " << row;
        ASSERT_EQ(selected->Kept(row), filter.evaluate(values) == Truth::kTrue) << filter.text << ", row " << row;
      }
    }
  }
}

Field MakeField(int32_t id, std::string name, Type type) {
  Field field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  return field;
}

// {st: {a: 5, in: {b: 1.5}}}, {st: {a: null, in: null}}, {st: null}, {st: {a: 7, in: {b: NaN}}}; what lies in the slots
// below a NULL struct must not be looked at.
TEST(FilterEvaluator, FieldOfANullStructIsNull) {
  const Field b = MakeField(4, "b", TypeKind::kDouble);
  const Field a = MakeField(2, "a", TypeKind::kInt);
  const Field in = MakeField(3, "in", Type::Struct({b}));
  const Schema schema = Schema::Make(0, {MakeField(1, "st", Type::Struct({a, in}))}).value();
  const auto bits = [](std::vector<bool> valid) {
    Selection selection =
        Selection::Where(static_cast<int64_t>(valid.size()), [&](int64_t i) { return valid[static_cast<size_t>(i)]; });
    return arrow::Buffer::FromString(
        std::string(reinterpret_cast<const char*>(selection.bytes()), (valid.size() + 7) / 8));
  };
  const auto number =
      std::make_shared<arrow::DoubleArray>(4, arrow::Buffer::FromVector(std::vector<double>{1.5, 2.5, 3.5, NAN}));
  const auto inner = std::make_shared<arrow::StructArray>(ToArrowType(in.type).value(), 4, arrow::ArrayVector{number},
                                                          bits({true, false, true, true}));
  const auto whole = std::make_shared<arrow::Int32Array>(4, arrow::Buffer::FromVector(std::vector<int32_t>{5, 5, 5, 7}),
                                                         bits({true, false, true, true}));
  const auto type = ToArrowType(schema.fields()[0].type).value();
  const auto st =
      std::make_shared<arrow::StructArray>(type, 4, arrow::ArrayVector{whole, inner}, bits({true, true, false, true}));

  const auto rows_of = [&](const std::string& text) {
    const auto bound = BindText(text, schema);
    EXPECT_TRUE(bound) << text;
    const auto evaluator = FilterEvaluator::Make(*bound, schema).value();
    // The evaluator wants the struct cut down to the fields it looks at.
    std::vector<std::shared_ptr<arrow::Array>> columns;
    for (const Field& field : evaluator.fields()) {
      arrow::ArrayVector children;
      for (const Field& child : field.type.fields()) children.push_back(child.id == 2 ? st->field(0) : st->field(1));
      columns.push_back(
          std::make_shared<arrow::StructArray>(ToArrowType(field.type).value(), 4, children, st->null_bitmap()));
    }
    const auto selection = evaluator.Evaluate(columns, 4);
    EXPECT_TRUE(selection) << text << selection.error().ToString();
    const auto of_whole = FilterEvaluator::Make(*bound, schema, FilterColumns::kWhole).value().Evaluate({st}, 4);
    EXPECT_TRUE(of_whole) << text << of_whole.error().ToString();
    std::string rows;
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(of_whole->Kept(i), selection->Kept(i)) << text;
      rows += selection->Kept(i) ? '1' : '0';
    }
    return rows;
  };
  EXPECT_EQ(rows_of("st.a = 5"), "1000");
  EXPECT_EQ(rows_of("st.a IS NULL"), "0110");
  EXPECT_EQ(rows_of("NOT (st.a = 5)"), "0001");
  EXPECT_EQ(rows_of("st.in.b > 1"), "1001");
  EXPECT_EQ(rows_of("st.in.b IS NAN"), "0001");
  EXPECT_EQ(rows_of("st.in.b IS NOT NAN"), "1110");
  EXPECT_EQ(rows_of("st.in.b IS NOT NULL"), "1001");
  EXPECT_EQ(rows_of("st IS NULL"), "0010");
  EXPECT_EQ(rows_of("st.a IS NULL OR st.in.b < 2"), "1110");
}

}  // namespace
}  // namespace delenda::read
