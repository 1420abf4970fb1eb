// Verify on whole tables: those that other engines wrote have no errors, in none of their snapshots; those that break a
// rule give the finding of that rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "delenda/table.h"
#include "support/fixtures.h"

namespace delenda {
namespace {

using Checks = std::set<std::string>;

std::string EditedTablesFolder() { return std::string(DELENDA_FIXTURES) + "/edited"; }

OpenOptions MappedToFixtures(size_t threads = 2) {
  OpenOptions options;
  options.mappings = {{.from = "/warehouse", .to = testing::IcebergFixtures()},
                      {.from = "/warehouse-edited", .to = EditedTablesFolder()}};
  options.threads = threads;
  return options;
}

Result<VerifyReport> VerifyTable(const std::string& location, const VerifyOptions& options, size_t threads = 2) {
  auto table = Table::Open(location, MappedToFixtures(threads));
  if (!table) return std::unexpected(table.error());
  return table->Verify(options);
}

Checks ErrorsOf(const VerifyReport& report) {
  Checks checks;
  for (const auto& finding : report.findings) {
    if (finding.is_error) checks.insert(finding.check);
  }
  return checks;
}

Checks WarningsOf(const VerifyReport& report) {
  Checks checks;
  for (const auto& finding : report.findings) {
    if (!finding.is_error) checks.insert(finding.check);
  }
  return checks;
}

std::string AllText(const VerifyReport& report) {
  std::string text;
  for (const auto& finding : report.findings) text += finding.check + " " + finding.place + ": " + finding.what + "\n";
  return text;
}

// Tables that Spark, Java and PyIceberg wrote, those in formats that can't be read among them.
std::vector<std::string> HealthyTables() {
  std::vector<std::string> names = testing::ReadableIcebergTables();
  for (const auto* name :
       {"unsupported_avro_data", "unsupported_avro_deletes", "unsupported_orc_data", "unsupported_orc_deletes"})
    names.emplace_back(name);
  return names;
}

class HealthyTable : public ::testing::TestWithParam<std::string> {};

TEST_P(HealthyTable, HasNoErrorsInAnySnapshot) {
  // What is left over in them, as their makers meant it: tests/fixtures/README.md.
  static const std::map<std::string, Checks> kWarnings = {
      {"cl_dv_removed", {"dv-lost-bits"}},
      {"cl_v2pos_removed", {"deletes-unused"}},
      {"unsupported_avro_data", {"file-unchecked"}},
      {"unsupported_avro_deletes", {"file-unchecked"}},
      {"unsupported_orc_data", {"file-unchecked"}},
      {"unsupported_orc_deletes", {"file-unchecked"}},
      {"upsert_v2", {"deletes-unused"}},
      {"upsert_v3", {"deletes-unused"}},
  };
  const auto report = VerifyTable(testing::FixtureTable(GetParam()), {.all_snapshots = true, .deep = true});
  ASSERT_TRUE(report) << report.error().ToString();
  // Files that were imported by a procedure of the reference implementation, which leaves their sizes out of summaries.
  const Checks errors = GetParam() == "imported" ? Checks{"summary-changes", "summary-totals"} : Checks();
  EXPECT_EQ(ErrorsOf(*report), errors) << AllText(*report);
  EXPECT_EQ(report->HasErrors(), !errors.empty());
  const auto warnings = kWarnings.find(GetParam());
  EXPECT_EQ(WarningsOf(*report), warnings == kWarnings.end() ? Checks() : warnings->second) << AllText(*report);
  EXPECT_GT(report->snapshots, 0U);
  EXPECT_GT(report->manifests, 0U);
  EXPECT_GT(report->data_files, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, HealthyTable, ::testing::ValuesIn(HealthyTables()),
                         [](const auto& tested) { return tested.param; });

struct Broken {
  std::string name;
  Checks shallow;  // errors and warnings without --deep
  Checks deep;     // those that come on top
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

const std::vector<Broken>& BrokenTables() {
  static const std::vector<Broken> kTables = {
      {"invalid_dv_bitmap", {}, {"dv-bytes"}},
      {"invalid_dv_cardinality", {}, {"dv-cardinality", "puffin-footer"}},
      {"invalid_dv_crc", {}, {"dv-bytes"}},
      {"invalid_dv_missing", {}, {"file-missing"}},
      {"invalid_dv_wrong_range", {}, {"dv-bytes", "puffin-footer"}},
      {"invalid_two_dvs", {"dv-twice"}, {}},
      {"content_5", {"manifest"}, {}},
      {"dangling_dv", {"dv-unmatched"}, {"puffin-footer"}},
      {"data_in_delete_manifest", {"manifest"}, {}},
      {"data_manifest_twice", {"manifest-twice", "data-file-twice", "summary-totals"}, {}},
      {"data_path_twice", {"data-file-twice", "row-id-next", "summary-totals"}, {}},
      {"delete_in_data_manifest", {"manifest"}, {}},
      {"delete_manifest_twice", {"manifest-twice", "dv-twice", "summary-totals"}, {}},
      {"dv_absurd_size", {}, {"dv-bytes", "file-size", "puffin-footer"}},
      {"dv_alias_ambiguous", {"dv-unmatched", "row-id-next", "summary-totals"}, {}},
      {"dv_alias_one_slash", {"dv-path-spelling"}, {}},
      {"dv_alias_three_slashes", {"dv-path-spelling"}, {}},
      {"dv_alias_uri_in_dv", {"dv-path-spelling"}, {"puffin-footer"}},
      {"dv_more_than_rows", {"dv-cardinality", "manifest-counts", "summary-totals"}, {"puffin-footer"}},
      {"name_mapping_broken", {}, {"file-schema"}},
      {"name_mapping_missing", {}, {"file-schema"}},
      {"name_mapping_short", {}, {}},  // files lack a column, which is NULL
      {"dv_negative_offset", {"dv-range"}, {}},
      {"dv_older_than_file", {"dv-unmatched"}, {}},
      {"dv_other_partition", {"dv-unmatched"}, {}},
      {"dv_other_spec", {"dv-unmatched"}, {}},
      {"dv_outside_file", {"dv-range"}, {}},
      {"dv_outside_real_file", {}, {"dv-bytes", "file-size", "puffin-footer"}},
      {"dv_own_blob", {}, {}},
      {"dv_position_above_32_bits", {}, {"dv-position"}},
      {"dv_position_above_file", {}, {"dv-position"}},
      {"dv_without_offset", {"dv-fields"}, {}},
      {"dv_without_reference", {"dv-fields"}, {}},
      {"dv_without_size", {"dv-fields"}, {}},
      {"file_size_negative", {"manifest"}, {}},
      {"file_size_wrong", {}, {"file-size"}},
      {"hint_behind_gap", {}, {}},
      {"hint_missing", {}, {}},
      {"hint_stale", {}, {}},
      {"manifest_content_2", {"manifest-list"}, {}},
      {"manifest_cut_after_header", {"manifest"}, {}},
      {"manifest_length_header", {"manifest"}, {}},
      {"manifest_length_long", {"manifest"}, {}},
      {"manifest_length_short", {"manifest"}, {}},
      {"manifest_list_empty", {"manifest-list"}, {}},
      {"manifest_missing", {"file-missing"}, {}},
      {"path_not_utf8", {"manifest"}, {}},
      {"record_count_negative", {"manifest"}, {}},
      {"record_count_wrong", {"summary-totals"}, {"file-row-count"}},
      {"spec_unknown", {"manifest"}, {}},
      {"status_7", {"manifest"}, {}},
      {"unknown_delete_format", {"file-format"}, {}},
      {"unknown_format", {"file-format"}, {}},
      {"v1_manifest_paths", {}, {}},
      {"v1_single_schema", {}, {}},
  };
  return kTables;
}

// Their metadata can't be opened: that is an error, not a finding.
const Checks kNotOpened = {"format_version_4",   "gz_crc",           "gz_truncated",
                           "hint_ahead",         "hint_garbage",     "hint_long",
                           "main_elsewhere",     "metadata_empty",   "metadata_nested",
                           "metadata_truncated", "snapshot_unknown", "versions_ambiguous"};

std::string LocationOf(const std::string& name) {
  const std::string edited = EditedTablesFolder() + "/" + name;
  return std::filesystem::exists(edited) ? edited : testing::FixtureTable(name);
}

class BrokenTable : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenTable, GivesTheFindingOfItsRule) {
  for (const bool deep : {false, true}) {
    for (const size_t threads : {1, 3}) {
      const auto report = VerifyTable(LocationOf(GetParam().name), {.deep = deep}, threads);
      ASSERT_TRUE(report) << report.error().ToString();
      Checks expected = GetParam().shallow;
      if (deep) expected.insert(GetParam().deep.begin(), GetParam().deep.end());
      Checks found = ErrorsOf(*report);
      found.merge(WarningsOf(*report));
      EXPECT_EQ(found, expected) << "deep: " << deep << "\n" << AllText(*report);
      for (const auto& finding : report->findings) {
        EXPECT_NE(finding.place, "");
        EXPECT_NE(finding.what, "");
        EXPECT_NE(finding.effect, "");
        EXPECT_NE(finding.remedy, "");
        EXPECT_TRUE(finding.snapshot_id.has_value());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BrokenTable, ::testing::ValuesIn(BrokenTables()),
                         [](const auto& tested) { return tested.param.name; });

TEST(VerifyTables, AllBrokenAndEditedTablesAreListedHere) {
  Checks listed = kNotOpened;
  for (const auto& broken : BrokenTables()) listed.insert(broken.name);
  for (const auto& folder : {EditedTablesFolder(), testing::IcebergFixtures()}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      const bool counts = folder == EditedTablesFolder() || name.starts_with("invalid_");
      if (!counts || name.ends_with(".expected")) continue;
      EXPECT_TRUE(listed.contains(name)) << name;
    }
  }
  for (const auto& name : kNotOpened) EXPECT_FALSE(VerifyTable(LocationOf(name), {})) << name;
}

TEST(VerifyTables, OneSnapshotOrAllOfThem) {
  const auto table = Table::Open(testing::FixtureTable("mor_dv"), MappedToFixtures());
  ASSERT_TRUE(table);
  const auto snapshots = table->Snapshots();
  const auto one = table->Verify({.at = {.snapshot_id = snapshots.front().snapshot_id}});
  ASSERT_TRUE(one) << one.error().ToString();
  EXPECT_EQ(one->snapshots, 1U);
  const auto all = table->Verify({.all_snapshots = true});
  ASSERT_TRUE(all) << all.error().ToString();
  EXPECT_EQ(all->snapshots, snapshots.size());
  EXPECT_GT(all->manifests, one->manifests);

  EXPECT_EQ(table->Verify({.at = {.snapshot_id = 5}}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(table->Verify({.at = {.snapshot_id = 5}, .all_snapshots = true}).error().kind(),
            ErrorKind::kInvalidArgument);
}

TEST(VerifyTables, WithoutDeepNoDataFileIsOpened) {
  OpenOptions options = MappedToFixtures();
  // Nothing lies there but metadata.
  options.mappings.push_back({.from = "/warehouse/mor_dv/data", .to = "/nowhere"});
  const auto table = Table::Open(testing::FixtureTable("mor_dv"), options);
  ASSERT_TRUE(table);
  const auto shallow = table->Verify();
  ASSERT_TRUE(shallow) << shallow.error().ToString();
  EXPECT_TRUE(shallow->findings.empty()) << AllText(*shallow);
  const auto deep = table->Verify({.deep = true});
  ASSERT_TRUE(deep) << deep.error().ToString();
  EXPECT_EQ(ErrorsOf(*deep), Checks{"file-missing"});
}

TEST(VerifyTables, ACancelledTokenStopsTheWork) {
  OpenOptions options = MappedToFixtures();
  const CancelToken cancel = options.hooks.cancel;
  const auto table = Table::Open(testing::FixtureTable("mor_dv"), std::move(options));
  ASSERT_TRUE(table);
  cancel.Cancel();
  EXPECT_EQ(table->Verify({.deep = true}).error().kind(), ErrorKind::kCancelled);
}

}  // namespace
}  // namespace delenda
