// A table in memory whose metadata the project's own writers make, snapshot by snapshot: files are manifest entries
// only.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "delenda/formats/avro/reader.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list_writer.h"
#include "delenda/iceberg/manifest_writer.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"

namespace delenda::testing {

// What names a file or deletion vector in a history.
inline std::string NameOf(const ContentFile& file) {
  return file.content_offset ? fmt::format("{}@{}", file.path, *file.content_offset) : file.path;
}

struct Commit {
  std::string operation = "append";
  std::vector<ContentFile> add = {};
  std::vector<std::string> remove = {};  // NameOf of data files and deletes; each is live in the parent
  // Names of deletes that leave without a DELETED entry, as a careless writer may drop them.
  std::set<std::string> drop = {};
  bool merge = false;                  // write all manifests of one spec and content as one
  bool keep_dead = false;              // carry manifests over that hold DELETED entries only
  bool in_old_manifest = false;        // new entries go into a rewritten manifest, if there is one
  std::optional<int64_t> parent = {};  // none: the current snapshot
};

class TableHistory {
 public:
  static constexpr int32_t kByRegion = 0, kUnpartitioned = 1, kByPrefix = 2;

  explicit TableHistory(int32_t format_version = 3) {
    metadata_.format_version = format_version;
    metadata_.location = "mem";
    metadata_.schemas.push_back(*Schema::Make(
        0, {{.id = 1, .name = "id", .type = TypeKind::kLong}, {.id = 2, .name = "p", .type = TypeKind::kString}}));
    metadata_.specs.push_back(
        {.spec_id = kByRegion,
         .fields = {{.source_id = 2, .field_id = 1000, .name = "p", .transform = *Transform::Parse("identity")}}});
    metadata_.specs.push_back({.spec_id = kUnpartitioned, .fields = {}});
    metadata_.specs.push_back(
        {.spec_id = kByPrefix,
         .fields = {
             {.source_id = 2, .field_id = 1001, .name = "p_trunc", .transform = *Transform::Parse("truncate[1]")}}});
    specs_ = iceberg::BindSpecs(metadata_, metadata_.schemas.front());
  }

  iceberg::TableMetadata& metadata() { return metadata_; }
  const std::shared_ptr<io::FileIO>& io() const { return io_; }
  const std::vector<iceberg::ManifestFile>& manifests(int64_t snapshot) const { return manifests_.at(snapshot); }

  ContentFile DataFile(const std::string& name, const std::string& p, int64_t rows = 10,
                       int32_t spec_id = kByRegion) const {
    ContentFile file;
    file.path = "mem/data/" + name + ".parquet";
    file.spec_id = spec_id;
    auto tuple = std::make_shared<PartitionTuple>();
    if (spec_id != kUnpartitioned) tuple->values = {Datum(spec_id == kByPrefix ? p.substr(0, 1) : p)};
    file.partition = std::move(tuple);
    file.record_count = rows;
    file.file_size = 1000;
    return file;
  }
  // Vectors with one number share a Puffin file.
  ContentFile Dv(const ContentFile& data, int container, int64_t cardinality, int64_t offset = 4) const {
    ContentFile file = DeletesIn(data, FileContent::kPositionDeletes, fmt::format("mem/data/{}.puffin", container));
    file.format = FileFormat::kPuffin;
    file.record_count = cardinality;
    file.file_size = 1 << 20;
    file.referenced_data_file = data.path;
    file.content_offset = offset;
    file.content_size = 40;
    return file;
  }
  // Of the partition of `data`, or of this one file.
  ContentFile PositionDeletes(const ContentFile& data, int number, bool file_scoped) const {
    ContentFile file = DeletesIn(data, FileContent::kPositionDeletes, fmt::format("mem/data/pos-{}.parquet", number));
    if (file_scoped) file.referenced_data_file = data.path;
    return file;
  }
  ContentFile EqualityDeletes(const ContentFile& data, int number) const {
    ContentFile file = DeletesIn(data, FileContent::kEqualityDeletes, fmt::format("mem/data/eq-{}.parquet", number));
    file.equality_ids = {1};
    return file;
  }

  // The id of the new snapshot, which becomes the current one.
  int64_t Apply(const Commit& commit) {
    const auto parent = commit.parent ? commit.parent : metadata_.current_snapshot_id;
    iceberg::Snapshot snapshot;
    snapshot.snapshot_id = 1000 + static_cast<int64_t>(metadata_.snapshots.size()) * 7;
    snapshot.parent_id = parent;
    snapshot.sequence_number = ++metadata_.last_sequence_number;
    snapshot.timestamp_ms = 1'700'000'000'000 + snapshot.snapshot_id;
    snapshot.operation = commit.operation;
    snapshot.schema_id = 0;
    snapshot.manifest_list = fmt::format("mem/metadata/snap-{}.avro", snapshot.snapshot_id);

    std::vector<iceberg::ManifestFile> manifests;
    std::set<std::string> to_remove(commit.remove.begin(), commit.remove.end());
    std::vector<bool> added(commit.add.size());
    std::map<std::pair<int32_t, int>, std::vector<Entry>> merged;  // by spec and content
    if (parent) {
      for (const auto& manifest : manifests_.at(*parent)) {
        std::vector<Entry> entries;
        bool changes = commit.merge;
        for (auto& entry : Entries(manifest)) {
          if (entry.status == iceberg::EntryStatus::kDeleted) continue;
          const std::string name = NameOf(entry.file);
          if (commit.drop.contains(name)) {
            changes = true;
            continue;
          }
          entry.status = to_remove.erase(name) > 0 ? iceberg::EntryStatus::kDeleted : iceberg::EntryStatus::kExisting;
          changes = changes || entry.status == iceberg::EntryStatus::kDeleted;
          entries.push_back(entry);
        }
        if (!changes) {
          if (!entries.empty() || commit.keep_dead) manifests.push_back(manifest);
          continue;
        }
        if (entries.empty()) continue;
        if (commit.merge) {
          auto& into = merged[{*manifest.spec_id, static_cast<int>(manifest.content)}];
          std::ranges::move(entries, std::back_inserter(into));
          continue;
        }
        std::vector<const ContentFile*> fresh;
        for (size_t i = 0; i < commit.add.size(); ++i) {
          if (!commit.in_old_manifest || added[i] || !Fits(commit.add[i], *manifest.spec_id, manifest.content))
            continue;
          fresh.push_back(&commit.add[i]);
          added[i] = true;
        }
        manifests.push_back(WriteManifest(snapshot, *manifest.spec_id, manifest.content, entries, fresh));
      }
    }
    EXPECT_TRUE(to_remove.empty()) << *to_remove.begin();
    for (int32_t spec_id : {kByRegion, kUnpartitioned, kByPrefix}) {
      for (const auto content : {iceberg::ManifestContent::kData, iceberg::ManifestContent::kDeletes}) {
        std::vector<const ContentFile*> fresh;
        for (size_t i = 0; i < commit.add.size(); ++i) {
          if (!added[i] && Fits(commit.add[i], spec_id, content)) fresh.push_back(&commit.add[i]);
        }
        const auto old = merged.find({spec_id, static_cast<int>(content)});
        if (fresh.empty() && old == merged.end()) continue;
        manifests.push_back(
            WriteManifest(snapshot, spec_id, content, old == merged.end() ? std::vector<Entry>() : old->second, fresh));
      }
    }
    auto list = iceberg::WriteManifestList(manifests, {.format_version = metadata_.format_version,
                                                       .snapshot_id = snapshot.snapshot_id,
                                                       .parent_snapshot_id = snapshot.parent_id,
                                                       .sequence_number = snapshot.sequence_number,
                                                       .first_row_id = next_row_id_});
    EXPECT_TRUE(list) << (list ? "" : list.error().ToString());
    next_row_id_ = list->next_row_id;
    Put(snapshot.manifest_list, list->bytes);
    manifests_[snapshot.snapshot_id] = std::move(list->manifests);
    metadata_.current_snapshot_id = snapshot.snapshot_id;
    metadata_.refs["main"] = {.snapshot_id = snapshot.snapshot_id};
    metadata_.snapshots.push_back(std::move(snapshot));
    return *metadata_.current_snapshot_id;
  }

  // Files and deletes that are live in a snapshot, by name, as a reader of its manifests sees them.
  std::map<std::string, ContentFile> Live(int64_t snapshot) {
    std::map<std::string, ContentFile> live;
    for (const auto& manifest : manifests_.at(snapshot)) {
      for (const auto& entry : Entries(manifest)) {
        if (entry.status != iceberg::EntryStatus::kDeleted) live.emplace(NameOf(entry.file), entry.file);
      }
    }
    return live;
  }

 private:
  struct Entry {
    ContentFile file;
    iceberg::EntryStatus status;
    int64_t snapshot_id;
  };

  static ContentFile DeletesIn(const ContentFile& data, FileContent content, std::string path) {
    ContentFile file;
    file.content = content;
    file.path = std::move(path);
    file.spec_id = data.spec_id;
    file.partition = data.partition;
    file.record_count = 3;
    file.file_size = 500;
    return file;
  }

  static bool Fits(const ContentFile& file, int32_t spec_id, iceberg::ManifestContent content) {
    return file.spec_id == spec_id &&
           (file.content == FileContent::kData) == (content == iceberg::ManifestContent::kData);
  }

  void Put(const std::string& path, const Bytes& bytes) {
    auto file = io_->Create(path);
    EXPECT_TRUE(file && (*file)->Write(bytes) && (*file)->Close()) << path;
  }

  // By value: a commit changes them. Manifests that an upgrade gave row ids are read anew.
  std::vector<Entry> Entries(const iceberg::ManifestFile& manifest) {
    const auto [known, is_new] = read_.try_emplace({manifest.path, manifest.first_row_id.value_or(-1)});
    std::vector<Entry>& entries = known->second;
    if (!is_new) return entries;
    auto reader = iceberg::ManifestReader::Open(*io_, manifest, specs_, schemas_, {});
    EXPECT_TRUE(reader) << (reader ? "" : reader.error().ToString());
    while (*reader->NextBlock()) {
      for (size_t row = 0; row < reader->rows(); ++row)
        entries.push_back(
            {.file = reader->File(row), .status = reader->Status(row), .snapshot_id = reader->SnapshotId(row)});
    }
    return entries;
  }

  iceberg::ManifestFile WriteManifest(const iceberg::Snapshot& snapshot, int32_t spec_id,
                                      iceberg::ManifestContent content, const std::vector<Entry>& old,
                                      const std::vector<const ContentFile*>& fresh) {
    const std::string path = fmt::format("mem/metadata/{}-{}.avro", snapshot.snapshot_id, ++manifests_written_);
    auto writer = iceberg::ManifestWriter::Make(metadata_.schemas.front(), specs_.at(spec_id),
                                                {.format_version = metadata_.format_version,
                                                 .content = content,
                                                 .snapshot_id = snapshot.snapshot_id,
                                                 .path = path});
    EXPECT_TRUE(writer) << (writer ? "" : writer.error().ToString());
    const auto check = [](const Result<void>& result) {
      EXPECT_TRUE(result) << (result ? "" : result.error().ToString());
    };
    for (const auto& entry : old) {
      if (entry.status == iceberg::EntryStatus::kDeleted)
        check(writer->Remove(entry.file));
      else
        check(writer->Keep(entry.file, entry.snapshot_id));
    }
    for (const auto* file : fresh) check(writer->Add(*file));
    auto written = std::move(*writer).Finish();
    EXPECT_TRUE(written) << (written ? "" : written.error().ToString());
    Put(path, written->bytes);
    return written->file;
  }

  std::shared_ptr<io::FileIO> io_ = io::MakeMemoryFileIO();
  iceberg::TableMetadata metadata_;
  std::map<int32_t, BoundSpec> specs_;
  avro::SchemaCache schemas_;
  std::map<int64_t, std::vector<iceberg::ManifestFile>> manifests_;
  std::map<std::pair<std::string, int64_t>, std::vector<Entry>> read_;
  int64_t next_row_id_ = 0;
  int manifests_written_ = 0;
};

}  // namespace delenda::testing
