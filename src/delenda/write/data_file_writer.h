// Batches of a table's rows → data files, rolled at the target size, with their metrics.
#pragma once

#include <arrow/type_fwd.h>

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
#include "delenda/write/data_file_names.h"
#include "delenda/write/staged_files.h"
#include "delenda/write/write_properties.h"

namespace delenda::write {

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
  int32_t sort_order_id = 0;  // 0: not sorted

  // `schema`, then the lineage columns if there are any.
  Result<Schema> RowSchema() const;
  // The same as batches have it (read::ToArrowType): what writers take. NotSupported: a column of type variant,
  // geometry or geography.
  Result<std::shared_ptr<arrow::Schema>> BatchSchema() const;
};

// Writes the rows of one partition, in the order given.
//
//   DataFileNames names(target.table_location, target.properties);
//   auto writer = DELENDA_TRY(DataFileWriter::Make(target, names, tuple));
//   DELENDA_TRY(writer.Write(*batch));            // opens a file when the first row comes
//   std::vector<ContentFile> files = DELENDA_TRY(writer.Finish());   // none if there were no rows
class DataFileWriter {
 public:
  // `target` and `names` outlive it. InvalidArgument: a tuple that is not of the target's spec. NotSupported: columns
  // that Parquet has no form for (BatchSchema; type unknown inside other types).
  static Result<DataFileWriter> Make(const WriteTarget& target, DataFileNames& names,
                                     std::shared_ptr<const PartitionTuple> partition);
  ~DataFileWriter();
  DataFileWriter(DataFileWriter&&) noexcept;
  DataFileWriter& operator=(DataFileWriter&&) noexcept;

  // A batch of target.BatchSchema(). InvalidArgument: a NULL in a required column, at any depth (then nothing of the
  // batch is written).
  Result<void> Write(const arrow::RecordBatch& batch);
  // Ends the open file, if there is one; rows that follow go to another file.
  Result<void> CloseFile();
  Result<void> EndRowGroup();  // parquet::FileWriter::EndRowGroup
  uint64_t buffered_bytes() const;
  bool has_open_file() const;

  // Closes what is open. Path, partition, counts, size, metrics and split offsets are set; sequence numbers are not.
  Result<std::vector<ContentFile>> Finish();

 private:
  struct State;
  explicit DataFileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace delenda::write
