// All delete files of a snapshot, whether they apply to a data file or not.
#pragma once

#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"

namespace delenda::plan {

// The live deletes of the snapshot's delete manifests, in their order; data manifests are not read. Errors: Corrupt
// metadata, storage, Cancelled.
Result<std::vector<ContentFile>> LiveDeletes(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot,
                                             io::FileIO& io, Executor& executor, const Hooks& hooks);

}  // namespace delenda::plan
