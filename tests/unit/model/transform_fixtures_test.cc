// Partition values against those of Iceberg Java, on tables that Spark wrote.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "delenda/model/partition.h"

namespace delenda {
namespace {

using Json = nlohmann::json;

// tests/fixtures/README.md: how the rows are written.
Datum FromJson(const Type& type, const Json& json) {
  if (json.is_null()) return {};
  const std::string text = json.is_string() ? json.get<std::string>() : json.dump();
  return DatumFromText(type, text).value();
}

std::vector<Json> Lines(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

// Every row of the table lies in a partition that Java's planner names, and no live partition is left without rows.
TEST(TransformFixtures, GiveJavasPartitions) {
  const std::string base = std::string(DELENDA_FIXTURES) + "/iceberg/mor_dv_transforms.expected/";
  const Schema schema = Schema::Make(0, {{.id = 1, .name = "id", .type = TypeKind::kLong},
                                         {.id = 2, .name = "d", .type = TypeKind::kDate},
                                         {.id = 3, .name = "ts", .type = TypeKind::kTimestamp},
                                         {.id = 4, .name = "dec", .type = Type::Decimal(9, 2)},
                                         {.id = 5, .name = "s", .type = TypeKind::kString}})
                            .value();
  PartitionSpec spec;
  const std::vector<std::tuple<int32_t, std::string, std::string>> fields = {{2, "d_year", "year"},
                                                                             {3, "ts_hour", "hour"},
                                                                             {1, "id_trunc", "truncate[50]"},
                                                                             {4, "dec_bucket", "bucket[3]"},
                                                                             {5, "s_bucket", "bucket[2]"}};
  for (const auto& [source, name, transform] : fields) {
    spec.fields.push_back({.source_id = source,
                           .field_id = static_cast<int32_t>(1000 + spec.fields.size()),
                           .name = name,
                           .transform = Transform::Parse(transform).value()});
  }
  const BoundSpec bound = BoundSpec::Make(spec, schema);
  std::map<std::string, int64_t> records;
  for (const Json& task : Lines(base + "plan.jsonl")) {
    const Json& file = task["data_file"];
    const std::string partition = file["partition"].get<std::string>();
    int64_t live = file["records"].get<int64_t>();
    for (const Json& one : task["deletes"]) live -= one["records"].get<int64_t>();
    records[partition] += live;
  }
  ASSERT_FALSE(records.empty());
  for (const Json& row : Lines(base + "current.jsonl")) {
    PartitionTuple tuple;
    for (size_t i = 0; i < spec.fields.size(); ++i) {
      const Field& field = *schema.FindById(spec.fields[i].source_id).back();
      tuple.values.push_back(spec.fields[i].transform.Apply(field.type, FromJson(field.type, row[field.name])).value());
    }
    const std::string partition = PartitionText(bound, tuple);
    ASSERT_TRUE(records.contains(partition)) << partition << " of " << row.dump();
    --records[partition];
  }
  for (const auto& [partition, rows_left] : records) EXPECT_EQ(rows_left, 0) << partition;
}

}  // namespace
}  // namespace delenda
