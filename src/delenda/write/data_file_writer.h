// Batches of a table's rows → data files, rolled at the target size, with their metrics.
#pragma once

#include <arrow/type_fwd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/formats/parquet/parquet_writer.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"
#include "delenda/write/staged_files.h"
#include "delenda/write/write_properties.h"

namespace delenda::write {

// Field ids of the row lineage columns (spec, "Reserved Field IDs").
inline constexpr int32_t kRowIdFieldId = 2147483540;
inline constexpr int32_t kLastUpdatedSequenceFieldId = 2147483539;

// Where and how an operation writes its data files. One per operation and spec; writers share it.
struct WriteTarget {
  std::shared_ptr<io::FileIO> io;
  std::string table_location;
  Schema schema;
  BoundSpec spec;  // bound to `schema`
  WriteProperties properties = {};
  std::shared_ptr<StagedFiles> staged;  // every path is entered here before it is created
  Executor* executor = nullptr;         // encodes columns; null: the caller's thread
  // The batches carry `_row_id` and `_last_updated_sequence_number` (int64, NULL: assigned by the commit) behind the
  // schema's columns: rows that move to another file keep what they have (spec, "Row Lineage").
  bool row_lineage = false;
  std::optional<int32_t> sort_order_id = std::nullopt;

  // The schema of the batches that writers take: ToArrowType of each column, then the lineage columns if there are any.
  // NotSupported: a column of type variant, geometry or geography.
  Result<std::shared_ptr<arrow::Schema>> BatchSchema() const;
};

// Names of an operation's files: "{data path}/{partition path}/00000-UUID-00001.parquet". Thread-safe.
class DataFileNames {
 public:
  explicit DataFileNames(const WriteTarget& target);
  // `partition_path`: of PartitionPath; empty for unpartitioned tables.
  std::string Next(std::string_view partition_path);

 private:
  std::string folder_;
  std::string uuid_;
  std::atomic<uint32_t> count_{0};
};

// "region=eu/ts_day=2024-02-29": the folder of a partition as the reference implementation names it, escaped as in an
// HTML form (Java's URLEncoder): "a b/c" → "a+b%2Fc". Readers never look at it.
std::string PartitionPath(const BoundSpec& spec, const PartitionTuple& tuple);

// Writes the rows of one partition, in the order given.
//
//   DataFileWriter writer(target, names, tuple);
//   DELENDA_TRY(writer.Write(*batch));            // opens a file when the first row comes
//   std::vector<ContentFile> files = DELENDA_TRY(writer.Finish());   // none if there were no rows
class DataFileWriter {
 public:
  // `target` and `names` outlive it.
  DataFileWriter(const WriteTarget& target, DataFileNames& names, std::shared_ptr<const PartitionTuple> partition);
  ~DataFileWriter();
  DataFileWriter(DataFileWriter&&) noexcept;
  DataFileWriter& operator=(DataFileWriter&&) noexcept;

  // A batch of target.BatchSchema(). InvalidArgument: a NULL in a required column, at any depth.
  Result<void> Write(const arrow::RecordBatch& batch);
  // Ends the open file, if there is one; rows that follow go to another file.
  Result<void> CloseFile();
  Result<void> EndRowGroup();
  uint64_t buffered_bytes() const;
  bool has_open_file() const;

  // Closes what is open. Path, partition, counts, size, metrics and split offsets are set; sequence numbers are not.
  Result<std::vector<ContentFile>> Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace delenda::write
