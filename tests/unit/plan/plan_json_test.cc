// The JSON form of plans: nothing is lost, and what is missing or wrong is refused.
#include "delenda/plan/plan_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "delenda/iceberg/table_location.h"
#include "delenda/plan/scan_planner.h"
#include "support/fixtures.h"

namespace delenda::plan {
namespace {

using testing::FixtureIO;
using testing::FixtureTable;
using ::testing::HasSubstr;
using testing::ReadableIcebergTables;

void ExpectSameFile(const ContentFile& a, const ContentFile& b) {
  EXPECT_EQ(a.content, b.content);
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.spec_id, b.spec_id);
  EXPECT_EQ(*a.partition, *b.partition);
  EXPECT_EQ(a.record_count, b.record_count);
  EXPECT_EQ(a.file_size, b.file_size);
  EXPECT_EQ(a.data_sequence_number, b.data_sequence_number);
  EXPECT_EQ(a.file_sequence_number, b.file_sequence_number);
  EXPECT_EQ(a.first_row_id, b.first_row_id);
  EXPECT_EQ(a.equality_ids, b.equality_ids);
  EXPECT_EQ(a.referenced_data_file, b.referenced_data_file);
  EXPECT_EQ(a.content_offset, b.content_offset);
  EXPECT_EQ(a.content_size, b.content_size);
}

void ExpectSameExpr(const Expr& a, const Expr& b) {
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.column.field_id, b.column.field_id);
  EXPECT_EQ(a.column.path, b.column.path);
  EXPECT_EQ(a.column.type, b.column.type);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    EXPECT_EQ(a.values[i].index(), b.values[i].index());
    EXPECT_TRUE(SamePartitionValue(a.values[i], b.values[i]));  // NaN equals NaN, 0.0 and -0.0 differ
  }
  ASSERT_EQ(a.children.size(), b.children.size());
  for (size_t i = 0; i < a.children.size(); ++i) ExpectSameExpr(*a.children[i], *b.children[i]);
}

void ExpectSamePlan(const ScanPlan& a, const ScanPlan& b) {
  EXPECT_EQ(a.snapshot_id, b.snapshot_id);
  EXPECT_EQ(a.schema.id(), b.schema.id());
  EXPECT_EQ(a.schema.fields(), b.schema.fields());
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (size_t i = 0; i < a.columns.size(); ++i) {
    EXPECT_EQ(a.columns[i].kind, b.columns[i].kind);
    EXPECT_EQ(a.columns[i].field, b.columns[i].field);
  }
  ExpectSameExpr(*a.filter, *b.filter);
  ASSERT_EQ(a.specs.size(), b.specs.size());
  for (const auto& [id, spec] : a.specs) {
    const BoundSpec& other = b.specs.at(id);
    EXPECT_EQ(spec.source_types, other.source_types);
    EXPECT_EQ(spec.result_types, other.result_types);
    ASSERT_EQ(spec.spec.fields.size(), other.spec.fields.size());
    for (size_t i = 0; i < spec.spec.fields.size(); ++i) {
      EXPECT_EQ(spec.spec.fields[i].source_id, other.spec.fields[i].source_id);
      EXPECT_EQ(spec.spec.fields[i].field_id, other.spec.fields[i].field_id);
      EXPECT_EQ(spec.spec.fields[i].name, other.spec.fields[i].name);
      EXPECT_EQ(spec.spec.fields[i].transform, other.spec.fields[i].transform);
    }
  }
  ASSERT_EQ(a.key_fields.size(), b.key_fields.size());
  for (const auto& [id, key] : a.key_fields) {
    EXPECT_EQ(key.column, b.key_fields.at(id).column);
    EXPECT_EQ(key.path, b.key_fields.at(id).path);
    EXPECT_EQ(key.type, b.key_fields.at(id).type);
  }
  EXPECT_EQ(a.name_mapping, b.name_mapping);
  ASSERT_EQ(a.deletes.size(), b.deletes.size());
  for (size_t i = 0; i < a.deletes.size(); ++i) ExpectSameFile(a.deletes[i], b.deletes[i]);
  ASSERT_EQ(a.tasks.size(), b.tasks.size());
  for (size_t i = 0; i < a.tasks.size(); ++i) {
    ExpectSameFile(a.tasks[i].file, b.tasks[i].file);
    EXPECT_EQ(a.tasks[i].dv, b.tasks[i].dv);
    EXPECT_EQ(a.tasks[i].position_deletes, b.tasks[i].position_deletes);
    EXPECT_EQ(a.tasks[i].equality_deletes, b.tasks[i].equality_deletes);
    EXPECT_EQ(a.tasks[i].start, b.tasks[i].start);
    EXPECT_EQ(a.tasks[i].length, b.tasks[i].length);
    ExpectSameExpr(*a.tasks[i].residual, *b.tasks[i].residual);
  }
  EXPECT_EQ(a.metrics.data_files_live, b.metrics.data_files_live);
  EXPECT_EQ(a.metrics.data_files_pruned, b.metrics.data_files_pruned);
}

void ExpectRoundTrip(const ScanPlan& plan) {
  for (const auto style : {json::Writer::Style::kPretty, json::Writer::Style::kCompact}) {
    const auto text = PlanToJson(plan, style);
    ASSERT_TRUE(text) << text.error().ToString();
    const auto read = PlanFromJson(*text);
    ASSERT_TRUE(read) << read.error().ToString() << "\n" << *text;
    ExpectSamePlan(plan, *read);
  }
}

TEST(PlanJson, KeepsThePlansOfRealTables) {
  size_t plans = 0;
  for (const std::string& name : ReadableIcebergTables()) {
    SCOPED_TRACE(name);
    const auto io = FixtureIO();
    const auto table = iceberg::LoadTable(*io, FixtureTable(name));
    ASSERT_TRUE(table) << table.error().ToString();
    Executor executor(1);
    for (const uint64_t split : {uint64_t{0}, uint64_t{10'000}}) {
      const auto plan = PlanScan(table->metadata, *io, {.with_metadata = true, .split_size = split}, executor, {});
      if (!plan && plan.error().kind() == ErrorKind::kNotSupported) continue;
      ASSERT_TRUE(plan) << plan.error().ToString();
      ExpectRoundTrip(*plan);
      ++plans;
    }
  }
  EXPECT_GE(plans, 60U);
}

// A plan with one of everything.
ScanPlan SmallPlan() {
  ScanPlan plan;
  plan.snapshot_id = 7;
  std::vector<Field> fields = {{.id = 1, .name = "id", .type = TypeKind::kLong, .required = true},
                               {.id = 2, .name = "odd \"name\".ü", .type = TypeKind::kString},
                               {.id = 3, .name = "d", .type = TypeKind::kDouble, .initial_default = Datum(0.1)}};
  plan.schema = *Schema::Make(4, fields);
  plan.columns = {{.field = fields[2]},
                  {.kind = OutputColumn::Kind::kPosition,
                   .field = {.id = 2147483645, .name = "_pos", .type = TypeKind::kLong, .required = true}}};
  plan.filter = *BindText("id > 5 AND d < 0.1", plan.schema);
  PartitionSpec spec{.spec_id = 3, .fields = {{.source_id = 1, .field_id = 1000, .name = "p", .transform = {}}}};
  plan.specs.emplace(3, BoundSpec::Make(spec, plan.schema));
  plan.key_fields.emplace(1, KeyField{.column = fields[0], .path = {1}, .type = TypeKind::kLong});
  plan.name_mapping = NameMapping{{{.id = 1, .names = {"id", "odd \"id\".ü"}, .fields = {}},
                                   {.id = {}, .names = {}, .fields = {{.id = 9, .names = {"id"}, .fields = {}}}}}};
  auto tuple = std::make_shared<const PartitionTuple>(PartitionTuple{{Datum(int64_t{5})}});
  ContentFile vector;
  vector.content = FileContent::kPositionDeletes;
  vector.format = FileFormat::kPuffin;
  vector.path = "s3://b/d.puffin";
  vector.spec_id = 3;
  vector.partition = tuple;
  vector.record_count = 2;
  vector.file_size = 100;
  vector.content_offset = 4;
  vector.content_size = 44;
  vector.referenced_data_file = "s3://b/a.parquet";
  ContentFile keys;
  keys.content = FileContent::kEqualityDeletes;
  keys.path = "s3://b/k.parquet";
  keys.spec_id = 3;
  keys.partition = tuple;
  keys.equality_ids = {1};
  plan.deletes = {vector, keys};
  FileTask task;
  task.file.path = "s3://b/a.parquet";
  task.file.spec_id = 3;
  task.file.partition = tuple;
  task.file.record_count = 10;
  task.file.file_size = 1000;
  task.file.data_sequence_number = 2;
  task.file.first_row_id = 0;
  task.dv = 0;
  task.equality_deletes = {1};
  task.residual = plan.filter;
  task.start = 4;
  task.length = 96;
  plan.tasks = {task};
  return plan;
}

TEST(PlanJson, KeepsOneOfEverything) { ExpectRoundTrip(SmallPlan()); }

TEST(PlanJson, KeepsPartitionValuesOfEveryType) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<Type, Datum>> cases = {
      {TypeKind::kBoolean, Datum(true)},
      {TypeKind::kInt, Datum(int64_t{-5})},
      {TypeKind::kLong, Datum(std::numeric_limits<int64_t>::min())},
      {TypeKind::kFloat, Datum(0.1F)},
      {TypeKind::kFloat, Datum(-0.0F)},
      {TypeKind::kDouble, Datum(std::nan(""))},
      {TypeKind::kDouble, Datum(-kInf)},
      {TypeKind::kDouble, Datum(0.1F)},  // written before a promotion
      {Type::Decimal(9, 2), Datum(Int128{-25250})},
      {TypeKind::kDate, Datum(int64_t{-719529})},
      {TypeKind::kDate, Datum(int64_t{100'000'000})},
      {TypeKind::kTime, Datum(int64_t{86'399'999'999})},
      {TypeKind::kTime, Datum(int64_t{-1})},  // no time of day
      {TypeKind::kTimestamp, Datum(int64_t{-1})},
      {TypeKind::kTimestampTz, Datum(int64_t{1'700'000'000'123'456})},
      {TypeKind::kTimestampNs, Datum(int64_t{1})},
      {TypeKind::kTimestampTzNs, Datum(std::numeric_limits<int64_t>::max())},
      {TypeKind::kString, Datum(std::string("a/b=\"c\" \n ü"))},
      {TypeKind::kString, Datum(std::string("null"))},
      {TypeKind::kString, Datum(std::string())},
      {TypeKind::kString, Datum(std::string("\xff\xfe"))},
      {TypeKind::kUuid, Datum(std::string("0123456789abcdef"))},
      {Type::Fixed(3), Datum(std::string("\0\1\xff", 3))},
      {TypeKind::kBinary, Datum(std::string())},
      {TypeKind::kUnknown, Datum(int64_t{7})},
      {TypeKind::kUnknown, Datum(std::string("x"))},
      {TypeKind::kInt, Datum()},
  };
  for (const auto& [type, value] : cases) {
    SCOPED_TRACE(type.ToString() + " " + DatumToText(type, value));
    ScanPlan plan = SmallPlan();
    plan.specs.at(3).source_types[0] = type;
    plan.specs.at(3).result_types[0] = type;
    plan.deletes.clear();
    plan.tasks[0].dv.reset();
    plan.tasks[0].equality_deletes.clear();
    plan.tasks[0].file.partition = std::make_shared<const PartitionTuple>(PartitionTuple{{value}});
    const auto text = PlanToJson(plan);
    ASSERT_TRUE(text) << text.error().ToString();
    const auto read = PlanFromJson(*text);
    ASSERT_TRUE(read) << read.error().ToString() << *text;
    const Datum& found = read->tasks[0].file.partition->values[0];
    EXPECT_EQ(found.index(), value.index()) << *text;
    EXPECT_TRUE(SamePartitionValue(found, value)) << *text;
    EXPECT_EQ(read->specs.at(3).result_types[0], type);
  }
}

TEST(PlanJson, KeepsFiltersOfEveryKind) {
  const Schema schema = *Schema::Make(
      0, {{.id = 1, .name = "id", .type = TypeKind::kLong},
          {.id = 2, .name = "s.t", .type = TypeKind::kString},
          {.id = 3, .name = "n", .type = Type::Struct({{.id = 4, .name = "f", .type = TypeKind::kFloat}})},
          {.id = 5, .name = "dec", .type = Type::Decimal(9, 2)},
          {.id = 6, .name = "ts", .type = TypeKind::kTimestampTzNs},
          {.id = 7, .name = "bin", .type = TypeKind::kBinary},
          {.id = 8, .name = "or", .type = TypeKind::kBoolean},
          {.id = 9, .name = "u", .type = TypeKind::kUuid},
          {.id = 10, .name = "tm", .type = TypeKind::kTime}});
  for (const char* text :
       {"id IN (3, 1, 2) OR id IS NULL", "\"s.t\" LIKE 'it''s%' AND \"s.t\" != '\"'", "n.f < 0.1 OR n.f IS NAN",
        "n.f = 'NaN' OR n.f > -0.0", "dec >= 12.5 AND NOT (dec IN (1, 2.25))", "ts < '2024-02-29T01:02:03.000004005Z'",
        "bin = X'00ff' OR bin NOT IN (X'01', X'02')", "\"or\" AND n IS NOT NULL",
        "u = '123e4567-e89b-12d3-a456-426614174000'", "tm BETWEEN '01:02:03' AND '01:02:03.000004'",
        "(id = 1 OR id = 2) AND (id = 3 OR (id = 4 AND id != 5))", "\"s.t\" NOT LIKE 'a%'", "FALSE", "TRUE"}) {
    SCOPED_TRACE(text);
    ScanPlan plan;
    plan.schema = schema;
    const auto filter = BindText(text, schema);
    ASSERT_TRUE(filter) << filter.error().ToString();
    plan.filter = *filter;
    ExpectRoundTrip(plan);
  }
}

TEST(PlanJson, RefusesWhatItCannotSay) {
  ScanPlan plan = SmallPlan();
  plan.tasks[0].file.path = "s3://b/\xff.parquet";
  const auto text = PlanToJson(plan);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind(), ErrorKind::kNotSupported);
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

TEST(PlanJson, RefusesWhatContradictsItself) {
  const std::string text = *PlanToJson(SmallPlan(), json::Writer::Style::kCompact);
  ASSERT_TRUE(PlanFromJson(text));
  struct Case {
    const char *from, *to, *message;
  };
  for (const Case& wrong : {
           Case{"\"deletionVector\":0", "\"deletionVector\":1", "another kind"},
           Case{"\"deletionVector\":0", "\"deletionVector\":2", "no delete file 2"},
           Case{"\"deletionVector\":0", "\"deletionVector\":-1", "deletionVector"},
           Case{"\"equalityDeletes\":[1]", "\"equalityDeletes\":[0]", "another kind"},
           Case{"\"positionDeletes\":[]", "\"positionDeletes\":[1]", "another kind"},
           Case{"\"equalityIds\":[1]", "\"equalityIds\":[]", "is empty"},
           Case{"\"equalityIds\":[1]", "\"equalityIds\":[2]", "key fields"},
           Case{"\"path\":[1]", "\"path\":[]", "does not lead"},
           Case{"\"path\":[1]", "\"path\":[2]", "no step"},
           Case{"\"cardinality\":2", "\"cardinality\":-2", "negative"},
           Case{"\"content\":\"deletionVector\"", "\"content\":\"positionDeletes\"", "puffin"},
           Case{"\"content\":\"deletionVector\"", "\"content\":\"new\"", "not known"},
           Case{"\"partitionValues\":[\"5\"]", "\"partitionValues\":[]", "expected 1"},
           Case{"\"partitionValues\":[\"5\"]", "\"partitionValues\":[\"x\"]", "partitionValues[0]"},
           Case{"\"partitionValues\":[\"5\"]", "\"partitionValues\":[{\"new\":\"x\"}]", "known"},
           Case{"\"specId\":3,\"partition\"", "\"specId\":4,\"partition\"", "no partition spec 4"},
           Case{"\"residual\":\"id > 5", "\"residual\":\"id >", "$.dataFiles[0].residual"},
           Case{"\"residual\":\"id > 5", "\"residual\":\"other > 5", "$.dataFiles[0].residual"},
           Case{"{\"kind\":\"field\",\"id\":3}", "{\"kind\":\"field\",\"id\":9}", "$.columns[0]"},
           Case{"\"length\":96", "\"length\":-1", "negative"},
       }) {
    const auto read = PlanFromJson(Replaced(text, wrong.from, wrong.to));
    ASSERT_FALSE(read) << wrong.to;
    EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt) << wrong.to;
    EXPECT_THAT(read.error().message(), HasSubstr(wrong.message)) << wrong.to;
  }
}

TEST(PlanJson, RefusesAnotherVersionAndUnknownColumns) {
  const std::string text = *PlanToJson(SmallPlan(), json::Writer::Style::kCompact);
  for (const auto& changed : {Replaced(text, "\"version\":1", "\"version\":2"),
                              Replaced(text, "\"kind\":\"position\"", "\"kind\":\"new\"")}) {
    const auto read = PlanFromJson(changed);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind(), ErrorKind::kNotSupported) << read.error().ToString();
  }
}

}  // namespace
}  // namespace delenda::plan
