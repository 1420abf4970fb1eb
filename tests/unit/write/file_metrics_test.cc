// Metrics of data files: bounds cut short, NaN, zeros, modes, nested columns. (That they are the reference
// implementation's is asserted over the fixtures, in reference_metrics_test.cc.)
#include "delenda/write/file_metrics.h"

#include <gtest/gtest.h>

#include <limits>

#include "unit/write/write_fixture.h"

namespace delenda::write {
namespace {

using testing::BatchOf;
using testing::SchemaOf;
using testing::TargetOf;
using testing::WriteAll;

FileMetrics MetricsOf(const WriteTarget& target, const std::vector<std::string>& columns) {
  const auto files = WriteAll(target, {BatchOf(*target.BatchSchema(), columns)});
  EXPECT_TRUE(files) << files.error().ToString();
  EXPECT_EQ(files->size(), 1U);
  return *files->front().metrics;
}

TEST(TruncatedUpperBound, IsTheLeastTextThatIsAboveAllWithThePrefix) {
  struct Case {
    const char* what;
    TypeKind type;
    std::string value;
    std::optional<std::string> expected;
  };
  const Case cases[] = {
      {"short enough: the value itself", TypeKind::kString, "abc", "abc"},
      {"exactly the length", TypeKind::kString, "abcd", "abcd"},
      {"the last code point is raised", TypeKind::kString, "abcde", "abce"},
      {"code points, not bytes, are counted", TypeKind::kString, "äöüßx", "äöüà"},
      {"a short text of many bytes stays", TypeKind::kString, "äöüß", "äöüß"},
      {"one byte becomes two", TypeKind::kString, "abc\x7f!", "abc\u0080"},
      {"two bytes become three", TypeKind::kString, "abc\u07ff!", "abc\u0800"},
      {"three bytes become four", TypeKind::kString, "abc\uffff!", "abc\U00010000"},
      {"the surrogates are skipped", TypeKind::kString, "abc\ud7ff!", "abc\ue000"},
      {"the last code point of all cannot be raised, the one before it is", TypeKind::kString, "abc\U0010ffff!", "abd"},
      {"nothing can be raised", TypeKind::kString, "\U0010ffff\U0010ffff\U0010ffff\U0010ffff!", std::nullopt},
      {"no UTF-8: no bound", TypeKind::kString, "ab\xff\xfe!", std::nullopt},
      {"bytes", TypeKind::kBinary, "abcde", "abce"},
      {"bytes of 0xff are cut off", TypeKind::kBinary, "ab\xff\xff\x01", "ac"},
      {"only bytes of 0xff", TypeKind::kBinary, "\xff\xff\xff\xff\x01", std::nullopt},
      {"short bytes", TypeKind::kBinary, "\xff\xff", "\xff\xff"},
  };
  for (const Case& c : cases) {
    const auto bound = TruncatedUpperBound(c.type, c.value, 4);
    EXPECT_EQ(bound, c.expected) << c.what;
    // What it is for: no text with the prefix lies above it.
    if (bound) {
      EXPECT_GE(*bound, c.value) << c.what;
    }
  }
}

TEST(FileMetrics, NanIsCountedAndIsNoBound) {
  const Schema schema = SchemaOf({{.id = 1, .name = "d", .type = TypeKind::kDouble},
                                  {.id = 2, .name = "f", .type = TypeKind::kFloat},
                                  {.id = 3, .name = "all", .type = TypeKind::kFloat}});
  const FileMetrics metrics =
      MetricsOf(TargetOf(schema), {"[NaN, 2.5, null, -1.0]", "[NaN, NaN, 1.0, null]", "[NaN, null, NaN, NaN]"});
  EXPECT_EQ(metrics.value_counts, (std::map<int32_t, int64_t>{{1, 4}, {2, 4}, {3, 4}}));
  EXPECT_EQ(metrics.null_counts, (std::map<int32_t, int64_t>{{1, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(metrics.nan_counts, (std::map<int32_t, int64_t>{{1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(*DatumFromBound(TypeKind::kDouble, AsBytes(metrics.lower_bounds.at(1))), Datum(-1.0));
  EXPECT_EQ(*DatumFromBound(TypeKind::kDouble, AsBytes(metrics.upper_bounds.at(1))), Datum(2.5));
  EXPECT_EQ(*DatumFromBound(TypeKind::kFloat, AsBytes(metrics.lower_bounds.at(2))), Datum(1.0F));
  EXPECT_FALSE(metrics.lower_bounds.contains(3));
  EXPECT_FALSE(metrics.upper_bounds.contains(3));
}

// A reader that tells the zeros apart must find either by the bounds of a file that holds one.
TEST(FileMetrics, ZerosWidenTheBounds) {
  const Schema schema = SchemaOf({{.id = 1, .name = "d", .type = TypeKind::kDouble}});
  for (const char* column : {"[0.0]", "[-0.0]", "[0.0, -0.0, null]"}) {
    const FileMetrics metrics = MetricsOf(TargetOf(schema), {column});
    EXPECT_EQ(metrics.lower_bounds.at(1), std::string("\0\0\0\0\0\0\0\x80", 8)) << column;
    EXPECT_EQ(metrics.upper_bounds.at(1), std::string(8, '\0')) << column;
  }
}

TEST(FileMetrics, ValuesBelowANullStructCountAsNullAndBoundNothing) {
  const Schema schema = SchemaOf({{.id = 1,
                                   .name = "s",
                                   .type = Type::Struct({{.id = 2, .name = "d", .type = TypeKind::kDouble},
                                                         {.id = 3, .name = "t", .type = TypeKind::kString}})}});
  const WriteTarget target = TargetOf(schema);
  const auto batch_schema = *target.BatchSchema();
  // Slots that lie below the NULL hold values all the same.
  const auto d = testing::ColumnOf(arrow::float64(), "[1.0, NaN, NaN, 7.0]");
  const auto t = testing::ColumnOf(arrow::utf8(), R"(["b", "c", "a", "z"])");
  const auto type = batch_schema->field(0)->type();
  const auto valid = testing::ColumnOf(arrow::boolean(), "[true, true, false, false]")->data()->buffers[1];
  const auto column = std::make_shared<arrow::StructArray>(type, 4, arrow::ArrayVector{d, t}, valid, 2);
  const auto files = WriteAll(target, {arrow::RecordBatch::Make(batch_schema, 4, {column})});
  ASSERT_TRUE(files) << files.error().ToString();
  const FileMetrics& metrics = *files->front().metrics;
  EXPECT_EQ(metrics.null_counts, (std::map<int32_t, int64_t>{{2, 2}, {3, 2}}));
  EXPECT_EQ(metrics.nan_counts, (std::map<int32_t, int64_t>{{2, 1}}));
  EXPECT_EQ(metrics.lower_bounds.at(3), "b");
  EXPECT_EQ(metrics.upper_bounds.at(3), "c");
  EXPECT_EQ(*DatumFromBound(TypeKind::kDouble, AsBytes(metrics.upper_bounds.at(2))), Datum(1.0));
}

TEST(FileMetrics, BelowListsAndMapsThereAreSizesOnly) {
  const Schema schema =
      SchemaOf({{.id = 1, .name = "l", .type = Type::List({.id = 2, .name = "element", .type = TypeKind::kDouble})},
                {.id = 3,
                 .name = "m",
                 .type = Type::Map({.id = 4, .name = "key", .type = TypeKind::kString, .required = true},
                                   {.id = 5, .name = "value", .type = TypeKind::kInt})}});
  const FileMetrics metrics = MetricsOf(TargetOf(schema), {"[[1.0, NaN], null]", R"([[["a", 1]], []])"});
  EXPECT_EQ(metrics.column_sizes.size(), 3U);
  EXPECT_TRUE(metrics.value_counts.empty());
  EXPECT_TRUE(metrics.null_counts.empty());
  EXPECT_TRUE(metrics.nan_counts.empty());
  EXPECT_TRUE(metrics.lower_bounds.empty());
}

// Parquet itself keeps no bounds of values above 4 KiB.
TEST(FileMetrics, LongTextsHaveBounds) {
  const Schema schema = SchemaOf({{.id = 1, .name = "s", .type = TypeKind::kString}});
  const FileMetrics metrics = MetricsOf(TargetOf(schema), {fmt::format(R"(["{}", "b"])", std::string(10'000, 'z'))});
  EXPECT_EQ(metrics.lower_bounds.at(1), "b");
  EXPECT_EQ(metrics.upper_bounds.at(1), std::string(15, 'z') + "{");
}

TEST(FileMetrics, EachModeKeepsWhatItSays) {
  const Schema schema = SchemaOf({{.id = 1, .name = "a", .type = TypeKind::kString},
                                  {.id = 2, .name = "b", .type = TypeKind::kString},
                                  {.id = 3, .name = "c", .type = TypeKind::kString},
                                  {.id = 4, .name = "d", .type = TypeKind::kString},
                                  {.id = 5, .name = "e", .type = TypeKind::kLong}});
  const std::string text = R"(["abcdefghijklmnopqrstuvw"])";
  const FileMetrics metrics = MetricsOf(TargetOf(schema, {},
                                                 {{"write.metadata.metrics.default", "counts"},
                                                  {"write.metadata.metrics.column.a", "none"},
                                                  {"write.metadata.metrics.column.b", "truncate(3)"},
                                                  {"write.metadata.metrics.column.c", "Full"},
                                                  {"write.metadata.metrics.column.gone", "full"}}),
                                        {text, text, text, text, "[7]"});
  EXPECT_EQ(metrics.column_sizes.size(), 5U);
  EXPECT_EQ(metrics.value_counts, (std::map<int32_t, int64_t>{{2, 1}, {3, 1}, {4, 1}, {5, 1}}));
  EXPECT_EQ(metrics.lower_bounds, (std::map<int32_t, std::string>{{2, "abc"}, {3, "abcdefghijklmnopqrstuvw"}}));
  EXPECT_EQ(metrics.upper_bounds, (std::map<int32_t, std::string>{{2, "abd"}, {3, "abcdefghijklmnopqrstuvw"}}));
}

TEST(FileMetrics, OfAllTypesHaveTheirBinaryForm) {
  struct Case {
    Type type;
    std::string column;
    std::string lower, upper;
  };
  using namespace std::string_literals;
  const Case cases[] = {
      {TypeKind::kBoolean, "[true, false]", "\0"s, "\1"s},
      {TypeKind::kInt, "[-1, 2147483647]", "\xff\xff\xff\xff", "\xff\xff\xff\x7f"},
      {TypeKind::kLong, "[-2, 256]", "\xfe\xff\xff\xff\xff\xff\xff\xff", "\0\1\0\0\0\0\0\0"s},
      {Type::Decimal(9, 2), R"(["-1.00", "300.00"])", "\x9c", "\x75\x30"},
      {Type::Decimal(18, 0), R"(["-1", "128"])", "\xff", "\0\x80"s},
      {Type::Decimal(38, 0), R"(["-129", "255"])", "\xff\x7f", "\0\xff"s},
      {TypeKind::kDate, "[-1, 1]", "\xff\xff\xff\xff", "\1\0\0\0"s},
      {TypeKind::kTime, "[0, 1]", "\0\0\0\0\0\0\0\0"s, "\1\0\0\0\0\0\0\0"s},
      {TypeKind::kTimestamp, "[-1, 1]", "\xff\xff\xff\xff\xff\xff\xff\xff", "\1\0\0\0\0\0\0\0"s},
      {TypeKind::kTimestampTzNs, "[-1, 1]", "\xff\xff\xff\xff\xff\xff\xff\xff", "\1\0\0\0\0\0\0\0"s},
      {TypeKind::kUuid, R"(["aaaaaaaaaaaaaaaa", "zzzzzzzzzzzzzzzz"])", "aaaaaaaaaaaaaaaa", "zzzzzzzzzzzzzzzz"},
      {Type::Fixed(3), R"(["abc", "abd"])", "abc", "abd"},
      {TypeKind::kBinary, R"(["", "abd"])", "", "abd"},
  };
  for (const Case& c : cases) {
    const Schema schema = SchemaOf({{.id = 1, .name = "c", .type = c.type}});
    const FileMetrics metrics = MetricsOf(TargetOf(schema), {c.column});
    ASSERT_TRUE(metrics.lower_bounds.contains(1)) << c.type.ToString();
    EXPECT_EQ(metrics.lower_bounds.at(1), c.lower) << c.type.ToString();
    EXPECT_EQ(metrics.upper_bounds.at(1), c.upper) << c.type.ToString();
  }
}

}  // namespace
}  // namespace delenda::write
