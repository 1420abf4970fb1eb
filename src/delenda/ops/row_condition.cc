#include "delenda/ops/row_condition.h"

#include <arrow/record_batch.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "delenda/model/expression.h"

namespace delenda::ops {

Result<RowCondition> RowCondition::Make(std::string_view text, const Schema& schema) {
  RowCondition condition(DELENDA_TRY(
      read::FilterEvaluator::Make(DELENDA_TRY(BindText(text, schema)), schema, read::FilterColumns::kWhole)));
  for (const Field& field : condition.filter_.fields()) {
    const auto found = std::ranges::find(schema.fields(), field.id, &Field::id);
    condition.columns_.push_back(static_cast<int>(found - schema.fields().begin()));
  }
  return condition;
}

Result<read::Selection> RowCondition::Matches(const arrow::RecordBatch& batch) const {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const int column : columns_) columns.push_back(batch.column(column));
  return filter_.Evaluate(columns, batch.num_rows());
}

}  // namespace delenda::ops
