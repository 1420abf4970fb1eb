// Field ids for files that have none, by their columns' names.
#pragma once

#include <optional>

#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/model/name_mapping.h"

namespace delenda::read {

// For ParquetFile::Open: gives the columns of a file without field ids those of `mapping`, which must outlive it; those
// that it does not name keep none and so are absent. Null without a mapping.
parquet::IdAssigner AssignIdsBy(const std::optional<NameMapping>& mapping);

}  // namespace delenda::read
