// The rows of a plan as the public stream.
#pragma once

#include <memory>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/scan_stream.h"
#include "delenda/rows.h"

namespace delenda::api {

Result<RowStream> OpenRows(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                           read::ReadOptions options);

}  // namespace delenda::api
