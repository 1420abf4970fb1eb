// Writing manifests of format version 2 and 3 (Iceberg spec, "Manifests").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/avro/writer.h"
#include "delenda/iceberg/manifest.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/model/content_file.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::iceberg {

// ManifestFile::sequence_number and min_sequence_number of a manifest whose commit has no number yet: the manifest list
// writer puts the commit's in, anew on every retry.
inline constexpr int64_t kUnassignedSequenceNumber = -1;

struct ManifestWriterOptions {
  int32_t format_version = 3;  // 2 or 3
  ManifestContent content = ManifestContent::kData;
  int64_t snapshot_id = 0;  // of the commit that adds the manifest
  std::string path;         // where the bytes will be stored; goes into ManifestFile
  avro::WriteOptions avro = {};
};

// The state of a file in a manifest. ContentFile's own sequence numbers are not looked at.
struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<int64_t> snapshot_id = std::nullopt;  // that added (DELETED: removed) the file; empty: the commit's
  // Empty (ADDED only): the number that the commit gets.
  std::optional<int64_t> data_sequence_number = std::nullopt;
  std::optional<int64_t> file_sequence_number = std::nullopt;
};

struct WrittenManifest {
  Bytes bytes;
  ManifestFile file;
};

// Collects entries of one partition spec.
//
//   auto writer = DELENDA_TRY(ManifestWriter::Make(schema, spec, {.snapshot_id = id, .path = path}));
//   DELENDA_TRY(writer.Add(file));
//   WrittenManifest manifest = DELENDA_TRY(std::move(writer).Finish());
//
// What would make the table unreadable or read wrongly is refused with InvalidArgument and the file's path, and then
// nothing of the entry is written:
// - content other than the manifest's; a format that manifests have no name for; a spec id or a partition tuple that is
//   not of the spec; negative counts; paths that are no UTF-8
// - EXISTING or DELETED without both sequence numbers; an inherited number in an entry of another snapshot
// - a deletion vector (version 3 only) without its data file, offset and size, or with what only other files have
// - equality deletes without ids; ids elsewhere
// - a first row id of a delete file, or in version 2
// - ValidationFailed: a new position delete file in version 3, where only deletion vectors may be added
class ManifestWriter {
 public:
  // `schema`: the table's current one; it is kept in the header. InvalidArgument: another format version. NotSupported:
  // a spec with a transform that this version does not know, or a partition type without Avro form.
  static Result<ManifestWriter> Make(const Schema& schema, const BoundSpec& spec, ManifestWriterOptions options);

  // ADDED by this commit. With `data_sequence_number`: a rewrite that must stay below deletes which were committed
  // since its input was read.
  Result<void> Add(const ContentFile& file, std::optional<int64_t> data_sequence_number = std::nullopt);
  // EXISTING: carried over, with the sequence numbers and first row id that `file` was read with.
  Result<void> Keep(const ContentFile& file, int64_t added_snapshot_id);
  // DELETED by this commit, likewise.
  Result<void> Remove(const ContentFile& file);
  Result<void> Write(const ManifestEntry& entry, const ContentFile& file);

  size_t size() const { return avro_.size(); }  // bytes so far, to close the manifest at a target size
  uint64_t entries() const { return avro_.rows(); }

  Result<WrittenManifest> Finish() &&;

 private:
  struct Summary {
    bool contains_null = false;
    bool contains_nan = false;
    std::optional<Datum> lower, upper;
  };

  ManifestWriter(avro::Writer avro, BoundSpec spec, ManifestWriterOptions options)
      : avro_(std::move(avro)), spec_(std::move(spec)), options_(std::move(options)) {}
  Result<void> Check(const ManifestEntry& entry, const ContentFile& file) const;
  Result<void> CheckDeletionVector(const ContentFile& file) const;
  Result<void> CheckPartition(const PartitionTuple& tuple) const;
  Result<void> Count(const ManifestEntry& entry, const ContentFile& file);
  void Summarise(const PartitionTuple& tuple);
  void EncodePartition(const PartitionTuple& tuple);
  void EncodeFile(const ContentFile& file);

  avro::Writer avro_;
  BoundSpec spec_;
  ManifestWriterOptions options_;
  ManifestFile manifest_;
  std::optional<int64_t> min_sequence_number_;
  std::vector<Summary> summaries_;
  std::shared_ptr<const PartitionTuple> last_partition_;  // checked and counted already
};

}  // namespace delenda::iceberg
