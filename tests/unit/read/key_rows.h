// Rows with keys of every awkward kind, as values and as files, for comparison with a naive model.
#pragma once

#include <arrow/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "unit/read/plan_builder.h"

namespace delenda::testing {

// The columns of the tests: 1 id long, 2 k long, 3 t string, 4 d double, 5 st struct<6 a int>.
struct ModelRow {
  int64_t id = 0;
  std::optional<int64_t> k;
  std::optional<std::string> t;
  std::optional<double> d;
  bool st_null = false;
  std::optional<int32_t> a;
};

inline std::vector<Field> TableFields() {
  return {MakeField(1, "id", TypeKind::kLong), MakeField(2, "k", TypeKind::kLong), MakeField(3, "t", TypeKind::kString),
          MakeField(4, "d", TypeKind::kDouble), MakeField(5, "st", Type::Struct({MakeField(6, "a", TypeKind::kInt)}))};
}

inline std::shared_ptr<arrow::Array> StructOf(const std::vector<ModelRow>& rows) {
  std::vector<std::optional<int32_t>> values;
  std::vector<uint8_t> valid;
  for (const auto& row : rows) {
    values.push_back(row.a);
    valid.push_back(row.st_null ? 0 : 1);
  }
  const auto child = MakeArray<arrow::Int32Builder, int32_t>(values);
  arrow::TypedBufferBuilder<bool> bits;
  for (const uint8_t bit : valid) EXPECT_TRUE(bits.Append(bit != 0).ok());
  const auto type = arrow::struct_({IdField(6, "a", arrow::int32())});
  return std::make_shared<arrow::StructArray>(type, static_cast<int64_t>(rows.size()), arrow::ArrayVector{child},
                                              bits.Finish().ValueOrDie());
}

// `narrow`: column k as an old file has it, int instead of long. `ids`: the columns that are written.
inline Bytes WriteRows(const std::vector<ModelRow>& rows, const std::vector<int>& ids, bool narrow,
                       int64_t rows_per_group) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const int id : ids) {
    std::vector<std::optional<int64_t>> longs;
    std::vector<std::optional<int32_t>> ints;
    std::vector<std::optional<std::string>> texts;
    std::vector<std::optional<double>> doubles;
    for (const auto& row : rows) {
      longs.push_back(id == 1 ? std::optional(row.id) : row.k);
      ints.push_back(row.k ? std::optional(static_cast<int32_t>(*row.k)) : std::nullopt);
      texts.push_back(row.t);
      doubles.push_back(row.d);
    }
    switch (id) {
      case 1:
      case 2:
        fields.push_back(IdField(id, "c" + std::to_string(id), id == 2 && narrow ? arrow::int32() : arrow::int64()));
        arrays.push_back(id == 2 && narrow ? MakeArray<arrow::Int32Builder, int32_t>(ints) : Longs(longs));
        break;
      case 3:
        fields.push_back(IdField(3, "t", arrow::utf8()));
        arrays.push_back(Texts(texts));
        break;
      case 4:
        fields.push_back(IdField(4, "d", arrow::float64()));
        arrays.push_back(MakeArray<arrow::DoubleBuilder, double>(doubles));
        break;
      default: arrays.push_back(StructOf(rows)); fields.push_back(IdField(5, "st", arrays.back()->type()));
    }
  }
  return ToParquet(arrow::Table::Make(arrow::schema(fields), arrays), {.rows_per_group = rows_per_group});
}

// Two values of a key field are the same key: NULL is NULL (a field of a NULL struct too), NaN is NaN, -0.0 is not 0.0.
inline std::string KeyValueText(const ModelRow& row, int32_t field) {
  switch (field) {
    case 2: return row.k ? std::to_string(*row.k) : "null";
    case 3: return row.t ? "'" + *row.t : "null";
    case 4:
      if (!row.d) return "null";
      if (std::isnan(*row.d)) return "nan";
      return fmt::format("{}{}", std::signbit(*row.d) ? "-" : "+", std::fabs(*row.d));
    default: return row.st_null || !row.a ? "null" : std::to_string(*row.a);
  }
}

inline bool SameKey(const ModelRow& a, const ModelRow& b, const std::vector<int32_t>& fields) {
  return std::ranges::all_of(fields, [&](int32_t field) { return KeyValueText(a, field) == KeyValueText(b, field); });
}

inline ModelRow RandomRow(std::mt19937_64& random, int64_t id) {
  const auto below = [&](uint64_t n) { return random() % n; };
  ModelRow row;
  row.id = id;
  if (below(6) != 0) row.k = static_cast<int64_t>(below(40)) - 20;
  if (below(6) != 0) row.t = std::string(below(3), static_cast<char>('a' + below(3)));
  const double doubles[] = {0.0,
                            -0.0,
                            1.5,
                            std::numeric_limits<double>::quiet_NaN(),
                            -std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()};
  if (below(6) != 0) row.d = doubles[below(6)];
  row.st_null = below(5) == 0;
  if (below(5) != 0) row.a = static_cast<int32_t>(below(5));
  return row;
}

inline plan::KeyField KeyFieldOf(const Schema& schema, int32_t id) {
  const Schema::Path path = schema.FindById(id);
  plan::KeyField key{.column = *path.front(), .path = {}, .type = path.back()->type};
  for (const Field* field : path) key.path.push_back(field->id);
  return key;
}

inline void AddKeyField(plan::ScanPlan& plan, int32_t id) { plan.key_fields.emplace(id, KeyFieldOf(plan.schema, id)); }

inline std::shared_ptr<const PartitionTuple> PartitionOf(int32_t number) {
  return std::make_shared<const PartitionTuple>(PartitionTuple{{Datum(int64_t{number})}});
}

// Spec 0 is unpartitioned, spec 1 has one field.
inline void AddSpecs(plan::ScanPlan& plan) {
  PartitionSpec unpartitioned;
  PartitionSpec partitioned;
  partitioned.spec_id = 1;
  // The bucket of a column keeps the tuple from standing in for a column's value.
  partitioned.fields.push_back(
      {.source_id = 1, .field_id = 1000, .name = "b", .transform = Transform::Parse("bucket[4]").value()});
  plan.specs.emplace(0, BoundSpec::Make(unpartitioned, plan.schema));
  plan.specs.emplace(1, BoundSpec::Make(partitioned, plan.schema));
}

}  // namespace delenda::testing
