// Manifests: the data or delete files of a snapshot, decoded into columns (Iceberg spec, "Manifests").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/avro/reader.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/partition.h"
#include "delenda/model/pruning.h"

namespace delenda::iceberg {

enum class EntryStatus : uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };

// Reads one manifest block by block. Inherited values are resolved: sequence numbers, snapshot ids, first row ids.
//
//   auto reader = DELENDA_TRY(ManifestReader::Open(io, manifest, specs, schemas, {}));
//   while (DELENDA_TRY(reader.NextBlock()))
//     for (size_t row = 0; row < reader.rows(); ++row)
//       if (reader.IsLive(row)) use(DELENDA_TRY(reader.File(row)));
class ManifestReader {
 public:
  struct Options {
    bool bounds = false;   // Stats() is wanted: counts and bounds are decoded
    bool metrics = false;  // File() fills ContentFile::metrics
  };

  // `specs` (by spec id) must outlive the reader. Corrupt: the manifest's spec is not one of the table's.
  static Result<ManifestReader> Open(io::FileIO& io, const ManifestFile& manifest,
                                     const std::map<int32_t, BoundSpec>& specs, avro::SchemaCache& schemas,
                                     Options options);

  // The next block's entries replace the last one's. False: the manifest has ended. Corrupt: it ended with another
  // number of entries than the manifest list says.
  Result<bool> NextBlock();
  size_t rows() const { return columns_.rows(); }

  EntryStatus Status(size_t row) const { return static_cast<EntryStatus>(status_->Int(row)); }
  // DELETED entries take no part in a scan.
  bool IsLive(size_t row) const { return Status(row) != EntryStatus::kDeleted; }
  int64_t SnapshotId(size_t row) const;
  std::string_view Path(size_t row) const { return path_->Text(row); }
  int64_t RecordCount(size_t row) const { return record_count_->Int(row); }
  int64_t DataSequenceNumber(size_t row) const { return data_sequence_[row]; }
  const BoundSpec& spec() const { return *spec_; }
  // The entry's partition; files of one partition share one tuple, so that what depends on it can be computed once.
  const std::shared_ptr<const PartitionTuple>& Partition(size_t row) const { return partitions_[row]; }
  // Counts and bounds of a column (with Options::bounds). Bounds that do not fit the type are an error of the file that
  // must not prune: they are left out.
  std::optional<ColumnStats> Stats(size_t row, const BoundColumn& column) const;
  // The one data file that a position delete file covers, when the bounds of its file_path column are equal (with
  // Options::bounds).
  std::optional<std::string> FileScope(size_t row) const;

  ContentFile File(size_t row) const;

 private:
  struct CountMap {
    const avro::Column* list = nullptr;
    const avro::Column* key = nullptr;
    const avro::Column* value = nullptr;
    std::optional<size_t> Find(size_t row, int32_t field_id) const;
  };

  ManifestReader(avro::Reader reader, avro::Columns columns)
      : reader_(std::move(reader)), columns_(std::move(columns)) {}
  Result<void> BindColumns();
  Result<CountMap> BindMap(int32_t list_id, int32_t key_id, int32_t value_id, avro::Storage value);
  Result<void> CheckEntryCount() const;
  Result<void> CheckAndInherit();
  Result<std::shared_ptr<const PartitionTuple>> ReadPartition(size_t row);
  Result<Datum> PartitionValue(const avro::Column& column, size_t row, const Type& type) const;
  std::shared_ptr<const FileMetrics> Metrics(size_t row) const;

  avro::Reader reader_;
  avro::Columns columns_;
  ManifestFile manifest_;
  Options options_;
  const BoundSpec* spec_ = nullptr;
  int64_t entries_seen_ = 0;

  const avro::Column *status_ = nullptr, *snapshot_id_ = nullptr, *sequence_ = nullptr, *file_sequence_ = nullptr;
  const avro::Column *content_ = nullptr, *path_ = nullptr, *format_ = nullptr, *record_count_ = nullptr,
                     *file_size_ = nullptr;
  const avro::Column *split_offsets_ = nullptr, *equality_ids_ = nullptr, *sort_order_ = nullptr,
                     *first_row_id_ = nullptr;
  const avro::Column *referenced_ = nullptr, *content_offset_ = nullptr, *content_size_ = nullptr,
                     *key_metadata_ = nullptr;
  std::vector<const avro::Column*> partition_columns_;
  CountMap column_sizes_, value_counts_, null_counts_, nan_counts_, lower_bounds_, upper_bounds_;

  // Per row of the block, after inheritance.
  std::vector<int64_t> data_sequence_, file_sequence_numbers_;
  std::vector<std::optional<int64_t>> first_row_ids_;
  std::vector<std::shared_ptr<const PartitionTuple>> partitions_;
  std::optional<int64_t> next_row_id_;
  // Distinct tuples seen so far, by hash.
  std::unordered_multimap<size_t, std::shared_ptr<const PartitionTuple>> known_partitions_;
  std::shared_ptr<const PartitionTuple> last_partition_;
};

}  // namespace delenda::iceberg
