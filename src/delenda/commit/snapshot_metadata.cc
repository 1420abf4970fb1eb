#include "delenda/commit/snapshot_metadata.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace delenda::commit {
namespace {

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string_view OperationName(Operation operation) {
  switch (operation) {
    case Operation::kAppend: return "append";
    case Operation::kDelete: return "delete";
    case Operation::kOverwrite: return "overwrite";
    case Operation::kReplace: break;
  }
  return "replace";
}

Result<int64_t> NumberProperty(const std::map<std::string, std::string>& properties, const std::string& name,
                               int64_t otherwise) {
  const auto found = properties.find(name);
  if (found == properties.end()) return otherwise;
  int64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return InvalidArgument("table property {} is '{}': expected a whole number", name, text);
  return value;
}

bool WritesGzip(const iceberg::TableMetadata& metadata) {
  const auto found = metadata.properties.find("write.metadata.compression-codec");
  return found != metadata.properties.end() && (found->second == "gzip" || found->second == "GZIP");
}

Result<iceberg::TableMetadata> WithSnapshot(const iceberg::TableMetadata& base, const std::string& base_path,
                                            const std::string& branch, const NewSnapshot& snapshot) {
  iceberg::TableMetadata next = base;
  const auto ref = next.refs.find(branch);
  if (ref == next.refs.end() && branch != "main")
    return NotFound("the table has no branch '{}': make it first, so that it begins where you want it to", branch);
  iceberg::Snapshot& added = next.snapshots.emplace_back();
  added.snapshot_id = snapshot.snapshot_id;
  if (ref != next.refs.end()) added.parent_id = ref->second.snapshot_id;
  added.sequence_number = base.last_sequence_number + 1;
  // Never before what was committed already: readers choose snapshots by time.
  added.timestamp_ms = std::max(NowMs(), base.last_updated_ms);
  added.operation = OperationName(snapshot.operation);
  added.summary = snapshot.summary;
  added.manifest_list = snapshot.manifest_list;
  added.schema_id = base.current_schema_id;
  if (base.format_version >= 3) {
    added.first_row_id = base.next_row_id.value_or(0);
    added.added_rows = snapshot.next_row_id - *added.first_row_id;
    next.next_row_id = snapshot.next_row_id;
  }
  next.last_sequence_number = added.sequence_number;
  next.last_updated_ms = added.timestamp_ms;
  if (ref == next.refs.end()) {
    next.refs.emplace(branch, iceberg::SnapshotRef{.snapshot_id = snapshot.snapshot_id});
  } else {
    ref->second.snapshot_id = snapshot.snapshot_id;
  }
  if (branch == "main") {
    next.current_snapshot_id = snapshot.snapshot_id;
    next.snapshot_log.push_back({.timestamp_ms = added.timestamp_ms, .snapshot_id = snapshot.snapshot_id});
  }
  next.metadata_log.push_back({.timestamp_ms = base.last_updated_ms, .metadata_file = base_path});
  const int64_t kept =
      std::max<int64_t>(1, DELENDA_TRY(NumberProperty(base.properties, "write.metadata.previous-versions-max", 100)));
  if (next.metadata_log.size() > static_cast<size_t>(kept))
    next.metadata_log.erase(next.metadata_log.begin(), next.metadata_log.end() - kept);
  return next;
}

}  // namespace delenda::commit
