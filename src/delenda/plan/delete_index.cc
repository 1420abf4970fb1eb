#include "delenda/plan/delete_index.h"

#include <algorithm>

#include "delenda/base/hash.h"
#include "delenda/base/large_pages.h"
#include "delenda/io/location.h"

namespace delenda::plan {

Result<void> CheckSupported(const ContentFile& file) {
  const bool parquet = file.format == FileFormat::kParquet;
  switch (file.content) {
    case FileContent::kData:
      if (parquet) return {};
      break;
    case FileContent::kPositionDeletes:
      if (parquet || file.IsDeletionVector()) return {};
      break;
    case FileContent::kEqualityDeletes:
      if (parquet) return {};
      break;
  }
  return NotSupported("{} in {} files can't be read: {}", FileContentName(file.content), FileFormatName(file.format),
                      file.path);
}

Result<void> CheckDeletionVector(const ContentFile& dv) {
  // An incomplete entry would otherwise apply to no file, or its blob be read from the wrong place.
  if (!dv.referenced_data_file)
    return Corrupt("deletion vector in {} names no data file (referenced_data_file)", dv.path);
  if (!dv.content_offset || !dv.content_size) {
    return Corrupt("deletion vector of {} in {} lacks content_offset or content_size_in_bytes",
                   *dv.referenced_data_file, dv.path);
  }
  if (*dv.content_offset < 0 || *dv.content_size < 0 || *dv.content_size > dv.file_size - *dv.content_offset) {
    return Corrupt("deletion vector of {} lies outside {}: offset {}, size {}, file size {}", *dv.referenced_data_file,
                   dv.path, *dv.content_offset, *dv.content_size, dv.file_size);
  }
  return {};
}

Result<void> SortKeys(ContentFile& file) {
  // Without a key every row would match.
  if (file.equality_ids.empty())
    return Corrupt("equality delete file {} names no key fields (equality_ids)", file.path);
  // The order of the ids means nothing; one order makes equal layouts look equal.
  std::ranges::sort(file.equality_ids);
  if (std::ranges::adjacent_find(file.equality_ids) != file.equality_ids.end()) {
    return Corrupt("equality delete file {} names a key field twice", file.path);
  }
  return {};
}

bool DeletesApply(const ContentFile& deletes, const DataFileKey& file) {
  return file.data_sequence_number <= deletes.data_sequence_number && file.spec_id == deletes.spec_id &&
         (file.partition == deletes.partition.get() || *file.partition == *deletes.partition);
}

std::set<int32_t> UnpartitionedSpecs(const std::map<int32_t, BoundSpec>& specs) {
  std::set<int32_t> ids;
  for (const auto& [id, spec] : specs) {
    if (spec.spec.IsUnpartitioned()) ids.insert(id);
  }
  return ids;
}

uint64_t HashLocation(std::string_view path) {
  const io::LocationKey key = io::CanonicalKey(path);
  return HashText(key.rest, key.is_s3 ? 1 : 0);
}

Result<DeleteIndex> DeleteIndex::Make(std::vector<DeleteEntry> deletes, const std::set<int32_t>& unpartitioned_specs) {
  DeleteIndex index;
  index.Reserve(deletes.size());
  for (auto& entry : deletes) index.Append(std::move(entry));
  DELENDA_TRY(index.Finish(unpartitioned_specs));
  return index;
}

void DeleteIndex::Reserve(size_t count) { ReserveLarge(deletes_, count); }

void DeleteIndex::Append(DeleteEntry entry) {
  if (entry.second) scopes_.emplace_back(static_cast<uint32_t>(deletes_.size()), *std::move(entry.second));
  deletes_.push_back(std::move(entry.first));
}

Result<void> DeleteIndex::Finish(const std::set<int32_t>& unpartitioned_specs) {
  if (deletes_.empty()) return {};
  if (deletes_.size() >= PathSlots::kNone) return NotSupported("a snapshot with {} delete files", deletes_.size());
  named_.resize(deletes_.size());
  next_.resize(deletes_.size(), PathSlots::kNone);
  tail_.resize(deletes_.size(), PathSlots::kNone);
  by_path_ = PathSlots(deletes_.size());
  auto scope = scopes_.begin();
  for (uint32_t at = 0; at < deletes_.size(); ++at) {
    const ContentFile& file = deletes_[at];
    const std::string* covered = scope != scopes_.end() && scope->first == at ? &(scope++)->second : nullptr;
    if (file.IsDeletionVector()) {
      DELENDA_TRY(CheckDeletionVector(file));
      DELENDA_TRY(AddNamed(at, *file.referenced_data_file));
    } else if (file.content == FileContent::kEqualityDeletes) {
      DELENDA_TRY(AddEqualityDeletes(at, unpartitioned_specs));
    } else if (file.referenced_data_file || covered != nullptr) {
      DELENDA_TRY(AddNamed(at, file.referenced_data_file ? *file.referenced_data_file : *covered));
    } else {
      by_partition_[{file.spec_id, file.partition.get()}].push_back(at);
    }
  }
  return {};
}

Result<void> DeleteIndex::AddNamed(uint32_t index, std::string_view path) {
  named_[index] = path;
  tail_[index] = index;
  const io::LocationKey key = io::CanonicalKey(path);
  const uint32_t head = by_path_.FindOrAdd(HashLocation(path), index,
                                           [&](uint32_t other) { return io::CanonicalKey(named_[other]) == key; });
  if (head == PathSlots::kNone) return {};
  // Few DVs get here: those of another spelling, or of files that have position deletes too.
  const ContentFile& dv = deletes_[index];
  for (uint32_t at = head; dv.IsDeletionVector() && at != PathSlots::kNone; at = next_[at]) {
    const ContentFile& other = deletes_[at];
    if (other.IsDeletionVector() && named_[at] == path) {
      return Corrupt("two deletion vectors for {}: {} at {} and {} at {}; a snapshot may hold one", path, other.path,
                     *other.content_offset, dv.path, *dv.content_offset);
    }
  }
  next_[tail_[head]] = index;
  tail_[head] = index;
  return {};
}

Result<void> DeleteIndex::AddEqualityDeletes(uint32_t index, const std::set<int32_t>& unpartitioned_specs) {
  ContentFile& file = deletes_[index];
  DELENDA_TRY(SortKeys(file));
  if (unpartitioned_specs.contains(file.spec_id)) {
    global_equality_.push_back(index);
  } else {
    equality_by_partition_[{file.spec_id, file.partition.get()}].push_back(index);
  }
  return {};
}

bool DeleteIndex::Applies(uint32_t delete_index, const DataFileKey& file) const {
  return DeletesApply(deletes_[delete_index], file);
}

DeleteIndex::Match DeleteIndex::Find(const DataFileKey& file) const {
  Match match;
  const io::LocationKey key = io::CanonicalKey(file.path);
  uint32_t next =
      by_path_.Find(HashLocation(file.path), [&](uint32_t other) { return io::CanonicalKey(named_[other]) == key; });
  for (; next != PathSlots::kNone; next = next_[next]) {
    if (named_[next] != file.path) {
      match.aliases.push_back(next);
      continue;
    }
    const bool applies = Applies(next, file);
    if (applies && deletes_[next].IsDeletionVector()) {
      match.dv = next;
      continue;
    }
    match.named.push_back(next);
    if (applies) match.positions.push_back(next);
  }
  if (!by_partition_.empty()) {
    if (const auto scoped = by_partition_.find({file.spec_id, file.partition}); scoped != by_partition_.end()) {
      for (const uint32_t at : scoped->second) {
        if (Applies(at, file)) match.positions.push_back(at);
      }
    }
  }
  const auto add_equality = [&](const std::vector<uint32_t>& candidates) {
    for (const uint32_t at : candidates) {
      if (file.data_sequence_number < deletes_[at].data_sequence_number) match.equality.push_back(at);
    }
  };
  add_equality(global_equality_);
  if (!equality_by_partition_.empty()) {
    const auto scoped = equality_by_partition_.find({file.spec_id, file.partition});
    if (scoped != equality_by_partition_.end()) add_equality(scoped->second);
  }
  // A DV holds all that position delete files said before it was written.
  if (match.dv) match.positions.clear();
  return match;
}

}  // namespace delenda::plan
