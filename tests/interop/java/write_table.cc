// Writes tables whose every metadata byte comes from this project, for another engine to read (check_java.py).
//
//   write_table copy FIXTURES TABLE WAREHOUSE   copies fixture table TABLE: all snapshots, manifests, lists, Puffin
//   files
//                                               and the metadata file are written anew; other files are there already
//   write_table many WAREHOUSE VERSION COUNT    a table of COUNT data files (none exists) with deletes for each, in two
//                                               snapshots
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/puffin/puffin_footer.h"
#include "delenda/formats/puffin/puffin_writer.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list_writer.h"
#include "delenda/iceberg/manifest_writer.h"
#include "delenda/iceberg/metadata_writer.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/file_io.h"
#include "delenda/io/mapping_file_io.h"

namespace delenda::iceberg {
namespace {

constexpr int32_t kDeleteFilePathId = 2147483546;

// Every codec, in turns; the first is the default.
avro::WriteOptions NextCodec() {
  static size_t turn = 0;
  constexpr avro::Codec kCodecs[] = {avro::Codec::kDeflate, avro::Codec::kZstandard, avro::Codec::kSnappy,
                                     avro::Codec::kNull};
  return {.codec = kCodecs[turn++ % 4]};
}

Result<void> Store(io::FileIO& io, const std::string& path, ByteView bytes) {
  auto file = DELENDA_TRY(io.Create(path));
  DELENDA_TRY(file->Write(bytes));
  return file->Close();
}

// Each partition field bound to a schema that has its source column.
std::map<int32_t, BoundSpec> BindSpecs(const TableMetadata& metadata) {
  std::map<int32_t, BoundSpec> specs;
  for (const PartitionSpec& spec : metadata.specs) {
    BoundSpec bound = BoundSpec::Make(spec, metadata.CurrentSchema());
    for (const Schema& schema : metadata.schemas) {
      const BoundSpec other = BoundSpec::Make(spec, schema);
      for (size_t i = 0; i < spec.fields.size(); ++i) {
        if (bound.source_types[i].kind() != TypeKind::kUnknown) continue;
        bound.source_types[i] = other.source_types[i];
        bound.result_types[i] = other.result_types[i];
      }
    }
    specs.emplace(spec.spec_id, std::move(bound));
  }
  return specs;
}

class Copier {
 public:
  Copier(std::string fixtures, std::string warehouse) : warehouse_(std::move(warehouse)) {
    io::LocationMapping mapping;
    mapping.from = "/warehouse";
    mapping.to = fixtures;
    source_ = io::MakeMappingFileIO(io::MakeLocalFileIO(), std::vector{std::move(mapping)});
    target_ = io::MakeLocalFileIO();
    fixtures_ = std::move(fixtures);
  }

  Result<void> Run(const std::string& table) {
    metadata_ = DELENDA_TRY(LoadTable(*source_, fixtures_ + "/" + table))
    .metadata;
    specs_ = BindSpecs(metadata_);
    metadata_.location = Map(metadata_.location);
    metadata_.metadata_log.clear();  // of the copy there is only this one
    metadata_.statistics.clear();
    metadata_.partition_statistics.clear();
    std::ranges::sort(metadata_.snapshots, {}, &Snapshot::sequence_number);
    for (Snapshot& snapshot : metadata_.snapshots) DELENDA_TRY(CopySnapshot(snapshot));
    const std::string text = DELENDA_TRY(TableMetadataToJson(metadata_));
    const std::string folder = warehouse_ + "/" + table + "/metadata/";
    DELENDA_TRY(Store(*target_, folder + "v1.metadata.json", AsBytes(text)));
    return Store(*target_, folder + "version-hint.text", AsBytes("1"));
  }

 private:
  // "/warehouse/t/x" or "file:/warehouse/t/x": the copy's place, the scheme kept.
  std::string Map(const std::string& path) const {
    const size_t at = path.find("/warehouse");
    return at == std::string::npos ? path : path.substr(0, at) + warehouse_ + path.substr(at + 10);
  }

  Result<void> CopySnapshot(Snapshot& snapshot) {
    const auto manifests = DELENDA_TRY(ReadManifests(*source_, snapshot, schemas_));
    auto header = DELENDA_TRY(avro::Reader::Open(DELENDA_TRY(io::ReadWholeFile(*source_, snapshot.manifest_list))));
    const std::string* written_version = header.FindMetadata("format-version");
    const int32_t version = written_version != nullptr && *written_version == "3" ? 3 : 2;
    std::vector<ManifestFile> copies;
    for (const ManifestFile& manifest : manifests) {
      if (!copied_.contains(manifest.path)) copied_[manifest.path] = DELENDA_TRY(CopyManifest(manifest));
      ManifestFile copy = copied_[manifest.path];
      copy.sequence_number = manifest.sequence_number;
      copy.min_sequence_number = manifest.min_sequence_number;
      copy.first_row_id = manifest.first_row_id;
      // What this commit gave out, the writer gives out again.
      if (manifest.added_snapshot_id == snapshot.snapshot_id && manifest.sequence_number == snapshot.sequence_number) {
        copy.sequence_number = kUnassignedSequenceNumber;
        if (copy.min_sequence_number == snapshot.sequence_number) copy.min_sequence_number = kUnassignedSequenceNumber;
      }
      if (copy.first_row_id && snapshot.first_row_id && *copy.first_row_id >= *snapshot.first_row_id) {
        copy.first_row_id.reset();
      }
      copies.push_back(std::move(copy));
    }
    const auto list =
        DELENDA_TRY(WriteManifestList(std::move(copies), {.format_version = version,
                                                          .snapshot_id = snapshot.snapshot_id,
                                                          .parent_snapshot_id = snapshot.parent_id,
                                                          .sequence_number = snapshot.sequence_number,
                                                          .first_row_id = snapshot.first_row_id.value_or(0),
                                                          .avro = NextCodec()}));
    for (size_t i = 0; i < manifests.size(); ++i) {
      if (list.manifests[i].sequence_number != manifests[i].sequence_number ||
          list.manifests[i].first_row_id != manifests[i].first_row_id)
        return ValidationFailed("{}: numbers differ from those given by the original commit", manifests[i].path);
    }
    snapshot.manifest_list = Map(snapshot.manifest_list);
    return Store(*target_, snapshot.manifest_list, list.bytes);
  }

  Result<ManifestFile> CopyManifest(const ManifestFile& manifest) {
    auto header = DELENDA_TRY(avro::Reader::Open(DELENDA_TRY(io::ReadWholeFile(*source_, manifest.path))));
    const std::string* written_version = header.FindMetadata("format-version");
    const int32_t version = written_version != nullptr && *written_version == "3" ? 3 : 2;
    auto reader =
        DELENDA_TRY(ManifestReader::Open(*source_, manifest, specs_, schemas_, {.bounds = false, .metrics = true}));
    auto writer = DELENDA_TRY(ManifestWriter::Make(metadata_.CurrentSchema(), reader.spec(),
                                                   {.format_version = version,
                                                    .content = manifest.content,
                                                    .snapshot_id = manifest.added_snapshot_id,
                                                    .path = Map(manifest.path),
                                                    .avro = NextCodec()}));
    while (DELENDA_TRY(reader.NextBlock())) {
      for (size_t row = 0; row < reader.rows(); ++row) {
        ContentFile file = reader.File(row);
        DELENDA_TRY(MoveFile(file));
        if (version < 3) file.first_row_id.reset();  // given by a later list, not by this manifest
        switch (reader.Status(row)) {
          case EntryStatus::kAdded: {
            file.first_row_id.reset();
            const bool inherits = file.data_sequence_number == manifest.sequence_number;
            DELENDA_TRY(writer.Add(file, inherits ? std::nullopt : std::optional(file.data_sequence_number)));
            break;
          }
          case EntryStatus::kExisting: DELENDA_TRY(writer.Keep(file, reader.SnapshotId(row))); break;
          case EntryStatus::kDeleted: DELENDA_TRY(writer.Remove(file)); break;
        }
      }
    }
    WrittenManifest written = DELENDA_TRY(std::move(writer).Finish());
    DELENDA_TRY(Store(*target_, written.file.path, written.bytes));
    return std::move(written.file);
  }

  Result<void> MoveFile(ContentFile& file) {
    if (file.IsDeletionVector()) DELENDA_TRY(MoveVector(file));
    file.path = Map(file.path);
    if (file.referenced_data_file) file.referenced_data_file = Map(*file.referenced_data_file);
    if (file.content != FileContent::kPositionDeletes || file.IsDeletionVector()) return {};
    // Position deletes name their data files: the copy was rewritten, its size is another, and so are its bounds.
    if (const auto info = target_->Stat(file.path)) file.file_size = static_cast<int64_t>(info->size);
    if (!file.metrics) return {};
    auto metrics = std::make_shared<FileMetrics>(*file.metrics);
    for (auto* bounds : {&metrics->lower_bounds, &metrics->upper_bounds}) {
      if (const auto bound = bounds->find(kDeleteFilePathId); bound != bounds->end())
        bound->second = Map(bound->second);
    }
    file.metrics = std::move(metrics);
    return {};
  }

  struct Vectors {
    std::map<int64_t, puffin::WrittenBlob> by_old_offset;
    int64_t file_size = 0;
  };

  // The Puffin file is written again as a whole when its first vector comes by.
  Result<void> MoveVector(ContentFile& file) {
    if (!puffins_.contains(file.path)) {
      const Bytes old = DELENDA_TRY(io::ReadWholeFile(*source_, file.path));
      const auto footer = DELENDA_TRY(puffin::ParseFooter(old, old.size()));
      puffin::PuffinWriter writer;
      writer.SetProperty("created-by", "delenda");
      Vectors vectors;
      for (const auto& blob : footer.blobs) {
        const auto positions =
            DELENDA_TRY(dv::DecodeIcebergBlob(ByteView(old).subspan(blob.offset, blob.length), std::nullopt));
        const Bytes encoded = DELENDA_TRY(dv::EncodeIcebergBlob(positions));
        const auto data_file = blob.properties.find(puffin::kReferencedDataFile);
        if (data_file == blob.properties.end()) return Corrupt("{}: a vector without data file", file.path);
        vectors.by_old_offset[static_cast<int64_t>(blob.offset)] =
            DELENDA_TRY(writer.AddDeletionVector(encoded, Map(data_file->second), positions.cardinality()));
      }
      const Bytes bytes = DELENDA_TRY(std::move(writer).Finish());
      vectors.file_size = static_cast<int64_t>(bytes.size());
      DELENDA_TRY(Store(*target_, Map(file.path), bytes));
      puffins_[file.path] = std::move(vectors);
    }
    const Vectors& vectors = puffins_[file.path];
    const auto place = vectors.by_old_offset.find(file.content_offset.value_or(-1));
    if (place == vectors.by_old_offset.end()) return Corrupt("{}: no vector at the entry's offset", file.path);
    file.content_offset = static_cast<int64_t>(place->second.offset);
    file.content_size = static_cast<int64_t>(place->second.length);
    file.file_size = vectors.file_size;
    return {};
  }

  std::string fixtures_;
  std::string warehouse_;
  std::shared_ptr<io::FileIO> source_;
  std::shared_ptr<io::FileIO> target_;
  TableMetadata metadata_;
  std::map<int32_t, BoundSpec> specs_;
  avro::SchemaCache schemas_;
  std::map<std::string, ManifestFile> copied_;  // by the original's path
  std::map<std::string, Vectors> puffins_;      // likewise
};

// --- many

constexpr int64_t kFirstSnapshot = 1001;
constexpr int64_t kSecondSnapshot = 1002;
constexpr int64_t kFilesPerManifest = 2500;
constexpr int64_t kRowsPerFile = 1000;

class ManyFiles {
 public:
  ManyFiles(std::string location, int32_t version, int64_t count)
      : io_(io::MakeLocalFileIO()), location_(std::move(location)), version_(version), count_(count) {}

  Result<void> Run() {
    metadata_.format_version = version_;
    metadata_.table_uuid = "6f1d3a52-3c61-4f9e-9a10-7c5b2f6f0c11";
    metadata_.location = location_;
    metadata_.schemas.push_back(DELENDA_TRY(MakeSchema()));
    metadata_.last_column_id = 12;
    PartitionSpec spec{.spec_id = 0, .fields = {}};
    int32_t next_id = 1000;
    for (const auto& [source, name, transform] :
         {std::tuple(2, "region", "identity"), std::tuple(1, "id_bucket", "bucket[16]"), std::tuple(3, "ts_day", "day"),
          std::tuple(4, "amount", "identity")}) {
      spec.fields.push_back({
        .source_id = source, .field_id = next_id++, .name = name, .transform = DELENDA_TRY(Transform::Parse(transform))
      });
    }
    metadata_.specs.push_back(spec);
    metadata_.last_partition_id = next_id - 1;
    spec_ = BoundSpec::Make(spec, metadata_.CurrentSchema());
    if (version_ >= 3) metadata_.next_row_id = 0;
    for (int64_t i = 0; i < count_; ++i) files_.push_back(DELENDA_TRY(DataFile(i)));

    std::vector<ManifestFile> manifests = DELENDA_TRY(DataManifests());
    manifests = DELENDA_TRY(Commit(kFirstSnapshot, std::nullopt, 1, "append", std::move(manifests)));
    // The second commit deletes in every file, and rewrites the first manifest: all files kept but one removed.
    ManifestFile rewritten = DELENDA_TRY(RewriteFirst(manifests[0]));
    manifests[0] = std::move(rewritten);
    for (ManifestFile& deletes : DELENDA_TRY(DeleteManifests())) manifests.push_back(std::move(deletes));
    DELENDA_TRY(Commit(kSecondSnapshot, kFirstSnapshot, 2, "overwrite", std::move(manifests)));
    const std::string text = DELENDA_TRY(TableMetadataToJson(metadata_));
    DELENDA_TRY(Store(*io_, location_ + "/metadata/v1.metadata.json", AsBytes(text)));
    return Store(*io_, location_ + "/metadata/version-hint.text", AsBytes("1"));
  }

 private:
  static Result<Schema> MakeSchema() {
    std::vector<Field> fields = {{.id = 1, .name = "id", .type = TypeKind::kLong, .required = true},
                                 {.id = 2, .name = "region", .type = TypeKind::kString},
                                 {.id = 3, .name = "ts", .type = TypeKind::kTimestampTz},
                                 {.id = 4, .name = "amount", .type = Type::Decimal(11, 2)}};
    for (int32_t id = 5; id <= 12; ++id)
      fields.push_back({.id = id, .name = fmt::format("v{}", id), .type = TypeKind::kDouble});
    return Schema::Make(0, std::move(fields), {1});
  }

  Result<ContentFile> DataFile(int64_t i) const {
    constexpr int64_t kMicrosPerHour = 3'600'000'000;
    const std::string region = i % 50 == 49 ? std::string("日本/a b") : fmt::format("region {}", i % 50);
    const Datum id(i * kRowsPerFile);
    const Datum ts((i % 400 - 200) * kMicrosPerHour);  // days before and after 1970
    const Datum amount(static_cast<Int128>(i % 7 - 3) * 1'000'000'000);
    auto tuple = std::make_shared<PartitionTuple>();
    tuple->values.push_back(i % 50 == 7 ? Datum() : Datum(region));
    tuple->values.push_back(DELENDA_TRY(spec_.spec.fields[1].transform.Apply(TypeKind::kLong, id)));
    tuple->values.push_back(DELENDA_TRY(spec_.spec.fields[2].transform.Apply(TypeKind::kTimestampTz, ts)));
    tuple->values.push_back(i % 7 == 0 ? Datum() : amount);
    auto metrics = std::make_shared<FileMetrics>();
    const auto bound = [&](int32_t column, const Type& type, const Datum& low, const Datum& high) -> Result<void> {
      metrics->column_sizes[column] = 4000 + column;
      metrics->value_counts[column] = kRowsPerFile;
      metrics->null_counts[column] = column % 3;
      metrics->lower_bounds[column] = std::string(AsText(DELENDA_TRY(DatumToBound(type, low))));
      metrics->upper_bounds[column] = std::string(AsText(DELENDA_TRY(DatumToBound(type, high))));
      return {};
    };
    DELENDA_TRY(bound(1, TypeKind::kLong, id, Datum(i * kRowsPerFile + kRowsPerFile - 1)));
    DELENDA_TRY(bound(2, TypeKind::kString, Datum(region), Datum(region)));
    DELENDA_TRY(bound(3, TypeKind::kTimestampTz, ts, ts));
    DELENDA_TRY(bound(4, Type::Decimal(11, 2), amount, amount));
    for (int32_t column = 5; column <= 12; ++column) {
      metrics->nan_counts[column] = column % 2;
      DELENDA_TRY(
          bound(column, TypeKind::kDouble, Datum(static_cast<double>(-i)), Datum(static_cast<double>(i) + 0.5)));
    }
    ContentFile file;
    file.path = fmt::format("{}/data/f{:06}.parquet", location_, i);
    file.partition = std::move(tuple);
    file.record_count = kRowsPerFile;
    file.file_size = 100'000 + i;
    file.split_offsets = {4, 50'000};
    file.sort_order_id = 0;
    file.metrics = std::move(metrics);
    return file;
  }

  Result<ManifestWriter> Writer(int64_t snapshot_id, ManifestContent content) {
    return ManifestWriter::Make(metadata_.CurrentSchema(), spec_,
                                {.format_version = version_,
                                 .content = content,
                                 .snapshot_id = snapshot_id,
                                 .path = fmt::format("{}/metadata/m{}.avro", location_, next_manifest_++)});
  }

  Result<ManifestFile> Finish(ManifestWriter writer) {
    WrittenManifest written = DELENDA_TRY(std::move(writer).Finish());
    DELENDA_TRY(Store(*io_, written.file.path, written.bytes));
    return std::move(written.file);
  }

  Result<std::vector<ManifestFile>> DataManifests() {
    std::vector<ManifestFile> manifests;
    for (int64_t begin = 0; begin < count_; begin += kFilesPerManifest) {
      auto writer = DELENDA_TRY(Writer(kFirstSnapshot, ManifestContent::kData));
      for (int64_t i = begin; i < std::min(count_, begin + kFilesPerManifest); ++i)
        DELENDA_TRY(writer.Add(files_[static_cast<size_t>(i)]));
      manifests.push_back(DELENDA_TRY(Finish(std::move(writer))));
    }
    return manifests;
  }

  Result<ManifestFile> RewriteFirst(const ManifestFile& manifest) {
    auto reader = DELENDA_TRY(
        ManifestReader::Open(*io_, manifest, specs_of_table(), schemas_, {.bounds = false, .metrics = true}));
    auto writer = DELENDA_TRY(Writer(kSecondSnapshot, ManifestContent::kData));
    for (bool first = true; DELENDA_TRY(reader.NextBlock());) {
      for (size_t row = 0; row < reader.rows(); ++row) {
        if (std::exchange(first, false)) {
          DELENDA_TRY(writer.Remove(reader.File(row)));
        } else {
          DELENDA_TRY(writer.Keep(reader.File(row), reader.SnapshotId(row)));
        }
      }
    }
    return Finish(std::move(writer));
  }

  const std::map<int32_t, BoundSpec>& specs_of_table() {
    if (bound_specs_.empty()) bound_specs_.emplace(0, spec_);
    return bound_specs_;
  }

  // One deletion vector for each file (all in one Puffin file), or in version 2 one position delete file.
  Result<std::vector<ManifestFile>> DeleteManifests() {
    puffin::PuffinWriter puffin;
    std::vector<ContentFile> deletes;
    for (int64_t i = 1; i < count_; ++i) {  // the first one is gone
      const ContentFile& data = files_[static_cast<size_t>(i)];
      ContentFile file;
      file.content = FileContent::kPositionDeletes;
      file.partition = data.partition;
      file.referenced_data_file = data.path;
      if (version_ >= 3) {
        const std::vector<uint64_t> rows = {static_cast<uint64_t>(i % kRowsPerFile), 999'999};
        const auto positions = DELENDA_TRY(PositionSet::FromPositions(rows));
        const Bytes blob = DELENDA_TRY(dv::EncodeIcebergBlob(positions));
        const auto place = DELENDA_TRY(puffin.AddDeletionVector(blob, data.path, positions.cardinality()));
        file.format = FileFormat::kPuffin;
        file.path = location_ + "/data/all.puffin";
        file.content_offset = static_cast<int64_t>(place.offset);
        file.content_size = static_cast<int64_t>(place.length);
        file.record_count = static_cast<int64_t>(positions.cardinality());
      } else {
        file.path = fmt::format("{}/data/d{:06}.parquet", location_, i);
        file.record_count = 2;
        file.file_size = 500;
      }
      deletes.push_back(std::move(file));
    }
    if (version_ >= 3) {
      const Bytes bytes = DELENDA_TRY(std::move(puffin).Finish());
      DELENDA_TRY(Store(*io_, location_ + "/data/all.puffin", bytes));
      for (ContentFile& file : deletes) file.file_size = static_cast<int64_t>(bytes.size());
    }
    std::vector<ManifestFile> manifests;
    for (size_t begin = 0; begin < deletes.size(); begin += kFilesPerManifest) {
      auto writer = DELENDA_TRY(Writer(kSecondSnapshot, ManifestContent::kDeletes));
      for (size_t i = begin; i < std::min(deletes.size(), begin + kFilesPerManifest); ++i)
        DELENDA_TRY(writer.Add(deletes[i]));
      manifests.push_back(DELENDA_TRY(Finish(std::move(writer))));
    }
    return manifests;
  }

  Result<std::vector<ManifestFile>> Commit(int64_t id, std::optional<int64_t> parent, int64_t sequence,
                                           const char* operation, std::vector<ManifestFile> manifests) {
    const int64_t first_row_id = metadata_.next_row_id.value_or(0);
    auto list = DELENDA_TRY(WriteManifestList(std::move(manifests), {.format_version = version_,
                                                                     .snapshot_id = id,
                                                                     .parent_snapshot_id = parent,
                                                                     .sequence_number = sequence,
                                                                     .first_row_id = first_row_id}));
    Snapshot snapshot;
    snapshot.snapshot_id = id;
    snapshot.parent_id = parent;
    snapshot.sequence_number = sequence;
    snapshot.timestamp_ms = 1'700'000'000'000 + sequence;
    snapshot.operation = operation;
    snapshot.manifest_list = fmt::format("{}/metadata/snap-{}.avro", location_, id);
    snapshot.schema_id = 0;
    if (version_ >= 3) {
      snapshot.first_row_id = first_row_id;
      snapshot.added_rows = list.next_row_id - first_row_id;
      metadata_.next_row_id = list.next_row_id;
    }
    DELENDA_TRY(Store(*io_, snapshot.manifest_list, list.bytes));
    metadata_.last_sequence_number = sequence;
    metadata_.last_updated_ms = snapshot.timestamp_ms;
    metadata_.snapshot_log.push_back({.timestamp_ms = snapshot.timestamp_ms, .snapshot_id = id});
    metadata_.current_snapshot_id = id;
    metadata_.refs["main"] = {.snapshot_id = id};
    metadata_.snapshots.push_back(std::move(snapshot));
    return std::move(list.manifests);
  }

  std::shared_ptr<io::FileIO> io_;
  std::string location_;
  int32_t version_;
  int64_t count_;
  TableMetadata metadata_;
  BoundSpec spec_;
  std::map<int32_t, BoundSpec> bound_specs_;
  avro::SchemaCache schemas_;
  std::vector<ContentFile> files_;
  int next_manifest_ = 0;
};

Result<void> Main(const std::vector<std::string>& arguments) {
  if (arguments.size() == 4 && arguments[0] == "copy") return Copier(arguments[1], arguments[3]).Run(arguments[2]);
  if (arguments.size() == 4 && arguments[0] == "many")
    return ManyFiles(arguments[1], std::stoi(arguments[2]), std::stoll(arguments[3])).Run();
  return InvalidArgument("usage: write_table copy FIXTURES TABLE WAREHOUSE | many LOCATION VERSION COUNT");
}

}  // namespace
}  // namespace delenda::iceberg

int main(int argc, char** argv) {
  const auto done = delenda::iceberg::Main(std::vector<std::string>(argv + 1, argv + argc));
  if (done) return 0;
  std::fprintf(stderr, "write_table: %s\n", done.error().ToString().c_str());
  return 1;
}
