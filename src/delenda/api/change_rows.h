// From tasks of changes to a RowStream: read, paired, and told in the words of a dialect.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "delenda/base/result.h"
#include "delenda/changes.h"
#include "delenda/io/file_io.h"
#include "delenda/plan/change_task.h"
#include "delenda/read/scan_stream.h"

namespace delenda::api {

struct ChangeSource {
  std::shared_ptr<const plan::ChangePlan> plan;
  std::shared_ptr<io::FileIO> io;
  read::ReadOptions read = {};
  // By snapshot id. ChangeDialect::kDelta needs those of the plan's snapshots.
  std::shared_ptr<const std::map<int64_t, int64_t>> sequence_numbers = {};
};

// `tasks`: of the source's plan, all or some; all of a snapshot or none. Errors as Table::Changes.
Result<RowStream> OpenChangeRows(const ChangeSource& source, std::span<const plan::ChangeTask> tasks,
                                 const ChangeReadOptions& options);

}  // namespace delenda::api
