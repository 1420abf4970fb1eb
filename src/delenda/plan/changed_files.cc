#include "delenda/plan/changed_files.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include "delenda/io/location.h"
#include "delenda/model/pruning.h"

namespace delenda::plan {

using iceberg::EntryStatus;
using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::ManifestReader;

// Version 1 without manifest lists does not say who wrote a manifest; its entries do.
static bool TellsWriter(const ManifestFile& manifest) { return manifest.length && manifest.added_snapshot_id != 0; }

Result<std::vector<ChangedFile>> ChangedFiles::Find() {
  DELENDA_TRY(ListSources());
  found_paths_.resize(input_.snapshots.size());
  for (uint32_t number = 0; number < input_.snapshots.size(); ++number) {
    for (const auto& changed : input_.changed_deletes[number]) {
      const auto& scope = input_.deletes.scope(changed.index);
      if (!scope) continue;
      auto& snapshots = wanted_paths_[io::CanonicalLocation(*scope)];
      if (snapshots.empty() || snapshots.back() != number) snapshots.push_back(number);
    }
  }
  const auto all = CollectWanted(false);
  std::vector<Source*> own;
  for (auto& source : sources_) {
    if (source.has_changes) own.push_back(&source);
  }
  AddLookups(all);
  DELENDA_TRY(Read(own, all));

  const auto open = CollectWanted(true);
  AddLookups(open);
  std::vector<Source*> others;
  for (auto& source : sources_) {
    if (!source.is_read && !source.lookups.empty()) others.push_back(&source);
  }
  DELENDA_TRY(Read(others, open));
  std::ranges::sort(found_, std::ranges::less(), [](const ChangedFile& found) {
    return std::tuple(found.snapshot, found.manifest, found.row, found.role);
  });
  return std::move(found_);
}

// The manifests of all snapshots, each once. One that was carried over an upgrade to version 3 gave its files no row
// ids before, and does after: it counts as two.
Result<void> ChangedFiles::ListSources() {
  std::unordered_map<int64_t, uint32_t> numbers;
  for (uint32_t i = 0; i < input_.snapshots.size(); ++i) numbers.emplace(input_.snapshots[i].snapshot->snapshot_id, i);
  std::map<std::pair<std::string_view, int64_t>, size_t> known;
  for (uint32_t number = 0; number < input_.snapshots.size(); ++number) {
    const auto& manifests = input_.snapshots[number].manifests;
    for (uint32_t place = 0; place < manifests.size(); ++place) {
      const ManifestFile& manifest = manifests[place];
      if (manifest.content != ManifestContent::kData) continue;
      if (!DELENDA_TRY(MayMatchPartitions(manifest, *input_.filter, input_.projected, input_.specs))) continue;
      const auto [at, is_new] = known.try_emplace({manifest.path, manifest.first_row_id.value_or(-1)}, sources_.size());
      if (is_new) {
        Source& source = sources_.emplace_back();
        source.manifest = &manifest;
        const bool may_be_own = !TellsWriter(manifest) || numbers.contains(manifest.added_snapshot_id);
        source.has_changes = may_be_own && !(manifest.added_files == 0 && manifest.deleted_files == 0);
      }
      sources_[at->second].listed_by.emplace_back(number, place);
    }
  }
  return {};
}

// What is to be found; `only_open`: without deletes of one file that has been found.
std::vector<ChangedFiles::Wanted> ChangedFiles::CollectWanted(bool only_open) const {
  std::vector<Wanted> all(input_.snapshots.size());
  for (size_t number = 0; number < all.size(); ++number) {
    Wanted& wanted = all[number];
    for (const auto& changed : input_.changed_deletes[number]) {
      const ContentFile& deletes = input_.deletes.file(changed.index);
      const auto& scope = input_.deletes.scope(changed.index);
      if (scope && only_open && found_paths_[number].contains(io::CanonicalLocation(*scope))) continue;
      wanted.highest = std::max(wanted.highest, deletes.data_sequence_number);
      wanted.has_scoped = wanted.has_scoped || !scope;
      if (input_.deletes.IsGlobal(changed.index)) {
        wanted.global_equality = std::max(wanted.global_equality, deletes.data_sequence_number);
        continue;
      }
      Scoped& scoped = wanted.partitions[{.spec_id = deletes.spec_id, .tuple = deletes.partition.get()}];
      if (scope) continue;
      int64_t& highest = deletes.content == FileContent::kEqualityDeletes ? scoped.equality : scoped.positions;
      highest = std::max(highest, deletes.data_sequence_number);
    }
  }
  return all;
}

bool ChangedFiles::MayHold(const Source& source, const Wanted& wanted) const {
  const ManifestFile& manifest = *source.manifest;
  // Files that are newer than every delete are touched by none.
  if (wanted.highest < manifest.min_sequence_number) return false;
  if (manifest.added_files == 0 && manifest.existing_files == 0) return false;  // DELETED entries only
  if (wanted.global_equality >= 0) return true;
  return std::ranges::any_of(wanted.partitions, [&](const auto& entry) {
    const auto& [spec_id, tuple] = entry.first;
    if (!manifest.spec_id) return true;
    const auto spec = input_.specs.find(spec_id);
    return spec_id == *manifest.spec_id && spec != input_.specs.end() &&
           MayHoldPartition(manifest, spec->second, *tuple);
  });
}

void ChangedFiles::AddLookups(const std::vector<Wanted>& wanted) {
  for (auto& source : sources_) {
    source.lookups.clear();
    for (const auto& [number, place] : source.listed_by) {
      if (MayHold(source, wanted[number])) source.lookups.push_back(number);
    }
  }
}

Result<void> ChangedFiles::Read(const std::vector<Source*>& sources, const std::vector<Wanted>& wanted) {
  std::vector<std::vector<ChangedFile>> found(sources.size());
  DELENDA_TRY(input_.executor.ParallelFor(
      sources.size(),
      [&](size_t i) -> Result<void> {
        found[i] = DELENDA_TRY(ReadSource(*sources[i], wanted));
        const uint64_t done = done_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (input_.hooks.progress)
          input_.hooks.progress({.stage = "plan", .done = done, .total = manifests_read_ + sources.size()});
        return {};
      },
      input_.hooks.cancel));
  for (size_t i = 0; i < sources.size(); ++i) {
    sources[i]->is_read = true;
    for (const auto& file : found[i]) found_paths_[file.snapshot].insert(io::CanonicalLocation(file.file.path));
    std::ranges::move(found[i], std::back_inserter(found_));
  }
  manifests_read_ += sources.size();
  return {};
}

Result<std::vector<ChangedFile>> ChangedFiles::ReadSource(const Source& source,
                                                          const std::vector<Wanted>& wanted) const {
  std::vector<ChangedFile> found;
  const bool filtered = input_.filter->op != Op::kTrue;
  auto reader = DELENDA_TRY(
      ManifestReader::Open(input_.io, *source.manifest, input_.specs, input_.schemas, {.bounds = filtered}));
  const int32_t spec_id = reader.spec().spec.spec_id;
  PartitionFilter partitions(input_.filter, input_.projected.at(spec_id), reader.spec());
  // The snapshots whose entries these may be. An entry that came in by rewriting an earlier snapshot's manifest tells
  // nothing of the one that rewrote it.
  std::unordered_map<int64_t, uint32_t> writers;
  for (const auto& [number, place] : source.listed_by) {
    const int64_t id = input_.snapshots[number].snapshot->snapshot_id;
    if (!TellsWriter(*source.manifest) || id == source.manifest->added_snapshot_id) writers.emplace(id, number);
  }
  const bool any_scoped =
      std::ranges::any_of(source.lookups, [&](uint32_t number) { return wanted[number].has_scoped; });
  uint64_t first_row = 0;
  size_t row = 0;
  const auto add = [&](uint32_t number, ChangedFile::Role role) -> Result<void> {
    ChangedFile& file = found.emplace_back();
    file.snapshot = number;
    file.role = role;
    file.manifest =
        std::ranges::lower_bound(source.listed_by, number, {}, &std::pair<uint32_t, uint32_t>::first)->second;
    file.row = first_row + row;
    const PartitionDecision& decision = partitions.For(reader.Partition(row));
    file.is_pruned =
        !decision.may_match ||
        (decision.residual->op != Op::kTrue &&
         !CouldMatch(*decision.residual, [&](const BoundColumn& column) { return reader.Stats(row, column); }));
    if (file.is_pruned) {
      file.file.path = reader.Path(row);
      return {};
    }
    file.file = reader.File(row);
    file.residual = decision.residual;
    return WithContext(CheckSupported(file.file), "manifest", source.manifest->path);
  };
  while (DELENDA_TRY(reader.NextBlock())) {
    if (input_.hooks.cancel.cancelled()) return Cancelled("planning was cancelled");
    for (row = 0; row < reader.rows(); ++row) {
      const EntryStatus status = reader.Status(row);
      std::optional<uint32_t> own;
      if (source.has_changes && status != EntryStatus::kExisting) {
        if (const auto writer = writers.find(reader.SnapshotId(row)); writer != writers.end()) own = writer->second;
        if (own) {
          DELENDA_TRY(
              add(*own, status == EntryStatus::kAdded ? ChangedFile::Role::kAdded : ChangedFile::Role::kRemoved));
        }
      }
      if (status == EntryStatus::kDeleted || source.lookups.empty()) continue;
      const int64_t sequence = reader.DataSequenceNumber(row);
      const auto named =
          wanted_paths_.empty() ? wanted_paths_.end() : wanted_paths_.find(io::CanonicalLocation(reader.Path(row)));
      if (named == wanted_paths_.end() && !any_scoped) continue;
      for (const uint32_t number : source.lookups) {
        if (number == own) continue;
        const Wanted& want = wanted[number];
        bool is_touched = named != wanted_paths_.end() && std::ranges::binary_search(named->second, number);
        if (!is_touched && want.has_scoped) {
          is_touched = sequence < want.global_equality;
          const auto scoped = want.partitions.find({.spec_id = spec_id, .tuple = reader.Partition(row).get()});
          if (scoped != want.partitions.end()) {
            is_touched = is_touched || sequence <= scoped->second.positions || sequence < scoped->second.equality;
          }
        }
        if (is_touched) DELENDA_TRY(add(number, ChangedFile::Role::kKept));
      }
    }
    first_row += reader.rows();
  }
  return found;
}

}  // namespace delenda::plan
