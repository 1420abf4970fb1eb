// Partitions of whole batches against the transform of each value.
#include "delenda/write/partition_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "delenda/write/datum_builder.h"
#include "unit/write/write_fixture.h"

namespace delenda::write {
namespace {

using testing::PartitionBy;
using testing::SchemaOf;

Datum RandomDatum(const Type& type, std::mt19937_64& random) {
  const uint64_t r = random();
  if (r % 7 == 0) return {};
  const int64_t small = static_cast<int64_t>(r >> 8 & 0xff) - 128;
  const auto wide = static_cast<int64_t>(random());
  switch (type.kind()) {
    case TypeKind::kBoolean: return Datum((r & 8) != 0);
    case TypeKind::kInt:
    case TypeKind::kDate:
      return Datum((r & 16) != 0   ? small
                   : (r & 32) != 0 ? int64_t{std::numeric_limits<int32_t>::min()}
                                   : int64_t{static_cast<int32_t>(wide)});
    case TypeKind::kLong:
      return Datum((r & 16) != 0 ? small : (r & 32) != 0 ? std::numeric_limits<int64_t>::min() : wide);
    case TypeKind::kTime: return Datum(static_cast<int64_t>(r % 86'400'000'000));
    case TypeKind::kFloat: {
      const float values[] = {0.0F, -0.0F, std::nanf("1"), -std::nanf("2"), static_cast<float>(small)};
      return Datum(values[r / 16 % 5]);
    }
    case TypeKind::kDouble: {
      const double values[] = {0.0, -0.0, std::nan("1"), -std::nan("2"), static_cast<double>(small)};
      return Datum(values[r / 16 % 5]);
    }
    case TypeKind::kDecimal:
      return Datum((r & 16) != 0 ? static_cast<Int128>(small) : static_cast<Int128>(wide) * 1'000'003);
    case TypeKind::kString: {
      const char* values[] = {"", "a", "ab", "abc", "abcd", "äöü", "äöüß", "\U0001f6f0\U0001f6f0x"};
      return Datum(std::string(values[r / 16 % 8]));
    }
    case TypeKind::kBinary: return Datum(std::string("\xff\0\x7f zz", 6).substr(0, r / 16 % 7));
    case TypeKind::kUuid: return Datum(std::string(16, static_cast<char>(small)));
    case TypeKind::kFixed: return Datum(std::string(3, static_cast<char>(small)));
    default: return Datum((r & 16) != 0 ? small : wide / 3);  // timestamps
  }
}

std::shared_ptr<arrow::Array> RandomColumn(const Field& field, const std::shared_ptr<arrow::DataType>& type, int rows,
                                           std::mt19937_64& random, std::vector<Datum>& values) {
  std::unique_ptr<arrow::ArrayBuilder> builder;
  EXPECT_TRUE(arrow::MakeBuilder(arrow::default_memory_pool(), type, &builder).ok());
  for (int i = 0; i < rows; ++i) {
    values.push_back(RandomDatum(field.type, random));
    EXPECT_TRUE(AppendDatum(*builder, field.type, values.back()));
  }
  return *builder->Finish();
}

TEST(GroupByPartition, GivesEachRowTheTransformOfItsValues) {
  const std::vector<Field> fields = {{.id = 1, .name = "b", .type = TypeKind::kBoolean},
                                     {.id = 2, .name = "i", .type = TypeKind::kInt},
                                     {.id = 3, .name = "l", .type = TypeKind::kLong},
                                     {.id = 4, .name = "f", .type = TypeKind::kFloat},
                                     {.id = 5, .name = "d", .type = TypeKind::kDouble},
                                     {.id = 6, .name = "m9", .type = Type::Decimal(9, 2)},
                                     {.id = 7, .name = "m38", .type = Type::Decimal(38, 6)},
                                     {.id = 8, .name = "dt", .type = TypeKind::kDate},
                                     {.id = 9, .name = "t", .type = TypeKind::kTime},
                                     {.id = 10, .name = "ts", .type = TypeKind::kTimestamp},
                                     {.id = 11, .name = "tz", .type = TypeKind::kTimestampTz},
                                     {.id = 12, .name = "n", .type = TypeKind::kTimestampNs},
                                     {.id = 13, .name = "zn", .type = TypeKind::kTimestampTzNs},
                                     {.id = 14, .name = "s", .type = TypeKind::kString},
                                     {.id = 15, .name = "u", .type = TypeKind::kUuid},
                                     {.id = 16, .name = "x", .type = Type::Fixed(3)},
                                     {.id = 17, .name = "y", .type = TypeKind::kBinary}};
  const Schema schema = SchemaOf(fields);
  const WriteTarget target = testing::TargetOf(schema);
  const auto batch_schema = *target.BatchSchema();
  std::mt19937_64 random(4711);
  constexpr int kRows = 500;
  std::vector<std::vector<Datum>> values(fields.size());
  arrow::ArrayVector columns;
  for (size_t i = 0; i < fields.size(); ++i) {
    columns.push_back(
        RandomColumn(fields[i], batch_schema->field(static_cast<int>(i))->type(), kRows, random, values[i]));
  }
  const auto batch = arrow::RecordBatch::Make(batch_schema, kRows, columns);
  int applied = 0;
  for (const char* text : {"identity", "bucket[5]", "truncate[3]", "year", "month", "day", "hour", "void"}) {
    for (size_t i = 0; i < fields.size(); ++i) {
      const PartitionField by = PartitionBy(fields[i].id, text);
      // A second field, so that groups are made of two.
      const BoundSpec spec = BoundSpec::Make({.fields = {by, PartitionBy(1, "identity")}}, schema);
      SCOPED_TRACE(fmt::format("{}({})", text, fields[i].name));
      const int64_t offset = static_cast<int64_t>(i) * 3;  // slices too
      const auto groups = GroupByPartition(spec, schema, *batch->Slice(offset));
      const bool takes = by.transform.Apply(fields[i].type, Datum()).has_value();
      ASSERT_EQ(groups.has_value(), takes);
      if (!takes) {
        EXPECT_EQ(groups.error().kind(), ErrorKind::kInvalidArgument);
        continue;
      }
      ++applied;
      uint32_t next = 0;
      for (size_t row = 0; row < groups->group_of_row.size(); ++row) {
        const uint32_t group = groups->group_of_row[row];
        ASSERT_LE(group, next);
        if (group == next) ++next;
        const auto naive = by.transform.Apply(fields[i].type, values[i][row + static_cast<size_t>(offset)]);
        ASSERT_TRUE(naive);
        const PartitionTuple tuple{.values = {*naive, values[0][row + static_cast<size_t>(offset)]}};
        ASSERT_EQ(groups->tuples[group], tuple) << row << " " << PartitionText(spec, tuple);
      }
      ASSERT_EQ(next, groups->tuples.size());
      for (size_t a = 0; a < groups->tuples.size(); ++a) {
        for (size_t b = 0; b < a; ++b) ASSERT_FALSE(groups->tuples[a] == groups->tuples[b]);
      }
    }
  }
  EXPECT_GT(applied, 60);
}

TEST(GroupByPartition, ReadsFieldsInsideStructsAsNullWhereTheStructIsNull) {
  const Schema schema =
      SchemaOf({{.id = 1, .name = "s", .type = Type::Struct({{.id = 2, .name = "x", .type = TypeKind::kInt}})}});
  const WriteTarget target = testing::TargetOf(schema);
  const auto batch =
      testing::BatchOf(*target.BatchSchema(), {R"([{"x": -1}, null, {"x": null}, {"x": -10}, {"x": -11}])"});
  const BoundSpec spec = BoundSpec::Make({.fields = {PartitionBy(2, "truncate[10]")}}, schema);
  const auto groups = GroupByPartition(spec, schema, *batch);
  ASSERT_TRUE(groups) << groups.error().ToString();
  EXPECT_EQ(groups->group_of_row, (std::vector<uint32_t>{0, 1, 1, 0, 2}));
  EXPECT_EQ(groups->tuples[0].values[0], Datum(int64_t{-10}));
  EXPECT_TRUE(IsNull(groups->tuples[1].values[0]));
  EXPECT_EQ(groups->tuples[2].values[0], Datum(int64_t{-20}));
}

TEST(GroupByPartition, RefusesWhatItCannotCompute) {
  const Schema schema =
      SchemaOf({{.id = 1, .name = "i", .type = TypeKind::kInt},
                {.id = 2, .name = "l", .type = Type::List({.id = 3, .name = "element", .type = TypeKind::kInt})}});
  const WriteTarget target = testing::TargetOf(schema);
  const auto batch = testing::BatchOf(*target.BatchSchema(), {"[1]", "[[1]]"});
  for (const PartitionField& field :
       {PartitionBy(1, "zorder[3]"), PartitionBy(3, "identity"), PartitionBy(99, "identity")}) {
    const auto groups = GroupByPartition(BoundSpec::Make({.fields = {field}}, schema), schema, *batch);
    ASSERT_FALSE(groups);
    EXPECT_EQ(groups.error().kind(), ErrorKind::kNotSupported) << groups.error().ToString();
  }
  // A dropped source under void: one partition for all.
  const auto groups = GroupByPartition(BoundSpec::Make({.fields = {PartitionBy(99, "void")}}, schema), schema, *batch);
  ASSERT_TRUE(groups);
  EXPECT_EQ(groups->tuples.size(), 1U);
}

}  // namespace
}  // namespace delenda::write
