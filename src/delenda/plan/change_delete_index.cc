#include "delenda/plan/change_delete_index.h"

#include <algorithm>

#include "delenda/io/location.h"

namespace delenda::plan {
namespace {

using iceberg::EntryStatus;

bool IsSameDelete(const ContentFile& a, const ContentFile& b) {
  return a.content == b.content && a.format == b.format && a.path == b.path && a.content_offset == b.content_offset &&
         a.content_size == b.content_size && a.record_count == b.record_count && a.file_size == b.file_size &&
         a.spec_id == b.spec_id && a.data_sequence_number == b.data_sequence_number &&
         a.referenced_data_file == b.referenced_data_file && a.equality_ids == b.equality_ids &&
         *a.partition == *b.partition;
}

}  // namespace

ChangeDeleteIndex::ChangeDeleteIndex(std::vector<IndexedSnapshot> snapshots, std::set<int32_t> unpartitioned_specs)
    : snapshots_(std::move(snapshots)), unpartitioned_specs_(std::move(unpartitioned_specs)) {
  uint32_t manifests = 0;
  for (const auto& snapshot : snapshots_) {
    for (const uint32_t manifest : snapshot.delete_manifests) manifests = std::max(manifests, manifest + 1);
  }
  for (uint32_t i = 0; i < snapshots_.size(); ++i) {
    number_of_.emplace(snapshots_[i].snapshot_id, i);
    lists_.emplace_back(manifests);
    for (const uint32_t manifest : snapshots_[i].delete_manifests) lists_.back()[manifest] = true;
  }
}

bool ChangeDeleteIndex::IsGlobal(uint32_t index) const {
  const ContentFile& deletes = deletes_[index].file;
  return deletes.content == FileContent::kEqualityDeletes && unpartitioned_specs_.contains(deletes.spec_id);
}

Result<void> ChangeDeleteIndex::Add(uint32_t manifest, std::vector<ListedDelete> entries) {
  for (auto& entry : entries) {
    // What an earlier snapshot removed is part of no state of this one.
    if (entry.status == EntryStatus::kDeleted && !number_of_.contains(entry.snapshot_id)) continue;
    const uint32_t index = DELENDA_TRY(Intern(entry));
    deletes_[index].occurrences.push_back(
        {.manifest = manifest, .status = entry.status, .snapshot_id = entry.snapshot_id});
  }
  return {};
}

Result<uint32_t> ChangeDeleteIndex::Intern(ListedDelete& entry) {
  ContentFile& file = entry.file;
  if (file.IsDeletionVector()) DELENDA_TRY(CheckDeletionVector(file));
  if (file.content == FileContent::kEqualityDeletes) DELENDA_TRY(SortKeys(file));
  auto& same = by_identity_[{.path = file.path, .offset = file.content_offset.value_or(-1)}];
  for (const uint32_t index : same) {
    if (IsSameDelete(deletes_[index].file, file)) return index;
  }
  const auto index = static_cast<uint32_t>(deletes_.size());
  same.push_back(index);
  KnownDelete& known = deletes_.emplace_back();
  known.file = std::move(file);
  known.scope = known.file.referenced_data_file ? known.file.referenced_data_file : std::move(entry.file_scope);
  const PartitionKey partition(known.file.spec_id, HashPartitionTuple(*known.file.partition));
  if (known.file.content == FileContent::kEqualityDeletes) {
    known.scope.reset();
    (IsGlobal(index) ? global_equality_ : equality_by_partition_[partition]).push_back(index);
  } else if (known.scope) {
    by_canonical_path_[io::CanonicalLocation(*known.scope)].push_back(index);
  } else {
    positions_by_partition_[partition].push_back(index);
  }
  return index;
}

ChangeDeleteIndex::Presence ChangeDeleteIndex::PresenceIn(const KnownDelete& known, uint32_t snapshot) const {
  Presence presence;
  for (const Occurrence& entry : known.occurrences) {
    if (!lists_[snapshot][entry.manifest]) continue;
    const bool is_own = entry.snapshot_id == snapshots_[snapshot].snapshot_id;
    if (entry.status == EntryStatus::kDeleted) {
      presence.before = presence.before || is_own;
    } else {
      presence.after = true;
      presence.before = presence.before || !(is_own && entry.status == EntryStatus::kAdded);
    }
  }
  return presence;
}

std::vector<std::vector<ChangeDeleteIndex::Changed>> ChangeDeleteIndex::FindChanged() const {
  std::vector<std::vector<Changed>> changed(snapshots_.size());
  for (uint32_t index = 0; index < deletes_.size(); ++index) {
    for (const Occurrence& entry : deletes_[index].occurrences) {
      if (entry.status == EntryStatus::kExisting) continue;
      const auto number = number_of_.find(entry.snapshot_id);
      if (number == number_of_.end() || !lists_[number->second][entry.manifest]) continue;
      const Presence presence = PresenceIn(deletes_[index], number->second);
      auto& of_snapshot = changed[number->second];
      const bool is_known = !of_snapshot.empty() && of_snapshot.back().index == index;
      if (presence.before != presence.after && !is_known)
        of_snapshot.push_back({.index = index, .added = presence.after});
    }
  }
  return changed;
}

Result<void> ChangeDeleteIndex::AddDv(DeleteState& state, uint32_t index, std::string_view path) const {
  if (state.dv) {
    const ContentFile &one = deletes_[*state.dv].file, &other = deletes_[index].file;
    return Corrupt("two deletion vectors for {}: {} at {} and {} at {}; a snapshot may hold one", path, one.path,
                   *one.content_offset, other.path, *other.content_offset);
  }
  state.dv = index;
  return {};
}

Result<ChangeDeleteIndex::States> ChangeDeleteIndex::Find(uint32_t snapshot, const DataFileKey& file,
                                                          const std::set<std::string_view>& live_paths) const {
  States states;
  const auto add = [&](uint32_t index, Presence presence) -> Result<void> {
    const ContentFile& deletes = deletes_[index].file;
    for (auto& [state, is_present] :
         {std::pair(&states.before, presence.before), std::pair(&states.after, presence.after)}) {
      if (!is_present) continue;
      if (deletes.IsDeletionVector())
        DELENDA_TRY(AddDv(*state, index, file.path));
      else if (deletes.content == FileContent::kEqualityDeletes)
        state->equality_deletes.push_back(index);
      else
        state->position_deletes.push_back(index);
    }
    return {};
  };
  if (const auto named = by_canonical_path_.find(io::CanonicalLocation(file.path)); named != by_canonical_path_.end()) {
    for (const uint32_t index : named->second) {
      const KnownDelete& known = deletes_[index];
      const Presence presence = PresenceIn(known, snapshot);
      if (!presence.before && !presence.after) continue;
      const bool is_alias = *known.scope != file.path;
      if (is_alias && live_paths.contains(*known.scope)) continue;
      if (!DeletesApply(known.file, file)) {
        // Its positions would be lost silently: the rows would not be told as deleted.
        if (known.file.IsDeletionVector() && !is_alias) {
          return Corrupt(
              "the deletion vector at {} of {} (sequence number {}) does not apply to {}, which has a newer sequence "
              "number or lies in another partition",
              *known.file.content_offset, known.file.path, known.file.data_sequence_number, file.path);
        }
        continue;
      }
      if (is_alias) states.applied_aliases.push_back(index);
      DELENDA_TRY(add(index, presence));
    }
  }
  const PartitionKey partition(file.spec_id, positions_by_partition_.empty() && equality_by_partition_.empty()
                                                 ? 0
                                                 : HashPartitionTuple(*file.partition));
  if (const auto scoped = positions_by_partition_.find(partition); scoped != positions_by_partition_.end()) {
    for (const uint32_t index : scoped->second) {
      if (DeletesApply(deletes_[index].file, file)) DELENDA_TRY(add(index, PresenceIn(deletes_[index], snapshot)));
    }
  }
  const auto add_equality = [&](uint32_t index) -> Result<void> {
    const ContentFile& deletes = deletes_[index].file;
    if (file.data_sequence_number >= deletes.data_sequence_number) return {};
    if (!IsGlobal(index) && *deletes.partition != *file.partition) return {};
    return add(index, PresenceIn(deletes_[index], snapshot));
  };
  for (const uint32_t index : global_equality_) DELENDA_TRY(add_equality(index));
  if (const auto scoped = equality_by_partition_.find(partition); scoped != equality_by_partition_.end()) {
    for (const uint32_t index : scoped->second) DELENDA_TRY(add_equality(index));
  }
  // A DV holds all that position delete files said before it was written.
  for (DeleteState* state : {&states.before, &states.after}) {
    if (state->dv) state->position_deletes.clear();
  }
  return states;
}

}  // namespace delenda::plan
