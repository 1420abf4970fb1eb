// A change plan as JSON: for people and programs that look at plans, and for handing parts of a range of changes to
// other processes.
#pragma once

#include <string>
#include <string_view>

#include "delenda/base/result.h"
#include "delenda/formats/json/writer.h"
#include "delenda/plan/change_task.h"

namespace delenda::plan {

// What ChangePlanToJson writes and ChangePlanFromJson reads. A change that an older reader would understand wrongly
// raises it.
inline constexpr int64_t kChangePlanJsonVersion = 1;

// One document with all that reading needs. "schema" to "deleteFiles", and the members of files, are those of a scan
// plan (plan/plan_json.h).
//
//   {"version": 1, "kind": "changes", "fromSnapshotId": 4, "toSnapshotId": 6,
//    "schema": {…}, "columns": […], "filter": "TRUE", "partitionSpecs": […], "keyFields": [], "deleteFiles": [{…},
//    {…}], "tasks": [{"kind": "deletedRows", "ordinal": 0, "snapshotId": 5, "timestampMs": 1700000000000,
//               "path": "…/b.parquet", …, "before": {"deletionVector": 0, "positionDeletes": [], "equalityDeletes":
//               []}, "after": {"deletionVector": 1, …}, "residual": "TRUE", "estimatedRows": 3, "estimatedBytes":
//               420}],
//    "metrics": {…}}
//
// Planning's warnings and the files' column metrics are left out. Errors as PlanToJson.
Result<std::string> ChangePlanToJson(const ChangePlan& plan, json::Writer::Style style = json::Writer::Style::kPretty);

// The plan of a document that ChangePlanToJson wrote. Members that are not known are ignored.
//
// NotSupported: another version or kind of plan, a kind of task that is not known (its changes would be missing).
// Corrupt, with the JSON path: anything missing, of a wrong type, or that contradicts itself.
Result<ChangePlan> ChangePlanFromJson(std::string_view text);

}  // namespace delenda::plan
