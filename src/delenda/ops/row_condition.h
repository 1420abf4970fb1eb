// A filter on rows that are there as batches.
#pragma once

#include <arrow/type_fwd.h>

#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/type.h"
#include "delenda/read/filter_evaluator.h"
#include "delenda/read/selection.h"

namespace delenda::ops {

// EXAMPLE  "op = 'd' OR amount IS NULL"
class RowCondition {
 public:
  // Empty text: every row. Errors: those of filters (model/expression.h).
  static Result<RowCondition> Make(std::string_view text, const Schema& schema);

  // The rows of a batch of the schema for which it is true (not those for which it is unknown).
  Result<read::Selection> Matches(const arrow::RecordBatch& batch) const;

 private:
  explicit RowCondition(read::FilterEvaluator filter) : filter_(std::move(filter)) {}

  read::FilterEvaluator filter_;
  std::vector<int> columns_;  // of the batch, that the filter wants
};

}  // namespace delenda::ops
