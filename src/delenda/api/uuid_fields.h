// UUIDs of a table as Arrow's consumers know them.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <vector>

#include "delenda/plan/scan_task.h"

namespace delenda::api {

// The schema with its UUIDs marked as Arrow's canonical extension: Arrow has no type of its own for them. `columns`:
// those of the schema's first fields. The same pointer if there is no UUID.
std::shared_ptr<arrow::Schema> WithUuids(const std::shared_ptr<arrow::Schema>& schema,
                                         const std::vector<plan::OutputColumn>& columns);

}  // namespace delenda::api
