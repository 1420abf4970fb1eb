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
#include "delenda/formats/avro/codec.h"
#include "delenda/formats/avro/reader.h"
#include "delenda/iceberg/manifest_blocks.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/partition.h"
#include "delenda/model/pruning.h"

namespace delenda::iceberg {

enum class EntryStatus : uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };

// Reads one manifest block by block, in order or (ReadBlock) in any. Inherited values are resolved: sequence numbers,
// snapshot ids, first row ids.
//
//   auto reader = DELENDA_TRY(ManifestReader::Open(io, manifest, specs, schemas, {}));
//   while (DELENDA_TRY(reader.NextBlock()))
//     for (size_t row = 0; row < reader.rows(); ++row)
//       if (reader.IsLive(row)) use(DELENDA_TRY(reader.File(row)));
class ManifestReader {
 public:
  struct Options {
    bool bounds = false;   // Stats() and FileScope() are wanted: counts and bounds are decoded
    bool metrics = false;  // File() fills ContentFile::metrics
    // With `bounds` and not `metrics`: of these columns (field ids) only, the others' metrics count as unknown. Empty:
    // of all.
    std::vector<int32_t> bounds_of = {};
    bool split_offsets = true;  // File() fills ContentFile::split_offsets
  };

  // `specs` (by spec id) must outlive the reader. Corrupt: the manifest's spec is not one of the table's.
  static Result<ManifestReader> Open(io::FileIO& io, const ManifestFile& manifest,
                                     const std::map<int32_t, BoundSpec>& specs, avro::SchemaCache& schemas,
                                     Options options);
  // A reader of blocks that other readers, on other threads, read too.
  static Result<ManifestReader> Make(std::shared_ptr<const ManifestBlocks> blocks, Options options);
  // Goes on with another manifest. What was prepared for the last one serves again if schema and spec are the same.
  Result<void> Switch(std::shared_ptr<const ManifestBlocks> blocks);

  // The next block's entries replace the last one's. False: the manifest has ended. Corrupt: it ended with another
  // number of entries than the manifest list says.
  Result<bool> NextBlock();
  // The entries of one block (an index into ManifestBlocks::blocks) replace the last one's. `next_row_id` is the row id
  // that the block's first row gets by inheritance, and is moved on to that of the next block; without a value no file
  // inherits one. Who reads blocks out of order does not know it: he starts at 0 and adds it to the first row ids of
  // the files that InheritsRowId names.
  Result<void> ReadBlock(size_t index, std::optional<int64_t>& next_row_id);
  size_t rows() const { return columns_.rows(); }

  EntryStatus Status(size_t row) const { return static_cast<EntryStatus>(status_->Int(row)); }
  // DELETED entries take no part in a scan.
  bool IsLive(size_t row) const { return Status(row) != EntryStatus::kDeleted; }
  int64_t SnapshotId(size_t row) const;
  std::string_view Path(size_t row) const { return path_->Text(row); }
  int64_t RecordCount(size_t row) const { return record_count_->Int(row); }
  int64_t DataSequenceNumber(size_t row) const { return data_sequence_[row]; }
  bool InheritsRowId(size_t row) const { return inherits_row_id_[row] != 0; }
  // Both sequence numbers stand in the entry itself: none is inherited.
  bool StatesSequenceNumbers(size_t row) const { return !sequence_->IsNull(row) && !file_sequence_->IsNull(row); }
  const ManifestFile& manifest() const { return blocks_->manifest(); }
  const BoundSpec& spec() const { return blocks_->spec(); }
  // The entry's partition; files of one partition share one tuple, so that what depends on it can be computed once.
  const std::shared_ptr<const PartitionTuple>& Partition(size_t row) const {
    return known_partitions_[partitions_[row]];
  }
  // Counts and bounds of a column (with Options::bounds). Bounds that do not fit the type are an error of the file that
  // must not prune: they are left out.
  std::optional<ColumnStats> Stats(size_t row, const BoundColumn& column) const;
  // The one data file that a position delete file covers, when the bounds of its file_path column are equal (with
  // Options::bounds).
  std::optional<std::string> FileScope(size_t row) const;

  ContentFile File(size_t row) const {
    ContentFile file;
    FillFile(row, file);
    return file;
  }
  // The same, into a file that was just made.
  void FillFile(size_t row, ContentFile& file) const;

 private:
  struct CountMap {
    const avro::Column* list = nullptr;
    const avro::Column* key = nullptr;
    const avro::Column* value = nullptr;
    std::optional<size_t> Find(size_t row, int32_t field_id) const;
  };

  ManifestReader(std::shared_ptr<const ManifestBlocks> blocks, avro::Columns columns, Options options);
  Result<void> BindColumns();
  Result<CountMap> BindMap(int32_t list_id, int32_t key_id, int32_t value_id, avro::Storage value);
  Result<void> CheckAndInherit(std::optional<int64_t>& next_row_id);
  Result<uint32_t> ReadPartition(size_t row);
  bool HasPartitionOfRowBefore(size_t row) const;
  Result<Datum> PartitionValue(const avro::Column& column, size_t row, const Type& type) const;
  std::shared_ptr<const FileMetrics> Metrics(size_t row) const;

  std::shared_ptr<const ManifestBlocks> blocks_;
  avro::Columns columns_;
  avro::Inflater inflater_;
  Options options_;
  // Of NextBlock.
  size_t next_block_ = 0;
  std::optional<int64_t> next_row_id_;

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
  std::vector<uint8_t> inherits_row_id_;
  std::vector<uint32_t> partitions_;  // indexes into known_partitions_
  // Distinct tuples seen so far, and by hash where they are.
  std::vector<std::shared_ptr<const PartitionTuple>> known_partitions_;
  std::unordered_multimap<size_t, uint32_t> partitions_by_hash_;
};

}  // namespace delenda::iceberg
