// Carrying out a scan plan: data files in, Arrow batches of live rows out.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/key_table.h"

namespace delenda::read {

struct ReadOptions {
  // Row groups that are read at a time. 0 = one per hardware thread; 1 = everything on the thread that calls Next().
  size_t threads = 0;
  // Rows in the order of the plan's tasks, then by position: what one thread would give. Otherwise batches as they
  // come.
  bool ordered = false;
  // At most this many live rows, counted after deletes and filter.
  std::optional<uint64_t> limit = std::nullopt;
  // Also read the footer of every Puffin file and compare its blob entries with the plan's deletion vectors.
  bool verify_footers = false;
  // Only rows that have one of these keys; null: all. Its fields are those of the plan's schema. For scans, not for
  // changes. (A plan that was made with the same keys leaves out what cannot hold one: plan::ScanRequest::keys.)
  std::shared_ptr<const KeyTable> keys = nullptr;
  // With `keys`, by the key's number: only rows of data files with a smaller data sequence number have it. Null: all.
  std::shared_ptr<const std::vector<int64_t>> key_sequence_numbers = nullptr;
  // Bytes that the keys of equality deletes may take, for each layout and partition. More are refused.
  uint64_t equality_memory = uint64_t{2} << 30;
  // Changes: bytes that rows of later snapshots may take which were read along with earlier ones of the same row group.
  uint64_t lookahead_memory = uint64_t{64} << 20;
  // Column chunks that are smaller, decompressed, are decoded whole: their page index is not asked which pages could
  // hold what is looked for. (On storage where each read is a request, they must be larger by far.) The largest number:
  // no page index is read.
  uint64_t page_index_bytes = uint64_t{128} << 10;
  // Rows of a batch, at most.
  int64_t batch_rows = 32 * 1024;
  Hooks hooks = {};
};

// What a stream did so far; the counts of the files are those of the tasks that were begun.
struct ReadMetrics {
  uint64_t rows = 0;  // live rows that were handed out
  uint64_t data_files_opened = 0;
  uint64_t row_groups = 0;              // of the files that were opened
  uint64_t row_groups_pruned = 0;       // of these, decided by their statistics: filter and keys
  uint64_t row_groups_all_deleted = 0;  // of these, skipped because every row is deleted
  uint64_t row_groups_unchanged = 0;    // of these, skipped because none of the rows asked for lies in them
  uint64_t rows_pruned = 0;             // of row groups that are read: those of pages that the page index rules out
};

// The live rows of a plan, batch by batch.
//
// Not thread-safe: one thread calls Next(). Destroying a stream early stops its workers and waits for what they have
// begun.
//
// EXAMPLE  auto stream = DELENDA_TRY(OpenScan(plan, io, {.threads = 2}));
//          while (auto batch = DELENDA_TRY(stream->Next())) Use(*batch);
class ScanStream {
 public:
  virtual ~ScanStream() = default;

  // The plan's columns: names and types as ToArrowType makes them of the table's; each field's metadata holds its field
  // id under "PARQUET:field_id".
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  // The next batch, never empty; null at the end. The first error ends the stream: the same error is returned by every
  // later call and no further row, so that rows before an error are never taken for all rows.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
  virtual ReadMetrics metrics() const = 0;
};

// Checks the whole plan before any file is opened: NotSupported for data files that are not
// Parquet, and for projected or filtered columns of a type that cannot be read yet (variant, geometry, geography).
// Errors of Next(): what io reports; Corrupt for broken files, for a deletion vector that reaches beyond its data file,
// for a data file with position deletes that has another number of rows than its manifest says (its positions would be
// others); NotSupported for files without field ids if the
// plan has no name mapping; Cancelled.
Result<std::unique_ptr<ScanStream>> OpenScan(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                                             ReadOptions options);

}  // namespace delenda::read
