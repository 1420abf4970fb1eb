// The one way from tasks to a stream, for scans and for changes.
#pragma once

#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/read/scan_stream.h"
#include "delenda/read/task_reader.h"

namespace delenda::read {

// `changes`: as in ScanContext::Make.
Result<std::unique_ptr<ScanStream>> OpenStream(std::shared_ptr<const plan::ScanPlan> plan,
                                               std::shared_ptr<io::FileIO> io, ReadOptions options,
                                               std::vector<TaskChange> changes);

}  // namespace delenda::read
