// A table that operations read and commit to, whatever its format.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/commit/committer.h"
#include "delenda/commit/intent.h"
#include "delenda/commit/upgrade.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/file_io.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/write/staged_files.h"

namespace delenda::commit {

// One version of the table at a time: what is planned belongs to the version that was read last. Not thread-safe.
//
//   for (;;) {
//     DELENDA_TRY(session.Refresh());
//     auto plan = DELENDA_TRY(session.Plan({.where = "id = 7"}));
//     … find out what to change …
//     auto outcome = DELENDA_TRY(session.Commit(intent, staged));   // intent.base_snapshot_id = session.head("main")
//     if (std::holds_alternative<Committed>(outcome)) break;        // else it has to look again
//   }
class TableSession {
 public:
  // Reads the table. `executor` must outlive the session.
  static Result<TableSession> Open(std::shared_ptr<io::FileIO> io, std::shared_ptr<catalog::CommitPoint> point,
                                   Executor& executor, Hooks hooks);

  // Reads the table's current version.
  Result<void> Refresh();

  int32_t format_version() const { return loaded_.metadata.format_version; }
  const std::string& location() const { return loaded_.metadata.location; }
  const std::string& metadata_path() const { return loaded_.metadata_path; }
  const Schema& schema() const { return loaded_.metadata.CurrentSchema(); }
  // New data files are written under this spec.
  BoundSpec default_spec() const;
  // All that the table has, bound to its schema; by id.
  std::map<int32_t, BoundSpec> specs() const;
  int32_t default_sort_order_id() const { return loaded_.metadata.default_sort_order_id; }
  const std::map<std::string, std::string>& properties() const { return loaded_.metadata.properties; }
  // The branch's newest snapshot; none: it has no rows yet.
  std::optional<int64_t> head(const std::string& branch) const;
  // NotFound: there is no such branch (main begins with the first snapshot). InvalidArgument: a tag. Asked before rows
  // are looked for: on a name that was mistyped there seems to be nothing to do.
  Result<void> CheckBranch(const std::string& branch) const;
  // The newest snapshot on the branch, from its head back along the parents, whose summary has this member.
  std::optional<int64_t> FindSummary(const std::string& branch, const std::string& key) const;

  const std::shared_ptr<io::FileIO>& io() const { return io_; }
  Executor& executor() const { return *executor_; }
  const Hooks& hooks() const { return hooks_; }

  // Plans a scan of the version that was read. The empty table's main has an empty plan; NotFound for other branches
  // that do not exist.
  Result<std::shared_ptr<const plan::ScanPlan>> Plan(const std::string& branch, plan::ScanRequest request) const;
  // The delete files and vectors that are live on the branch.
  Result<std::vector<ContentFile>> LiveDeletes(const std::string& branch) const;
  // A plan without tasks, of equality delete files whether they are committed or not: what their keys are.
  Result<plan::ScanPlan> PlanOfDeletes(std::vector<ContentFile> deletes) const;
  // How many data files the branch has, as its newest snapshot says; nothing: it does not.
  std::optional<int64_t> data_files(const std::string& branch) const;
  // From property write.NAME.isolation-level; serializable unless it says snapshot. InvalidArgument for anything else.
  Result<Isolation> IsolationOf(const char* name) const;
  // Commits onto whatever the table is by then (commit/committer.h).
  Result<std::variant<Committed, LookAgain>> Commit(const Intent& intent, write::StagedFiles& staged) const;
  // Raises the format version of whatever the table is by then (commit/upgrade.h).
  Result<Upgraded> Upgrade(int32_t version, bool dry_run) const;

 private:
  TableSession() = default;

  std::shared_ptr<io::FileIO> io_;
  std::shared_ptr<catalog::CommitPoint> point_;
  Executor* executor_ = nullptr;
  Hooks hooks_;
  iceberg::LoadedTable loaded_;
};

}  // namespace delenda::commit
