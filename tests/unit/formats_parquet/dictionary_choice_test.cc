#include "delenda/formats/parquet/dictionary_choice.h"

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/extension/uuid.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace delenda::parquet {
namespace {

constexpr int64_t kRows = 32 * 1024;

// A value for each row; nothing: NULL.
using NumberOf = std::function<std::optional<int64_t>(int64_t row)>;

std::shared_ptr<arrow::Array> Longs(const NumberOf& value, int64_t rows = kRows) {
  arrow::Int64Builder builder;
  for (int64_t row = 0; row < rows; ++row) {
    const auto number = value(row);
    EXPECT_TRUE((number ? builder.Append(*number) : builder.AppendNull()).ok());
  }
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> Texts(const NumberOf& value) {
  arrow::StringBuilder builder;
  for (int64_t row = 0; row < kRows; ++row) EXPECT_TRUE(builder.Append("text " + std::to_string(*value(row))).ok());
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> Uuids() {
  arrow::FixedSizeBinaryBuilder builder(arrow::fixed_size_binary(16));
  for (int64_t row = 0; row < kRows; ++row) {
    std::string bytes(16, '\0');
    for (int i = 0; i < 8; ++i) bytes[static_cast<size_t>(i)] = static_cast<char>(row >> (8 * i));
    EXPECT_TRUE(builder.Append(bytes).ok());
  }
  return arrow::ExtensionType::WrapArray(arrow::extension::uuid(), builder.Finish().ValueOrDie());
}

std::vector<int> Chosen(const std::shared_ptr<arrow::Array>& column) {
  const auto schema = arrow::schema({arrow::field("c", column->type())});
  return ColumnsWithoutDictionary(*arrow::RecordBatch::Make(schema, column->length(), {column}));
}

// 2 MiB, the tables' default, hold 262,144 longs.
constexpr int64_t kDictionaryHolds = 262144;
int64_t Mixed(int64_t row) { return static_cast<int64_t>(std::mt19937_64(static_cast<uint64_t>(row))() >> 1); }

TEST(DictionaryChoice, OnlyColumnsOfValuesThatHardlyRepeatGoWithoutOne) {
  struct Case {
    const char* what;
    std::shared_ptr<arrow::Array> column;
    bool without;
  };
  const Case cases[] = {
      {"every value another one", Longs([](int64_t row) { return row; }), true},
      {"random", Longs(Mixed), true},
      {"a few values", Longs([](int64_t row) { return row % 7; }), false},
      {"half of what a dictionary holds", Longs([](int64_t row) { return Mixed(row) % (kDictionaryHolds / 2); }),
       false},
      {"each value in ten rows", Longs([](int64_t row) { return row / 10; }), false},
      {"one row in four NULL",
       Longs([](int64_t row) { return row % 4 == 0 ? std::nullopt : std::optional(Mixed(row)); }), true},
      {"nearly all NULL", Longs([](int64_t row) { return row % 16 == 0 ? std::optional(Mixed(row)) : std::nullopt; }),
       false},
      {"different texts", Texts(Mixed), true},
      {"few texts", Texts([](int64_t row) { return row % 100; }), false},
      {"uuids", Uuids(), true},
      {"a part of a longer array", Longs([](int64_t row) { return row < 5 ? 0 : Mixed(row); }, kRows + 5)->Slice(5),
       true},
      {"too few rows to tell", Longs(Mixed, 1000), false},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(one.without ? std::vector<int>{0} : std::vector<int>{}, Chosen(one.column)) << one.what;
  }
}

TEST(DictionaryChoice, NestedColumnsAndBooleansKeepTheirs) {
  arrow::BooleanBuilder booleans;
  for (int64_t row = 0; row < kRows; ++row) ASSERT_TRUE(booleans.Append(row % 2 == 0).ok());
  EXPECT_TRUE(Chosen(booleans.Finish().ValueOrDie()).empty());
  const auto inner = Longs(Mixed);
  EXPECT_TRUE(Chosen(arrow::StructArray::Make({inner}, std::vector<std::string>{"id"}).ValueOrDie()).empty());
}

}  // namespace
}  // namespace delenda::parquet
