// Where a stream's batches come from: one thread, or several.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <memory>

#include "delenda/base/result.h"
#include "delenda/read/task_reader.h"

namespace delenda::read {

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Null at the end. Not called again after an error or the end.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

// Reads on the thread that calls Next, in order.
std::unique_ptr<BatchSource> MakeSerialSource(ScanContext& context);

// Reads row groups on `threads` threads. At most a few batches per thread are held at a time, whatever the plan's size.
// In order: row groups are begun in order, and one that is ahead of the caller waits when it has a few batches ready;
// the one that the caller waits for never does, so the two cannot wait for each other. Destroying it stops the threads
// and waits for them.
std::unique_ptr<BatchSource> MakeParallelSource(ScanContext& context, size_t threads);

}  // namespace delenda::read
