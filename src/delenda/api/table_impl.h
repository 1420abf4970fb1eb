// What a Table holds.
#pragma once

#include <memory>
#include <string>

#include "delenda/base/executor.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/counting_file_io.h"
#include "delenda/io/mapping_file_io.h"
#include "delenda/plan/change_task.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/table.h"

namespace delenda {

class Table::Impl {
 public:
  explicit Impl(OpenOptions open_options);

  iceberg::SnapshotSelector Select(const SnapshotChoice& at) const {
    return {.snapshot_id = at.snapshot_id, .ref = at.ref, .as_of_ms = at.as_of_ms};
  }
  // Plans, and tells the log about what the plan warns of.
  Result<plan::ScanPlan> MakePlan(const ScanOptions& options) const;
  // The same, to be shared.
  Result<std::shared_ptr<const plan::ScanPlan>> Plan(const ScanOptions& options) const;
  Result<std::shared_ptr<const plan::ChangePlan>> PlanChanges(const ChangeOptions& options) const;

  OpenOptions options;
  std::vector<io::LocationMapping> mappings;
  // Counts below the mapping: what reaches storage.
  std::shared_ptr<io::CountingFileIO> counter;
  std::shared_ptr<io::FileIO> io;
  iceberg::LoadedTable loaded;
  // Thread-safe; its threads start when planning first needs them.
  mutable Executor executor;
};

}  // namespace delenda
