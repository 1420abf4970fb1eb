// Rows that wait in memory up to a limit, and beyond it in a temporary file.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"

namespace delenda::read {

// Where rows are spilled: the folder that is wanted, else TMPDIR, else /tmp.
std::string SpillFolder(const std::string& wanted);

// What all buffers of one stream share.
struct SpillContext {
  std::shared_ptr<arrow::Schema> schema;
  arrow::MemoryPool* pool = nullptr;
  std::string folder;
  uint64_t block_bytes = 0;  // rows are written, and read back, in pieces of about this size
  uint64_t spilled_bytes = 0;
};

// A temporary file that never has a name, so that it vanishes with the process, however that ends.
class SpillFile {
 public:
  struct Block {
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  // Made in the context's folder with the first block. `context` outlives it.
  explicit SpillFile(SpillContext& context) : context_(&context) {}
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Io, naming the folder: it is missing, not writable or full.
  Result<Block> Write(const arrow::RecordBatch& batch);
  Result<std::shared_ptr<arrow::RecordBatch>> Read(const Block& block) const;

 private:
  Result<void> Open();

  SpillContext* context_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

// Rows in the order in which they were appended; first appended to, then looked at any number of times, then popped.
//
// EXAMPLE  RowBuffer rows(context, std::make_shared<SpillFile>(context), 1 << 20);
//          DELENDA_TRY(rows.Append(batch));
//          while (auto batch = DELENDA_TRY(rows.Pop())) Use(*batch);
class RowBuffer {
 public:
  // At most about `memory_limit` bytes, or one batch, stay in memory. Buffers may share a file.
  RowBuffer(SpillContext& context, std::shared_ptr<SpillFile> file, uint64_t memory_limit);

  // Small batches are joined to larger ones, and a part of a larger one is copied, so that the rows take the memory
  // that is counted.
  Result<void> Append(std::shared_ptr<arrow::RecordBatch> batch);
  // Write out all that is in memory.
  Result<void> Flush();
  // Calls `visit` with all rows that were not popped, batch by batch; they stay.
  Result<void> ForEach(const std::function<Result<void>(const std::shared_ptr<arrow::RecordBatch>&)>& visit);
  // The next rows, null at the end. Their memory is no longer counted.
  Result<std::shared_ptr<arrow::RecordBatch>> Pop();

  int64_t rows() const { return rows_; }     // not popped yet
  uint64_t bytes() const { return bytes_; }  // of these, in memory or as they were when written
  bool spilled() const { return !blocks_.empty(); }

 private:
  struct Spilled {
    SpillFile::Block block;
    int64_t rows = 0;
    uint64_t bytes = 0;
  };
  struct Waiting {
    std::shared_ptr<arrow::RecordBatch> batch;
    uint64_t bytes = 0;
  };
  Result<void> JoinSmall();
  Result<void> WriteOut();

  SpillContext* context_;
  std::shared_ptr<SpillFile> file_;
  uint64_t memory_limit_ = 0;
  int64_t rows_ = 0;
  uint64_t bytes_ = 0;
  std::deque<Spilled> blocks_;   // before
  std::deque<Waiting> batches_;  // these, before
  std::vector<Waiting> small_;   // these
  uint64_t small_bytes_ = 0;
  int64_t small_rows_ = 0;
  uint64_t memory_bytes_ = 0;  // of batches_ and small_
};

// Bytes of memory that the rows of a batch take, were they alone in their buffers.
Result<uint64_t> BatchBytes(const arrow::RecordBatch& batch);

}  // namespace delenda::read
