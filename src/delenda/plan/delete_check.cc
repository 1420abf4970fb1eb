#include "delenda/plan/delete_check.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "delenda/plan/delete_index.h"

namespace delenda::plan {
namespace {

class DeleteChecker {
 public:
  DeleteChecker(const LiveFiles& files, const std::map<int32_t, BoundSpec>& specs, int32_t format_version)
      : files_(files), specs_(specs), format_version_(format_version) {}

  Result<DeleteCheck> Run(int64_t snapshot_id) && {
    result_.vector_target.resize(files_.deletes.size());
    std::vector<std::pair<ContentFile, std::optional<std::string>>> usable;
    for (size_t i = 0; i < files_.deletes.size(); ++i) {
      const ContentFile& file = files_.deletes[i];
      if (!(file.IsDeletionVector() ? VectorIsWhole(file) : KeysAreWhole(file))) continue;
      usable.emplace_back(file, files_.scopes[i]);
      origin_.push_back(i);
    }
    std::set<int32_t> unpartitioned;
    for (const auto& [id, spec] : specs_) {
      if (spec.spec.IsUnpartitioned()) unpartitioned.insert(id);
    }
    const auto index = DELENDA_TRY(DeleteIndex::Make(std::move(usable), unpartitioned));
    uses_.resize(index.deletes().size());
    has_vector_.resize(files_.data.size());
    for (size_t i = 0; i < files_.data.size(); ++i) Match(index, i);
    for (size_t i = 0; i < uses_.size(); ++i) Report(index, i);
    for (auto& finding : result_.findings) finding.snapshot_id = snapshot_id;
    return std::move(result_);
  }

 private:
  struct Use {
    bool applies = false;
    bool is_named = false;                          // a live data file has the path that it names
    std::optional<size_t> superseded_by_vector_of;  // a data file
    std::vector<size_t> aliases;                    // data files whose path it names in another spelling
  };

  void Add(const Check& check, std::string place, std::string what) {
    result_.findings.push_back({.check = &check, .place = std::move(place), .what = std::move(what)});
  }

  bool VectorIsWhole(const ContentFile& dv) {
    const std::string of = dv.referenced_data_file ? fmt::format("the deletion vector of {}", *dv.referenced_data_file)
                                                   : std::string("a deletion vector");
    if (!dv.referenced_data_file || !dv.content_offset || !dv.content_size) {
      Add(checks::kDvFields, dv.path,
          fmt::format("{} lacks {}", of,
                      !dv.referenced_data_file ? "referenced_data_file"
                      : !dv.content_offset     ? "content_offset"
                                               : "content_size_in_bytes"));
      return false;
    }
    if (format_version_ < 3)
      Add(checks::kDvFormatVersion, dv.path, fmt::format("{} is in a table of format version {}", of, format_version_));
    if (dv.record_count == 0) Add(checks::kDvEmpty, dv.path, fmt::format("{} deletes no row", of));
    if (*dv.content_offset < 0 || *dv.content_size < 0 || *dv.content_size > dv.file_size - *dv.content_offset) {
      Add(checks::kDvRange, dv.path,
          fmt::format("{} is said to lie at offset {}, {} bytes long; the file has {}", of, *dv.content_offset,
                      *dv.content_size, dv.file_size));
      return false;
    }
    const auto [first, is_first] = vectors_.emplace(*dv.referenced_data_file, &dv);
    if (!is_first) {
      Add(checks::kDvTwice, *dv.referenced_data_file,
          fmt::format("has two deletion vectors: {} at {} and {} at {}", first->second->path,
                      *first->second->content_offset, dv.path, *dv.content_offset));
      return false;
    }
    return true;
  }

  bool KeysAreWhole(const ContentFile& file) {
    if (file.content != FileContent::kEqualityDeletes) return true;
    auto ids = file.equality_ids;
    std::ranges::sort(ids);
    if (!ids.empty() && std::ranges::adjacent_find(ids) == ids.end()) return true;
    Add(checks::kEqualityIds, file.path,
        ids.empty() ? "names no key fields (equality_ids)" : "names a key field twice");
    return false;
  }

  static DataFileKey KeyOf(const ContentFile& data) {
    return {.path = data.path,
            .spec_id = data.spec_id,
            .partition = data.partition.get(),
            .data_sequence_number = data.data_sequence_number};
  }

  void Match(const DeleteIndex& index, size_t at) {
    const DataFileKey key = KeyOf(files_.data[at]);
    const auto match = index.Find(key);
    if (match.dv) {
      uses_[*match.dv].applies = true;
      has_vector_[at] = true;
      CheckCardinality(index.deletes()[*match.dv], at);
      result_.vector_target[origin_[*match.dv]] = at;
    }
    for (const uint32_t i : match.positions) uses_[i].applies = true;
    for (const uint32_t i : match.equality) uses_[i].applies = true;
    for (const uint32_t i : match.named) {
      uses_[i].is_named = true;
      if (match.dv && *match.dv != i && index.Applies(i, key)) uses_[i].superseded_by_vector_of = at;
    }
    for (const uint32_t i : match.aliases) {
      if (index.Applies(i, key)) uses_[i].aliases.push_back(at);
    }
  }

  void CheckCardinality(const ContentFile& dv, size_t at) {
    const ContentFile& data = files_.data[at];
    if (dv.record_count <= data.record_count) return;
    Add(checks::kDvCardinality, dv.path,
        fmt::format("the deletion vector of {} deletes {} rows, the file has {}", data.path, dv.record_count,
                    data.record_count));
  }

  void Report(const DeleteIndex& index, size_t i) {
    const ContentFile& file = index.deletes()[i];
    const Use& use = uses_[i];
    // As a scan has it: another spelling counts only where nothing has the very path.
    if (!use.applies && !use.is_named && !use.aliases.empty()) {
      const std::string& reached = files_.data[use.aliases[0]].path;
      if (use.aliases.size() > 1) {
        Add(checks::kDvUnmatched, file.path,
            fmt::format("a delete can't be told to be for {} or {}: its path has "
                        "another spelling",
                        reached, files_.data[use.aliases[1]].path));
        return;
      }
      Add(checks::kDvPathSpelling, file.path, fmt::format("a delete for {} spells its path in another way", reached));
      if (!file.IsDeletionVector()) return;
      if (has_vector_[use.aliases[0]])
        Add(checks::kDvTwice, reached, fmt::format("has two deletion vectors, one of them in {}", file.path));
      has_vector_[use.aliases[0]] = true;
      result_.vector_target[origin_[i]] = use.aliases[0];
      return;
    }
    if (!files_.all_data || use.applies) return;
    if (file.IsDeletionVector()) {
      Add(checks::kDvUnmatched, file.path,
          fmt::format("the deletion vector at {} (sequence number {}) is for {}, which is {}", *file.content_offset,
                      file.data_sequence_number, *file.referenced_data_file,
                      use.is_named ? "newer or in another partition" : "not live in the snapshot"));
    } else if (use.superseded_by_vector_of) {
      Add(checks::kDeletesSuperseded, file.path,
          fmt::format("deletes positions of {} only, which has a deletion vector",
                      files_.data[*use.superseded_by_vector_of].path));
    } else {
      Add(checks::kDeletesUnused, file.path,
          fmt::format("{} that apply to no data file", FileContentName(file.content)));
    }
  }

  const LiveFiles& files_;
  const std::map<int32_t, BoundSpec>& specs_;
  const int32_t format_version_;
  std::unordered_map<std::string_view, const ContentFile*> vectors_;  // by data file
  std::vector<size_t> origin_;                                        // of the index's deletes in LiveFiles::deletes
  std::vector<Use> uses_;
  std::vector<bool> has_vector_;  // per data file
  DeleteCheck result_;
};

}  // namespace

Result<DeleteCheck> CheckDeletes(const LiveFiles& files, const std::map<int32_t, BoundSpec>& specs,
                                 int32_t format_version, int64_t snapshot_id) {
  return DeleteChecker(files, specs, format_version).Run(snapshot_id);
}

}  // namespace delenda::plan
