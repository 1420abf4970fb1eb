// The first metadata of a table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::iceberg {

struct NewTable {
  std::string location;
  Schema schema;  // with the ids that it is to have
  PartitionSpec spec;
  std::map<std::string, std::string> properties = {};
  int32_t format_version = 3;
};

// The metadata of a table without snapshots, as the reference implementation makes it: a new UUID, schema 0, spec 0,
// sort order 0 (none), and the property write.parquet.compression-codec = zstd, unless it is given.
//
// InvalidArgument: a format version other than 2 and 3; no columns; what only version 3 has (timestamp_ns, unknown,
// variant, geometry, geography, defaults) in version 2; identifier fields that are optional, nested in lists or maps,
// no primitive type, or floating point (spec, "Identifier Field IDs"); columns named like those that readers add
// (_file, _pos, _row_id, ...); properties that are no properties of a table but parts of its metadata.
Result<TableMetadata> MakeNewTable(const NewTable& table);

// The schema with these columns (dotted names) as identifier fields. `make_required`: they, and the structs that they
// lie in, become required; else optional ones are refused. NotFound: an unknown column.
Result<Schema> WithIdentifiers(const Schema& schema, const std::vector<std::string>& columns, bool make_required);

}  // namespace delenda::iceberg
