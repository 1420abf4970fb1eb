#include "delenda/model/type.h"

#include <gtest/gtest.h>

namespace delenda {
namespace {

TEST(TypeText, ReadsEveryNameOfTheSpecAndWritesItBack) {
  for (const char* text : {"boolean",
                           "int",
                           "long",
                           "float",
                           "double",
                           "decimal(9, 2)",
                           "date",
                           "time",
                           "timestamp",
                           "timestamptz",
                           "timestamp_ns",
                           "timestamptz_ns",
                           "string",
                           "uuid",
                           "fixed[16]",
                           "binary",
                           "unknown",
                           "variant",
                           "geometry",
                           "geography",
                           "geometry(srid:4326)",
                           "geography(OGC:CRS84, karney)"}) {
    const auto type = Type::Parse(text);
    ASSERT_TRUE(type) << text << ": " << type.error().ToString();
    EXPECT_EQ(type->ToString(), text);
    EXPECT_EQ(*Type::Parse(type->ToString()), *type);
  }
  EXPECT_EQ(*Type::Parse("decimal(9,2)"), Type::Decimal(9, 2));
  EXPECT_EQ(*Type::Parse("DECIMAL( 38 , 0 )"), Type::Decimal(38, 0));
  EXPECT_EQ(*Type::Parse("fixed[ 4 ]"), Type::Fixed(4));
}

TEST(TypeText, RefusesUnknownNamesAndBrokenParameters) {
  EXPECT_EQ(Type::Parse("interval").error().kind(), ErrorKind::kNotSupported);
  EXPECT_EQ(Type::Parse("").error().kind(), ErrorKind::kNotSupported);
  for (const char* text : {"decimal(39, 2)", "decimal(0, 0)", "decimal(9, 10)", "decimal(a, b)", "decimal(9, -1)",
                           "fixed[x]", "fixed[-1]", "fixed[99999999999]"}) {
    const auto type = Type::Parse(text);
    ASSERT_FALSE(type) << text;
    EXPECT_EQ(type.error().kind(), ErrorKind::kCorrupt) << text;
  }
}

TEST(Type, TellsWhichKindsBelongTogether) {
  struct Case {
    const char* type;
    bool integral, timestamp, zoned, nanos, is_float, nested;
  };
  const Case cases[] = {
      {"boolean", false, false, false, false, false, false},
      {"int", true, false, false, false, false, false},
      {"long", true, false, false, false, false, false},
      {"float", false, false, false, false, true, false},
      {"double", false, false, false, false, true, false},
      {"decimal(9, 0)", false, false, false, false, false, false},
      {"date", true, false, false, false, false, false},
      {"time", true, false, false, false, false, false},
      {"timestamp", true, true, false, false, false, false},
      {"timestamptz", true, true, true, false, false, false},
      {"timestamp_ns", true, true, false, true, false, false},
      {"timestamptz_ns", true, true, true, true, false, false},
      {"string", false, false, false, false, false, false},
      {"uuid", false, false, false, false, false, false},
      {"fixed[8]", false, false, false, false, false, false},
      {"binary", false, false, false, false, false, false},
      {"unknown", false, false, false, false, false, false},
      {"variant", false, false, false, false, false, false},
      {"geometry", false, false, false, false, false, false},
      {"geography", false, false, false, false, false, false},
  };
  for (const Case& one : cases) {
    const Type type = Type::Parse(one.type).value();
    EXPECT_EQ(type.is_integral(), one.integral) << one.type;
    EXPECT_EQ(type.is_timestamp(), one.timestamp) << one.type;
    EXPECT_EQ(type.is_zoned(), one.zoned) << one.type;
    EXPECT_EQ(type.is_nanos(), one.nanos) << one.type;
    EXPECT_EQ(type.is_float(), one.is_float) << one.type;
    EXPECT_EQ(type.is_nested(), one.nested) << one.type;
  }
  EXPECT_TRUE(Type::Struct({}).is_nested());
  EXPECT_FALSE(Type::Struct({}).is_integral());
  EXPECT_EQ(Type::Fixed(8).length(), 8);
  EXPECT_EQ(Type(TypeKind::kUuid).length(), 16);
}

TEST(TypePromotion, FollowsTheSpec) {
  const Type timestamp(TypeKind::kTimestamp);
  EXPECT_TRUE(CanPromote(TypeKind::kInt, TypeKind::kLong));
  EXPECT_FALSE(CanPromote(TypeKind::kLong, TypeKind::kInt));
  EXPECT_TRUE(CanPromote(TypeKind::kFloat, TypeKind::kDouble));
  EXPECT_FALSE(CanPromote(TypeKind::kInt, TypeKind::kDouble));
  EXPECT_TRUE(CanPromote(Type::Decimal(9, 2), Type::Decimal(12, 2)));
  EXPECT_FALSE(CanPromote(Type::Decimal(9, 2), Type::Decimal(12, 3)));
  EXPECT_FALSE(CanPromote(Type::Decimal(9, 2), Type::Decimal(8, 2)));
  EXPECT_TRUE(CanPromote(TypeKind::kDate, TypeKind::kTimestamp));
  EXPECT_TRUE(CanPromote(TypeKind::kDate, TypeKind::kTimestampNs));
  EXPECT_FALSE(CanPromote(TypeKind::kDate, TypeKind::kTimestampTz));
  EXPECT_TRUE(CanPromote(TypeKind::kUnknown, TypeKind::kString));
  EXPECT_TRUE(CanPromote(timestamp, timestamp));
}

std::vector<Field> NestedFields() {
  return {
      {.id = 1, .name = "id", .type = TypeKind::kLong, .required = true},
      {.id = 2,
       .name = "address",
       .type = Type::Struct(
           {{.id = 3, .name = "city", .type = TypeKind::kString}, {.id = 4, .name = "Zip", .type = TypeKind::kInt}})},
      {.id = 5, .name = "tags", .type = Type::List({.id = 6, .name = "x", .type = TypeKind::kString})},
      {.id = 7,
       .name = "map",
       .type = Type::Map({.id = 8, .name = "k", .type = TypeKind::kString, .required = true},
                         {.id = 9, .name = "v", .type = TypeKind::kInt})},
      {.id = 10, .name = "a.b", .type = TypeKind::kDate},
  };
}

TEST(Schema, FindsFieldsByIdAndByDottedName) {
  const auto schema = Schema::Make(3, NestedFields());
  ASSERT_TRUE(schema);
  EXPECT_EQ(FullName(schema->FindById(4)), "address.Zip");
  EXPECT_EQ(FullName(schema->FindById(6)), "tags.element");
  EXPECT_TRUE(HasOneValueARow(schema->FindById(4)));
  EXPECT_TRUE(HasOneValueARow(schema->FindById(5))) << "of a list: the list itself";
  EXPECT_FALSE(HasOneValueARow(schema->FindById(6)));
  EXPECT_EQ(FullName(schema->FindById(9)), "map.value");
  EXPECT_TRUE(schema->FindById(99).empty());
  EXPECT_EQ(schema->FindByName("address.city").back()->id, 3);
  EXPECT_EQ(schema->FindByName("ADDRESS.zip").back()->id, 4);
  EXPECT_EQ(schema->FindByName("a.b").back()->id, 10);
  EXPECT_EQ(schema->FindByName("map.key").back()->id, 8);
  EXPECT_TRUE(schema->FindByName("address.").empty());
  EXPECT_TRUE(schema->FindByName("address.city.x").empty());
  EXPECT_TRUE(schema->FindByName("").empty());
}

TEST(Schema, PrefersTheExactNameAndRefusesAmbiguousOnes) {
  const auto schema = Schema::Make(0, {{.id = 1, .name = "A", .type = TypeKind::kInt},
                                       {.id = 2, .name = "a", .type = TypeKind::kInt},
                                       {.id = 3, .name = "bB", .type = TypeKind::kInt},
                                       {.id = 4, .name = "Bb", .type = TypeKind::kInt}});
  ASSERT_TRUE(schema);
  EXPECT_EQ(schema->FindByName("a").back()->id, 2);
  EXPECT_EQ(schema->FindByName("A").back()->id, 1);
  EXPECT_TRUE(schema->FindByName("bb").empty());
  EXPECT_EQ(schema->Select({"bb"}).error().kind(), ErrorKind::kInvalidArgument);
}

TEST(Schema, RefusesDoubleIdsAndNames) {
  EXPECT_FALSE(Schema::Make(
      0, {{.id = 1, .name = "a", .type = TypeKind::kInt}, {.id = 1, .name = "b", .type = TypeKind::kInt}}));
  EXPECT_FALSE(Schema::Make(
      0, {{.id = 1, .name = "a", .type = TypeKind::kInt}, {.id = 2, .name = "a", .type = TypeKind::kInt}}));
  EXPECT_FALSE(Schema::Make(
      0, {{.id = 1, .name = "a.b", .type = TypeKind::kInt},
          {.id = 2, .name = "a", .type = Type::Struct({{.id = 3, .name = "b", .type = TypeKind::kInt}})}}));
}

TEST(Schema, SelectKeepsOrderAndNamesWhatIsMissing) {
  const auto schema = Schema::Make(7, NestedFields(), {1});
  const auto selected = schema->Select({"TAGS", "id"});
  ASSERT_TRUE(selected);
  ASSERT_EQ(selected->fields().size(), 2U);
  EXPECT_EQ(selected->fields()[0].id, 5);
  EXPECT_EQ(selected->id(), 7);
  EXPECT_EQ(selected->identifier_ids(), std::vector<int32_t>{1});
  EXPECT_TRUE(schema->Select({"tags"})->identifier_ids().empty());
  const auto missing = schema->Select({"nope"});
  EXPECT_EQ(missing.error().kind(), ErrorKind::kNotFound);
  EXPECT_NE(missing.error().message().find("address"), std::string::npos);
}

}  // namespace
}  // namespace delenda
