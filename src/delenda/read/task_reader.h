// One task of a plan: an open data file, its deletes, and the row groups that are left to read.
#pragma once

#include <arrow/type_fwd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "delenda/base/once.h"
#include "delenda/base/result.h"
#include "delenda/formats/parquet/decode_context.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/plan/change_task.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/column_adapter.h"
#include "delenda/read/delete_loader.h"
#include "delenda/read/equality_keys.h"
#include "delenda/read/equality_tables.h"
#include "delenda/read/filter_evaluator.h"
#include "delenda/read/page_rows.h"
#include "delenda/read/scan_stream.h"
#include "delenda/read/selection.h"
#include "delenda/read/taken_along.h"

namespace delenda::read {

// What makes a task one of changes: the live rows that it asks for, and what is said of them.
//
// EXAMPLE  kDeletedRows with before {v1}, after {v2}: a task with the vector v1, and `only` = {v2}. Read are the rows
//          that v2 deletes and v1 does not.
struct TaskChange {
  // Of the rows that the task's own deletes leave, only those that these delete. Not set: all.
  std::optional<plan::DeleteState> only;
  // Equality deletes of tasks with one number are live together: the task's own, and those of `only`.
  uint64_t state = 0, only_state = 0;
  bool inserted = false;
  int32_t ordinal = 0;
  int64_t snapshot_id = 0;
  int64_t timestamp_us = 0;
};

// What the positions of deletes say about the rows of a task.
struct WantedPositions {
  PositionSet deleted;  // empty where `only` alone decides
  // Tasks with TaskChange::only: of what that deletes, the positions that the task's own deletes leave.
  std::optional<PositionSet> only;

  // 1 = the row is wanted, for rows [first, first + rows).
  Selection Mask(uint64_t first, int64_t rows) const;
};

// What the tasks of one data file share, however it was cut.
struct OpenDataFile {
  std::shared_ptr<const parquet::ParquetFile> file;  // null: no row is wanted, so the file was not opened
  std::shared_ptr<const WantedPositions> positions;
};

// Which columns of a row group are read, in one pass or two.
struct ColumnPlan {
  // With two passes, first the columns that decide about rows are read, then, only if a row is left, those of the
  // output. Else `columns` are both, the output's first.
  bool two_passes = false;
  ColumnAdapter deciding;
  ColumnAdapter columns;
};

struct OpenTask {
  size_t index = 0;  // in the plan
  std::shared_ptr<const OpenDataFile> data;
  std::vector<size_t> row_groups;        // those with rows that may be live and match, ascending
  std::map<size_t, PageRows> page_rows;  // by row group of the file; not there: all its rows may match

  ConstantColumns constants;
  std::optional<FilterEvaluator> filter;
  // Equality deletes of the file, and of TaskChange::only. Their key columns decide about rows too, in this order after
  // those of the filter and of the scan's keys.
  std::vector<std::shared_ptr<const EqualityKeys>> equality, only_equality;
  ColumnPlan plain;
  ColumnPlan with_keys;          // of row groups whose statistics allow a deleted key of either
  std::vector<bool> check_keys;  // by row group of the file; empty: none

  bool ChecksKeys(size_t row_group) const { return !check_keys.empty() && check_keys[row_group]; }
};

// What all tasks of a scan share. Thread-safe.
class ScanContext {
 public:
  // `changes`: of each task, when they are tasks of changes; else empty.
  static Result<std::unique_ptr<ScanContext>> Make(std::shared_ptr<const plan::ScanPlan> plan,
                                                   std::shared_ptr<io::FileIO> io, ReadOptions options,
                                                   std::vector<TaskChange> changes = {});

  const plan::ScanPlan& plan() const { return *plan_; }
  const ReadOptions& options() const { return options_; }
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  // Fields that the output is made from, in its order: columns of the table, and row lineage that files may store.
  const std::vector<Field>& output_fields() const { return output_fields_; }
  // Null: rows are not asked for keys.
  const KeyTable* keys() const { return options_.keys.get(); }
  // The output has _deleted: deleted rows are returned too.
  bool marks_deleted() const { return marks_deleted_; }
  // Rows of later tasks; for tasks of changes.
  TakenAlong& taken_along() { return taken_along_; }
  // A later task that may have its rows read along with those of `task`, and the positions of its rows.
  static constexpr uint64_t kPassengerBytes = 4096;  // what one takes at least while it waits
  struct Passenger {
    size_t task = 0;
    std::shared_ptr<const WantedPositions> positions;
  };
  // Those with rows in the row group, as far as there is room for them; kPassengerBytes are reserved for each.
  std::vector<Passenger> PassengersOf(const OpenTask& task, const parquet::RowGroup& group);
  // Null: not a task of changes.
  const TaskChange* change(size_t task) const { return changes_.empty() ? nullptr : &changes_[task]; }

  // Opens a task: its deletes, then its file, unless another task of the same file has done it.
  Result<std::shared_ptr<const OpenTask>> Open(size_t task);
  // To be called once for each task when its row groups are read: lets go of what no other task needs.
  void Finish(const OpenTask& task);

  // For the reader of one row group, which is not to outlive this: what an earlier one has given back, or a new one.
  std::shared_ptr<parquet::DecodeContext> BorrowDecoder();

  void RowGroupDone();
  Result<void> CheckCancelled() const;
  ReadMetrics metrics() const;
  std::atomic<uint64_t>& rows() { return rows_; }

 private:
  // A data file of the plan and the tasks that it was cut into. Each task of changes has its own.
  struct DataFileCell {
    DeleteLoader::Need need;
    std::optional<DeleteLoader::Need> only;  // TaskChange::only
    std::vector<size_t> key_tables, only_key_tables;
    size_t pending = 0;
    std::shared_ptr<OnceResult<WantedPositions>> positions = std::make_shared<OnceResult<WantedPositions>>();
    std::shared_ptr<OnceResult<OpenDataFile>> opened = std::make_shared<OnceResult<OpenDataFile>>();
    std::optional<size_t> next;  // changes: the next task of the same data file whose rows may be read along
  };

  ScanContext(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io, ReadOptions options,
              std::vector<TaskChange> changes);
  Result<void> CheckColumns() const;
  Result<void> CheckTask(const plan::FileTask& task) const;
  Result<void> CheckEqualityDeletes(const std::vector<uint32_t>& deletes) const;
  Result<void> AddFiles();
  void LinkTasksOfFiles();
  Result<WantedPositions> LoadPositions(const DataFileCell& cell);
  Result<std::shared_ptr<const WantedPositions>> PositionsOf(const DataFileCell& cell);
  Result<OpenDataFile> OpenData(const DataFileCell& cell);
  Result<std::shared_ptr<const parquet::ParquetFile>> OpenFile(const ContentFile& file);
  Result<void> LoadKeys(const DataFileCell& cell, OpenTask& opened);
  Result<void> MapColumns(const plan::FileTask& task, OpenTask& opened) const;
  Result<ColumnPlan> PlanColumns(const std::vector<Field>& deciding, const OpenTask& opened) const;
  // May one of the row group's rows be wanted, as far as positions tell?
  bool WantsRowsOf(const parquet::RowGroup& group, const OpenTask& opened) const;
  Result<void> ChooseRowGroups(const plan::FileTask& task, OpenTask& opened);
  // Cuts the chosen row groups down to the rows that their pages leave.
  Result<void> AskPages(const plan::FileTask& task, OpenTask& opened);

  std::shared_ptr<const plan::ScanPlan> plan_;
  std::shared_ptr<io::FileIO> io_;
  ReadOptions options_;
  std::vector<TaskChange> changes_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<Field> output_fields_;
  bool marks_deleted_ = false;
  std::shared_ptr<const SortedKeys> sorted_keys_;  // of options_.keys
  std::unique_ptr<DeleteLoader> deletes_;
  std::vector<DataFileCell> files_;
  std::vector<size_t> file_of_task_;
  EqualityTables equality_;
  TakenAlong taken_along_;
  // Changes come back to the same files: the ones that were opened last, so that few are open at a time.
  std::list<std::shared_ptr<const parquet::ParquetFile>> recent_files_;
  std::mutex mutex_;  // of what `pending` counts down, and the shared pointers beside it
  std::mutex decoders_mutex_;
  std::vector<std::unique_ptr<parquet::DecodeContext>> decoders_;  // that nobody uses

  std::atomic<uint64_t> rows_{0}, files_opened_{0}, row_groups_{0}, row_groups_pruned_{0}, row_groups_all_deleted_{0},
      row_groups_unchanged_{0}, rows_pruned_{0};
  std::atomic<uint64_t> row_groups_done_{0}, tasks_opened_{0};
};

// The live, matching rows of one row group, or of a part of it, as batches of the scan's schema.
class RowGroupScan {
 public:
  // Only the rows [first, end) of the row group.
  RowGroupScan(ScanContext& context, std::shared_ptr<const OpenTask> task, size_t row_group, int64_t first = 0,
               int64_t end = std::numeric_limits<int64_t>::max());
  ~RowGroupScan();

  // Never empty; null at the end.
  Result<std::shared_ptr<arrow::RecordBatch>> Next();

 private:
  Result<bool> FirstPass();
  // Set `matching` by the filter and the scan's keys, and narrow `live` by the equality deletes, from the deciding
  // columns; nothing there: all rows.
  Result<void> Decide(std::span<const std::shared_ptr<arrow::Array>> columns, int64_t begin, int64_t rows,
                      std::optional<Selection>& matching, std::optional<Selection>& live) const;
  Result<std::shared_ptr<arrow::RecordBatch>> NextOrError();
  // The rows that positions leave; nothing there: all.
  std::optional<Selection> LiveRows(int64_t begin, int64_t rows) const;
  // May a row of the part match, as far as pages tell?
  bool HasCandidates() const;
  // How the reader of some columns is to read: the rows that pages leave, in the part.
  parquet::RowGroupPart Part(const parquet::RowGroupReader* earlier) const;
  // A batch of the row group: its first row there, its rows, and how many of them were decoded: all, or those kept.
  struct BatchRows {
    int64_t begin = 0;
    int64_t rows = 0;
    int64_t decoded = 0;
  };
  // The rows of `kept` as the output of a task that reads this row group.
  Result<std::shared_ptr<arrow::RecordBatch>> Assemble(size_t task, const BatchRows& batch,
                                                       const std::optional<Selection>& kept,
                                                       const std::optional<Selection>& live,
                                                       const std::vector<std::shared_ptr<arrow::Array>>& fields) const;
  void Board();
  Result<void> Serve(const BatchRows& batch, const std::optional<Selection>& kept,
                     const std::vector<std::shared_ptr<arrow::Array>>& fields);

  ScanContext& context_;
  std::shared_ptr<const OpenTask> task_;
  size_t row_group_;
  bool check_keys_;
  const ColumnPlan& column_plan_;
  parquet::RowGroup info_;
  bool started_ = false;
  int64_t first_row_;  // within the row group, as are the next two
  int64_t end_row_;
  int64_t next_row_;
  std::optional<Selection> selected_;  // of all rows from first_row_ to end_row_, after a first pass
  std::shared_ptr<parquet::DecodeContext> decoder_;
  std::unique_ptr<parquet::RowGroupReader> filter_reader_;
  std::unique_ptr<parquet::RowGroupReader> reader_;

  // Changes: rows of this task that an earlier one has read, and of later tasks that this one reads along.
  struct Rider {
    ScanContext::Passenger passenger;
    TakenAlong::Rows rows;
    uint64_t bytes = 0;
  };
  std::optional<TakenAlong::Rows> ready_;
  size_t next_ready_ = 0;
  std::vector<Rider> riders_;
};

}  // namespace delenda::read
