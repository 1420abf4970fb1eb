// Rows of a table on their way out: a stream of Arrow batches, and its text forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "delenda/arrow_c.h"
#include "delenda/result.h"
#include "delenda/text_table.h"

namespace delenda {

// What a stream did so far.
struct ScanStats {
  uint64_t rows = 0;                    // handed out
  uint64_t files = 0;                   // data files of the plan
  uint64_t files_pruned = 0;            // data files that the filter ruled out by partition values or bounds
  uint64_t deletes = 0;                 // delete files and deletion vectors that apply to files of the plan
  uint64_t manifests = 0;               // of the snapshot, data and deletes
  uint64_t manifests_read = 0;          // of these, the ones that the filter did not rule out
  uint64_t row_groups = 0;              // of the files that were opened so far
  uint64_t row_groups_pruned = 0;       // of these, ruled out by their statistics
  uint64_t row_groups_all_deleted = 0;  // of these, skipped because every row is deleted
  uint64_t rows_pruned = 0;             // of row groups that are read: rows of pages ruled out by the page index
  // Of streams of changes. `files` counts their tasks then.
  uint64_t row_groups_unchanged = 0;  // of these, skipped because none of their rows changed
  uint64_t carry_overs = 0;           // pairs of rows that a rewrite only carried over: left out
  uint64_t updates = 0;               // pairs of rows that became updates
  uint64_t spilled_bytes = 0;         // written to temporary files
};

// A stream of batches with one schema; movable, owns what it reads from. Not thread-safe: one thread reads it.
//
// EXAMPLE  auto table = delenda::Table::Open("warehouse/orders");
//          auto rows = table->Scan({.where = "amount > 100"});
//          ArrowArrayStream stream;
//          auto exported = std::move(*rows).Export(&stream);  // e.g. for arrow::ImportRecordBatchReader
class RowStream {
 public:
  // A stream of any other producer, for WriteRows. Takes it over (its `release` becomes null), also on failure.
  // InvalidArgument if it was released already or has no valid schema.
  static Result<RowStream> Import(ArrowArrayStream* stream);

  RowStream(RowStream&&) noexcept;
  RowStream& operator=(RowStream&&) noexcept;
  // Stops the work that is under way and waits until it has stopped.
  ~RowStream();

  // Fills `out` with the schema of the batches, to be released by the caller.
  Result<void> GetSchema(ArrowSchema* out) const;
  // Fills `out` with the next batch, to be released by the caller. False: the rows have ended, `out` is empty. After an
  // error every call gives the same error, so that rows before it are never taken for all rows.
  Result<bool> Next(ArrowArray* out);
  // Hands the stream over as C structure, to be released by the caller. What fails in it later is told as an errno
  // code, with Error::ToString() in the text of the last error.
  Result<void> Export(ArrowArrayStream* out) &&;

  ScanStats stats() const;

  class Impl;  // private to the library
  explicit RowStream(std::unique_ptr<Impl> impl);
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

enum class RowFormat : uint8_t {
  // One JSON object a line. Numbers as numbers, floating-point ones in the shortest form that reads back (as a value of
  // their own type; NaN and infinities as "NaN", "Infinity", "-Infinity"); decimals as text with full scale; dates
  // 2024-02-29; timestamps 2024-02-29T01:02:03.000004 with six digits of the second (nine for nanosecond types) and a
  // `Z` at the end if they have a zone; times 01:02:03.000004; binary in lower-case hex; UUIDs in their text form;
  // structs as objects, lists as arrays, maps as arrays of [key, value] sorted by key. Years beyond 9999 have a sign:
  // +10000-01-01.
  kJsonLines,
  // Columns aligned under their names, numbers to the right, and a last line "(42 rows)".
  kTable,
  // RFC 4180: a line of names, lines that end with CR LF; NULL is empty, empty text is "". Values as in kTable, not
  // cut; structs, lists and maps as JSON. (A NULL in a table of one column is an empty line.)
  kCsv,
  // Bytes of Arrow's IPC formats. Fields have their ids in their metadata, under "PARQUET:field_id".
  kArrowStream,
  kArrowFile,
  // Bytes of a Parquet file, compressed with zstd; columns have their field ids.
  kParquet,
  // Changes only (ChangeDialect::kIceberg): one JSON envelope a line, in the manner of Debezium's:
  //   {"before": null, "after": {"id": 1, …}, "source": {"connector": "delenda", "ts_ms": …, "snapshot_id": …,
  //    "change_ordinal": 0}, "op": "c", "ts_ms": …}
  // "op" is c (insert), u (update: one envelope with both images) or d (delete); "ts_ms" the time of the commit;
  // _file, _pos and _row_id stand in "source", for an update those of the image after. Values as in kJsonLines.
  kDebezium,
};

struct WriteRowsOptions {
  RowFormat format = RowFormat::kJsonLines;
  // kTable: columns of the terminal; cells are cut with "…" to fit. 0: cells are cut at 80 columns only.
  size_t width = 0;
  bool header = true;  // kCsv: begin with the line of names
};

// Writes what is left of `rows` to `sink` and returns the number of rows. Text and bytes are handed over in pieces;
// what is not yet handed over when the rows end with an error is dropped, so that a short result is all or nothing, and
// what makes kArrowFile and kParquet readable comes last. Memory: one batch; kTable also keeps the first 1,000 rows,
// which decide the widths, and kParquet a row group (2^20 rows), compressed.
//
// Errors: those of the stream and of the sink; NotSupported for an Arrow type that no table type gives.
Result<uint64_t> WriteRows(RowStream& rows, const WriteRowsOptions& options, const TextSink& sink);

}  // namespace delenda
