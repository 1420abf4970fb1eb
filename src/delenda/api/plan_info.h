// Plans and files in the form that the public headers have.
#pragma once

#include <map>

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
PlanInfo ToPlanInfo(const plan::ScanPlan& plan);
ChangePlanInfo ToChangePlanInfo(const plan::ChangePlan& plan);

}  // namespace delenda::api
