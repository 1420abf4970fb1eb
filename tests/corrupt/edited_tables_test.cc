// tests/fixtures/edited: tables that are right but for one thing. Each is refused with the right kind of error, which
// names the place, before any row; or read with exactly the expected rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "corrupt/table_scan.h"
#include "delenda/io/file_io.h"
#include "delenda/table.h"
#include "support/fixtures.h"

namespace delenda {
namespace {

using nlohmann::json;
using testing::ScanOutcome;
using testing::ScanThrough;
using testing::Stage;

std::string EditedFolder() { return std::string(DELENDA_FIXTURES) + "/edited"; }

std::vector<std::string> EditedTables() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(EditedFolder())) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".expected")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::shared_ptr<io::FileIO> EditedIO() {
  return io::MakeMappingFileIO(testing::FixtureIO(), {{.from = "/warehouse-edited", .to = EditedFolder()}});
}

class EditedTable : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream in(EditedFolder() + "/" + GetParam() + ".expected/expected.json");
    ASSERT_TRUE(in.is_open());
    expected_ = json::parse(in);
  }

  std::vector<std::string> Texts(const char* key) const {
    return expected_.value(key, json::array()).get<std::vector<std::string>>();
  }
  std::vector<std::string> Rows(const char* key) const {
    return testing::RowsOfFile(std::string(DELENDA_FIXTURES) + "/" + expected_.at(key).get<std::string>());
  }
  static std::string Location() { return EditedFolder() + "/" + GetParam(); }

  json expected_;
};

TEST_P(EditedTable, GivesTheExpectedErrorOrRows) {
  for (const size_t threads : {1, 3}) {
    const ScanOutcome got = ScanThrough(EditedIO(), Location(), {.threads = threads});
    if (expected_.contains("rows")) {
      ASSERT_TRUE(got.ok()) << got.Text();
      EXPECT_EQ(got.rows, Rows("rows"));
      const auto warnings = Texts("warning");
      EXPECT_EQ(got.warnings.empty(), warnings.empty()) << ::testing::PrintToString(got.warnings);
      for (const auto& text : warnings) EXPECT_THAT(got.warnings, ::testing::Contains(::testing::HasSubstr(text)));
      continue;
    }
    ASSERT_FALSE(got.ok()) << expected_.at("what") << ": " << got.Text();
    EXPECT_EQ(std::string(ErrorKindName(got.error->kind())), expected_.at("kind")) << got.Text();
    for (const auto& text : Texts("text")) EXPECT_THAT(got.Text(), ::testing::HasSubstr(text));
    EXPECT_EQ(testing::StageName(got.stage), expected_.at("stage").get<std::string>()) << got.Text();
    EXPECT_TRUE(got.error_stays);
    if (got.stage != Stage::kRead) {
      EXPECT_TRUE(got.rows.empty());
    }
  }
}

TEST_P(EditedTable, IsReadForRepairWhereThatIsAllowed) {
  plan::ScanRequest request;
  request.allow_dangling_dvs = true;
  const ScanOutcome got = ScanThrough(EditedIO(), Location(), {.request = request});
  if (!expected_.contains("allowed_rows")) {
    // The switch is for vectors without a data file only.
    const bool is_about_dangling =
        ::testing::Matches(::testing::Contains(::testing::HasSubstr("matches no data file")))(Texts("text"));
    if (!is_about_dangling) {
      EXPECT_EQ(got.ok(), expected_.contains("rows")) << got.Text();
    }
    return;
  }
  ASSERT_TRUE(got.ok()) << got.Text();
  EXPECT_EQ(got.rows, Rows("allowed_rows"));
  for (const auto& text : Texts("allowed_warning"))
    EXPECT_THAT(got.warnings, ::testing::Contains(::testing::HasSubstr(text)));
}

// The public way in gives the same, and no text before an error.
TEST_P(EditedTable, IsTheSameThroughThePublicInterface) {
  OpenOptions open;
  open.mappings = {{.from = "/warehouse", .to = testing::IcebergFixtures()},
                   {.from = "/warehouse-edited", .to = EditedFolder()}};
  open.threads = 2;
  std::string text;
  const auto run = [&]() -> Result<uint64_t> {
    const auto table = DELENDA_TRY(Table::Open(Location(), open));
    auto rows = DELENDA_TRY(table.Scan());
    return WriteRows(rows, {}, [&](std::string_view piece) -> Result<void> {
      text += piece;
      return {};
    });
  };
  const auto got = run();
  ASSERT_EQ(got.has_value(), expected_.contains("rows")) << (got ? "read" : got.error().ToString());
  if (got) {
    EXPECT_EQ(testing::SortedRows(text), Rows("rows"));
  } else {
    EXPECT_EQ(text, "");
    EXPECT_EQ(std::string(ErrorKindName(got.error().kind())), expected_.at("kind"));
  }
}

// A count from metadata must not be given where a scan refuses at planning.
TEST_P(EditedTable, IsNotCountedWhereItIsNotPlanned) {
  OpenOptions open;
  open.mappings = {{.from = "/warehouse", .to = testing::IcebergFixtures()},
                   {.from = "/warehouse-edited", .to = EditedFolder()}};
  const auto table = Table::Open(Location(), open);
  if (!table) return;
  const auto count = table->Count();
  if (expected_.contains("rows")) {
    ASSERT_TRUE(count.has_value()) << count.error().ToString();
    EXPECT_EQ(count->rows, Rows("rows").size());
  } else if (expected_.at("stage") == "plan") {
    ASSERT_FALSE(count.has_value()) << count->rows;
    EXPECT_EQ(std::string(ErrorKindName(count.error().kind())), expected_.at("kind"));
  }
}

// Changes are planned from the same metadata: what a scan refuses then, they refuse.
TEST_P(EditedTable, HasItsChangesPlannedOrRefusedLikeAScan) {
  OpenOptions open;
  open.mappings = {{.from = "/warehouse", .to = testing::IcebergFixtures()},
                   {.from = "/warehouse-edited", .to = EditedFolder()}};
  std::vector<std::string> warnings;
  open.hooks.log = [&](LogLevel, std::string_view text) { warnings.emplace_back(text); };
  const auto table = Table::Open(Location(), open);
  if (!table) return;
  const auto changes = table->PlanChanges({.resolve_deletes = true});
  if (expected_.contains("rows") || expected_.at("stage") == "read") {
    ASSERT_TRUE(changes.has_value()) << changes.error().ToString();
    EXPECT_FALSE(changes->tasks.empty());
    EXPECT_EQ(warnings.empty(), Texts("warning").empty()) << ::testing::PrintToString(warnings);
  } else {
    ASSERT_FALSE(changes.has_value()) << changes->tasks.size();
    EXPECT_EQ(std::string(ErrorKindName(changes.error().kind())), expected_.at("kind")) << changes.error().ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(All, EditedTable, ::testing::ValuesIn(EditedTables()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace delenda
