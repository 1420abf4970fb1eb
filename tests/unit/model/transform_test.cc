#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "delenda/model/murmur3.h"
#include "delenda/model/partition.h"

namespace delenda {
namespace {

Datum Of(const Type& type, std::string_view text) { return DatumFromText(type, text).value(); }
Transform Named(std::string_view text) { return Transform::Parse(text).value(); }

struct HashCase {
  Type type;
  std::string text;
  int32_t hash;
};

// Table of the Iceberg spec, Appendix B. The bucket of 2^31 - 1 is the hash without its sign, but for one value.
TEST(BucketHash, HasTheKnownAnswersOfAppendixB) {
  const std::vector<HashCase> cases = {
      {TypeKind::kInt, "34", 2017239379},
      {TypeKind::kLong, "34", 2017239379},
      {Type::Decimal(9, 2), "14.20", -500754589},
      {TypeKind::kDate, "2017-11-16", -653330422},
      {TypeKind::kTime, "22:31:08", -662762989},
      {TypeKind::kTimestamp, "2017-11-16T22:31:08", -2047944441},
      {TypeKind::kTimestamp, "2017-11-16T22:31:08.000001", -1207196810},
      {TypeKind::kTimestampTz, "2017-11-16T14:31:08-08:00", -2047944441},
      {TypeKind::kTimestampTz, "2017-11-16T14:31:08.000001-08:00", -1207196810},
      {TypeKind::kTimestampNs, "2017-11-16T22:31:08", -2047944441},
      {TypeKind::kTimestampNs, "2017-11-16T22:31:08.000001001", -1207196810},
      {TypeKind::kTimestampTzNs, "2017-11-16T14:31:08-08:00", -2047944441},
      {TypeKind::kTimestampTzNs, "2017-11-16T14:31:08.000001001-08:00", -1207196810},
      {TypeKind::kString, "iceberg", 1210000089},
      {TypeKind::kUuid, "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340},
      {Type::Fixed(4), "00010203", -188683207},
      {TypeKind::kBinary, "00010203", -188683207},
  };
  for (const HashCase& one : cases) {
    for (const int32_t buckets : {2147483647, 16, 7, 1}) {
      const int64_t expected = static_cast<int64_t>(static_cast<uint32_t>(one.hash) & 0x7fffffffU) % buckets;
      const auto bucket = Named(fmt::format("bucket[{}]", buckets)).Apply(one.type, Of(one.type, one.text));
      ASSERT_TRUE(bucket) << one.text;
      EXPECT_EQ(*bucket, Datum(expected)) << one.type.ToString() << " " << one.text;
    }
  }
}

TEST(BucketHash, IsMurmur3OnEveryTailLength) {
  // Reference answers of the published algorithm with seed 0.
  EXPECT_EQ(Murmur3Hash32({}), 0U);
  EXPECT_EQ(Murmur3Hash32(AsBytes("test")), 0xba6bd213U);
  EXPECT_EQ(Murmur3Hash32(AsBytes("Hello, world!")), 0xc0363e43U);
  EXPECT_EQ(Murmur3Hash32(AsBytes("The quick brown fox jumps over the lazy dog")), 0x2e4ff723U);
}

struct ApplyCase {
  std::string transform;
  Type type;
  std::string text;
  std::string expected;  // text of the result type
};

TEST(Transforms, GiveTheValuesOfTheSpec) {
  const Type ts(TypeKind::kTimestamp);
  const Type ns(TypeKind::kTimestampNs);
  const std::vector<ApplyCase> cases = {
      {"truncate[10]", TypeKind::kInt, "1", "0"},
      {"truncate[10]", TypeKind::kInt, "-1", "-10"},
      {"truncate[10]", TypeKind::kInt, "-10", "-10"},
      {"truncate[10]", TypeKind::kLong, "-11", "-20"},
      {"truncate[50]", Type::Decimal(9, 2), "10.65", "10.50"},
      {"truncate[10]", Type::Decimal(9, 2), "-0.05", "-0.10"},
      {"truncate[3]", TypeKind::kString, "iceberg", "ice"},
      {"truncate[3]", TypeKind::kString, "ic", "ic"},
      {"truncate[2]", TypeKind::kString, "ü日本", "ü日"},
      {"truncate[1]", TypeKind::kString, "😀😀", "😀"},
      {"truncate[3]", TypeKind::kBinary, "0102030405", "010203"},
      {"year", TypeKind::kDate, "2017-11-16", "47"},
      {"year", TypeKind::kDate, "1969-12-31", "-1"},
      {"month", TypeKind::kDate, "2017-11-16", "574"},
      {"month", TypeKind::kDate, "1969-12-31", "-1"},
      {"month", TypeKind::kDate, "1968-01-01", "-24"},
      {"day", TypeKind::kDate, "1969-12-31", "1969-12-31"},
      {"year", ts, "1969-12-31T23:59:59.999999", "-1"},
      {"day", ts, "1969-12-31T23:59:59.999999", "1969-12-31"},
      {"day", ts, "2017-12-01T10:12:55.038194", "2017-12-01"},
      {"hour", ts, "2017-12-01T10:12:55.038194", "420034"},
      {"hour", ts, "1969-12-31T23:59:59.999999", "-1"},
      {"hour", ns, "1969-12-31T23:59:59.999999999", "-1"},
      {"month", ns, "2017-12-01T10:12:55.038194789", "575"},
      {"identity", TypeKind::kString, "ice", "ice"},
      // 32 and 64 bits wrap in the writers' arithmetic.
      {"truncate[10]", TypeKind::kInt, "-2147483648", "2147483646"},
      {"truncate[10]", TypeKind::kLong, "-9223372036854775808", "9223372036854775806"},
  };
  for (const ApplyCase& one : cases) {
    const Transform transform = Named(one.transform);
    const auto value = transform.Apply(one.type, Of(one.type, one.text));
    ASSERT_TRUE(value) << one.transform << " " << one.text << ": " << value.error().ToString();
    EXPECT_EQ(DatumToText(transform.ResultType(one.type), *value), one.expected) << one.transform << " " << one.text;
  }
}

TEST(Transforms, KeepNullAndRefuseForeignTypes) {
  for (const char* text : {"identity", "bucket[4]", "truncate[4]", "void"}) {
    EXPECT_TRUE(IsNull(*Named(text).Apply(TypeKind::kLong, Datum()))) << text;
  }
  EXPECT_TRUE(IsNull(*Named("void").Apply(TypeKind::kLong, Datum(int64_t{5}))));
  EXPECT_EQ(Named("hour").Apply(TypeKind::kDate, Datum(int64_t{5})).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_FALSE(Named("bucket[4]").Apply(TypeKind::kDouble, Datum(1.0)));
  EXPECT_FALSE(Named("bucket[4]").Apply(TypeKind::kBoolean, Datum(true)));
  EXPECT_FALSE(Named("truncate[4]").Apply(TypeKind::kUuid, Datum(std::string(16, 'x'))));
  EXPECT_FALSE(Named("truncate[4]").Apply(TypeKind::kLong, Datum(std::string("x"))));
  EXPECT_EQ(Named("zorder[3]").Apply(TypeKind::kLong, Datum(int64_t{5})).error().kind(), ErrorKind::kNotSupported);
}

TEST(TransformText, IsReadAndWrittenBack) {
  for (const char* text : {"identity", "bucket[16]", "truncate[2147483647]", "year", "month", "day", "hour", "void",
                           "zorder", "Zorder[3, x]"}) {
    EXPECT_EQ(Named(text).ToString(), text);
    EXPECT_EQ(Named(Named(text).ToString()), Named(text));
  }
  EXPECT_EQ(Named("BUCKET[3]"), Named("bucket[3]"));
  EXPECT_EQ(Named("zorder").kind(), Transform::Kind::kUnknown);
  EXPECT_FALSE(Named("zorder") == Named("xorder"));
  EXPECT_EQ(Named("day").ResultType(TypeKind::kTimestamp), Type(TypeKind::kDate));
  EXPECT_EQ(Named("truncate[3]").ResultType(Type::Decimal(9, 2)), Type::Decimal(9, 2));
  for (const char* text :
       {"", "bucket[0]", "bucket[x]", "truncate[-1]", "bucket[99999999999]", "bucket[3", "bucket[]", "bucket[3]x"}) {
    const auto transform = Transform::Parse(text);
    ASSERT_FALSE(transform) << text;
    EXPECT_EQ(transform.error().kind(), ErrorKind::kCorrupt);
  }
}

TEST(PartitionSpecs, OfVoidFieldsOnlyAreUnpartitioned) {
  PartitionSpec spec;
  EXPECT_TRUE(spec.IsUnpartitioned());
  spec.fields.push_back({.source_id = 1, .field_id = 1000, .name = "a", .transform = Named("void")});
  EXPECT_TRUE(spec.IsUnpartitioned());
  spec.fields.push_back({.source_id = 1, .field_id = 1001, .name = "b", .transform = Named("identity")});
  EXPECT_FALSE(spec.IsUnpartitioned());
}

TEST(PartitionTuples, AreEqualAndHashByValue) {
  const PartitionTuple a{{Datum(), Datum(std::string("x")), Datum(std::numeric_limits<double>::quiet_NaN())}};
  const PartitionTuple b{{Datum(), Datum(std::string("x")), Datum(-std::numeric_limits<double>::quiet_NaN())}};
  const PartitionTuple c{{Datum(), Datum(std::string("y")), Datum(0.0)}};
  EXPECT_EQ(a, b);
  EXPECT_EQ(HashPartitionTuple(a), HashPartitionTuple(b));
  EXPECT_FALSE(a == c);
  EXPECT_FALSE(a == PartitionTuple{});
}

TEST(PartitionTexts, ShowCalendarValuesAsPeopleReadThem) {
  const Schema schema = Schema::Make(0, {{.id = 1, .name = "ts", .type = TypeKind::kTimestamp},
                                         {.id = 2, .name = "s", .type = TypeKind::kString}})
                            .value();
  PartitionSpec spec;
  int32_t id = 1000;
  for (const char* text : {"year", "month", "day", "hour"}) {
    spec.fields.push_back(
        {.source_id = 1, .field_id = id++, .name = fmt::format("ts_{}", text), .transform = Named(text)});
  }
  spec.fields.push_back({.source_id = 2, .field_id = id++, .name = "s", .transform = Named("identity")});
  spec.fields.push_back({.source_id = 99, .field_id = id++, .name = "gone", .transform = Named("bucket[3]")});
  const BoundSpec bound = BoundSpec::Make(spec, schema);
  EXPECT_EQ(bound.source_types.back(), Type(TypeKind::kUnknown));
  const PartitionTuple tuple{
      {Datum(int64_t{-2}), Datum(int64_t{-2}), Datum(int64_t{-2}), Datum(int64_t{-2}), Datum(), Datum(int64_t{1})}};
  EXPECT_EQ(PartitionText(bound, tuple),
            "ts_year=1968/ts_month=1969-11/ts_day=1969-12-30/ts_hour=1969-12-31-22/s=null/gone=1");
}

}  // namespace
}  // namespace delenda
