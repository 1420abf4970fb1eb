// Time travel: every snapshot, tag and branch of which the peer's rows are kept gives exactly these.
#include <gtest/gtest.h>

#include <filesystem>

#include "delenda/table.h"
#include "interop/naive_table.h"
#include "interop/table_text.h"

namespace delenda {
namespace {

using testing::Json;

struct Stored {
  std::string table;
  std::string file;  // "current.jsonl", "snapshot-<id>.jsonl", "ref-<name>.jsonl"
};

std::vector<Stored> StoredStates() {
  std::vector<Stored> states;
  for (const auto& table : testing::RowTables()) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(testing::FixtureTable(table) + ".expected")) {
      const std::string file = entry.path().filename();
      if (file == "current.jsonl" ||
          ((file.starts_with("snapshot-") || file.starts_with("ref-")) && file.ends_with(".jsonl")))
        files.push_back(file);
    }
    std::ranges::sort(files);
    for (auto& file : files) states.push_back({.table = table, .file = std::move(file)});
  }
  return states;
}

class StoredState : public ::testing::TestWithParam<Stored> {};

TEST_P(StoredState, HasThePeersRows) {
  const auto& [name, file] = GetParam();
  const auto table = testing::OpenFixture(name, 2);
  ASSERT_TRUE(table.has_value()) << table.error().ToString();
  ScanOptions options;
  std::optional<int> schema_id;
  if (file.starts_with("snapshot-")) {
    options.at.snapshot_id = std::strtoll(file.c_str() + 9, nullptr, 10);
    for (const auto& snapshot : table->Snapshots()) {
      if (snapshot.snapshot_id == options.at.snapshot_id) schema_id = snapshot.schema_id;
    }
  } else if (file.starts_with("ref-")) {
    options.at.ref = file.substr(4, file.size() - 10);
  }
  const auto lines = testing::LinesOf(name, file);
  // Some states were kept with few columns.
  if (!lines.empty()) {
    options.columns.emplace();
    for (const auto& member : testing::MemberTexts(lines[0])) {
      options.columns->push_back(Json::parse("{" + member + "}").begin().key());
    }
  }
  const bool is_plain =
      table->metadata_path().ends_with(".metadata.json") && !table->metadata_path().ends_with(".gz.metadata.json");
  const Json schema = is_plain ? testing::SchemaIn(table->metadata_path(), schema_id) : Json();
  for (const bool ordered : {false, true}) {
    options.ordered = ordered;
    const auto got = testing::ScanLines(*table, options);
    ASSERT_TRUE(got.has_value()) << got.error().ToString();
    EXPECT_EQ(testing::CanonicalRows(*got, schema), testing::CanonicalRows(lines, schema));
  }
  options.columns.reset();
  const auto count = table->Count(options);
  ASSERT_TRUE(count.has_value()) << count.error().ToString();
  EXPECT_EQ(count->rows, lines.size());
}

INSTANTIATE_TEST_SUITE_P(Iceberg, StoredState, ::testing::ValuesIn(StoredStates()), [](const auto& tested) {
  std::string name = tested.param.table + "_" + tested.param.file.substr(0, tested.param.file.size() - 6);
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace delenda
