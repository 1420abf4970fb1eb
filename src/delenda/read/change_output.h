// The last step of a changelog: rows that wait become batches of the wanted columns and size.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/read/change_columns.h"
#include "delenda/read/row_spill.h"

namespace delenda::read {

// Rows with the column ChangeColumns::number whose rank says update are two by two images of one update, and get their
// `_change_type` here.
class ChangeOutput {
 public:
  // `output_columns`: indexes into `schema`. `batch_rows`: of a batch, at most.
  ChangeOutput(const arrow::Schema& schema, ChangeColumns columns, std::vector<int> output_columns, int64_t batch_rows);

  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  // To be handed out after what was added before. A batch may lack the number, if its rows are no images of updates.
  Result<void> Add(const std::shared_ptr<arrow::RecordBatch>& batch);
  void Add(RowBuffer rows) { waiting_.push_back(std::move(rows)); }
  // Null: nothing is left.
  Result<std::shared_ptr<arrow::RecordBatch>> Next();

 private:
  Result<std::shared_ptr<arrow::RecordBatch>> WithTypes(std::shared_ptr<arrow::RecordBatch> batch);
  Result<std::shared_ptr<arrow::RecordBatch>> Project(const arrow::RecordBatch& batch) const;

  ChangeColumns columns_;
  std::vector<int> output_columns_;
  int64_t batch_rows_ = 0;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::RecordBatch> current_;  // projected; handed out before waiting_
  int64_t current_row_ = 0;                      // those before were handed out
  std::deque<RowBuffer> waiting_;
  bool after_next_ = false;  // the next image of an update is an UPDATE_AFTER
};

}  // namespace delenda::read
