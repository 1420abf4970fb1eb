#include "delenda/iceberg/metadata_check.h"

#include <algorithm>
#include <set>
#include <utility>

namespace delenda::iceberg {
namespace {

class MetadataCheck {
 public:
  explicit MetadataCheck(const TableMetadata& metadata) : metadata_(metadata) {}

  Findings Run() && {
    CheckRefs();
    CheckSnapshots();
    CheckIds();
    return std::move(findings_);
  }

 private:
  void Add(const Check& check, std::string place, std::string what, std::optional<int64_t> snapshot = std::nullopt) {
    findings_.push_back({.check = &check, .place = std::move(place), .what = std::move(what), .snapshot_id = snapshot});
  }

  void CheckRefs() {
    for (const auto& [name, ref] : metadata_.refs) {
      if (metadata_.FindSnapshot(ref.snapshot_id) != nullptr) continue;
      Add(checks::kRefUnknownSnapshot, fmt::format("{} {}", ref.is_branch ? "branch" : "tag", name),
          fmt::format("names snapshot {}, which the table does not have", ref.snapshot_id));
    }
  }

  void CheckSnapshots() {
    std::set<int64_t> ids;
    for (const auto& snapshot : metadata_.snapshots) {
      const std::string place = fmt::format("snapshot {}", snapshot.snapshot_id);
      const auto add = [&](const Check& check, std::string what) {
        Add(check, place, std::move(what), snapshot.snapshot_id);
      };
      if (!ids.insert(snapshot.snapshot_id).second)
        add(checks::kSnapshotTwice, "the table has two snapshots of this id");
      if (snapshot.schema_id && metadata_.FindSchema(*snapshot.schema_id) == nullptr) {
        add(checks::kSchemaUnknown, fmt::format("has schema {}, which the table does not have", *snapshot.schema_id));
      }
      if (snapshot.sequence_number > metadata_.last_sequence_number) {
        add(checks::kSequenceLast, fmt::format("has sequence number {}, the table's last one is {}",
                                               snapshot.sequence_number, metadata_.last_sequence_number));
      }
      const Snapshot* parent = snapshot.parent_id ? metadata_.FindSnapshot(*snapshot.parent_id) : nullptr;
      // Snapshots of version 1 all have 0.
      if (parent != nullptr && snapshot.sequence_number <= parent->sequence_number && snapshot.sequence_number > 0) {
        add(checks::kSequenceOrder,
            fmt::format("has sequence number {}, its parent {} has {}", snapshot.sequence_number, parent->snapshot_id,
                        parent->sequence_number));
      }
      if (IsOwnAncestor(snapshot)) add(checks::kParentLoop, "is its own ancestor");
      CheckRowIds(snapshot, place);
    }
  }

  bool IsOwnAncestor(const Snapshot& snapshot) const {
    // Where numbers ascend there is no loop.
    std::set<int64_t> seen;
    const Snapshot* at = &snapshot;
    while (at->parent_id) {
      const Snapshot* parent = metadata_.FindSnapshot(*at->parent_id);
      if (parent == nullptr || parent->sequence_number < at->sequence_number) return false;
      if (parent == &snapshot) return true;
      if (!seen.insert(parent->snapshot_id).second) return false;
      at = parent;
    }
    return false;
  }

  // spec, "Row Lineage": a snapshot gives ids from the table's next-row-id on, and moves it past them.
  void CheckRowIds(const Snapshot& snapshot, const std::string& place) {
    if (!snapshot.first_row_id && !snapshot.added_rows) return;
    const auto add = [&](const Check& check, std::string what) {
      Add(check, place, std::move(what), snapshot.snapshot_id);
    };
    if (!snapshot.first_row_id || !snapshot.added_rows || *snapshot.first_row_id < 0 || *snapshot.added_rows < 0) {
      add(checks::kRowIdSnapshot, fmt::format("first-row-id is {}, added-rows {}: both must be given, neither negative",
                                              snapshot.first_row_id.value_or(-1), snapshot.added_rows.value_or(-1)));
      return;
    }
    int64_t end = 0;
    if (__builtin_add_overflow(*snapshot.first_row_id, *snapshot.added_rows, &end) ||
        end > metadata_.next_row_id.value_or(0)) {
      add(checks::kRowIdNext,
          fmt::format("gave {} row ids from {} on, the table's next-row-id is {}", *snapshot.added_rows,
                      *snapshot.first_row_id, metadata_.next_row_id.value_or(0)));
    }
  }

  static int32_t HighestId(const std::vector<Field>& fields) {
    int32_t highest = 0;
    for (const auto& field : fields) highest = std::max({highest, field.id, HighestId(field.type.fields())});
    return highest;
  }

  void CheckIds() {
    for (const auto& schema : metadata_.schemas) {
      const int32_t highest = HighestId(schema.fields());
      if (highest <= metadata_.last_column_id) continue;
      Add(checks::kColumnIdLast, fmt::format("schema {}", schema.id()),
          fmt::format("has a column of id {}, the table's last-column-id is {}", highest, metadata_.last_column_id));
    }
    for (const auto& spec : metadata_.specs) {
      for (const auto& field : spec.fields) {
        if (field.field_id <= metadata_.last_partition_id) continue;
        Add(checks::kPartitionIdLast, fmt::format("partition spec {}", spec.spec_id),
            fmt::format("has field '{}' of id {}, the table's last-partition-id is {}", field.name, field.field_id,
                        metadata_.last_partition_id));
      }
    }
    if (metadata_.format_version >= 3 && !metadata_.next_row_id)
      Add(checks::kRowIdNext, "next-row-id", "is missing: format version 3 needs it");
  }

  const TableMetadata& metadata_;
  Findings findings_;
};

}  // namespace

Findings CheckTableMetadata(const TableMetadata& metadata) { return MetadataCheck(metadata).Run(); }

}  // namespace delenda::iceberg
