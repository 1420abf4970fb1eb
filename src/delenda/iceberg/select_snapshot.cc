#include <fmt/format.h>

#include <algorithm>

#include "delenda/iceberg/table_metadata.h"

namespace delenda::iceberg {
namespace {

const Schema* SchemaOf(const TableMetadata& metadata, const Snapshot& snapshot) {
  const Schema* schema = snapshot.schema_id ? metadata.FindSchema(*snapshot.schema_id) : nullptr;
  return schema != nullptr ? schema : &metadata.CurrentSchema();
}

Result<SelectedSnapshot> SelectById(const TableMetadata& metadata, int64_t id) {
  const Snapshot* snapshot = metadata.FindSnapshot(id);
  if (snapshot == nullptr) {
    return NotFound(
        "the table has no snapshot {} (expired, or never there): `inspect TABLE snapshots` lists the {} there are", id,
        metadata.snapshots.size());
  }
  return SelectedSnapshot{.snapshot = snapshot, .schema = SchemaOf(metadata, *snapshot)};
}

Result<SelectedSnapshot> SelectByRef(const TableMetadata& metadata, const std::string& name) {
  const auto ref = metadata.refs.find(name);
  if (ref == metadata.refs.end()) {
    std::string known;
    for (const auto& [other, unused] : metadata.refs) known += fmt::format("{}{}", known.empty() ? "" : ", ", other);
    return NotFound("the table has no branch or tag '{}': there are: {}", name, known.empty() ? "none" : known);
  }
  auto selected = DELENDA_TRY(SelectById(metadata, ref->second.snapshot_id));
  if (ref->second.is_branch) selected.schema = &metadata.CurrentSchema();
  return selected;
}

// The snapshot log says which snapshot was current when; a rollback makes an older one current again.
Result<SelectedSnapshot> SelectByTime(const TableMetadata& metadata, int64_t as_of_ms) {
  const SnapshotLogEntry* last = nullptr;
  for (const auto& entry : metadata.snapshot_log) {
    if (entry.timestamp_ms <= as_of_ms) last = &entry;
  }
  if (last == nullptr) return NotFound("no snapshot of the table is as old as {} ms since 1970", as_of_ms);
  return SelectById(metadata, last->snapshot_id);
}

}  // namespace

Result<SelectedSnapshot> SelectSnapshot(const TableMetadata& metadata, const SnapshotSelector& selector) {
  const int given = (selector.snapshot_id ? 1 : 0) + (selector.ref ? 1 : 0) + (selector.as_of_ms ? 1 : 0);
  if (given > 1) return InvalidArgument("give one of snapshot id, ref and time, not several");
  if (selector.snapshot_id) return SelectById(metadata, *selector.snapshot_id);
  if (selector.ref) return SelectByRef(metadata, *selector.ref);
  if (selector.as_of_ms) return SelectByTime(metadata, *selector.as_of_ms);
  SelectedSnapshot selected{.snapshot = nullptr, .schema = &metadata.CurrentSchema()};
  if (metadata.current_snapshot_id) selected.snapshot = metadata.FindSnapshot(*metadata.current_snapshot_id);
  return selected;
}

}  // namespace delenda::iceberg
