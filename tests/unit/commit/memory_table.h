// A table of format version 3 in memory whose data files exist in its metadata only: commits never open them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/commit/committer.h"
#include "delenda/iceberg/metadata_writer.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/file_io.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/read/delete_loader.h"

namespace delenda::commit::testing {

inline PositionSet Set(const std::vector<uint64_t>& positions) { return *PositionSet::FromPositions(positions); }

class MemoryTable {
 public:
  explicit MemoryTable(std::shared_ptr<io::FileIO> io = io::MakeMemoryFileIO(),
                       std::map<std::string, std::string> properties = {}, int32_t format_version = 3,
                       const PartitionSpec& spec = {})
      : io_(std::move(io)), executor_(1) {
    iceberg::TableMetadata metadata;
    metadata.format_version = format_version;
    metadata.table_uuid = "93ab8f0b-1995-4b98-b0d8-9111de82e551";
    metadata.location = kLocation;
    metadata.last_updated_ms = 1700000000000;
    metadata.last_column_id = 2;
    metadata.schemas = {*Schema::Make(
        0, {{.id = 1, .name = "id", .type = TypeKind::kLong}, {.id = 2, .name = "region", .type = TypeKind::kString}})};
    metadata.specs = {spec};
    metadata.last_partition_id = 999 + static_cast<int32_t>(spec.fields.size());
    metadata.sort_orders = {{.order_id = 0, .json = R"({"order-id":0,"fields":[]})"}};
    metadata.properties = std::move(properties);
    if (format_version >= 3) metadata.next_row_id = 0;
    const auto text = iceberg::TableMetadataToJson(metadata);
    EXPECT_TRUE(text) << text.error().ToString();
    EXPECT_TRUE(catalog::CreateInFolder(*io_, kLocation, *text, false));
    point_ = catalog::MakeFolderCommitPoint(io_, kLocation);
  }

  static ContentFile DataFile(const std::string& name, int64_t rows) {
    ContentFile file;
    file.path = std::string(kLocation) + "/data/" + name;
    file.partition = std::make_shared<const PartitionTuple>();
    file.record_count = rows;
    file.file_size = rows * 10;
    return file;
  }

  iceberg::TableMetadata Metadata() const {
    const auto loaded = iceberg::LoadTable(*io_, kLocation);
    EXPECT_TRUE(loaded) << loaded.error().ToString();
    return loaded->metadata;
  }
  std::optional<int64_t> Head() const { return Metadata().current_snapshot_id; }

  Result<std::variant<Committed, LookAgain>> Try(const Intent& intent) { return Try(intent, *point_, io_); }
  Result<std::variant<Committed, LookAgain>> Try(const Intent& intent, catalog::CommitPoint& point,
                                                 std::shared_ptr<io::FileIO> io) {
    write::StagedFiles staged(io);
    return commit::Commit(intent, staged, {.io = io, .point = &point, .executor = &executor_});
  }
  Committed Commit(const Intent& intent) {
    auto outcome = Try(intent);
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    if (!outcome) return {};
    if (const auto* again = std::get_if<LookAgain>(&*outcome)) {
      ADD_FAILURE() << "asked to look again: " << again->reason;
      return {};
    }
    return std::get<Committed>(*outcome);
  }
  // The reason, or empty if it was committed.
  std::string LooksAgain(const Intent& intent) {
    const auto outcome = Try(intent);
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    const auto* again = outcome ? std::get_if<LookAgain>(&*outcome) : nullptr;
    return again == nullptr ? "" : again->reason;
  }

  void Append(const std::string& name, int64_t rows) {
    Intent intent;
    intent.added_files = {DataFile(name, rows)};
    Commit(intent);
  }
  // What an operation that read the current state would want.
  Intent Delete(const std::map<std::string, std::vector<uint64_t>>& rows) const {
    Intent intent;
    intent.operation = Operation::kDelete;
    intent.base_snapshot_id = Head();
    // Nothing that is added matters, unless a test says otherwise.
    intent.isolation = Isolation::kSnapshot;
    const auto state = State();
    for (const auto& [name, positions] : rows) {
      const std::string path = DataFile(name, 0).path;
      const auto& live = state.at(path);
      intent.deletes.push_back(
          {.file = live.first, .before = live.second, .deleted = live.second.Union(Set(positions))});
    }
    return intent;
  }
  Intent Update(const std::map<std::string, std::vector<uint64_t>>& rows, const std::string& copies) const {
    Intent intent = Delete(rows);
    intent.operation = Operation::kOverwrite;
    intent.added_files = {DataFile(copies, 1)};
    return intent;
  }

  // Live data files with their deleted positions, as a reader sees them.
  std::map<std::string, std::pair<ContentFile, PositionSet>> State() const {
    std::map<std::string, std::pair<ContentFile, PositionSet>> state;
    Executor executor(1);
    const auto plan = plan::PlanScan(Metadata(), *io_, {}, executor, {});
    EXPECT_TRUE(plan) << plan.error().ToString();
    if (!plan) return state;
    std::vector<read::DeleteLoader::Need> needs;
    for (const auto& task : plan->tasks)
      needs.push_back({.file = &task.file, .dv = task.dv, .position_deletes = task.position_deletes});
    const auto loader = read::DeleteLoader::Make(*plan, needs, io_, true, {});
    EXPECT_TRUE(loader) << loader.error().ToString();
    for (const auto& need : needs) {
      const auto deleted = (*loader)->Load(need);
      EXPECT_TRUE(deleted) << deleted.error().ToString();
      state.emplace(need.file->path, std::pair(*need.file, deleted.value_or(PositionSet())));
    }
    return state;
  }
  std::vector<uint64_t> Deleted(const std::string& name) const {
    const auto state = State();
    const auto found = state.find(DataFile(name, 0).path);
    EXPECT_NE(found, state.end()) << name << " is not live";
    return found == state.end() ? std::vector<uint64_t>() : found->second.second.ToVector();
  }
  bool IsLive(const std::string& name) const { return State().contains(DataFile(name, 0).path); }

  // Names of all files below the table's folder.
  std::vector<std::string> Files(const std::string& folder) const {
    std::vector<std::string> names;
    const auto listed = io_->List(std::string(kLocation) + "/" + folder);
    for (size_t i = 0; listed && i < listed->size(); ++i) names.push_back((*listed)[i].path);
    return names;
  }

  static constexpr const char* kLocation = "/w/t";
  std::shared_ptr<io::FileIO> io_;
  Executor executor_;
  std::unique_ptr<catalog::CommitPoint> point_;
};

}  // namespace delenda::commit::testing
