// Schemas and partition specs in JSON (Iceberg spec, "Appendix C: JSON serialization").
#pragma once

#include "delenda/base/result.h"
#include "delenda/formats/json/json.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::iceberg {

// Corrupt with the JSON path; NotSupported for a type that the spec of version 3 does not know.
Result<Schema> SchemaFromJson(const json::Value& value);
// A spec object {spec-id, fields}, or (version 1's "partition-spec") the bare array of its fields.
Result<PartitionSpec> PartitionSpecFromJson(const json::Value& value);

}  // namespace delenda::iceberg
