// Scans of a table through any FileIO, as text: what the tests of broken and edited tables look at.
#pragma once

#include <arrow/c/bridge.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/mapping_file_io.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/read/scan_stream.h"
#include "delenda/rows.h"

namespace delenda::testing {

enum class Stage : uint8_t { kOpen, kPlan, kRead };

struct ScanOutcome {
  std::optional<Error> error;
  Stage stage = Stage::kOpen;     // where the error came, else kRead
  std::vector<std::string> rows;  // JSON, sorted; with an error: those that came before it
  std::vector<std::string> warnings;
  bool error_stays = true;  // asked again, the stream gave the same error

  bool ok() const { return !error; }
  std::string Text() const { return error ? error->ToString() : std::to_string(rows.size()) + " rows"; }
};

inline const char* StageName(Stage stage) {
  return stage == Stage::kOpen ? "open" : stage == Stage::kPlan ? "plan" : "read";
}

// The text of a row in which only its values count: keys sorted.
inline std::string CanonicalRow(std::string_view line) {
  return nlohmann::json::parse(line, nullptr, false).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline std::vector<std::string> RowsOfFile(const std::string& path) {
  std::vector<std::string> rows;
  std::ifstream in(path);
  EXPECT_TRUE(in.is_open()) << path;
  for (std::string line; std::getline(in, line);) rows.push_back(CanonicalRow(line));
  std::ranges::sort(rows);
  return rows;
}

inline std::vector<std::string> SortedRows(const std::string& text) {
  std::vector<std::string> rows;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    rows.push_back(CanonicalRow(std::string_view(text).substr(at, end - at)));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  std::ranges::sort(rows);
  return rows;
}

inline std::string BatchText(const std::shared_ptr<arrow::RecordBatch>& batch) {
  ArrowArrayStream stream;
  const auto reader = arrow::RecordBatchReader::Make({batch}, batch->schema());
  if (!reader.ok() || !arrow::ExportRecordBatchReader(*reader, &stream).ok()) return "export failed\n";
  auto rows = RowStream::Import(&stream);
  std::string text;
  if (!rows) return rows.error().ToString() + "\n";
  const auto written = WriteRows(*rows, {}, [&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  return written ? text : written.error().ToString() + "\n";
}

struct ScanHow {
  plan::ScanRequest request = {};
  size_t threads = 1;
  bool verify_footers = false;
};

inline ScanOutcome ScanThrough(const std::shared_ptr<io::FileIO>& files, const std::string& location,
                               const ScanHow& how = {}) {
  ScanOutcome outcome;
  const auto fail = [&](Stage stage, const Error& error) {
    outcome.stage = stage;
    outcome.error = error;
    std::ranges::sort(outcome.rows);
    return outcome;
  };
  auto table = iceberg::LoadTable(*files, location);
  if (!table) return fail(Stage::kOpen, table.error());
  Executor executor(how.threads);
  auto planned = plan::PlanScan(table->metadata, *files, how.request, executor, {});
  if (!planned) return fail(Stage::kPlan, planned.error());
  outcome.warnings = planned->warnings;
  read::ReadOptions options;
  options.threads = how.threads;
  options.verify_footers = how.verify_footers;
  auto stream = read::OpenScan(std::make_shared<const plan::ScanPlan>(*std::move(planned)), files, options);
  if (!stream) return fail(Stage::kPlan, stream.error());
  std::string text;
  while (true) {
    auto batch = (*stream)->Next();
    if (!batch) {
      const auto again = (*stream)->Next();
      outcome.error_stays = !again && again.error().ToString() == batch.error().ToString();
      outcome.rows = SortedRows(text);
      return fail(Stage::kRead, batch.error());
    }
    if (*batch == nullptr) break;
    text += BatchText(*batch);
  }
  outcome.stage = Stage::kRead;
  outcome.rows = SortedRows(text);
  return outcome;
}

}  // namespace delenda::testing
