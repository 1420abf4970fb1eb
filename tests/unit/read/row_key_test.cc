// Rows told apart by their values, for every type that a table's column can have.
#include "delenda/read/row_key.h"

#include <arrow/api.h>
#include <arrow/compare.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delenda/read/change_pairing.h"
#include "unit/read/change_rows.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary

// Each type with values, several of them twice.
std::vector<std::shared_ptr<arrow::Array>> Columns() {
  using arrow::field;
  const auto item = arrow::struct_({field("a", arrow::int32()), field("b", arrow::list(arrow::utf8()))});
  const std::pair<std::shared_ptr<arrow::DataType>, const char*> columns[] = {
      {arrow::null(), "[null, null, null, null, null, null]"},
      {arrow::boolean(), "[true, false, null, true, false, null]"},
      {arrow::int32(), "[0, 1, -1, null, 1, 0]"},
      {arrow::int64(), "[0, 1, -1, null, 1, 4294967296]"},
      {arrow::float32(), "[0, -0.0, NaN, null, NaN, 1.5]"},
      {arrow::float64(), "[0, -0.0, NaN, null, NaN, 1.5]"},
      {arrow::decimal128(30, 2), R"(["0.00", "1.00", "-1.00", null, "1.00", "9999999999999999999999999999.99"])"},
      {arrow::date32(), "[0, 1, -1, null, 1, 0]"},
      {arrow::time64(arrow::TimeUnit::MICRO), "[0, 1, 2, null, 1, 0]"},
      {arrow::timestamp(arrow::TimeUnit::NANO, "UTC"), "[0, 1, -1, null, 1, 0]"},
      {arrow::utf8(), R"(["", "a", "b", null, "a", "ab"])"},
      {arrow::large_utf8(), R"(["", "a", "b", null, "a", "ab"])"},
      {arrow::binary(), R"(["", "a", "b", null, "a", "ab"])"},
      {arrow::fixed_size_binary(3), R"(["abc", "abd", "xbc", null, "abc", "\u0000bc"])"},
      {arrow::list(arrow::int32()), "[[], [1], [1, null], null, [1], [null, 1]]"},
      {arrow::list(arrow::list(arrow::utf8())), R"([[], [[]], [["a"], ["b"]], null, [["a", "b"]], [["a"], ["b"]]])"},
      {arrow::struct_({field("a", arrow::int32()), field("b", arrow::utf8())}),
       R"([{"a": 1, "b": "x"}, {"a": null, "b": "x"}, {"a": null, "b": null}, null, {"a": 1, "b": "x"}, {"a": 1, "b": ""}])"},
      {arrow::map(arrow::utf8(), arrow::int64()),
       R"([[], [["a", 1]], [["a", null]], null, [["a", 1]], [["a", 1], ["b", 2]]])"},
      {arrow::list(item),
       R"([[], [{"a": 1, "b": ["x"]}], [{"a": 1, "b": []}], null, [{"a": 1, "b": ["x"]}], [{"a": 1, "b": null}]])"},
  };
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const auto& [type, json] : columns) {
    auto array = arrow::json::ArrayFromJSONString(type, json);
    EXPECT_TRUE(array.ok()) << type->ToString() << array.status().ToString();
    if (array.ok()) arrays.push_back(*array);
  }
  return arrays;
}

TEST(RowKeys, TellValuesOfEveryTypeApart) {
  const auto options = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  for (const auto& array : Columns()) {
    SCOPED_TRACE(array->type()->ToString());
    ASSERT_TRUE(RowKeys::CheckComparable(*array->type()));
    const auto schema = arrow::schema({arrow::field("v", array->type())});
    // One side as it is, one as a part of a longer array.
    const auto longer = arrow::Concatenate({array->Slice(1), array}).ValueOrDie()->Slice(5);
    const auto left = arrow::RecordBatch::Make(schema, array->length(), {array});
    const auto right = arrow::RecordBatch::Make(schema, longer->length(), {longer});
    const RowKeys left_keys(left, {0}), right_keys(right, {0});
    std::vector<uint64_t> left_hashes(6), right_hashes(6);
    left_keys.Hash(left_hashes);
    right_keys.Hash(right_hashes);
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t j = 0; j < 6; ++j) {
        const bool equal = arrow::ArrayRangeEquals(*array, *longer, i, i + 1, j, options);
        EXPECT_EQ(RowKeys::Equal(left_keys, i, right_keys, j), equal) << i << " " << j;
        EXPECT_EQ(left_hashes[static_cast<size_t>(i)] == right_hashes[static_cast<size_t>(j)], equal) << i << " " << j;
      }
    }
  }
}

TEST(RowKeys, RefuseTypesThatCannotBeCompared) {
  for (const auto& type :
       {arrow::dictionary(arrow::int32(), arrow::utf8()), arrow::utf8_view(), arrow::list(arrow::binary_view()),
        arrow::dense_union({arrow::field("a", arrow::int32())})}) {
    const auto refused = RowKeys::CheckComparable(*type);
    ASSERT_FALSE(refused) << type->ToString();
    EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  }
}

// All types together through temporary files: every row is carried over but one.
TEST(RowKeys, EveryTypeComesBackFromTemporaryFiles) {
  constexpr int kCopies = 60;
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (const auto& array : Columns()) {
    fields.push_back(arrow::field(fmt::format("c{}", fields.size()), array->type()));
    columns.push_back(arrow::Concatenate(arrow::ArrayVector(kCopies, array)).ValueOrDie());
  }
  const int user_columns = static_cast<int>(fields.size());
  constexpr int64_t kRows = 6 * kCopies;
  const auto add = [&](const char* name, const auto& scalar) {
    fields.push_back(arrow::field(name, scalar->type));
    columns.push_back(arrow::MakeArrayFromScalar(*scalar, kRows).ValueOrDie());
  };
  add("_change_type", arrow::MakeScalar("DELETE"));
  add("_change_ordinal", arrow::MakeScalar(int32_t{0}));
  add("_commit_snapshot_id", arrow::MakeScalar(int64_t{7}));
  const auto schema = arrow::schema(fields);
  const auto deletes = arrow::RecordBatch::Make(schema, kRows, columns);
  columns[static_cast<size_t>(user_columns)] =
      arrow::MakeArrayFromScalar(arrow::StringScalar("INSERT"), kRows).ValueOrDie();
  const auto inserts = arrow::RecordBatch::Make(schema, kRows, columns);
  for (const uint64_t budget : {uint64_t{1} << 30, uint64_t{1}}) {
    auto stream = PairChanges(std::make_unique<BatchList>(std::vector{deletes, inserts->Slice(1)}), schema,
                              {.user_columns = static_cast<size_t>(user_columns), .memory_budget = budget});
    ASSERT_TRUE(stream) << stream.error().ToString();
    const auto batch = (*stream)->Next();
    ASSERT_TRUE(batch) << batch.error().ToString();
    ASSERT_NE(*batch, nullptr);
    EXPECT_TRUE((*batch)->ValidateFull().ok());
    // Of the rows equal to the first, the last delete is left.
    EXPECT_TRUE(
        (*batch)->Equals(*deletes->Slice(kRows - 6, 1), false, arrow::EqualOptions::Defaults().nans_equal(true)))
        << (*batch)->ToString();
    EXPECT_EQ((*stream)->Next().value(), nullptr);
    EXPECT_EQ((*stream)->metrics().spilled_bytes > 0, budget == 1);
  }
}

}  // namespace
}  // namespace delenda::read
