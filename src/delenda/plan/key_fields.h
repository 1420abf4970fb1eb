// The fields that equality deletes match by.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/model/content_file.h"
#include "delenda/plan/scan_task.h"

namespace delenda::plan {

// The key fields of all equality deletes in `deletes`, by id: from `schema` or, dropped since, from the newest one of
// the table that had them. Corrupt: no schema has such a field, or it is no primitive.
Result<std::map<int32_t, KeyField>> FindKeyFields(const std::vector<ContentFile>& deletes, const Schema& schema,
                                                  const iceberg::TableMetadata& metadata);

}  // namespace delenda::plan
