// Files without field ids, read by a name mapping (Iceberg spec, "Column Projection").
#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delenda/read/column_adapter.h"
#include "delenda/read/mapped_schema.h"
#include "unit/read/plan_builder.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

MappedField Mapped(std::optional<int32_t> id, std::vector<std::string> names, std::vector<MappedField> fields = {}) {
  return {.id = id, .names = std::move(names), .fields = std::move(fields)};
}

// A file of columns `n` = begin.. and `flat.name` = n<n>, three rows a row group, without field ids.
Bytes LegacyFile(int64_t begin, int64_t rows, const std::string& number, const std::string& name) {
  std::vector<std::optional<std::string>> names;
  for (int64_t i = begin; i < begin + rows; ++i) names.emplace_back("n" + std::to_string(i));
  const auto table =
      arrow::Table::Make(arrow::schema({arrow::field(name, arrow::utf8()), arrow::field(number, arrow::int64())}),
                         {Texts(names), LongRange(begin, begin + rows)});
  return ToParquet(table, {.rows_per_group = 3, .dictionary = false});
}

PlanBuilder LegacyPlan() {
  PlanBuilder builder({MakeField(1, "id", TypeKind::kLong), MakeField(2, "title", TypeKind::kString),
                       MakeField(3, "later", TypeKind::kInt)});
  builder.plan().name_mapping = NameMapping{
      {Mapped(1, {"id", "n"}), Mapped(2, {"title", "flat.name"}), Mapped(3, {"later"}), Mapped({}, {"ignored"})}};
  return builder;
}

std::vector<std::string> RowTexts(const Batches& batches) {
  std::vector<std::string> rows;
  for (const auto& batch : batches) {
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      std::string text;
      for (const auto& column : batch->columns()) text += testing::ToJson(*column, row).dump() + " ";
      text.pop_back();
      rows.push_back(std::move(text));
    }
  }
  return rows;
}

TEST(NameMappingRead, EveryNameOfAFieldIsKnownAndUnmappedFieldsAreNull) {
  PlanBuilder builder = LegacyPlan();
  builder.AddFile("/a.parquet", LegacyFile(0, 2, "n", "flat.name"), 2);
  builder.AddFile("/b.parquet", LegacyFile(10, 1, "id", "title"), 1);
  builder.AddFile("/c.parquet", LegacyFile(20, 1, "ignored", "Title"), 1);  // names are exact
  const auto rows = builder.Read();
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(RowTexts(*rows), ElementsAre(R"(0 "n0" null)", R"(1 "n1" null)", R"(10 "n10" null)", "null null null"));
}

TEST(NameMappingRead, RowGroupsArePrunedByMappedColumns) {
  PlanBuilder builder = LegacyPlan();
  builder.AddFile("/a.parquet", LegacyFile(0, 30, "n", "flat.name"), 30);
  builder.AddPositionColumn();
  builder.Where("id > 25 AND title <> 'n27'");
  const auto rows = builder.Read();
  ASSERT_TRUE(rows) << rows.error().ToString();
  // Positions count the row groups that were never read.
  EXPECT_THAT(RowTexts(*rows), ElementsAre(R"(26 "n26" null 26)", R"(28 "n28" null 28)", R"(29 "n29" null 29)"));
}

TEST(NameMappingRead, DeletesByPositionAndVectorApply) {
  PlanBuilder builder = LegacyPlan();
  builder.AddFile("/a.parquet", LegacyFile(0, 4, "n", "flat.name"), 4);
  builder.AddFile("/b.parquet", LegacyFile(10, 4, "n", "flat.name"), 4);
  builder.AddVectors("/d.puffin", {{0, {1, 3}}});
  // A position delete file without field ids is read by the names that every such file has.
  const auto deletes =
      arrow::Table::Make(arrow::schema({arrow::field("pos", arrow::int64()), arrow::field("file_path", arrow::utf8())}),
                         {LongRange(2, 3), Texts({"/b.parquet"})});
  const Bytes bytes = ToParquet(deletes, {.rows_per_group = 3});
  PutFile(*builder.memory(), "/p.parquet", bytes);
  ContentFile& file = builder.plan().deletes.emplace_back();
  file.content = FileContent::kPositionDeletes;
  file.path = "/p.parquet";
  file.record_count = 1;
  file.file_size = static_cast<int64_t>(bytes.size());
  builder.plan().tasks[1].position_deletes.push_back(1);
  const auto rows = builder.Read();
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(Ids(*rows), ElementsAre(0, 2, 10, 11, 13));
}

TEST(NameMappingRead, EqualityDeletesMatchByMappedKeys) {
  PlanBuilder builder = LegacyPlan();
  builder.AddFile("/a.parquet", LegacyFile(0, 6, "n", "flat.name"), 6);
  // The delete file has no ids either, and calls the key by another of its names.
  const Bytes bytes = ToParquet(
      arrow::Table::Make(arrow::schema({arrow::field("title", arrow::utf8())}), {Texts({"n1", "n4", "none"})}),
      {.rows_per_group = 3});
  PutFile(*builder.memory(), "/e.parquet", bytes);
  ContentFile& file = builder.plan().deletes.emplace_back();
  file.content = FileContent::kEqualityDeletes;
  file.path = "/e.parquet";
  file.record_count = 3;
  file.file_size = static_cast<int64_t>(bytes.size());
  file.equality_ids = {2};
  file.data_sequence_number = 5;
  builder.plan().key_fields.emplace(
      2, plan::KeyField{.column = MakeField(2, "title", TypeKind::kString), .path = {2}, .type = TypeKind::kString});
  builder.plan().tasks[0].equality_deletes.push_back(0);
  builder.plan().tasks[0].file.data_sequence_number = 1;
  const auto rows = builder.Read();
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(Ids(*rows), ElementsAre(0, 2, 3, 5));
}

TEST(NameMappingRead, NestedLevelsAreMappedByTheirNames) {
  // st {x int, y text}, li list of {e int}, mm map of text to {v int}; without field ids.
  const auto st = arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("y", arrow::utf8())});
  const auto li = arrow::list(arrow::field("item", arrow::struct_({arrow::field("e", arrow::int32())})));
  const auto mm = arrow::map(arrow::utf8(), arrow::struct_({arrow::field("v", arrow::int32())}));
  const auto schema = arrow::schema(
      {arrow::field("st", st), arrow::field("li", li), arrow::field("mm", mm), arrow::field("x", arrow::int32())});
  const auto column = [](const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
    return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  };
  const Bytes bytes = ToParquet(
      arrow::Table::Make(schema, {column(st, R"([{"x": 1, "y": "a"}, null])"), column(li, R"([[{"e": 5}, null], []])"),
                                  column(mm, R"([[["k", {"v": 7}]], null])"), column(arrow::int32(), "[9, 9]")}),
      {});
  PlanBuilder builder(
      {MakeField(1, "s",
                 Type::Struct({MakeField(10, "y", TypeKind::kString), MakeField(11, "x", TypeKind::kLong),
                               MakeField(12, "z", TypeKind::kInt)})),
       MakeField(2, "l", Type::List(MakeField(20, "element", Type::Struct({MakeField(21, "ee", TypeKind::kInt)})))),
       MakeField(3, "m",
                 Type::Map(MakeField(30, "key", TypeKind::kString, true),
                           MakeField(31, "value", Type::Struct({MakeField(32, "v", TypeKind::kInt)}))))});
  builder.plan().name_mapping =
      NameMapping{{Mapped(1, {"st"}, {Mapped(11, {"x"}), Mapped(10, {"y"}), Mapped(12, {"z"})}),
                   Mapped(2, {"li"}, {Mapped(20, {"element"}, {Mapped(21, {"e"})})}),
                   Mapped(3, {"mm"}, {Mapped(30, {"key"}), Mapped(31, {"value"}, {Mapped(32, {"v"})})})}};
  builder.AddFile("/n.parquet", bytes, 2);
  const auto rows = builder.Read();
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(RowTexts(*rows),
              ElementsAre(R"({"y":"a","x":1,"z":null} [{"ee":5},null] [["k",{"v":7}]])", "null [] null"));

  // A level that the mapping says nothing of holds no fields of the table.
  builder.plan().name_mapping->fields[0].fields.clear();
  const auto unmapped = builder.Read();
  ASSERT_TRUE(unmapped) << unmapped.error().ToString();
  EXPECT_THAT(RowTexts(*unmapped)[0], HasSubstr(R"({"y":null,"x":null,"z":null})"));
}

TEST(NameMappingRead, StoredFieldIdsWinAndFieldsWithoutAreAbsent) {
  // As the reference implementation: one id at any depth is enough for the names not to be looked at.
  PlanBuilder builder = LegacyPlan();
  const auto table =
      arrow::Table::Make(arrow::schema({IdField(1, "other", arrow::int64()), arrow::field("title", arrow::utf8())}),
                         {LongRange(0, 1), Texts({"text"})});
  builder.AddFile("/a.parquet", ToParquet(table, {}), 1);
  const auto rows = builder.Read();
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_THAT(RowTexts(*rows), ElementsAre("0 null null"));
}

TEST(NameMappingRead, TwoColumnsForOneFieldAreCorrupt) {
  PlanBuilder builder = LegacyPlan();
  builder.AddFile("/a.parquet", LegacyFile(0, 1, "n", "id"), 1);
  const auto rows = builder.Read();
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(rows.error().ToString(), HasSubstr("appears twice"));
}

TEST(NameMappingRead, AColumnOfTheWrongTypeIsCorrupt) {
  PlanBuilder builder = LegacyPlan();
  builder.AddFile("/a.parquet", LegacyFile(0, 1, "title", "id"), 1);
  const auto rows = builder.Read();
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind(), ErrorKind::kCorrupt);
}

TEST(NameMappingRead, WithoutAMappingTheFileIsRefusedAndTheErrorSaysWhatToDo) {
  PlanBuilder builder = LegacyPlan();
  builder.plan().name_mapping.reset();
  builder.AddFile("/a.parquet", LegacyFile(0, 1, "id", "title"), 1);
  const auto rows = builder.Read();
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind(), ErrorKind::kNotSupported);
  for (const char* part : {"/a.parquet", "no field ids", "set the table property schema.name-mapping.default"})
    EXPECT_THAT(rows.error().ToString(), HasSubstr(part));
}

}  // namespace
}  // namespace delenda::read
