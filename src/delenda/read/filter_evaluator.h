// A filter on Arrow arrays: the rows for which it is true, in agreement with EvaluateRow on every value.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/expression.h"
#include "delenda/model/type.h"
#include "delenda/read/selection.h"

namespace delenda::read {

// Whether structs are cut down to the fields that a filter looks at: what is read from a file is, what is there as a
// batch is not.
enum class FilterColumns : uint8_t { kCutDown, kWhole };

class FilterEvaluator {
 public:
  // `filter` must be bound to `schema`. NotSupported for a column of a type that cannot be read.
  static Result<FilterEvaluator> Make(ExprRef filter, const Schema& schema,
                                      FilterColumns columns = FilterColumns::kCutDown);

  // The top-level columns that Evaluate wants, in its order.
  const std::vector<Field>& fields() const { return fields_; }

  // `columns`: arrays of the types that ToArrowType gives for fields(), `rows` long each.
  // The filter holds no NOT (Bind pushed it down to the leaves), so what is unknown never becomes true further up: it
  // is enough to carry which rows are true.
  Result<Selection> Evaluate(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows) const;

 private:
  Result<Selection> EvaluateNode(const Expr& expr, const std::vector<std::shared_ptr<arrow::Array>>& columns,
                                 int64_t rows) const;

  ExprRef filter_;
  std::vector<Field> fields_;
};

// The rows of `column` for which one leaf is true; `valid`: rows in which neither the value nor a struct around it is
// NULL.
Result<Selection> EvaluateLeafOnArray(const Expr& leaf, const arrow::Array& column, const Selection& valid);

}  // namespace delenda::read
