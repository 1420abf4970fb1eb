#include "delenda/plan/change_plan_json.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "delenda/formats/json/json.h"
#include "delenda/plan/plan_json_names.h"
#include "delenda/plan/plan_json_parts.h"

namespace delenda::plan {
namespace {

using json::Value;
using Kind = ChangeTask::Kind;

constexpr std::string_view kChanges = "changes";
constexpr std::pair<Kind, std::string_view> kTaskKinds[] = {{Kind::kAddedRows, "addedRows"},
                                                            {Kind::kDeletedDataFile, "deletedDataFile"},
                                                            {Kind::kDeletedRows, "deletedRows"},
                                                            {Kind::kRestoredRows, "restoredRows"}};
constexpr std::pair<std::string_view, uint64_t ChangeMetrics::*> kMetrics[] = {
    {"changelogSnapshots", &ChangeMetrics::changelog_snapshots},
    {"replaceSnapshots", &ChangeMetrics::replace_snapshots},
    {"deleteManifestsRead", &ChangeMetrics::delete_manifests_read},
    {"dataManifestsRead", &ChangeMetrics::data_manifests_read}};

class ChangePlanWriter {
 public:
  ChangePlanWriter(const ChangePlan& plan, json::Writer::Style style)
      : plan_(plan), json_(style), parts_(plan, json_) {}

  Result<std::string> Write() && {
    json_.BeginObject().Member("version", kChangePlanJsonVersion).Member("kind", kChanges);
    WriteId("fromSnapshotId", plan_.from_snapshot_id);
    WriteId("toSnapshotId", plan_.to_snapshot_id);
    DELENDA_TRY(parts_.Write());
    json_.Key("tasks").BeginArray();
    for (const auto& task : plan_.tasks) DELENDA_TRY(WriteTask(task));
    json_.EndArray().Key("metrics").BeginObject();
    for (const auto& [key, member] : kMetrics) json_.Member(key, plan_.metrics.*member);
    json_.EndObject().EndObject();
    return std::move(json_).Finish();
  }

 private:
  void WriteId(std::string_view key, const std::optional<int64_t>& id) {
    json_.Key(key);
    if (id)
      json_.Int(*id);
    else
      json_.Null();
  }

  Result<void> WriteTask(const ChangeTask& task) {
    json_.BeginObject();
    for (const auto& [kind, name] : kTaskKinds) {
      if (kind == task.kind) json_.Member("kind", name);
    }
    json_.Member("ordinal", task.change_ordinal)
        .Member("snapshotId", task.commit_snapshot_id)
        .Member("timestampMs", task.commit_timestamp_ms);
    DELENDA_TRY(parts_.WriteFile(task.file));
    if (task.file.first_row_id) json_.Member("firstRowId", *task.file.first_row_id);
    WriteState("before", task.before);
    WriteState("after", task.after);
    DELENDA_TRY(parts_.WriteFilter("residual", task.residual));
    json_.Member("estimatedRows", task.estimated_rows).Member("estimatedBytes", task.estimated_bytes).EndObject();
    return {};
  }

  void WriteState(std::string_view key, const DeleteState& state) {
    json_.Key(key).BeginObject().Key(names::kDeletionVector);
    if (state.dv)
      json_.Uint(*state.dv);
    else
      json_.Null();
    parts_.WriteIndexes(names::kPositionDeletes, state.position_deletes);
    parts_.WriteIndexes(names::kEqualityDeletes, state.equality_deletes);
    json_.EndObject();
  }

  const ChangePlan& plan_;
  json::Writer json_;
  PlanPartsWriter parts_;
};

class ChangePlanReader {
 public:
  Result<ChangePlan> Read(const Value& root) {
    const auto version = DELENDA_TRY(root.Get<int64_t>("version"));
    if (version != kChangePlanJsonVersion) {
      return NotSupported("a plan of changes of version {}: this delenda reads version {}", version,
                          kChangePlanJsonVersion);
    }
    const auto kind = DELENDA_TRY(root.Optional<std::string>("kind"));
    if (kind != kChanges) return NotSupported("a plan of {} where one of changes is wanted", kind.value_or("a scan"));
    plan_.from_snapshot_id = DELENDA_TRY(ReadId(root, "fromSnapshotId"));
    plan_.to_snapshot_id = DELENDA_TRY(ReadId(root, "toSnapshotId"));
    DELENDA_TRY(parts_.Read(root));
    for (const auto task : DELENDA_TRY(root.Get<json::Array>("tasks")))
      plan_.tasks.push_back(DELENDA_TRY(ReadTask(task)));
    // For reports only, so that they may be missing.
    if (const auto metrics = DELENDA_TRY(root.Optional<Value>("metrics")); metrics) {
      for (const auto& [key, member] : kMetrics) plan_.metrics.*member = DELENDA_TRY(metrics->Optional<uint64_t>(key))
      .value_or(0);
    }
    std::move(parts_).MoveTo(plan_);
    return std::move(plan_);
  }

 private:
  static Result<std::optional<int64_t>> ReadId(const Value& root, std::string_view key) {
    const Value id = DELENDA_TRY(root.Member(key));
    if (id.is_null()) return std::nullopt;
    return DELENDA_TRY(id.As<int64_t>());
  }

  Result<ChangeTask> ReadTask(const Value& value) {
    ChangeTask task;
    const auto kind = DELENDA_TRY(value.Get<std::string_view>("kind"));
    const auto* known = std::ranges::find(kTaskKinds, kind, &std::pair<Kind, std::string_view>::second);
    if (known == std::end(kTaskKinds))
      return NotSupported("{}: changes of kind '{}' are not known to this version", value.Path(), kind);
    task.kind = known->first;
    task.change_ordinal = static_cast<uint64_t>(DELENDA_TRY(PlanPartsReader::ReadCount(value, "ordinal")));
    task.commit_snapshot_id = DELENDA_TRY(value.Get<int64_t>("snapshotId"));
    task.commit_timestamp_ms = DELENDA_TRY(value.Get<int64_t>("timestampMs"));
    task.file = DELENDA_TRY(parts_.ReadDataFile(value));
    task.before = DELENDA_TRY(ReadState(value, "before"));
    task.after = DELENDA_TRY(ReadState(value, "after"));
    // A state that the kind of the task has not would be left out by its reader.
    if (task.kind == Kind::kAddedRows && !task.before.empty())
      return value.Fail("rows were deleted from a file before it was added");
    if (task.kind == Kind::kDeletedDataFile && !task.after.empty())
      return value.Fail("rows are deleted from a file after it was removed");
    task.residual = DELENDA_TRY(parts_.ReadFilter(DELENDA_TRY(value.Member("residual"))));
    task.estimated_rows = DELENDA_TRY(value.Get<uint64_t>("estimatedRows"));
    task.estimated_bytes = DELENDA_TRY(value.Get<uint64_t>("estimatedBytes"));
    return task;
  }

  Result<DeleteState> ReadState(const Value& task, std::string_view key) const {
    const Value value = DELENDA_TRY(task.Member(key));
    DeleteState state;
    const Value vector = DELENDA_TRY(value.Member(names::kDeletionVector));
    if (!vector.is_null()) state.dv = DELENDA_TRY(parts_.ReadIndex(vector, names::kDeletionVector));
    state.position_deletes = DELENDA_TRY(parts_.ReadIndexes(value, names::kPositionDeletes));
    state.equality_deletes = DELENDA_TRY(parts_.ReadIndexes(value, names::kEqualityDeletes));
    if (state.dv && !state.position_deletes.empty())
      return value.Fail("a deletion vector and position deletes for one data file");
    return state;
  }

  ChangePlan plan_;
  PlanPartsReader parts_;
};

}  // namespace

Result<std::string> ChangePlanToJson(const ChangePlan& plan, json::Writer::Style style) {
  return ChangePlanWriter(plan, style).Write();
}

Result<ChangePlan> ChangePlanFromJson(std::string_view text) {
  const auto document = DELENDA_TRY(json::Document::Parse(text));
  return ChangePlanReader().Read(document.root());
}

}  // namespace delenda::plan
