#include "delenda/commit/table_session.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "delenda/iceberg/name_mapping_json.h"
#include "delenda/plan/delete_index.h"
#include "delenda/plan/key_fields.h"
#include "delenda/plan/live_deletes.h"

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

std::map<int32_t, BoundSpec> TableSession::specs() const { return iceberg::BindSpecs(loaded_.metadata, schema()); }

std::optional<int64_t> TableSession::head(const std::string& branch) const {
  const auto ref = loaded_.metadata.refs.find(branch);
  if (ref == loaded_.metadata.refs.end()) return std::nullopt;
  return ref->second.snapshot_id;
}

Result<void> TableSession::CheckBranch(const std::string& branch) const {
  const auto ref = loaded_.metadata.refs.find(branch);
  if (ref == loaded_.metadata.refs.end()) {
    if (branch == "main") return {};
    return NotFound("the table has no branch '{}'", branch);
  }
  if (!ref->second.is_branch) return InvalidArgument("'{}' is a tag: only branches can be changed", branch);
  return {};
}

std::optional<int64_t> TableSession::FindSummary(const std::string& branch, const std::string& key) const {
  std::optional<int64_t> id = head(branch);
  // Counted: the parents of a broken table may go round in a circle.
  for (size_t left = loaded_.metadata.snapshots.size(); id && left > 0; --left) {
    const iceberg::Snapshot* snapshot = loaded_.metadata.FindSnapshot(*id);
    if (snapshot == nullptr) return std::nullopt;  // expired
    if (snapshot->summary.contains(key)) return id;
    id = snapshot->parent_id;
  }
  return std::nullopt;
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

Result<std::vector<ContentFile>> TableSession::LiveDeletes(const std::string& branch) const {
  const auto id = head(branch);
  if (!id) return std::vector<ContentFile>();
  const iceberg::Snapshot* snapshot = loaded_.metadata.FindSnapshot(*id);
  if (snapshot == nullptr)
    return Corrupt("branch {} points to snapshot {}, which the table does not have", branch, *id);
  return plan::LiveDeletes(loaded_.metadata, *snapshot, *io_, *executor_, hooks_);
}

Result<plan::ScanPlan> TableSession::PlanOfDeletes(std::vector<ContentFile> deletes) const {
  plan::ScanPlan plan;
  plan.schema = schema();
  plan.filter = Expr::True();
  plan.specs = specs();
  plan.name_mapping = DELENDA_TRY(iceberg::NameMappingOf(properties()));
  plan.key_fields = DELENDA_TRY(plan::FindKeyFields(deletes, plan.schema, loaded_.metadata));
  for (ContentFile& file : deletes) {
    if (file.content == FileContent::kEqualityDeletes) DELENDA_TRY(plan::SortKeys(file));
  }
  plan.deletes = std::move(deletes);
  return plan;
}

std::optional<int64_t> TableSession::data_files(const std::string& branch) const {
  const auto id = head(branch);
  const iceberg::Snapshot* snapshot = id ? loaded_.metadata.FindSnapshot(*id) : nullptr;
  if (snapshot == nullptr) return std::nullopt;
  const auto found = snapshot->summary.find("total-data-files");
  if (found == snapshot->summary.end()) return std::nullopt;
  const std::string& text = found->second;
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
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
