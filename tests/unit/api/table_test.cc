#include "delenda/table.h"

#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "delenda/version.h"

namespace delenda {
namespace {

const std::string kTables = DELENDA_FIXTURES "/iceberg";

OpenOptions Mapped() {
  OpenOptions options;
  options.mappings = {{.from = "/warehouse", .to = kTables}};
  options.threads = 2;
  return options;
}

Table Open(const std::string& name, OpenOptions options = Mapped()) {
  auto table = Table::Open(kTables + "/" + name, std::move(options));
  if (!table) {
    ADD_FAILURE() << table.error().ToString();
    std::abort();
  }
  return *std::move(table);
}

TEST(Table, SaysWhatItIs) {
  const Table table = Open("mor_dv");
  EXPECT_EQ(table.format(), "iceberg");
  EXPECT_EQ(table.format_version(), 3);
  EXPECT_EQ(table.location(), "/warehouse/mor_dv");
  EXPECT_EQ(table.uuid().size(), 36U);
  EXPECT_TRUE(table.current_snapshot_id());
  EXPECT_EQ(table.Snapshots().size(), 9U);
  EXPECT_EQ(table.Snapshots().back().snapshot_id, table.current_snapshot_id());
  EXPECT_TRUE(table.Snapshots().back().is_current);
  EXPECT_EQ(table.Refs().at(0).name, "main");
  EXPECT_FALSE(Version().empty());
}

TEST(Table, ScanCrossesTheCInterface) {
  const Table table = Open("mor_dv");
  auto rows = table.Scan({.columns = {{"id", "_pos"}}, .where = "id >= 0"});
  ASSERT_TRUE(rows) << rows.error().ToString();
  ArrowArrayStream stream;
  ASSERT_TRUE(std::move(*rows).Export(&stream));
  const auto read = arrow::ImportRecordBatchReader(&stream).ValueOrDie()->ToTable().ValueOrDie();
  EXPECT_EQ(read->num_rows(), 702);
  EXPECT_EQ(read->schema()->field_names(), (std::vector<std::string>{"id", "_pos"}));
}

TEST(Table, ErrorsOfAnExportedStreamKeepTheirText) {
  const Table table = Open("invalid_dv_crc");
  auto rows = table.Scan();
  ASSERT_TRUE(rows) << rows.error().ToString();
  ArrowArrayStream stream;
  ASSERT_TRUE(std::move(*rows).Export(&stream));
  const auto read = arrow::ImportRecordBatchReader(&stream).ValueOrDie()->ToTable();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("CRC mismatch"), std::string::npos) << read.status().ToString();
}

TEST(Table, CountsFromMetadataAlone) {
  const Table table = Open("mor_dv");
  const auto count = table.Count();
  ASSERT_TRUE(count) << count.error().ToString();
  EXPECT_EQ(count->rows, 702U);
  EXPECT_EQ(count->files_by_metadata, 5U);
  EXPECT_EQ(count->files_read, 0U);
}

TEST(Table, VectorsAreFoundByTheEndOfAPath) {
  const Table table = Open("mor_dv");
  const auto files = table.Files();
  ASSERT_TRUE(files) << files.error().ToString();
  for (const auto& file : files->files) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    const auto vectors = table.DeletionVectors(name);
    if (!file.dv) {
      ASSERT_FALSE(vectors);
      EXPECT_EQ(vectors.error().kind(), ErrorKind::kNotFound);
      continue;
    }
    ASSERT_TRUE(vectors) << vectors.error().ToString();
    ASSERT_EQ(vectors->size(), 1U);
    EXPECT_EQ(vectors->front().data_file, file.path);
    EXPECT_EQ(vectors->front().Positions().size(), file.DeletedRows(files->deletes));
  }
  const auto none = table.DeletionVectors("parquet");
  ASSERT_FALSE(none);
  // The end of a path begins at a slash.
  EXPECT_EQ(none.error().kind(), ErrorKind::kNotFound);
}

TEST(Table, ACancelledTokenStopsTheWork) {
  OpenOptions options = Mapped();
  const CancelToken cancel = options.hooks.cancel;
  const Table table = Open("mor_dv", std::move(options));
  cancel.Cancel();
  const auto rows = table.Scan();
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind(), ErrorKind::kCancelled);
}

TEST(Table, IoIsCountedBelowTheMapping) {
  const Table table = Open("mor_dv");
  const IoStats before = table.Io();
  EXPECT_GE(before.opens, 2U);
  ASSERT_TRUE(table.Plan());
  EXPECT_GT(table.Io().bytes_read, before.bytes_read);
}

TEST(Table, MissingTablesAreNotFound) {
  const auto table = Table::Open(kTables + "/nothing");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(Table::Open("").error().kind(), ErrorKind::kInvalidArgument);
}

TEST(Table, LocationMappingsAreParsed) {
  const auto mapping = ParseLocationMapping("s3://a/b=/c=d");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->from, "s3://a/b");
  EXPECT_EQ(mapping->to, "/c=d");
  EXPECT_FALSE(ParseLocationMapping("nothing"));
}

}  // namespace
}  // namespace delenda
