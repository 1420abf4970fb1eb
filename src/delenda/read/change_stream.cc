#include "delenda/read/change_stream.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "delenda/read/open_stream.h"
#include "delenda/read/task_reader.h"

namespace delenda::read {
namespace {

plan::OutputColumn ChangeColumn(plan::OutputColumn::Kind kind, std::string_view name, int32_t id, TypeKind type) {
  return {.kind = kind, .field = {.id = id, .name = std::string(name), .type = type, .required = true}};
}

Result<std::vector<plan::OutputColumn>> WithChangeColumns(std::vector<plan::OutputColumn> columns) {
  using enum plan::OutputColumn::Kind;
  for (auto& column : {ChangeColumn(kChangeType, kChangeTypeColumn, 2147483543, TypeKind::kString),
                       ChangeColumn(kChangeOrdinal, kChangeOrdinalColumn, 2147483542, TypeKind::kInt),
                       ChangeColumn(kCommitSnapshotId, kCommitSnapshotIdColumn, 2147483541, TypeKind::kLong),
                       ChangeColumn(kCommitTimestamp, kCommitTimestampColumn, -1, TypeKind::kTimestampTz)}) {
    const auto same = [&](const plan::OutputColumn& other) { return other.field.name == column.field.name; };
    if (std::ranges::any_of(columns, same)) {
      return InvalidArgument(
          "the table has a column {}, which changes need for their own: leave it out of the selection",
          column.field.name);
    }
    columns.push_back(column);
  }
  return columns;
}

// What both states hold deletes nothing that the other doesn't: leaving it out spares reading it.
plan::DeleteState Without(plan::DeleteState state, const plan::DeleteState& other) {
  if (state.dv == other.dv) state.dv.reset();
  const auto remove = [](std::vector<uint32_t>& from, const std::vector<uint32_t>& what) {
    std::erase_if(from, [&](uint32_t index) { return std::ranges::find(what, index) != what.end(); });
  };
  remove(state.position_deletes, other.position_deletes);
  remove(state.equality_deletes, other.equality_deletes);
  return state;
}

struct ChangeScan {
  plan::FileTask task;
  TaskChange change;
};

Result<ChangeScan> ToScan(const plan::ChangeTask& task) {
  using enum plan::ChangeTask::Kind;
  ChangeScan result;
  result.task.file = task.file;
  result.task.residual = task.residual;
  result.task.length = static_cast<uint64_t>(std::max<int64_t>(task.file.file_size, 0));
  // Deletes that rule rows out: those of the state in which the wanted rows are live.
  const bool live_after = task.kind == kAddedRows || task.kind == kRestoredRows;
  const plan::DeleteState& live = live_after ? task.after : task.before;
  result.task.dv = live.dv;
  result.task.position_deletes = live.position_deletes;
  result.task.equality_deletes = live.equality_deletes;
  if (task.kind == kDeletedRows) result.change.only = Without(task.after, task.before);
  if (task.kind == kRestoredRows) result.change.only = Without(task.before, task.after);
  if (task.change_ordinal > static_cast<uint64_t>(std::numeric_limits<int32_t>::max()))
    return NotSupported("a range of more than 2^31 snapshots");
  result.change.state = result.change.only_state = 2 * task.change_ordinal + (live_after ? 1 : 0);
  result.change.inserted = live_after;
  result.change.ordinal = static_cast<int32_t>(task.change_ordinal);
  result.change.snapshot_id = task.commit_snapshot_id;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 1000;
  if (task.commit_timestamp_ms > kMost || task.commit_timestamp_ms < -kMost)
    return Corrupt("snapshot {} has the timestamp {}", task.commit_snapshot_id, task.commit_timestamp_ms);
  result.change.timestamp_us = task.commit_timestamp_ms * 1000;
  return result;
}

}  // namespace

Result<std::unique_ptr<ScanStream>> OpenChanges(const plan::ChangePlan& plan, std::shared_ptr<io::FileIO> io,
                                                ReadOptions options) {
  auto scan = std::make_shared<plan::ScanPlan>();
  scan->snapshot_id = plan.to_snapshot_id;
  scan->schema = plan.schema;
  scan->specs = plan.specs;
  scan->columns = DELENDA_TRY(WithChangeColumns(plan.columns));
  scan->filter = plan.filter;
  scan->key_fields = plan.key_fields;
  scan->deletes = plan.deletes;
  std::vector<TaskChange> changes;
  scan->tasks.reserve(plan.tasks.size());
  changes.reserve(plan.tasks.size());
  for (const plan::ChangeTask& task : plan.tasks) {
    ChangeScan made = DELENDA_TRY(ToScan(task));
    scan->tasks.push_back(std::move(made.task));
    changes.push_back(std::move(made.change));
  }
  options.ordered = true;
  return OpenStream(std::move(scan), std::move(io), std::move(options), std::move(changes));
}

}  // namespace delenda::read
