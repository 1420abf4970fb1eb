// What the metrics of a file say of its columns.
#pragma once

#include "delenda/model/content_file.h"
#include "delenda/model/pruning.h"

namespace delenda::plan {

// Statistics from a file's metrics, which it need not have. `file` must outlive the result.
StatsSource FileStats(const ContentFile& file);

}  // namespace delenda::plan
