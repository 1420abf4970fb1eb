// Batches of result rows as the bytes of an Arrow IPC or Parquet file.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/output_adapter.h"

namespace delenda::write {

using parquet::ByteSink;

enum class RowFileFormat : uint8_t {
  kArrowStream,  // IPC stream: can be read while it is written
  kArrowFile,    // IPC file: with a footer, for random access
  kParquet,      // zstd; row groups of at most 2^20 rows
};

// Field ids stay in the metadata of the schema's fields ("PARQUET:field_id"), in Parquet as the columns' own ids.
//
// A writer that is destroyed before Finish hands nothing more to the sink, so that what it wrote cannot pass for whole.
class RowFileWriter {
 public:
  virtual ~RowFileWriter() = default;

  // Field metadata may mark 16 bytes as UUID (extension name "arrow.uuid"): in Parquet top-level ones become UUIDs too.
  // NotSupported for a schema that the format cannot hold.
  static Result<std::unique_ptr<RowFileWriter>> Make(RowFileFormat format, const std::shared_ptr<arrow::Schema>& schema,
                                                     ByteSink sink);

  // A batch of the schema. Errors: those of the sink.
  virtual Result<void> Write(const arrow::RecordBatch& batch) = 0;
  // What makes the file whole. Nothing may be written after it.
  virtual Result<void> Finish() = 0;
};

}  // namespace delenda::write
