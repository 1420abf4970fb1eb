#include "delenda/commit/snapshot_metadata.h"

#include "delenda/commit/next_metadata.h"

namespace delenda::commit {

std::string_view OperationName(Operation operation) {
  switch (operation) {
    case Operation::kAppend: return "append";
    case Operation::kDelete: return "delete";
    case Operation::kOverwrite: return "overwrite";
    case Operation::kReplace: break;
  }
  return "replace";
}

Result<iceberg::TableMetadata> WithSnapshot(const iceberg::LoadedTable& base, const std::string& branch,
                                            const NewSnapshot& snapshot) {
  iceberg::TableMetadata next = DELENDA_TRY(NextMetadata(base));
  const auto ref = next.refs.find(branch);
  if (ref == next.refs.end() && branch != "main")
    return NotFound("the table has no branch '{}': make it first, so that it begins where you want it to", branch);
  iceberg::Snapshot& added = next.snapshots.emplace_back();
  added.snapshot_id = snapshot.snapshot_id;
  if (ref != next.refs.end()) added.parent_id = ref->second.snapshot_id;
  added.sequence_number = ++next.last_sequence_number;
  added.timestamp_ms = next.last_updated_ms;
  added.operation = OperationName(snapshot.operation);
  added.summary = snapshot.summary;
  added.manifest_list = snapshot.manifest_list;
  added.schema_id = next.current_schema_id;
  if (next.format_version >= 3) {
    added.first_row_id = next.next_row_id.value_or(0);
    added.added_rows = snapshot.next_row_id - *added.first_row_id;
    next.next_row_id = snapshot.next_row_id;
  }
  if (ref == next.refs.end()) {
    next.refs.emplace(branch, iceberg::SnapshotRef{.snapshot_id = snapshot.snapshot_id});
  } else {
    ref->second.snapshot_id = snapshot.snapshot_id;
  }
  if (branch == "main") {
    next.current_snapshot_id = snapshot.snapshot_id;
    next.snapshot_log.push_back({.timestamp_ms = added.timestamp_ms, .snapshot_id = snapshot.snapshot_id});
  }
  return next;
}

}  // namespace delenda::commit
