// Schemas and partition specs in JSON (Iceberg spec, "Appendix C: JSON serialization").
#pragma once

#include "delenda/base/result.h"
#include "delenda/formats/json/json.h"
#include "delenda/formats/json/writer.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::iceberg {

// Corrupt with the JSON path; NotSupported for a type that the spec of version 3 does not know.
Result<Schema> SchemaFromJson(const json::Value& value);
// A spec object {spec-id, fields}, or (version 1's "partition-spec") the bare array of its fields.
Result<PartitionSpec> PartitionSpecFromJson(const json::Value& value);

// The same in JSON, members in the order of the reference implementation. Free texts ("doc") are no part of Schema: who
// rewrites metadata keeps the text that was read (TableMetadata::as_read). NotSupported: a default that has no JSON
// form (NaN, infinite).
Result<void> SchemaToJson(const Schema& schema, json::Writer& out);
// {spec-id, fields}. NotSupported: a transform that this version does not know, since it may have more sources than
// PartitionField holds.
Result<void> PartitionSpecToJson(const PartitionSpec& spec, json::Writer& out);
// The fields alone, as a manifest's header has them.
Result<void> PartitionFieldsToJson(const PartitionSpec& spec, json::Writer& out);

}  // namespace delenda::iceberg
