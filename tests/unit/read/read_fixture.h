// Scanning fixture tables and turning batches into the fixtures' JSON (tests/fixtures/README.md).
#pragma once

#include <arrow/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/counting_file_io.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/read/scan_stream.h"
#include "support/fixtures.h"

namespace delenda::testing {

using Json = nlohmann::ordered_json;
using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

inline Result<std::shared_ptr<plan::ScanPlan>> PlanFixture(const std::string& name,
                                                           const plan::ScanRequest& request = {},
                                                           std::shared_ptr<io::FileIO> io = FixtureIO()) {
  auto table = DELENDA_TRY(iceberg::LoadTable(*io, FixtureTable(name)));
  Executor executor(1);
  return std::make_shared<plan::ScanPlan>(DELENDA_TRY(plan::PlanScan(table.metadata, *io, request, executor, {})));
}

// In order unless the test says otherwise: what threads bring first differs from run to run.
inline Result<Batches> ReadAll(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                               read::ReadOptions options = {.ordered = true}) {
  auto stream = DELENDA_TRY(read::OpenScan(std::move(plan), std::move(io), std::move(options)));
  Batches batches;
  while (auto batch = DELENDA_TRY(stream->Next())) {
    EXPECT_GT(batch->num_rows(), 0);
    EXPECT_TRUE(batch->ValidateFull().ok()) << batch->ValidateFull().ToString();
    EXPECT_TRUE(batch->schema()->Equals(*stream->schema()));
    for (int i = 0; i < batch->num_columns(); ++i) {
      EXPECT_TRUE(batch->column(i)->type()->Equals(*stream->schema()->field(i)->type()));
    }
    batches.push_back(std::move(batch));
  }
  return batches;
}

inline int64_t RowsIn(const Batches& batches) {
  int64_t rows = 0;
  for (const auto& batch : batches) rows += batch->num_rows();
  return rows;
}

inline std::string Timestamp(int64_t value, int64_t per_second, int digits) {
  int64_t seconds = value / per_second;
  int64_t fraction = value % per_second;
  if (fraction < 0) {
    fraction += per_second;
    --seconds;
  }
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto second = (time - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:0{}}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), second / 3600,
                     second / 60 % 60, second % 60, fraction, digits);
}

inline Json FloatJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

inline Json ToJson(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) return nullptr;
  switch (array.type_id()) {
    case arrow::Type::BOOL: return static_cast<const arrow::BooleanArray&>(array).Value(row);
    case arrow::Type::INT32: return static_cast<const arrow::Int32Array&>(array).Value(row);
    case arrow::Type::INT64: return static_cast<const arrow::Int64Array&>(array).Value(row);
    case arrow::Type::FLOAT:
      return FloatJson(static_cast<double>(static_cast<const arrow::FloatArray&>(array).Value(row)));
    case arrow::Type::DOUBLE: return FloatJson(static_cast<const arrow::DoubleArray&>(array).Value(row));
    case arrow::Type::DECIMAL128: return static_cast<const arrow::Decimal128Array&>(array).FormatValue(row);
    case arrow::Type::DATE32:
      return Timestamp(int64_t{static_cast<const arrow::Date32Array&>(array).Value(row)} * 86400, 1, 0).substr(0, 10);
    case arrow::Type::TIMESTAMP: {
      const auto& type = static_cast<const arrow::TimestampType&>(*array.type());
      const bool nanos = type.unit() == arrow::TimeUnit::NANO;
      const int64_t value = static_cast<const arrow::TimestampArray&>(array).Value(row);
      return Timestamp(value, nanos ? 1'000'000'000 : 1'000'000, nanos ? 9 : 6) + (type.timezone().empty() ? "" : "Z");
    }
    case arrow::Type::STRING: return std::string(static_cast<const arrow::StringArray&>(array).GetView(row));
    case arrow::Type::BINARY:
    case arrow::Type::FIXED_SIZE_BINARY: {
      const std::string_view bytes = array.type_id() == arrow::Type::BINARY
                                         ? static_cast<const arrow::BinaryArray&>(array).GetView(row)
                                         : static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row);
      std::string hex;
      const bool uuid = array.type_id() == arrow::Type::FIXED_SIZE_BINARY && bytes.size() == 16;
      for (const char c : bytes) {
        hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
        if (uuid && (hex.size() == 8 || hex.size() == 13 || hex.size() == 18 || hex.size() == 23)) hex += '-';
      }
      return hex;
    }
    case arrow::Type::STRUCT: {
      Json result = Json::object();
      const auto& parent = static_cast<const arrow::StructArray&>(array);
      for (int i = 0; i < parent.num_fields(); ++i)
        result[array.type()->field(i)->name()] = ToJson(*parent.field(i), row);
      return result;
    }
    case arrow::Type::LIST: {
      Json result = Json::array();
      const auto& list = static_cast<const arrow::ListArray&>(array);
      for (int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i)
        result.push_back(ToJson(*list.values(), i));
      return result;
    }
    case arrow::Type::MAP: {
      Json result = Json::array();
      const auto& map = static_cast<const arrow::MapArray&>(array);
      for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i) {
        result.push_back(Json::array({ToJson(*map.keys(), i), ToJson(*map.items(), i)}));
      }
      std::sort(result.begin(), result.end());
      return result;
    }
    default: return "?" + array.type()->ToString();
  }
}

inline std::vector<Json> ToJson(const Batches& batches) {
  std::vector<Json> rows;
  for (const auto& batch : batches) {
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      Json object = Json::object();
      for (int i = 0; i < batch->num_columns(); ++i)
        object[batch->schema()->field(i)->name()] = ToJson(*batch->column(i), row);
      rows.push_back(std::move(object));
    }
  }
  return rows;
}

inline std::vector<Json> ReadJsonLines(const std::string& table, const std::string& file) {
  std::ifstream in(FixtureTable(table) + ".expected/" + file);
  EXPECT_TRUE(in.is_open()) << table << " " << file;
  std::vector<Json> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(Json::parse(line));
  return rows;
}

inline std::vector<std::string> Sorted(const std::vector<Json>& rows) {
  std::vector<std::string> lines;
  for (const Json& row : rows) lines.push_back(row.dump());
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace delenda::testing
