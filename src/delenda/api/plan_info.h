// Plans and files in the form that the public headers have.
#pragma once

#include <map>

#include "delenda/base/executor.h"
#include "delenda/changes.h"
#include "delenda/model/content_file.h"
#include "delenda/model/partition.h"
#include "delenda/plan/change_task.h"
#include "delenda/plan/scan_task.h"
#include "delenda/scan.h"

namespace delenda::api {

DeleteInfo ToDeleteInfo(const ContentFile& file, const std::map<int32_t, BoundSpec>& specs);
// A whole data file, without its deletes.
DataFileInfo ToDataFileInfo(const ContentFile& file, const std::map<int32_t, BoundSpec>& specs);
// The plan's texts are moved, not copied.
PlanInfo ToPlanInfo(plan::ScanPlan plan);
// The same on the executor's threads. Leaves tasks and deletes without their texts.
Result<PlanInfo> ToPlanInfo(plan::ScanPlan& plan, Executor& executor);
ChangePlanInfo ToChangePlanInfo(const plan::ChangePlan& plan);

}  // namespace delenda::api
