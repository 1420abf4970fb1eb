#include "delenda/plan/snapshot_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace delenda::plan {
namespace {

using iceberg::Snapshot;
using iceberg::SnapshotSelector;

bool IsGiven(const SnapshotSelector& selector) { return selector.snapshot_id || selector.ref || selector.as_of_ms; }

// A snapshot and its ancestors, newest first, as far as the table keeps them.
Result<std::vector<const Snapshot*>> Ancestors(const iceberg::TableMetadata& metadata, const Snapshot& newest) {
  std::unordered_map<int64_t, const Snapshot*> by_id;
  for (const auto& snapshot : metadata.snapshots) by_id.emplace(snapshot.snapshot_id, &snapshot);
  std::vector<const Snapshot*> line = {&newest};
  while (line.back()->parent_id) {
    const auto parent = by_id.find(*line.back()->parent_id);
    if (parent == by_id.end()) break;
    line.push_back(parent->second);
    if (line.size() > by_id.size()) return Corrupt("snapshot {} is its own ancestor", newest.snapshot_id);
  }
  return line;
}

bool Contains(const std::vector<const Snapshot*>& line, int64_t id) {
  return std::ranges::find(line, id, &Snapshot::snapshot_id) != line.end();
}

// The newest snapshot of the range.
Result<const Snapshot*> SelectEnd(const iceberg::TableMetadata& metadata, const ChangeRequest& request) {
  if (!request.branch) return DELENDA_TRY(SelectSnapshot(metadata, request.to))
  .snapshot;
  const auto ref = metadata.refs.find(*request.branch);
  if (ref != metadata.refs.end() && !ref->second.is_branch)
    return InvalidArgument("'{}' is a tag, not a branch", *request.branch);
  const Snapshot* head = DELENDA_TRY(SelectSnapshot(metadata, {.ref = request.branch}))
  .snapshot;
  if (!IsGiven(request.to)) return head;
  const Snapshot* end = DELENDA_TRY(SelectSnapshot(metadata, request.to))
  .snapshot;
  // Changes that were rolled back are not the branch's.
  if (!Contains(DELENDA_TRY(Ancestors(metadata, *head)), end->snapshot_id)) {
    return InvalidArgument("snapshot {} (to) is no ancestor of snapshot {}, the head of branch '{}'", end->snapshot_id,
                           head->snapshot_id, *request.branch);
  }
  return end;
}

}  // namespace

Result<SnapshotRange> SelectRange(const iceberg::TableMetadata& metadata, const ChangeRequest& request) {
  SnapshotRange range;
  const Snapshot* end = DELENDA_TRY(SelectEnd(metadata, request));
  std::vector<const Snapshot*> line;
  if (end != nullptr) {
    line = DELENDA_TRY(Ancestors(metadata, *end));
    range.to_snapshot_id = end->snapshot_id;
  }
  const std::optional<int64_t> before_line = line.empty() ? std::nullopt : line.back()->parent_id;
  if (!IsGiven(request.from)) {
    if (request.from_inclusive) return InvalidArgument("an inclusive start needs a snapshot to start from");
    range.from_snapshot_id = before_line;
    if (before_line) {
      range.warnings.push_back(
          fmt::format("snapshot {} and those before it have expired: their changes are not among these", *before_line));
    }
  } else if (!request.from_inclusive && before_line && request.from.snapshot_id == before_line && !request.from.ref &&
             !request.from.as_of_ms) {
    range.from_snapshot_id = before_line;  // expired, but all that came after it is there
  } else {
    const Snapshot* start = DELENDA_TRY(SelectSnapshot(metadata, request.from))
    .snapshot;
    auto at = std::ranges::find(line, start->snapshot_id, &Snapshot::snapshot_id);
    if (at == line.end()) {
      return InvalidArgument(
          "snapshot {} (from) is no ancestor of snapshot {} (to): there is no line of changes between them",
          start->snapshot_id, end == nullptr ? std::string("none") : std::to_string(end->snapshot_id));
    }
    range.from_snapshot_id = request.from_inclusive ? start->parent_id : start->snapshot_id;
    if (request.from_inclusive) ++at;
    line.erase(at, line.end());
  }
  std::ranges::reverse(line);
  range.snapshots = std::move(line);
  return range;
}

}  // namespace delenda::plan
