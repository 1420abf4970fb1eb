#include "delenda/plan/delete_index.h"

#include <algorithm>

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
      if (!parquet) break;
      // Skipping them would return deleted rows.
      return NotSupported(
          "the snapshot has equality deletes ({}), which this version can't apply; turn them into deletion vectors or "
          "rewrite the data files first",
          file.path);
  }
  return NotSupported("{} in {} files can't be read: {}", FileContentName(file.content), FileFormatName(file.format),
                      file.path);
}

Result<DeleteIndex> DeleteIndex::Make(std::vector<std::pair<ContentFile, std::optional<std::string>>> deletes) {
  DeleteIndex index;
  index.deletes_.reserve(deletes.size());
  for (auto& [file, file_scope] : deletes) {
    const auto at = static_cast<uint32_t>(index.deletes_.size());
    index.deletes_.push_back(std::move(file));
    const ContentFile& added = index.deletes_.back();
    if (added.IsDeletionVector()) {
      DELENDA_TRY(index.AddDeletionVector(at));
      continue;
    }
    const auto& scope = added.referenced_data_file ? added.referenced_data_file : file_scope;
    if (scope) {
      index.by_path_[*scope].positions.push_back(at);
      index.by_canonical_path_[io::CanonicalLocation(*scope)].push_back(at);
    } else {
      index.by_partition_[{added.spec_id, added.partition.get()}].push_back(at);
    }
  }
  for (auto& [path, named] : index.by_path_) {
    const size_t same = named.positions.size() + (named.dv ? 1 : 0);
    named.has_aliases = index.by_canonical_path_.at(io::CanonicalLocation(path)).size() > same;
  }
  return index;
}

Result<void> DeleteIndex::AddDeletionVector(uint32_t index) {
  const ContentFile& dv = deletes_[index];
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
  Named& named = by_path_[*dv.referenced_data_file];
  if (named.dv) {
    const ContentFile& other = deletes_[*named.dv];
    return Corrupt("two deletion vectors for {}: {} at {} and {} at {}; a snapshot may hold one",
                   *dv.referenced_data_file, other.path, *other.content_offset, dv.path, *dv.content_offset);
  }
  named.dv = index;
  by_canonical_path_[io::CanonicalLocation(*dv.referenced_data_file)].push_back(index);
  return {};
}

bool DeleteIndex::Applies(uint32_t delete_index, const DataFileKey& file) const {
  const ContentFile& deletes = deletes_[delete_index];
  return file.data_sequence_number <= deletes.data_sequence_number && file.spec_id == deletes.spec_id &&
         (file.partition == deletes.partition.get() || *file.partition == *deletes.partition);
}

DeleteIndex::Match DeleteIndex::Find(const DataFileKey& file) const {
  Match match;
  const auto exact = by_path_.find(file.path);
  if (exact != by_path_.end()) {
    const Named& named = exact->second;
    match.named = named.positions;
    if (named.dv) match.named.push_back(*named.dv);
    if (named.dv && Applies(*named.dv, file)) match.dv = named.dv;
    for (const uint32_t at : named.positions) {
      if (Applies(at, file)) match.positions.push_back(at);
    }
  }
  if (exact == by_path_.end() ? !by_canonical_path_.empty() : exact->second.has_aliases) {
    if (const auto alias = by_canonical_path_.find(io::CanonicalLocation(file.path));
        alias != by_canonical_path_.end()) {
      for (const uint32_t at : alias->second) {
        if (std::ranges::find(match.named, at) == match.named.end()) match.aliases.push_back(at);
      }
    }
  }
  if (!by_partition_.empty()) {
    if (const auto scoped = by_partition_.find({file.spec_id, file.partition}); scoped != by_partition_.end()) {
      for (const uint32_t at : scoped->second) {
        if (Applies(at, file)) match.positions.push_back(at);
      }
    }
  }
  // A DV holds all that position delete files said before it was written.
  if (match.dv) match.positions.clear();
  return match;
}

}  // namespace delenda::plan
