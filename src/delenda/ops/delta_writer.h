// Events of a stream that knows keys, not positions: made files, to be committed by CommitDeltas.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/delta_files.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/write/row_conform.h"

namespace delenda::ops {

struct DeltaWriterOptions {
  std::vector<std::string> key = {};    // KeyColumns; at the top level
  std::string operation_column = "op";  // of the batches; the table must not have it
  bool ignore_unknown_columns = false;  // else a column that the table lacks is an error
  uint64_t order = 0;                   // DeltaResult::order
  DeltaFallback fallback = DeltaFallback::kAbort;
  uint64_t memory_budget = uint64_t{256} << 20;  // KeyedFiles
  std::string temp_folder = {};
};

// Takes events: rows with an operation, c (created), r (read, of a first snapshot), u (updated) or d (deleted; only the
// key counts). c, r and u all mean that the row is the one with its key from now on, so that events may be repeated.
// Rows wait in memory, and beyond the budget in temporary files; Finish writes the last event of each key, and no
// other: a row that is deleted or updated by a later event of the same writer is in no file, which gives the same rows
// as writing it together with a deletion vector, at less cost for every reader.
//
// EXAMPLE  key id; events c {1, a}, c {2, b}, u {1, c}, d {2}, d {7}  →  data file {1, c}; keys 1, 2, 7
class DeltaWriter {
 public:
  // The session must outlive it and is not refreshed. NotFound, InvalidArgument: key or operation column. NotSupported:
  // the table's format version is below 3. As CheckTakesEqualityDeletes.
  static Result<DeltaWriter> Make(const commit::TableSession& session, DeltaWriterOptions options);

  // In the order of events. Values are made to fit as for an append. InvalidArgument, with column and row: a value that
  // does not fit, an operation that is none of the four. Nothing of the batch is taken then.
  Result<void> Write(const arrow::RecordBatch& batch);
  // All that was written, as files that nobody reads yet. After an error of storage it may be called again; once it has
  // succeeded the writer is used up. Errors: those of WriteDeltaFiles; Io: temporary files.
  Result<DeltaResult> Finish();

 private:
  DeltaWriter(const commit::TableSession& session, DeltaWriterOptions options, KeyedSource source)
      : session_(&session), options_(std::move(options)), source_(std::move(source)) {}

  enum class State : uint8_t { kOpen, kClosed, kUsedUp };

  const commit::TableSession* session_;
  DeltaWriterOptions options_;
  KeyedSource source_;
  State state_ = State::kOpen;
  std::shared_ptr<arrow::Schema> batch_schema_;  // that conformer_ is for
  std::optional<write::RowConformer> conformer_;
  uint64_t rows_ = 0;
};

}  // namespace delenda::ops
