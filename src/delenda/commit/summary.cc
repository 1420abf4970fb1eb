#include "delenda/commit/summary.h"

#include <charconv>
#include <optional>
#include <unordered_set>
#include <utility>

namespace delenda::commit {
namespace {

// Added or removed files by what they are.
struct FileCounts {
  int64_t data_files = 0, records = 0, size = 0;
  int64_t delete_files = 0, position_delete_files = 0, dvs = 0, equality_delete_files = 0;
  int64_t position_deletes = 0, equality_deletes = 0;

  void Add(const ContentFile& file) {
    size += file.IsDeletionVector() ? file.content_size.value_or(0) : file.file_size;
    switch (file.content) {
      case FileContent::kData:
        ++data_files;
        records += file.record_count;
        return;
      case FileContent::kPositionDeletes:
        ++(file.IsDeletionVector() ? dvs : position_delete_files);
        position_deletes += file.record_count;
        break;
      case FileContent::kEqualityDeletes:
        ++equality_delete_files;
        equality_deletes += file.record_count;
        break;
    }
    ++delete_files;
  }
};

std::optional<int64_t> NumberIn(const std::map<std::string, std::string>& summary, const std::string& key) {
  const auto found = summary.find(key);
  if (found == summary.end()) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  if (error != std::errc() || end != found->second.data() + found->second.size()) return std::nullopt;
  return value;
}

}  // namespace

std::map<std::string, std::string> SummaryOf(const iceberg::Snapshot* parent, const Changes& changes,
                                             const std::vector<ContentFile>& new_deletes) {
  FileCounts added, removed;
  std::unordered_set<PartitionKey, PartitionKeyHash> partitions;
  const auto count = [&](FileCounts& counts, const std::vector<ContentFile>& files) {
    for (const auto& file : files) {
      counts.Add(file);
      partitions.insert({.spec_id = file.spec_id, .tuple = file.partition.get()});
    }
  };
  count(added, changes.added_files);
  count(added, new_deletes);
  count(removed, changes.removed_files);
  count(removed, changes.removed_delete_files);

  std::map<std::string, std::string> summary;
  const auto put = [&](const char* key, int64_t value) {
    if (value > 0) summary[key] = std::to_string(value);
  };
  put("added-data-files", added.data_files);
  put("deleted-data-files", removed.data_files);
  put("added-records", added.records);
  put("deleted-records", removed.records);
  put("added-files-size", added.size);
  put("removed-files-size", removed.size);
  put("added-delete-files", added.delete_files);
  put("removed-delete-files", removed.delete_files);
  put("added-position-delete-files", added.position_delete_files);
  put("removed-position-delete-files", removed.position_delete_files);
  put("added-dvs", added.dvs);
  put("removed-dvs", removed.dvs);
  put("added-equality-delete-files", added.equality_delete_files);
  put("removed-equality-delete-files", removed.equality_delete_files);
  put("added-position-deletes", added.position_deletes);
  put("removed-position-deletes", removed.position_deletes);
  put("added-equality-deletes", added.equality_deletes);
  put("removed-equality-deletes", removed.equality_deletes);
  summary["changed-partition-count"] = std::to_string(partitions.size());

  const auto total = [&](const char* key, int64_t plus, int64_t minus) {
    const auto before = parent == nullptr ? std::optional<int64_t>(0) : NumberIn(parent->summary, key);
    if (before && *before + plus >= minus) summary[key] = std::to_string(*before + plus - minus);
  };
  total("total-data-files", added.data_files, removed.data_files);
  total("total-records", added.records, removed.records);
  total("total-files-size", added.size, removed.size);
  total("total-delete-files", added.delete_files, removed.delete_files);
  total("total-position-deletes", added.position_deletes, removed.position_deletes);
  total("total-equality-deletes", added.equality_deletes, removed.equality_deletes);
  return summary;
}

}  // namespace delenda::commit
