// Changes by key as callers of the library make them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "delenda/scan.h"
#include "delenda/table.h"
#include "delenda/write.h"
#include "support/temporary_folder.h"

namespace delenda {
namespace {

class KeyedWrite : public ::testing::Test {
 protected:
  KeyedWrite() {
    std::filesystem::copy(DELENDA_FIXTURES "/iceberg/mor_dv", folder_, std::filesystem::copy_options::recursive);
  }

  OpenOptions Options() const {
    OpenOptions options;
    options.mappings = {{.from = "/warehouse/mor_dv", .to = folder_}};
    options.threads = 2;
    return options;
  }
  WritableTable Open() const { return WritableTable::Open(folder_, Options()).value(); }
  KeyedRowsRequest Rows(const std::string& csv) const {
    const std::string path = scratch_.path() / "rows.csv";
    std::ofstream(path) << csv;
    return {.files = {path}, .key = {"id"}};
  }
  uint64_t Count(const std::string& where) const {
    return Table::Open(folder_, Options()).value().Count({.where = where}).value().rows;
  }

  testing::TemporaryFolder scratch_;
  const std::string folder_ = scratch_.path() / "table";
};

TEST_F(KeyedWrite, RowsAreUpsertedMergedAndDeleted) {
  auto table = Open();
  const auto upserted = table.Upsert({.rows = Rows("id,s,op\n1,new,u\n9001,new,u\n2,,d\n"), .delete_when = "op = 'd'"});
  ASSERT_TRUE(upserted) << upserted.error().ToString();
  EXPECT_EQ(upserted->rows_updated, 1U);
  EXPECT_EQ(upserted->rows_added, 1U);
  EXPECT_EQ(upserted->rows_deleted, 1U);
  EXPECT_EQ(Count("s = 'new'"), 2U);
  EXPECT_EQ(Count("id = 2"), 0U);

  const auto merged = table.Merge({.rows = Rows("id,i\n1,7\n9001,8\n9002,9\n"),
                                   .matched_delete = "id = 9001",
                                   .matched_update = {{"s", "s || source.i"}},
                                   .not_matched_insert = "source.i > 8"});
  ASSERT_TRUE(merged) << merged.error().ToString();
  EXPECT_EQ(merged->rows_updated, 1U);
  EXPECT_EQ(merged->rows_added, 1U);
  EXPECT_EQ(merged->rows_deleted, 1U);
  EXPECT_EQ(Count("s = 'new7'"), 1U);
  EXPECT_EQ(Count("id = 9002 AND i = 9"), 1U);

  KeyedRowsRequest keys = Rows("id\n1\n9002\n9003\n");
  keys.dry_run = true;
  EXPECT_EQ(table.DeleteKeys({.rows = keys})->rows_deleted, 2U);
  EXPECT_EQ(Count("id = 1"), 1U);
  keys.dry_run = false;
  EXPECT_EQ(table.DeleteKeys({.rows = keys})->rows_deleted, 2U);
  EXPECT_EQ(Count("id = 1 OR id > 9000"), 0U);
}

TEST_F(KeyedWrite, WhatIsWrongIsAnError) {
  auto table = Open();
  auto rows = Rows("id,s\n1,a\n1,b\n");
  EXPECT_EQ(table.Upsert({.rows = rows, .strict = true}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(table.Merge({.rows = rows, .not_matched_insert = ""}).error().kind(), ErrorKind::kInvalidArgument);
  rows.format = "orc";
  EXPECT_EQ(table.Upsert({.rows = rows}).error().kind(), ErrorKind::kInvalidArgument);
  rows = Rows("id,s\n1,a\n");
  rows.branch = "nowhere";
  EXPECT_EQ(table.Upsert({.rows = rows}).error().kind(), ErrorKind::kNotFound);
  rows.branch = "main";
  rows.key = {};
  EXPECT_EQ(table.Upsert({.rows = rows}).error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace delenda
