// A scan plan as JSON: for people and programs that look at plans, and for handing parts of a scan to other processes.
#pragma once

#include <string>
#include <string_view>

#include "delenda/base/result.h"
#include "delenda/formats/json/writer.h"
#include "delenda/plan/scan_task.h"

namespace delenda::plan {

// What PlanToJson writes and PlanFromJson reads. A change that an older reader would understand wrongly raises it.
inline constexpr int64_t kPlanJsonVersion = 1;

// One document with all that reading needs, so that a reader of it needs no metadata of the table. A delete stands
// there once, however many data files it applies to; they name it by its index in "deleteFiles".
//
//   {"version": 1, "snapshotId": 5,
//    "schema": {"type": "struct", "schema-id": 0, "fields": […]},   as Iceberg's specification writes schemas
//    "columns": [{"kind": "field", "id": 1}, {"kind": "filePath", "struct": {…}}],
//    "filter": "id > 90",
//    "partitionSpecs": [{"specId": 0, "fields": [{"name": "region", "transform": "identity", "sourceId": 2,
//                        "fieldId": 1000, "sourceType": "string", "resultType": "string"}]}],
//    "keyFields": [{"id": 1, "struct": {…}, "path": [1], "type": "long"}],   what equality deletes match by
//    "nameMapping": [{"field-id": 1, "names": ["id"]}],   as Iceberg's specification writes them; only if the table has
//    one "deleteFiles": [{"content": "deletionVector", "path": "…/d.puffin", "format": "puffin", "fileSize": 420,
//                     "cardinality": 3, "contentOffset": 4, "contentSize": 44, "referencedDataFile": "…/b.parquet",
//                     …}],
//    "dataFiles": [{"path": "…/b.parquet", "format": "parquet", "fileSize": 1234, "recordCount": 100, "specId": 0,
//                   "partition": "region=eu", "partitionValues": ["eu"], "start": 0, "length": 1234,
//                   "deletionVector": 0, "positionDeletes": [], "equalityDeletes": [], "residual": "id > 90", …}],
//    "metrics": {…}}
//
// Filters are text that binds to "schema" again. A partition value is text in the form of its result type; where that
// would not give the same value, an object whose one member names the kind: {"long": "5"}, {"hex": "00ff"}. "partition"
// is for people. Planning's warnings and the files' column metrics are left out.
//
// Errors: NotSupported when something has no such form (text that is not UTF-8; a filter that does not bind to itself),
// since a reader would return other rows.
Result<std::string> PlanToJson(const ScanPlan& plan, json::Writer::Style style = json::Writer::Style::kPretty);

// The plan of a document that PlanToJson wrote. Members that are not known are ignored.
//
// NotSupported: another version. Corrupt, with the JSON path: anything missing (a lost filter or delete would bring
// rows back), of a wrong type, or that contradicts itself.
Result<ScanPlan> PlanFromJson(std::string_view text);

}  // namespace delenda::plan
