// Batches of a table's rows → data files of as many partitions as the rows have.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/content_file.h"
#include "delenda/model/partition.h"
#include "delenda/write/data_file_writer.h"

namespace delenda::write {

struct PartitionedWriterOptions {
  // At most so many files are open at a time: when one more is needed, the one that was written to longest ago is
  // closed, and rows that come for its partition later go to a further file. 1 suits input that is clustered by
  // partition.
  size_t max_open_files = 64;
  // When the open row groups together take more, the largest is ended early.
  uint64_t max_buffered_bytes = uint64_t{1} << 30;
};

// EXAMPLE  spec identity(region); batches (eu,1)(us,2)(eu,3)  →  data/region=eu/…: 1, 3; data/region=us/…: 2.
// The rows of a partition keep their order. An unpartitioned spec has the one empty tuple.
class PartitionedWriter {
 public:
  static Result<PartitionedWriter> Make(WriteTarget target, PartitionedWriterOptions options = {});
  ~PartitionedWriter();
  PartitionedWriter(PartitionedWriter&&) noexcept;
  PartitionedWriter& operator=(PartitionedWriter&&) noexcept;

  const WriteTarget& target() const;
  // A batch of target.BatchSchema(). After an error the writer is of no more use; what it has written lies in
  // target.staged.
  Result<void> Write(const arrow::RecordBatch& batch);
  int64_t rows() const;
  // All files, those of a partition side by side, partitions in the order of their first rows.
  Result<std::vector<ContentFile>> Finish();

 private:
  struct State;
  explicit PartitionedWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace delenda::write
