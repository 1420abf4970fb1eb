// Reading scan plans back.
#include <string>
#include <utility>

#include "delenda/formats/json/json.h"
#include "delenda/plan/plan_json.h"
#include "delenda/plan/plan_json_names.h"
#include "delenda/plan/plan_json_parts.h"

namespace delenda::plan {
namespace {

using json::Value;

class PlanReader {
 public:
  Result<ScanPlan> Read(const Value& root) {
    const auto version = DELENDA_TRY(root.Get<int64_t>("version"));
    if (version != kPlanJsonVersion) {
      return NotSupported("a plan of version {}: this delenda reads version {}", version, kPlanJsonVersion);
    }
    if (const auto kind = DELENDA_TRY(root.Optional<std::string>("kind")); kind)
      return NotSupported("a plan of {} where one of a scan is wanted", *kind);
    const Value snapshot = DELENDA_TRY(root.Member("snapshotId"));
    if (!snapshot.is_null()) plan_.snapshot_id = DELENDA_TRY(snapshot.As<int64_t>());
    DELENDA_TRY(parts_.Read(root));
    for (const auto file : DELENDA_TRY(root.Get<json::Array>("dataFiles")))
      plan_.tasks.push_back(DELENDA_TRY(ReadTask(file)));
    DELENDA_TRY(ReadMetrics(root));
    std::move(parts_).MoveTo(plan_);
    return std::move(plan_);
  }

 private:
  Result<FileTask> ReadTask(const Value& value) {
    FileTask task;
    task.file = DELENDA_TRY(parts_.ReadDataFile(value));
    task.start = static_cast<uint64_t>(DELENDA_TRY(parts_.ReadCount(value, "start")));
    task.length = static_cast<uint64_t>(DELENDA_TRY(parts_.ReadCount(value, "length")));
    const Value vector = DELENDA_TRY(value.Member(names::kDeletionVector));
    if (!vector.is_null()) task.dv = DELENDA_TRY(parts_.ReadIndex(vector, names::kDeletionVector));
    task.position_deletes = DELENDA_TRY(parts_.ReadIndexes(value, names::kPositionDeletes));
    task.equality_deletes = DELENDA_TRY(parts_.ReadIndexes(value, names::kEqualityDeletes));
    if (task.dv && !task.position_deletes.empty())
      return value.Fail("a deletion vector and position deletes for one data file");
    task.residual = DELENDA_TRY(parts_.ReadFilter(DELENDA_TRY(value.Member("residual"))));
    return task;
  }

  // For reports only, so that they may be missing.
  Result<void> ReadMetrics(const Value& root) {
    const auto metrics = DELENDA_TRY(root.Optional<Value>("metrics"));
    if (!metrics) return {};
    const std::pair<std::string_view, uint64_t PlanMetrics::*> members[] = {
        {"dataManifests", &PlanMetrics::data_manifests},
        {"dataManifestsRead", &PlanMetrics::data_manifests_read},
        {"deleteManifests", &PlanMetrics::delete_manifests},
        {"deleteManifestsRead", &PlanMetrics::delete_manifests_read},
        {"dataFiles", &PlanMetrics::data_files_live},
        {"dataFilesPruned", &PlanMetrics::data_files_pruned},
        {"deleteFiles", &PlanMetrics::delete_files_live}};
    for (const auto& [key, member] : members) {
      const auto count = DELENDA_TRY(metrics->Optional<uint64_t>(key));
      plan_.metrics.*member = count.value_or(0);
    }
    return {};
  }

  ScanPlan plan_;
  PlanPartsReader parts_;
};

}  // namespace

Result<ScanPlan> PlanFromJson(std::string_view text) {
  const auto document = DELENDA_TRY(json::Document::Parse(text));
  return PlanReader().Read(document.root());
}

}  // namespace delenda::plan
