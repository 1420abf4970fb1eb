// Copies of fixture tables that operations may change, and their rows as the fixtures' JSON.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/commit/table_session.h"
#include "delenda/io/file_io.h"
#include "delenda/io/mapping_file_io.h"
#include "support/temporary_folder.h"
#include "unit/read/read_fixture.h"

namespace delenda::ops::testing {

using delenda::testing::Json;
using delenda::testing::ReadJsonLines;
using delenda::testing::Sorted;

inline bool IsWhole(const Type& type) { return type.kind() == TypeKind::kInt || type.kind() == TypeKind::kLong; }

// Tables of format version 3 with a top-level whole number `id`.
inline std::vector<std::string> ChangeableTables() {
  std::vector<std::string> names;
  const auto io = delenda::testing::FixtureIO();
  for (const auto& name : delenda::testing::ReadableIcebergTables()) {
    if (!delenda::testing::HasExpected(name, "current.jsonl") || name == "v3_variant") continue;
    const auto loaded = iceberg::LoadTable(*io, delenda::testing::FixtureTable(name));
    if (!loaded || loaded->metadata.format_version != 3) continue;
    const auto path = loaded->metadata.CurrentSchema().FindByName("id");
    if (path.size() == 1 && path[0]->name == "id" && IsWhole(path[0]->type)) names.push_back(name);
  }
  return names;
}

// A column that can be set to a constant: text, else a whole number, that is not the key.
inline std::optional<Field> ColumnToSet(const Schema& schema) {
  std::optional<Field> chosen;
  for (const Field& field : schema.fields()) {
    if (field.name == "id") continue;
    if (field.type.kind() == TypeKind::kString) return field;
    if (!chosen && IsWhole(field.type)) chosen = field;
  }
  return chosen;
}

// The table lies in a folder of its own, and its metadata names it /warehouse/NAME, as Spark left it.
class TableCopy {
 public:
  explicit TableCopy(const std::string& name, std::shared_ptr<io::FileIO> inner = io::MakeLocalFileIO())
      : location_("/warehouse/" + name), executor_(2) {
    std::filesystem::copy(delenda::testing::FixtureTable(name), folder_, std::filesystem::copy_options::recursive);
    io_ = io::MakeMappingFileIO(std::move(inner), {{.from = location_, .to = folder_},
                                                   {.from = "/warehouse", .to = delenda::testing::IcebergFixtures()}});
  }
  TableCopy(const TableCopy&) = delete;
  TableCopy& operator=(const TableCopy&) = delete;

  // With a commit point of the caller's; the folder's is `MakePoint()`.
  commit::TableSession Session(std::shared_ptr<catalog::CommitPoint> point) {
    auto opened = commit::TableSession::Open(io_, std::move(point), executor_, {});
    EXPECT_TRUE(opened) << opened.error().ToString();
    return *std::move(opened);
  }
  std::shared_ptr<catalog::CommitPoint> MakePoint() const { return catalog::MakeFolderCommitPoint(io_, location_); }

  commit::TableSession Session() { return Session(io_, executor_); }
  commit::TableSession Session(std::shared_ptr<io::FileIO> io, Executor& executor) const {
    auto opened = TrySession(std::move(io), executor);
    EXPECT_TRUE(opened) << opened.error().ToString();
    return *std::move(opened);
  }
  Result<commit::TableSession> TrySession(std::shared_ptr<io::FileIO> io, Executor& executor) const {
    std::shared_ptr<catalog::CommitPoint> point = catalog::MakeFolderCommitPoint(io, location_);
    return commit::TableSession::Open(std::move(io), std::move(point), executor, {});
  }

  iceberg::TableMetadata Metadata() const {
    const auto loaded = iceberg::LoadTable(*io_, location_);
    EXPECT_TRUE(loaded) << loaded.error().ToString();
    return loaded ? loaded->metadata : iceberg::TableMetadata();
  }
  // Live rows, as any reader gets them.
  std::vector<Json> Rows(const plan::ScanRequest& request = {}) {
    const auto plan = plan::PlanScan(Metadata(), *io_, request, executor_, {});
    EXPECT_TRUE(plan) << plan.error().ToString();
    if (!plan) return {};
    const auto batches = delenda::testing::ReadAll(std::make_shared<plan::ScanPlan>(*plan), io_);
    EXPECT_TRUE(batches) << batches.error().ToString();
    return batches ? delenda::testing::ToJson(*batches) : std::vector<Json>();
  }
  // Live rows by their column `id`: the values of another column.
  std::map<int64_t, Json> ById(const std::string& column) {
    std::map<int64_t, Json> values;
    for (const Json& row : Rows({.select = {"id", column}, .select_all = false})) values[row["id"]] = row[column];
    return values;
  }
  std::string Summary(const std::string& key) const {
    const auto metadata = Metadata();
    const auto& summary = metadata.FindSnapshot(*metadata.current_snapshot_id)->summary;
    const auto found = summary.find(key);
    return found == summary.end() ? "-" : found->second;
  }
  // Every file below the table's folder.
  std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) files.insert(std::filesystem::relative(entry.path(), folder_).string());
    }
    return files;
  }
  // A file with rows to append, outside of the table.
  std::string Put(const std::string& name, const std::string& text) {
    const auto path = (scratch_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }

  const std::string& location() const { return location_; }
  const std::shared_ptr<io::FileIO>& io() const { return io_; }
  Executor& executor() { return executor_; }

 private:
  std::string location_;
  delenda::testing::TemporaryFolder scratch_;
  std::filesystem::path folder_ = scratch_.path() / "table";
  std::shared_ptr<io::FileIO> io_;
  Executor executor_;
};

}  // namespace delenda::ops::testing
