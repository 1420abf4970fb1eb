// Checks of data files and delete files by their Parquet footers, against what the manifest says of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/finding.h"
#include "delenda/model/name_mapping.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::read {

// Size, footer, number of rows; of a data file also that every column of `schema` can be read from it, and the
// manifest's metrics (`file.metrics`, null: not compared) against the row groups' statistics: value and null counts are
// equal, no value lies outside the bounds. What a footer does not state, or states in a way that cannot be compared
// safely, is not compared. `names`: gives files without field ids theirs. Files that are not Parquet give one warning.
// Errors: storage only.
Result<Findings> CheckDataFile(io::FileIO& io, const ContentFile& file, const Schema& schema,
                               const std::map<int32_t, BoundSpec>& specs, const std::optional<NameMapping>& names);

}  // namespace delenda::read
