// Fixture tables through the public interface, as lines of JSON.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "delenda/table.h"
#include "interop/naive_table.h"
#include "support/fixtures.h"

namespace delenda::testing {

// A table with a column that cannot be read.
inline bool IsOutOfReach(const std::string& table) { return table == "v3_variant"; }

inline std::vector<std::string> RowTables() {
  std::vector<std::string> tables;
  for (auto& table : ReadableIcebergTables()) {
    if (!IsOutOfReach(table) && HasExpected(table, "current.jsonl")) tables.push_back(std::move(table));
  }
  return tables;
}

// Those whose metadata is plain JSON, from which the test takes the types.
inline std::vector<std::string> RandomScanTables() {
  auto tables = RowTables();
  std::erase(tables, "gz_metadata");
  return tables;
}

inline Result<Table> OpenFixture(const std::string& table, size_t threads) {
  OpenOptions options;
  options.mappings = {{.from = "/warehouse", .to = IcebergFixtures()}};
  options.threads = threads;
  return Table::Open(FixtureTable(table), std::move(options));
}

inline std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

inline Result<std::vector<std::string>> ScanLines(const Table& table, const ScanOptions& options) {
  auto rows = table.Scan(options);
  if (!rows) return std::unexpected(rows.error());
  std::string text;
  const auto written = WriteRows(*rows, {}, [&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  if (!written) return std::unexpected(written.error());
  auto lines = SplitLines(text);
  EXPECT_EQ(*written, lines.size());
  return lines;
}

inline std::vector<std::string> LinesOf(const std::string& table, const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(FixtureTable(table) + ".expected/" + file);
  EXPECT_TRUE(in.is_open()) << table << "/" << file;
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

// Rows of an expected file in canonical form, sorted.
inline std::vector<std::string> CanonicalRows(const std::vector<std::string>& lines, const Json& schema) {
  std::vector<std::string> rows;
  for (const std::string& line : lines) {
    Json row = Json::parse(line);
    if (!schema.is_null()) Canonicalise(row, schema);
    rows.push_back(row.dump());
  }
  std::ranges::sort(rows);
  return rows;
}

inline std::vector<std::string> ExpectedRows(const std::string& table, const std::string& file, const Json& schema) {
  return CanonicalRows(LinesOf(table, file), schema);
}

}  // namespace delenda::testing
