// Writing scan plans.
#include "delenda/plan/plan_json.h"

#include <utility>

#include "delenda/plan/plan_json_names.h"
#include "delenda/plan/plan_json_parts.h"

namespace delenda::plan {
namespace {

class PlanWriter {
 public:
  PlanWriter(const ScanPlan& plan, json::Writer::Style style) : plan_(plan), json_(style), parts_(plan, json_) {}

  Result<std::string> Write() && {
    json_.BeginObject().Member("version", kPlanJsonVersion).Key("snapshotId");
    if (plan_.snapshot_id)
      json_.Int(*plan_.snapshot_id);
    else
      json_.Null();
    DELENDA_TRY(parts_.Write());
    json_.Key("dataFiles").BeginArray();
    for (const auto& task : plan_.tasks) DELENDA_TRY(WriteTask(task));
    json_.EndArray();
    WriteMetrics();
    json_.EndObject();
    return std::move(json_).Finish();
  }

 private:
  Result<void> WriteTask(const FileTask& task) {
    json_.BeginObject();
    DELENDA_TRY(parts_.WriteFile(task.file));
    json_.Member("start", task.start).Member("length", task.length);
    if (task.file.first_row_id) json_.Member("firstRowId", *task.file.first_row_id);
    json_.Key("deletionVector");
    if (task.dv)
      json_.Uint(*task.dv);
    else
      json_.Null();
    parts_.WriteIndexes("positionDeletes", task.position_deletes);
    parts_.WriteIndexes("equalityDeletes", task.equality_deletes);
    DELENDA_TRY(parts_.WriteFilter("residual", task.residual));
    json_.EndObject();
    return {};
  }

  void WriteMetrics() {
    const PlanMetrics& metrics = plan_.metrics;
    json_.Key("metrics")
        .BeginObject()
        .Member("dataManifests", metrics.data_manifests)
        .Member("dataManifestsRead", metrics.data_manifests_read)
        .Member("deleteManifests", metrics.delete_manifests)
        .Member("deleteManifestsRead", metrics.delete_manifests_read)
        .Member("dataFiles", metrics.data_files_live)
        .Member("dataFilesPruned", metrics.data_files_pruned)
        .Member("deleteFiles", metrics.delete_files_live)
        .EndObject();
  }

  const ScanPlan& plan_;
  json::Writer json_;
  PlanPartsWriter parts_;
};

}  // namespace

Result<std::string> PlanToJson(const ScanPlan& plan, json::Writer::Style style) {
  return PlanWriter(plan, style).Write();
}

}  // namespace delenda::plan
