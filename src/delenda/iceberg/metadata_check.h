// The rules of a metadata file that reading alone does not need (Iceberg spec, "Table Metadata", "Snapshots").
#pragma once

#include "delenda/iceberg/table_metadata.h"
#include "delenda/model/finding.h"

namespace delenda::iceberg {

// Refs name snapshots; sequence numbers ascend from parent to child and none is above the table's; ids that were given
// to columns, partition fields and rows are below the counters that the next ones come from. What Parse refuses is not
// looked at again.
Findings CheckTableMetadata(const TableMetadata& metadata);

}  // namespace delenda::iceberg
