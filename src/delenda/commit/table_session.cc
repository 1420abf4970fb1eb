#include "delenda/commit/table_session.h"

#include <fmt/format.h>

#include <utility>

namespace delenda::commit {

Result<TableSession> TableSession::Open(std::shared_ptr<io::FileIO> io, std::shared_ptr<catalog::CommitPoint> point,
                                        Executor& executor, Hooks hooks) {
  TableSession session;
  session.io_ = std::move(io);
  session.point_ = std::move(point);
  session.executor_ = &executor;
  session.hooks_ = std::move(hooks);
  DELENDA_TRY(session.Refresh());
  return session;
}

Result<void> TableSession::Refresh() {
  const std::string current = DELENDA_TRY(point_->Current());
  // A metadata file never changes.
  if (current != loaded_.metadata_path) loaded_ = DELENDA_TRY(iceberg::LoadTable(*io_, current));
  return {};
}

BoundSpec TableSession::default_spec() const {
  return BoundSpec::Make(*loaded_.metadata.FindSpec(loaded_.metadata.default_spec_id), schema());
}

std::optional<int64_t> TableSession::head(const std::string& branch) const {
  const auto ref = loaded_.metadata.refs.find(branch);
  if (ref == loaded_.metadata.refs.end()) return std::nullopt;
  return ref->second.snapshot_id;
}

Result<std::shared_ptr<const plan::ScanPlan>> TableSession::Plan(const std::string& branch,
                                                                 plan::ScanRequest request) const {
  // Without a ref the plan would be main's.
  if (head(branch) || branch != "main") request.snapshot.ref = branch;
  auto plan = DELENDA_TRY(plan::PlanScan(loaded_.metadata, *io_, request, *executor_, hooks_));
  if (hooks_.log) {
    for (const auto& warning : plan.warnings) hooks_.log(LogLevel::kWarning, warning);
  }
  return std::make_shared<const plan::ScanPlan>(std::move(plan));
}

Result<Isolation> TableSession::IsolationOf(const char* name) const {
  const std::string property = fmt::format("write.{}.isolation-level", name);
  const auto found = properties().find(property);
  if (found == properties().end() || found->second == "serializable") return Isolation::kSerializable;
  if (found->second == "snapshot") return Isolation::kSnapshot;
  return InvalidArgument("table property {} is '{}': expected serializable or snapshot", property, found->second);
}

Result<std::variant<Committed, LookAgain>> TableSession::Commit(const Intent& intent,
                                                                write::StagedFiles& staged) const {
  return commit::Commit(intent, staged, {.io = io_, .point = point_.get(), .executor = executor_, .hooks = hooks_});
}

Result<Upgraded> TableSession::Upgrade(int32_t version, bool dry_run) const {
  return UpgradeTable(version, dry_run, {.io = io_, .point = point_.get(), .executor = executor_, .hooks = hooks_});
}

}  // namespace delenda::commit
