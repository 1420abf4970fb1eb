#include "delenda/iceberg/file_counts.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

namespace delenda::iceberg {
namespace {

// Counts come from files that may lie: their sums stop at the largest number.
void AddCount(int64_t& sum, int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = std::numeric_limits<int64_t>::max();
}

struct Counter {
  std::string_view key;
  int64_t expected;
};

std::vector<Counter> ChangeCounters(const FileCounts& added, const FileCounts& removed) {
  return {{"added-data-files", added.data_files},
          {"deleted-data-files", removed.data_files},
          {"added-delete-files", added.delete_files},
          {"removed-delete-files", removed.delete_files},
          {"added-dvs", added.deletion_vectors},
          {"removed-dvs", removed.deletion_vectors},
          {"added-position-delete-files", added.position_delete_files},
          {"removed-position-delete-files", removed.position_delete_files},
          {"added-equality-delete-files", added.equality_delete_files},
          {"removed-equality-delete-files", removed.equality_delete_files},
          {"added-records", added.records},
          {"deleted-records", removed.records},
          {"added-position-deletes", added.position_deletes},
          {"removed-position-deletes", removed.position_deletes},
          {"added-equality-deletes", added.equality_deletes},
          {"removed-equality-deletes", removed.equality_deletes},
          {"added-files-size", added.bytes},
          {"removed-files-size", removed.bytes}};
}

}  // namespace

void FileCounts::Add(const ContentFile& file) {
  const bool is_vector = file.IsDeletionVector();
  AddCount(bytes, is_vector && file.content_size ? *file.content_size : file.file_size);
  switch (file.content) {
    case FileContent::kData:
      AddCount(data_files, 1);
      AddCount(records, file.record_count);
      return;
    case FileContent::kPositionDeletes:
      AddCount(is_vector ? deletion_vectors : position_delete_files, 1);
      AddCount(position_deletes, file.record_count);
      break;
    case FileContent::kEqualityDeletes:
      AddCount(equality_delete_files, 1);
      AddCount(equality_deletes, file.record_count);
      break;
  }
  AddCount(delete_files, 1);
}

void FileCounts::Add(const FileCounts& other) {
  for (const auto member :
       {&FileCounts::data_files, &FileCounts::delete_files, &FileCounts::deletion_vectors,
        &FileCounts::position_delete_files, &FileCounts::equality_delete_files, &FileCounts::records,
        &FileCounts::position_deletes, &FileCounts::equality_deletes, &FileCounts::bytes}) {
    AddCount(this->*member, other.*member);
  }
}

Findings CheckSummary(const Snapshot& snapshot, const FileCounts& live, const FileCounts& added,
                      const FileCounts& removed) {
  Findings findings;
  const auto compare = [&](const Check& check, const Counter& counter, bool absent_is_zero) {
    const auto stated = snapshot.summary.find(std::string(counter.key));
    if (stated == snapshot.summary.end() && !absent_is_zero) return;
    const std::string_view text = stated == snapshot.summary.end() ? std::string_view("0") : stated->second;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value == counter.expected) return;
    findings.push_back({.check = &check,
                        .place = fmt::format("snapshot {}", snapshot.snapshot_id),
                        .what = fmt::format("{} is {}, the manifests hold {}", counter.key, text, counter.expected),
                        .snapshot_id = snapshot.snapshot_id});
  };
  for (const Counter& counter :
       {Counter{"total-data-files", live.data_files}, Counter{"total-delete-files", live.delete_files},
        Counter{"total-records", live.records}, Counter{"total-position-deletes", live.position_deletes},
        Counter{"total-equality-deletes", live.equality_deletes}, Counter{"total-files-size", live.bytes}}) {
    compare(checks::kSummaryTotals, counter, false);
  }
  const auto changes = ChangeCounters(added, removed);
  const bool states_changes = std::ranges::any_of(
      changes, [&](const Counter& counter) { return snapshot.summary.contains(std::string(counter.key)); });
  if (!states_changes) return findings;
  // Writers leave out counters that are 0. Those of deletion vectors and of kinds of delete files came late: writers
  // from before do not know them.
  for (const Counter& counter : changes) {
    const bool is_late = counter.key.ends_with("-dvs") || counter.key.ends_with("-position-delete-files") ||
                         counter.key.ends_with("-equality-delete-files");
    compare(checks::kSummaryChanges, counter, !is_late);
  }
  return findings;
}

}  // namespace delenda::iceberg
