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

Result<DeleteIndex> DeleteIndex::Make(std::vector<std::pair<ContentFile, std::optional<std::string>>> deletes,
                                      const std::set<int32_t>& unpartitioned_specs) {
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
    if (added.content == FileContent::kEqualityDeletes) {
      DELENDA_TRY(index.AddEqualityDeletes(at, unpartitioned_specs));
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
  DELENDA_TRY(CheckDeletionVector(dv));
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
