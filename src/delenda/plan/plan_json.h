// A scan plan as JSON: for people and programs that look at plans, and for handing parts of a scan to other processes.
#pragma once

#include <string>

#include "delenda/plan/scan_task.h"

namespace delenda::plan {

// One document: what was chosen, then the deletes, then the data files. A delete stands there once, however many data
// files it applies to; they name it by its index in "delete-files".
//
//   {"snapshot-id": 5, "schema-id": 0, "columns": ["id"], "filter": "id > 90",
//    "delete-files": [{"content": "deletion-vector", "path": "…/d.puffin", "content-offset": 4, "content-size": 44,
//                      "record-count": 3, "referenced-data-file": "…/b.parquet", …}],
//    "data-files": [{"path": "…/b.parquet", "start": 0, "length": 1234, "record-count": 100, "deletion-vector": 0,
//                    "residual": "id > 90", …}],
//    "metrics": {…}}
//
// Members that a file lacks are left out; "partition" is text for reading, "partition-values" hold what the tuple
// holds.
std::string PlanToJson(const ScanPlan& plan);

}  // namespace delenda::plan
