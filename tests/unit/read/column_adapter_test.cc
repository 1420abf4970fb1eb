// Schema evolution: which columns of a file become which columns of the table.
#include "delenda/read/column_adapter.h"

#include <arrow/api.h>
#include <arrow/compute/initialize.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delenda/read/arrow_type.h"
#include "delenda/read/row_group_stats.h"
#include "unit/read/plan_builder.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ArrayRef = std::shared_ptr<arrow::Array>;

std::shared_ptr<const parquet::ParquetFile> FileOf(const arrow::FieldVector& fields,
                                                   const std::vector<ArrayRef>& columns,
                                                   const ParquetOptions& options = {}) {
  EXPECT_TRUE(arrow::compute::Initialize().ok());
  const auto io = io::MakeMemoryFileIO();
  const Bytes bytes = ToParquet(arrow::Table::Make(arrow::schema(fields), columns), options);
  PutFile(*io, "/f.parquet", bytes);
  std::shared_ptr<io::InputFile> file = io->Open("/f.parquet", bytes.size()).value();
  return parquet::ParquetFile::Open(std::move(file), bytes.size()).value();
}

// The wanted columns of the file's first row group as JSON rows.
Result<std::vector<std::string>> Rows(const parquet::ParquetFile& file, const std::vector<Field>& wanted,
                                      const ConstantColumns& constants = {}) {
  const ColumnAdapter adapter = DELENDA_TRY(ColumnAdapter::Make(wanted, file, constants));
  std::shared_ptr<arrow::RecordBatch> batch;
  if (!adapter.leaves().empty()) batch = DELENDA_TRY(DELENDA_TRY(file.Read(0, adapter.leaves(), 1000))->Next());
  const int64_t rows = file.row_groups()[0].num_rows;
  const auto arrays = DELENDA_TRY(adapter.Adapt(batch.get(), rows));
  std::vector<std::string> result;
  for (size_t c = 0; c < wanted.size(); ++c) {
    EXPECT_TRUE(arrays[c]->type()->Equals(ToArrowType(wanted[c].type).value())) << arrays[c]->type()->ToString();
    EXPECT_TRUE(arrays[c]->ValidateFull().ok()) << arrays[c]->ValidateFull().ToString();
  }
  for (int64_t row = 0; row < rows; ++row) {
    Json object = Json::object();
    for (size_t c = 0; c < wanted.size(); ++c) object[wanted[c].name] = testing::ToJson(*arrays[c], row);
    result.push_back(object.dump());
  }
  return result;
}

ArrayRef Ints(const std::vector<std::optional<int32_t>>& values) {
  return testing::MakeArray<arrow::Int32Builder, int32_t>(values);
}

TEST(ColumnAdapter, FieldIdsDecideNotNamesOrOrder) {
  const auto file = FileOf(
      {IdField(2, "cost", arrow::float32()), IdField(1, "id", arrow::int32()), IdField(9, "note", arrow::utf8())},
      {testing::MakeArray<arrow::FloatBuilder, float>({0.5F, std::nullopt}), Ints({7, -8}), Texts({"x", "y"})});
  const auto rows = Rows(*file, {MakeField(1, "id", TypeKind::kLong), MakeField(3, "note", TypeKind::kString),
                                 MakeField(2, "price", TypeKind::kDouble)});
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(*rows, ElementsAre(R"({"id":7,"note":null,"price":0.5})", R"({"id":-8,"note":null,"price":null})"));
  EXPECT_THAT(
      ColumnAdapter::Make({MakeField(1, "id", TypeKind::kLong), MakeField(2, "price", TypeKind::kDouble)}, *file, {})
          ->leaves(),
      ElementsAre(0, 1));
}

TEST(ColumnAdapter, MissingColumnsTakePartitionThenDefaultThenNull) {
  const auto file = FileOf({IdField(1, "id", arrow::int32())}, {Ints({1})});
  Field with_default = MakeField(2, "a", TypeKind::kInt, true);
  with_default.initial_default = Datum(int64_t{42});
  Field from_partition = MakeField(3, "b", TypeKind::kString);
  from_partition.initial_default = Datum(std::string("default"));
  const std::vector<Field> wanted = {with_default, from_partition,
                                     MakeField(4, "c", Type::Struct({MakeField(5, "x", TypeKind::kInt)}))};
  const auto rows = Rows(*file, wanted, {{3, Datum(std::string("eu"))}});
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(*rows, ElementsAre(R"({"a":42,"b":"eu","c":null})"));
  EXPECT_EQ(Rows(*file, {MakeField(6, "d", TypeKind::kInt, true)}).error().kind(), ErrorKind::kCorrupt);
}

TEST(ColumnAdapter, ConstantsOfEveryType) {
  const auto file = FileOf({IdField(1, "id", arrow::int32())}, {Ints({1})});
  const std::vector<std::pair<Type, Datum>> cases = {{TypeKind::kBoolean, Datum(true)},
                                                     {TypeKind::kInt, Datum(int64_t{-5})},
                                                     {TypeKind::kLong, Datum(int64_t{1} << 40)},
                                                     {TypeKind::kFloat, Datum(0.5F)},
                                                     {TypeKind::kDouble, Datum(0.25F)},
                                                     {TypeKind::kDouble, Datum(1e300)},
                                                     {Type::Decimal(20, 2), Datum(Int128{-1234})},
                                                     {TypeKind::kDate, Datum(int64_t{-1})},
                                                     {TypeKind::kTimestampTz, Datum(int64_t{-1})},
                                                     {TypeKind::kString, Datum(std::string("ü"))},
                                                     {TypeKind::kBinary, Datum(std::string("\x01"))},
                                                     {Type::Fixed(2), Datum(std::string("ab"))}};
  const std::vector<std::string> expected = {"true",
                                             "-5",
                                             "1099511627776",
                                             "0.5",
                                             "0.25",
                                             "1e+300",
                                             "\"-12.34\"",
                                             "\"1969-12-31\"",
                                             "\"1969-12-31T23:59:59.999999Z\"",
                                             "\"ü\"",
                                             "\"01\"",
                                             "\"6162\""};
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto rows = Rows(*file, {MakeField(2, "v", cases[i].first)}, {{2, cases[i].second}});
    ASSERT_TRUE(rows) << rows.error().ToString();
    EXPECT_THAT(*rows, ElementsAre("{\"v\":" + expected[i] + "}"));
  }
  EXPECT_EQ(Rows(*file, {MakeField(2, "v", TypeKind::kInt)}, {{2, Datum(int64_t{1} << 40)}}).error().kind(),
            ErrorKind::kCorrupt);
  EXPECT_EQ(Rows(*file, {MakeField(2, "v", TypeKind::kInt)}, {{2, Datum(std::string("x"))}}).error().kind(),
            ErrorKind::kCorrupt);
  EXPECT_EQ(Rows(*file, {MakeField(2, "v", Type::Fixed(3))}, {{2, Datum(std::string("x"))}}).error().kind(),
            ErrorKind::kCorrupt);
}

TEST(ColumnAdapter, OnlyWideningsAreRead) {
  const auto date = testing::MakeArray<arrow::Date32Builder, int32_t>({-1});
  const auto nanos =
      testing::MakeArray<arrow::TimestampBuilder, int64_t>({-2000}, arrow::timestamp(arrow::TimeUnit::NANO, "UTC"));
  const auto odd = testing::MakeArray<arrow::TimestampBuilder, int64_t>({1}, arrow::timestamp(arrow::TimeUnit::NANO));
  const auto millis =
      testing::MakeArray<arrow::TimestampBuilder, int64_t>({-1}, arrow::timestamp(arrow::TimeUnit::MILLI));
  const auto decimal = testing::MakeArray<arrow::Decimal128Builder, arrow::Decimal128>({arrow::Decimal128(1234)},
                                                                                       arrow::decimal128(9, 2));
  const auto file = FileOf({IdField(1, "i", arrow::int32()), IdField(2, "l", arrow::int64()),
                            IdField(3, "d", date->type()), IdField(4, "n", nanos->type()), IdField(5, "o", odd->type()),
                            IdField(6, "m", millis->type()), IdField(7, "c", decimal->type())},
                           {Ints({5}), Longs({6}), date, nanos, odd, millis, decimal});
  const auto value = [&](int32_t id, Type type) -> std::string {
    const auto rows = Rows(*file, {MakeField(id, "v", std::move(type))});
    return rows ? rows->at(0) : std::string(ErrorKindName(rows.error().kind()));
  };
  EXPECT_EQ(value(1, TypeKind::kLong), R"({"v":5})");
  EXPECT_EQ(value(2, TypeKind::kInt), "corrupt");
  EXPECT_EQ(value(1, TypeKind::kString), "corrupt");
  EXPECT_EQ(value(1, TypeKind::kDouble), "corrupt");
  EXPECT_EQ(value(1, Type::Struct({MakeField(20, "x", TypeKind::kInt)})), "corrupt");
  EXPECT_EQ(value(3, TypeKind::kTimestamp), R"({"v":"1969-12-31T00:00:00.000000"})");
  EXPECT_EQ(value(3, TypeKind::kTimestampNs), R"({"v":"1969-12-31T00:00:00.000000000"})");
  EXPECT_EQ(value(4, TypeKind::kTimestampTz), R"({"v":"1969-12-31T23:59:59.999998Z"})");
  EXPECT_EQ(value(4, TypeKind::kTimestampTzNs), R"({"v":"1969-12-31T23:59:59.999998000Z"})");
  EXPECT_EQ(value(5, TypeKind::kTimestamp), "corrupt") << "rounded silently";
  EXPECT_EQ(value(6, TypeKind::kTimestamp), R"({"v":"1969-12-31T23:59:59.999000"})");
  EXPECT_EQ(value(7, Type::Decimal(20, 2)), R"({"v":"12.34"})");
  EXPECT_EQ(value(7, Type::Decimal(8, 2)), "corrupt");
  EXPECT_EQ(value(7, Type::Decimal(20, 3)), "corrupt");
  EXPECT_EQ(value(1, TypeKind::kVariant), "not supported");
}

TEST(ColumnAdapter, Int96IsReadInMicroseconds) {
  // 3000-01-01: nanoseconds since 1970 would overflow.
  const auto far = testing::MakeArray<arrow::TimestampBuilder, int64_t>(
      {int64_t{32503680000} * 1'000'000, std::nullopt}, arrow::timestamp(arrow::TimeUnit::MICRO));
  const auto file = FileOf({IdField(1, "t", far->type())}, {far}, {.int96 = true});
  ASSERT_EQ(file->leaves()[0].physical, ::parquet::Type::INT96);
  const auto rows = Rows(*file, {MakeField(1, "t", TypeKind::kTimestampTz)});
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(*rows, ElementsAre(R"({"t":"3000-01-01T00:00:00.000000Z"})", R"({"t":null})"));
}

TEST(ColumnAdapter, Int96IsRefusedForNanoseconds) {
  const auto times = testing::MakeArray<arrow::TimestampBuilder, int64_t>({int64_t{1'700'000'000'123'456'789}},
                                                                          arrow::timestamp(arrow::TimeUnit::NANO));
  const auto file = FileOf({IdField(1, "t", times->type())}, {times}, {.int96 = true});
  ASSERT_EQ(file->leaves()[0].physical, ::parquet::Type::INT96);
  for (const TypeKind kind : {TypeKind::kTimestampNs, TypeKind::kTimestampTzNs}) {
    const auto rows = Rows(*file, {MakeField(1, "t", kind)});
    ASSERT_FALSE(rows) << "nanoseconds would be cut off";
    EXPECT_EQ(rows.error().kind(), ErrorKind::kNotSupported);
    EXPECT_THAT(rows.error().message(), HasSubstr("INT96"));
  }
}

TEST(ColumnAdapter, NestedFieldsEvolveById) {
  // file: st {a int, b text}, l list<{x int}>, m map<text, {y float}>
  const auto b = Texts({"p", std::nullopt, "q"});
  const auto st_type = arrow::struct_({IdField(2, "a", arrow::int32()), IdField(3, "b", arrow::utf8())});
  const auto valid = arrow::Buffer::FromString(std::string(1, '\x05'));
  const auto st = std::make_shared<arrow::StructArray>(st_type, 3, arrow::ArrayVector{Ints({1, 2, 3}), b}, valid);
  const auto element = IdField(5, "element", arrow::struct_({IdField(6, "x", arrow::int32())}));
  const auto xs = std::make_shared<arrow::StructArray>(element->type(), 3, arrow::ArrayVector{Ints({10, 11, 12})});
  const auto l = std::make_shared<arrow::ListArray>(arrow::list(element), 3,
                                                    arrow::Buffer::FromVector(std::vector<int32_t>{0, 2, 2, 3}), xs);
  const auto value = IdField(9, "value", arrow::struct_({IdField(10, "y", arrow::float32())}));
  const auto map_type = std::make_shared<arrow::MapType>(IdField(8, "key", arrow::utf8(), false), value);
  const auto ys = std::make_shared<arrow::StructArray>(
      value->type(), 2, arrow::ArrayVector{testing::MakeArray<arrow::FloatBuilder, float>({1.5F, std::nullopt})});
  const auto m = std::make_shared<arrow::MapArray>(
      map_type, 3, arrow::Buffer::FromVector(std::vector<int32_t>{0, 1, 2, 2}), Texts({"k", "j"}), ys);
  const auto file =
      FileOf({IdField(1, "st", st_type), IdField(4, "l", l->type()), IdField(7, "m", map_type)}, {st, l, m});

  Field added = MakeField(30, "added", TypeKind::kInt);
  added.initial_default = Datum(int64_t{7});
  const std::vector<Field> wanted = {
      MakeField(7, "mm",
                Type::Map(MakeField(8, "key", TypeKind::kString, true),
                          MakeField(9, "value",
                                    Type::Struct({MakeField(31, "z", TypeKind::kLong),
                                                  MakeField(10, "yy", TypeKind::kDouble)})))),
      MakeField(1, "st", Type::Struct({added, MakeField(2, "aa", TypeKind::kLong)})),
      MakeField(4, "l",
                Type::List(MakeField(
                    5, "element",
                    Type::Struct({MakeField(6, "x", TypeKind::kLong), MakeField(32, "w", TypeKind::kString)}))))};
  const auto rows = Rows(*file, wanted);
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(
      *rows,
      ElementsAre(
          R"({"mm":[["k",{"z":null,"yy":1.5}]],"st":{"added":7,"aa":1},"l":[{"x":10,"w":null},{"x":11,"w":null}]})",
          R"({"mm":[["j",{"z":null,"yy":null}]],"st":null,"l":[]})",
          R"({"mm":[],"st":{"added":7,"aa":3},"l":[{"x":12,"w":null}]})"));
  // Only columns that the file lacks: NULLs and lengths are still those of the file.
  const std::vector<Field> shells = {
      MakeField(1, "st", Type::Struct({added})),
      MakeField(4, "l", Type::List(MakeField(5, "element", Type::Struct({MakeField(32, "w", TypeKind::kString)}))))};
  const auto shell_rows = Rows(*file, shells);
  ASSERT_TRUE(shell_rows) << shell_rows.error().ToString();
  EXPECT_THAT(*shell_rows, ElementsAre(R"({"st":{"added":7},"l":[{"w":null},{"w":null}]})", R"({"st":null,"l":[]})",
                                       R"({"st":{"added":7},"l":[{"w":null}]})"));
}

TEST(ColumnAdapter, FilesWithoutFieldIdsAreRefusedUnlessNothingIsNeeded) {
  const auto file = FileOf({arrow::field("id", arrow::int32())}, {Ints({1})});
  const auto rows = Rows(*file, {MakeField(1, "id", TypeKind::kInt)});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind(), ErrorKind::kNotSupported);
  for (const char* part : {"no field ids", "/f.parquet"}) EXPECT_THAT(rows.error().ToString(), HasSubstr(part));
  EXPECT_TRUE(Rows(*file, {}));
}

TEST(ColumnAdapter, FieldIdTwiceIsCorrupt) {
  const auto file = FileOf({IdField(1, "a", arrow::int32()), IdField(1, "b", arrow::int32())}, {Ints({1}), Ints({2})});
  EXPECT_EQ(Rows(*file, {MakeField(1, "id", TypeKind::kInt)}).error().kind(), ErrorKind::kCorrupt);
}

TEST(ColumnAdapter, NullInARequiredColumnIsCorrupt) {
  const auto file = FileOf({IdField(1, "a", arrow::int32())}, {Ints({1, std::nullopt})});
  EXPECT_EQ(Rows(*file, {MakeField(1, "id", TypeKind::kInt, true)}).error().kind(), ErrorKind::kCorrupt);
}

// The bounds that pruning sees are those of the values, in the table's type.
TEST(RowGroupStats, BoundsAreInTheTablesTypes) {
  const auto flba = testing::MakeArray<arrow::Decimal128Builder, arrow::Decimal128>(
      {arrow::Decimal128(-1234), arrow::Decimal128(99)}, arrow::decimal128(38, 2));
  const auto nan = testing::MakeArray<arrow::FloatBuilder, float>({std::nanf(""), 2.5F});
  const auto file = FileOf({IdField(1, "i", arrow::int32()), IdField(2, "f", arrow::float32()),
                            IdField(3, "s", arrow::utf8()), IdField(4, "c", flba->type())},
                           {Ints({5, std::nullopt}), nan, Texts({"b", "a"}), flba});
  const ConstantColumns constants = {{8, Datum(int64_t{3})}};
  const StatsSource stats = RowGroupStats(*file, 0, constants);
  const auto of = [&](int32_t id, Type type) {
    return stats(BoundColumn{.field_id = id, .type = std::move(type), .name = "c", .path = {id}});
  };
  EXPECT_EQ(of(1, TypeKind::kLong)->lower, Datum(int64_t{5}));
  EXPECT_EQ(of(1, TypeKind::kLong)->null_count, 1);
  EXPECT_EQ(of(1, TypeKind::kLong)->value_count, 2);
  EXPECT_EQ(of(2, TypeKind::kDouble)->upper, Datum(2.5));
  EXPECT_FALSE(of(2, TypeKind::kDouble)->nan_count) << "Parquet does not count them";
  EXPECT_EQ(of(3, TypeKind::kString)->lower, Datum(std::string("a")));
  EXPECT_EQ(of(4, Type::Decimal(38, 2))->lower, Datum(Int128{-1234}));
  EXPECT_EQ(of(4, Type::Decimal(38, 2))->upper, Datum(Int128{99}));
  EXPECT_EQ(of(8, TypeKind::kInt)->upper, Datum(int64_t{3}));
  EXPECT_FALSE(of(9, TypeKind::kInt));
}

}  // namespace
}  // namespace delenda::read
