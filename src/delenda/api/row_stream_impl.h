// Where the batches of a RowStream come from.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>

#include "delenda/base/result.h"
#include "delenda/rows.h"

namespace delenda {

class RowStream::Impl {
 public:
  virtual ~Impl() = default;
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  // Null at the end.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
  virtual ScanStats stats() const = 0;
};

}  // namespace delenda
