// From a table's metadata to a ScanPlan: which files a scan reads and which deletes apply to each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/model/sorted_keys.h"
#include "delenda/plan/partition_filter.h"
#include "delenda/plan/scan_task.h"

namespace delenda::plan {

struct ScanRequest {
  iceberg::SnapshotSelector snapshot = {};
  // Columns of the result, in this order: top-level fields of the schema (exact, else case-insensitive names) and
  // metadata columns
  // (OutputColumn::Kind). Used when `select_all` is false; may then be empty: rows are only counted.
  std::vector<std::string> select = {};
  bool select_all = true;
  bool with_metadata = false;  // append _file and _pos unless they are selected
  std::string where = {};      // filter text (model/expression.h); empty: all rows
  // Only files that may hold one of these keys; null: all. Which of their rows do is for the reader to find out
  // (ReadOptions::keys).
  std::shared_ptr<const SortedKeys> keys = nullptr;
  // Only files of this partition; nothing: of all.
  std::optional<OnePartition> partition = std::nullopt;
  bool with_metrics = false;  // fill the metrics of the tasks' files
  uint64_t split_size = 0;    // cut files into tasks of about this many bytes, at row groups; 0: a task is a whole file
  // A DV that matches no data file is a warning, not an error. For repair only: a lost match means that deleted rows
  // come back.
  bool allow_dangling_dvs = false;
};

// Plan a scan in one pass over the metadata.
//
// Delete manifests are read only if the manifest list holds any, data manifests in parallel; both are pruned by
// partition summaries, entries by partition values and (data files) by column bounds. Each delete is attached to
// exactly the data files that it applies to (plan/delete_index.h).
//
// EXAMPLE  manifests: m1 (data: a.parquet, b.parquet; sequence number 1), m2 (deletes: DV for a.parquet; sequence
// number 2).
//          Filter "id > 90", bounds of id: a [1, 50], b [51, 100].  →  one task {b.parquet, no deletes}; the DV's file
//          is marked although it was pruned.
//          Keys id {7, 8, 200} instead of the filter  →  one task {a.parquet, the DV}.
//
// Errors: NotFound (snapshot, column), InvalidArgument (filter), NotSupported (files or deletes of a format that can't
// be read: named, before any row), Corrupt (two DVs for one file, a DV that matches no live data file, broken
// metadata), Cancelled.
Result<ScanPlan> PlanScan(const iceberg::TableMetadata& metadata, io::FileIO& io, const ScanRequest& request,
                          Executor& executor, const Hooks& hooks);

}  // namespace delenda::plan
