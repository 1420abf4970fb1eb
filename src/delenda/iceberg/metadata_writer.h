// Writing table metadata (Iceberg spec, "Table Metadata", "Appendix C: JSON serialization").
#pragma once

#include <string>

#include "delenda/base/result.h"
#include "delenda/iceberg/table_metadata.h"

namespace delenda::iceberg {

// The text of a metadata file of format version 2 or 3, members in the order of the reference implementation. Reading
// it gives the same metadata again; what was read from a file is kept, also what TableMetadata has no field for.
//
// NotSupported: version 1, encryption keys. InvalidArgument: metadata that no reader would take — ids that name nothing
// (current schema, default spec, current snapshot, refs), a branch main that is not the current snapshot, a snapshot
// above the last sequence number or without manifest list, version 3 without next-row-id or with a snapshot whose row
// ids reach above it, texts that are no UTF-8.
Result<std::string> TableMetadataToJson(const TableMetadata& metadata);

}  // namespace delenda::iceberg
