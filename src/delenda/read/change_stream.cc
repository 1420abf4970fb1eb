#include "delenda/read/change_stream.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
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

// Turns tasks of changes into tasks of a scan, whose plan lists only the deletes that they need.
class Converter {
 public:
  Converter(const plan::ChangePlan& plan, plan::ScanPlan& scan, int32_t first_ordinal)
      : plan_(plan), scan_(scan), first_ordinal_(first_ordinal) {}

  Result<void> Add(const plan::ChangeTask& task) {
    using enum plan::ChangeTask::Kind;
    plan::FileTask file;
    file.file = task.file;
    file.residual = task.residual;
    file.length = static_cast<uint64_t>(std::max<int64_t>(task.file.file_size, 0));
    // Deletes that rule rows out: those of the state in which the wanted rows are live.
    const bool live_after = task.kind == kAddedRows || task.kind == kRestoredRows;
    const plan::DeleteState live = DELENDA_TRY(Numbered(live_after ? task.after : task.before));
    file.dv = live.dv;
    file.position_deletes = live.position_deletes;
    file.equality_deletes = live.equality_deletes;
    TaskChange change;
    if (task.kind == kDeletedRows) change.only = DELENDA_TRY(Numbered(Without(task.after, task.before)));
    if (task.kind == kRestoredRows) change.only = DELENDA_TRY(Numbered(Without(task.before, task.after)));
    if (task.change_ordinal > static_cast<uint64_t>(std::numeric_limits<int32_t>::max() - first_ordinal_))
      return NotSupported("more than 2^31 snapshots");
    change.state = change.only_state = 2 * task.change_ordinal + (live_after ? 1 : 0);
    change.inserted = live_after;
    change.ordinal = first_ordinal_ + static_cast<int32_t>(task.change_ordinal);
    change.snapshot_id = task.commit_snapshot_id;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 1000;
    if (task.commit_timestamp_ms > kMost || task.commit_timestamp_ms < -kMost)
      return Corrupt("snapshot {} has the timestamp {}", task.commit_snapshot_id, task.commit_timestamp_ms);
    change.timestamp_us = task.commit_timestamp_ms * 1000;
    scan_.tasks.push_back(std::move(file));
    changes_.push_back(std::move(change));
    return {};
  }

  std::vector<TaskChange> TakeChanges() && { return std::move(changes_); }

 private:
  // The state with the numbers that its deletes have in the scan's plan.
  Result<plan::DeleteState> Numbered(plan::DeleteState state) {
    const auto number = [&](uint32_t& index) -> Result<void> {
      if (index >= plan_.deletes.size()) return InternalError("the plan has no delete {}", index);
      const auto [at, is_new] = numbers_.try_emplace(index, static_cast<uint32_t>(scan_.deletes.size()));
      if (is_new) scan_.deletes.push_back(plan_.deletes[index]);
      index = at->second;
      return {};
    };
    if (state.dv) DELENDA_TRY(number(*state.dv));
    for (uint32_t& index : state.position_deletes) DELENDA_TRY(number(index));
    for (uint32_t& index : state.equality_deletes) DELENDA_TRY(number(index));
    return state;
  }

  const plan::ChangePlan& plan_;
  plan::ScanPlan& scan_;
  const int32_t first_ordinal_;
  std::unordered_map<uint32_t, uint32_t> numbers_;
  std::vector<TaskChange> changes_;
};

}  // namespace

Result<std::unique_ptr<ScanStream>> OpenChanges(const plan::ChangePlan& plan, std::span<const plan::ChangeTask> tasks,
                                                const std::vector<plan::OutputColumn>& columns,
                                                std::shared_ptr<io::FileIO> io, ReadOptions options,
                                                int32_t first_ordinal) {
  if (first_ordinal < 0) return InvalidArgument("ordinals cannot start at {}", first_ordinal);
  auto scan = std::make_shared<plan::ScanPlan>();
  scan->snapshot_id = plan.to_snapshot_id;
  scan->schema = plan.schema;
  scan->specs = plan.specs;
  scan->columns = DELENDA_TRY(WithChangeColumns(columns));
  scan->filter = plan.filter;
  scan->key_fields = plan.key_fields;
  scan->name_mapping = plan.name_mapping;
  Converter converter(plan, *scan, first_ordinal);
  for (const plan::ChangeTask& task : tasks) DELENDA_TRY(WithContext(converter.Add(task), "file", task.file.path));
  options.ordered = true;
  return OpenStream(std::move(scan), std::move(io), std::move(options), std::move(converter).TakeChanges());
}

}  // namespace delenda::read
