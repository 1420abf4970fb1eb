// The fixture tables and the peers' answers about them (tests/fixtures/README.md).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "delenda/formats/json/json.h"
#include "delenda/io/file_io.h"
#include "delenda/io/mapping_file_io.h"

namespace delenda::testing {

inline std::string IcebergFixtures() { return std::string(DELENDA_FIXTURES) + "/iceberg"; }
inline std::string FixtureTable(const std::string& name) { return IcebergFixtures() + "/" + name; }

// The metadata of the fixtures names files under /warehouse.
inline std::shared_ptr<io::FileIO> MapWarehouse(std::shared_ptr<io::FileIO> inner) {
  io::LocationMapping mapping;
  mapping.from = "/warehouse";
  mapping.to = IcebergFixtures();
  return io::MakeMappingFileIO(std::move(inner), std::vector{std::move(mapping)});
}
inline std::shared_ptr<io::FileIO> FixtureIO() { return MapWarehouse(io::MakeLocalFileIO()); }

inline bool HasExpected(const std::string& table, const std::string& file) {
  return std::filesystem::exists(FixtureTable(table) + ".expected/" + file);
}

// The lines of TABLE.expected/FILE, each a JSON document.
inline std::vector<json::Document> ExpectedLines(const std::string& table, const std::string& file) {
  std::ifstream in(FixtureTable(table) + ".expected/" + file);
  EXPECT_TRUE(in.is_open()) << table << "/" << file;
  std::vector<json::Document> lines;
  for (std::string line; std::getline(in, line);) {
    auto document = json::Document::Parse(line);
    EXPECT_TRUE(document.has_value()) << document.error().ToString();
    if (document) lines.push_back(std::move(*document));
  }
  return lines;
}

// Names of all Iceberg fixture tables that are to be read (not those that must be refused), sorted.
inline std::vector<std::string> ReadableIcebergTables() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(IcebergFixtures())) {
    const std::string name = entry.path().filename();
    if (!entry.is_directory() || name.ends_with(".expected") || name.starts_with("invalid_") ||
        name.starts_with("unsupported_"))
      continue;
    if (std::filesystem::exists(entry.path() / "metadata")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace delenda::testing
