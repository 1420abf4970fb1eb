#include "delenda/iceberg/snapshot_check.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "delenda/iceberg/file_counts.h"

namespace delenda::iceberg {
namespace {

// What one manifest holds, and what is wrong with it.
struct ManifestContents {
  std::vector<ContentFile> files;
  std::vector<std::optional<std::string>> scopes;
  FileCounts live, added, removed;
  bool complete = false;
  Findings findings;
};

class ManifestCheck {
 public:
  ManifestCheck(const SnapshotSource& source, const Snapshot& snapshot, const ManifestFile& manifest)
      : source_(source), snapshot_(snapshot), manifest_(manifest) {}

  Result<ManifestContents> Run() && {
    auto read = Read();
    if (!read) {
      DELENDA_TRY(AddAsFinding(std::move(read).error(), checks::kManifest, manifest_.path, contents_.findings));
    } else {
      contents_.complete = true;
      CompareWithList();
    }
    for (auto& finding : contents_.findings) finding.snapshot_id = snapshot_.snapshot_id;
    return std::move(contents_);
  }

 private:
  void Add(const Check& check, std::string what, std::string place = {}) {
    contents_.findings.push_back(
        {.check = &check, .place = place.empty() ? manifest_.path : std::move(place), .what = std::move(what)});
  }

  Result<void> Read() {
    const bool is_deletes = manifest_.content == ManifestContent::kDeletes;
    auto reader = DELENDA_TRY(
        ManifestReader::Open(source_.io, manifest_, source_.specs, source_.schemas, {.bounds = is_deletes}));
    spec_ = &reader.spec();
    if (!manifest_.partitions.empty() && manifest_.partitions.size() != spec_->spec.fields.size()) {
      Add(checks::kPartitionSummary,
          fmt::format("the manifest list has {} field summaries, partition spec {} {} fields",
                      manifest_.partitions.size(), spec_->spec.spec_id, spec_->spec.fields.size()));
    }
    while (DELENDA_TRY(reader.NextBlock())) {
      if (source_.hooks.cancel.cancelled()) return Cancelled("stopped at the caller's request");
      for (size_t row = 0; row < reader.rows(); ++row) Visit(reader, row, is_deletes);
    }
    return {};
  }

  void Visit(const ManifestReader& reader, size_t row, bool is_deletes) {
    const EntryStatus status = reader.Status(row);
    const auto at = static_cast<size_t>(status);
    files_[at] += 1;
    if (__builtin_add_overflow(rows_[at], reader.RecordCount(row), &rows_[at])) rows_[at] = -1;
    if (status != EntryStatus::kAdded && manifest_.sequence_number > 0 && !reader.StatesSequenceNumbers(row)) {
      Add(checks::kEntrySequence,
          fmt::format("an entry that is not ADDED lacks a sequence number (in manifest {})", manifest_.path),
          std::string(reader.Path(row)));
    }
    ContentFile file = reader.File(row);
    if (file.format == FileFormat::kOther)
      Add(checks::kFileFormat, "has a format that Iceberg does not name", file.path);
    const bool is_own = reader.SnapshotId(row) == snapshot_.snapshot_id;
    if (status == EntryStatus::kDeleted) {
      if (is_own) contents_.removed.Add(file);
      return;
    }
    if (is_own && status == EntryStatus::kAdded) contents_.added.Add(file);
    contents_.live.Add(file);
    CheckSequence(file);
    CheckPartition(reader.Partition(row));
    if (is_deletes) contents_.scopes.push_back(reader.FileScope(row));
    if (next_row_id_ < file.first_row_id.value_or(0) + file.record_count) {
      next_row_id_ = file.first_row_id.value_or(0) + file.record_count;
    }
    contents_.files.push_back(std::move(file));
  }

  void CheckSequence(const ContentFile& file) {
    min_sequence_ = std::min(min_sequence_.value_or(file.data_sequence_number), file.data_sequence_number);
    if (file.file_sequence_number <= manifest_.sequence_number &&
        file.data_sequence_number <= manifest_.sequence_number)
      return;
    Add(checks::kManifestSequence,
        fmt::format("has sequence number {}, file sequence number {}, above its manifest's {} ({})",
                    file.data_sequence_number, file.file_sequence_number, manifest_.sequence_number, manifest_.path),
        file.path);
  }

  // The summary decides whether a filter reads the manifest at all.
  void CheckPartition(const std::shared_ptr<const PartitionTuple>& tuple) {
    if (manifest_.partitions.empty() || !checked_.insert(tuple.get()).second) return;
    const auto& fields = spec_->spec.fields;
    for (size_t i = 0; i < std::min({fields.size(), manifest_.partitions.size(), tuple->values.size()}); ++i) {
      const FieldSummary& summary = manifest_.partitions[i];
      const Type& type = spec_->result_types[i];
      const Datum& value = tuple->values[i];
      const auto add = [&](std::string_view what) {
        Add(checks::kPartitionSummary,
            fmt::format("field '{}': a file has {}, {}", fields[i].name, DatumToText(type, value), what));
      };
      if (IsNull(value)) {
        if (!summary.contains_null) add("the manifest list says that no value is NULL");
        continue;
      }
      if (IsNan(value)) {
        if (summary.contains_nan == false) add("the manifest list says that no value is NaN");
        continue;
      }
      if (type.kind() == TypeKind::kUnknown || fields[i].transform.kind() == Transform::Kind::kUnknown) continue;
      if (!summary.lower || !summary.upper) {
        add("the manifest list has no bounds, as if all values were NULL");
        continue;
      }
      const auto lower = DatumFromBound(type, AsBytes(*summary.lower));
      const auto upper = DatumFromBound(type, AsBytes(*summary.upper));
      if (!lower || !upper) {
        add("the bounds of the manifest list are no values of its type");
      } else if (CompareDatum(value, *lower) < 0 || CompareDatum(value, *upper) > 0) {
        add(fmt::format("outside the bounds of the manifest list, {} and {}", DatumToText(type, *lower),
                        DatumToText(type, *upper)));
      }
    }
  }

  void CompareWithList() {
    const auto compare = [&](std::string_view name, const std::optional<int64_t>& stated, int64_t found) {
      if (!stated || *stated == found) return;
      Add(checks::kManifestCounts, fmt::format("the manifest list says {} {}, it holds {}", *stated, name, found));
    };
    compare("existing files", manifest_.existing_files, files_[0]);
    compare("added files", manifest_.added_files, files_[1]);
    compare("deleted files", manifest_.deleted_files, files_[2]);
    compare("existing rows", manifest_.existing_rows, rows_[0]);
    compare("added rows", manifest_.added_rows, rows_[1]);
    compare("deleted rows", manifest_.deleted_rows, rows_[2]);
    if (min_sequence_ && manifest_.min_sequence_number > *min_sequence_) {
      Add(checks::kManifestSequence,
          fmt::format("the manifest list says that no sequence number is below {}, a file has {}",
                      manifest_.min_sequence_number, *min_sequence_));
    }
    if (manifest_.sequence_number > snapshot_.sequence_number) {
      Add(checks::kManifestSequence,
          fmt::format("has sequence number {}, the snapshot {}", manifest_.sequence_number, snapshot_.sequence_number));
    }
    if (manifest_.content == ManifestContent::kDeletes) return;
    if (snapshot_.first_row_id && !manifest_.first_row_id)
      Add(checks::kRowIdManifest, "the manifest list gives it no first row id");
    if (next_row_id_ > source_.metadata.next_row_id.value_or(0) && manifest_.first_row_id) {
      Add(checks::kRowIdNext, fmt::format("its files have row ids below {}, the table's next-row-id is {}",
                                          next_row_id_, source_.metadata.next_row_id.value_or(0)));
    }
  }

  const SnapshotSource& source_;
  const Snapshot& snapshot_;
  const ManifestFile& manifest_;
  const BoundSpec* spec_ = nullptr;
  ManifestContents contents_;
  int64_t files_[3] = {}, rows_[3] = {};  // by status
  std::optional<int64_t> min_sequence_;
  int64_t next_row_id_ = 0;
  std::unordered_set<const PartitionTuple*> checked_;
};

// spec, "Row Lineage": the manifests that a snapshot gives ids take them from first-row-id on, one after the other.
void CheckRowIdsOfList(const Snapshot& snapshot, const std::vector<ManifestFile>& manifests, Findings& findings) {
  if (!snapshot.first_row_id || !snapshot.added_rows) return;
  int64_t next = *snapshot.first_row_id;
  const auto add = [&](const std::string& place, std::string what) {
    findings.push_back({.check = &checks::kRowIdSnapshot,
                        .place = place,
                        .what = std::move(what),
                        .snapshot_id = snapshot.snapshot_id});
  };
  for (const auto& manifest : manifests) {
    if (manifest.content != ManifestContent::kData || !manifest.first_row_id) continue;
    if (*manifest.first_row_id < *snapshot.first_row_id) continue;  // given by an earlier snapshot
    if (*manifest.first_row_id < next) {
      add(manifest.path, fmt::format("its row ids begin with {}, which the manifest before it has taken up to {}",
                                     *manifest.first_row_id, next));
    }
    int64_t end = 0;
    if (__builtin_add_overflow(*manifest.first_row_id, manifest.added_rows.value_or(0), &end) ||
        __builtin_add_overflow(end, manifest.existing_rows.value_or(0), &end)) {
      add(manifest.path, "its row ids overflow");
      return;
    }
    next = std::max(next, end);
  }
  int64_t end = 0;
  if (__builtin_add_overflow(*snapshot.first_row_id, *snapshot.added_rows, &end) || next <= end) return;
  add(fmt::format("snapshot {}", snapshot.snapshot_id),
      fmt::format("gives row ids below {}, first-row-id {} and added-rows {} say below {}", next,
                  *snapshot.first_row_id, *snapshot.added_rows, end));
}

void CheckNothingTwice(const Snapshot& snapshot, const SnapshotContents& contents, Findings& findings) {
  std::unordered_set<std::string_view> manifests, files;
  const auto add = [&](const Check& check, std::string_view place, std::string_view what) {
    findings.push_back(
        {.check = &check, .place = std::string(place), .what = std::string(what), .snapshot_id = snapshot.snapshot_id});
  };
  for (const auto& manifest : contents.manifests) {
    if (!manifests.insert(manifest.path).second)
      add(checks::kManifestTwice, manifest.path, "the manifest list names it twice");
  }
  files.reserve(contents.data.size());
  for (const auto& file : contents.data) {
    if (!files.insert(file.path).second) add(checks::kDataFileTwice, file.path, "is live twice in the snapshot");
  }
}

}  // namespace

Result<SnapshotContents> CheckSnapshot(const SnapshotSource& source, const Snapshot& snapshot) {
  SnapshotContents contents;
  auto manifests = ReadManifests(source.io, snapshot, source.schemas);
  if (!manifests) {
    contents.all_data = contents.all_deletes = false;
    DELENDA_TRY(
        AddAsFinding(std::move(manifests).error(), checks::kManifestList, snapshot.manifest_list, contents.findings));
    for (auto& finding : contents.findings) finding.snapshot_id = snapshot.snapshot_id;
    return contents;
  }
  contents.manifests = *std::move(manifests);
  std::vector<ManifestContents> read(contents.manifests.size());
  std::atomic<uint64_t> done = 0;
  DELENDA_TRY(source.executor.ParallelFor(
      read.size(),
      [&](size_t i) -> Result<void> {
        read[i] = DELENDA_TRY(ManifestCheck(source, snapshot, contents.manifests[i]).Run());
        const uint64_t now = done.fetch_add(1, std::memory_order_relaxed) + 1;
        if (source.hooks.progress) source.hooks.progress({.stage = "manifests", .done = now, .total = read.size()});
        return {};
      },
      source.hooks.cancel));

  FileCounts live, added, removed;
  for (size_t i = 0; i < read.size(); ++i) {
    const bool is_data = contents.manifests[i].content == ManifestContent::kData;
    if (!read[i].complete) (is_data ? contents.all_data : contents.all_deletes) = false;
    std::ranges::move(read[i].files, std::back_inserter(is_data ? contents.data : contents.deletes));
    std::ranges::move(read[i].scopes, std::back_inserter(contents.scopes));
    std::ranges::move(read[i].findings, std::back_inserter(contents.findings));
    live.Add(read[i].live);
    added.Add(read[i].added);
    removed.Add(read[i].removed);
  }
  CheckNothingTwice(snapshot, contents, contents.findings);
  CheckRowIdsOfList(snapshot, contents.manifests, contents.findings);
  if (contents.all_data && contents.all_deletes)
    std::ranges::move(CheckSummary(snapshot, live, added, removed), std::back_inserter(contents.findings));
  return contents;
}

Result<std::vector<ContentFile>> ReadFilesWithMetrics(const SnapshotSource& source, const ManifestFile& manifest) {
  std::vector<ContentFile> files;
  auto reader = DELENDA_TRY(ManifestReader::Open(source.io, manifest, source.specs, source.schemas, {.metrics = true}));
  while (DELENDA_TRY(reader.NextBlock())) {
    for (size_t row = 0; row < reader.rows(); ++row) {
      if (reader.IsLive(row)) files.push_back(reader.File(row));
    }
  }
  return files;
}

Result<std::vector<ContentFile>> ReadReplacedVectors(const SnapshotSource& source, const Snapshot& snapshot,
                                                     const std::vector<ManifestFile>& kept) {
  std::unordered_set<std::string_view> paths;
  for (const auto& manifest : kept) paths.insert(manifest.path);
  std::vector<ContentFile> vectors;
  for (const auto& manifest : DELENDA_TRY(ReadManifests(source.io, snapshot, source.schemas))) {
    if (manifest.content != ManifestContent::kDeletes || paths.contains(manifest.path)) continue;
    auto reader = DELENDA_TRY(ManifestReader::Open(source.io, manifest, source.specs, source.schemas, {}));
    while (DELENDA_TRY(reader.NextBlock())) {
      for (size_t row = 0; row < reader.rows(); ++row) {
        if (!reader.IsLive(row)) continue;
        ContentFile file = reader.File(row);
        if (file.IsDeletionVector() && file.referenced_data_file) vectors.push_back(std::move(file));
      }
    }
  }
  return vectors;
}

}  // namespace delenda::iceberg
