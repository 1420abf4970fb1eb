// Rows that a person brings: files in four formats, or standard input, as a stream of batches.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"
#include "delenda/model/type.h"

namespace delenda::write {

enum class RowFormat : uint8_t { kParquet, kArrow, kCsv, kJsonLines };
// "parquet", "arrow", "csv", "jsonl" (also "json", "ndjson"). InvalidArgument names those there are.
Result<RowFormat> RowFormatFromName(std::string_view name);
// By extension: .parquet .pq | .arrow .arrows .ipc .feather | .csv | .jsonl .ndjson .json. Nothing for another.
std::optional<RowFormat> RowFormatFromPath(std::string_view path);

struct RowSourceOptions {
  std::optional<RowFormat> format = std::nullopt;  // else by extension; needed for "-"
  int64_t batch_rows = 64 * 1024;
  // JSON lines are decoded to the columns of this schema (required for them: numbers keep every digit that the column's
  // type has). Unknown members are an error unless `ignore_unknown_columns`.
  std::optional<Schema> table = std::nullopt;
  bool ignore_unknown_columns = false;
};

// Pulled by one thread. Holds a few batches (Parquet: a row group's wanted bytes; IPC: a record batch of the file).
class RowSource {
 public:
  virtual ~RowSource() = default;

  // `path`: of `io`, or "-" for standard input. InvalidArgument: no format, JSON lines without a table. NotSupported:
  // Parquet from standard input, which cannot be read from its end. CSV: RFC 4180 with a header line, all columns text,
  // an empty field NULL and "" an empty text, empty lines between rows of several columns skipped. Errors name the
  // path, and the line or row where they can.
  static Result<std::unique_ptr<RowSource>> Open(io::FileIO& io, std::string_view path,
                                                 const RowSourceOptions& options);

  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  // Texts of this source stand for values of other types (RowConformer's parse_text).
  virtual bool is_text() const { return false; }
  // The next batch, never empty; null at the end.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

}  // namespace delenda::write
