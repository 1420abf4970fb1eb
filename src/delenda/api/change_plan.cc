// Plans of changes, as the public headers have them.
#include <utility>

#include "delenda/api/plan_info.h"
#include "delenda/api/table_impl.h"
#include "delenda/plan/change_plan_json.h"
#include "delenda/plan/shard.h"

namespace delenda {
namespace api {
namespace {

ChangeTaskInfo::Kind ToKind(plan::ChangeTask::Kind kind) {
  switch (kind) {
    case plan::ChangeTask::Kind::kAddedRows: return ChangeTaskInfo::Kind::kAddedRows;
    case plan::ChangeTask::Kind::kDeletedDataFile: return ChangeTaskInfo::Kind::kDeletedDataFile;
    case plan::ChangeTask::Kind::kDeletedRows: return ChangeTaskInfo::Kind::kDeletedRows;
    case plan::ChangeTask::Kind::kRestoredRows: break;
  }
  return ChangeTaskInfo::Kind::kRestoredRows;
}

DeleteStateInfo ToState(const plan::DeleteState& state) {
  return {.dv = state.dv, .position_deletes = state.position_deletes, .equality_deletes = state.equality_deletes};
}

}  // namespace

ChangePlanInfo ToChangePlanInfo(const plan::ChangePlan& plan) {
  ChangePlanInfo info;
  info.from_snapshot_id = plan.from_snapshot_id;
  info.to_snapshot_id = plan.to_snapshot_id;
  info.schema_id = plan.schema.id();
  info.deletes.reserve(plan.deletes.size());
  for (const auto& file : plan.deletes) info.deletes.push_back(ToDeleteInfo(file, plan.specs));
  info.tasks.reserve(plan.tasks.size());
  for (const auto& task : plan.tasks) {
    ChangeTaskInfo& added = info.tasks.emplace_back();
    added.kind = ToKind(task.kind);
    added.change_ordinal = task.change_ordinal;
    added.commit_snapshot_id = task.commit_snapshot_id;
    added.commit_timestamp_ms = task.commit_timestamp_ms;
    added.file = ToDataFileInfo(task.file, plan.specs);
    if (task.residual->op != Op::kTrue) added.file.residual = task.residual->ToString();
    added.before = ToState(task.before);
    added.after = ToState(task.after);
    added.estimated_rows = task.estimated_rows;
    added.estimated_bytes = task.estimated_bytes;
  }
  info.changelog_snapshots = plan.metrics.changelog_snapshots;
  info.replace_snapshots = plan.metrics.replace_snapshots;
  info.delete_manifests_read = plan.metrics.delete_manifests_read;
  info.data_manifests_read = plan.metrics.data_manifests_read;
  return info;
}

}  // namespace api

Result<ChangePlanInfo> Table::PlanChanges(const ChangeOptions& options) const {
  return api::ToChangePlanInfo(*DELENDA_TRY(impl_->PlanChanges(options)));
}

Result<std::string> Table::PlanChangesJson(const ChangeOptions& options) const {
  return plan::ChangePlanToJson(*DELENDA_TRY(impl_->PlanChanges(options)));
}

Result<std::vector<std::string>> Table::ChangeShards(const ChangeOptions& options, size_t count) const {
  const auto planned = DELENDA_TRY(impl_->PlanChanges(options));
  std::vector<std::string> texts;
  for (const auto& shard : DELENDA_TRY(plan::SplitChanges(*planned, count)))
    texts.push_back(DELENDA_TRY(plan::ChangePlanToJson(shard, json::Writer::Style::kCompact)));
  return texts;
}

}  // namespace delenda
