// Values computed from a row: the right side of SET.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/type.h"

namespace delenda::ops {

// A literal (12, 1.50, 'text', TRUE, NULL, DATE '2024-02-29', TIMESTAMP '…'), a column (in structs too: st.a), or these
// joined by + - * / and || (texts), with parentheses. NULL in gives NULL out. Integers and decimals are exact: what
// does not fit is an error, never rounded or wrapped; / gives a double.
//
// EXAMPLE  "price * 1.1", "note || ' (old)'", "NULL", "quantity - 1"
class ValueExpression {
 public:
  struct Node;

  // `target`: the column that the values are for; a literal is read as one of its type ('2024-02-29' for a date).
  // InvalidArgument names the place: a syntax error, an unknown column, one in a list or map, a literal that is no such
  // value.
  static Result<ValueExpression> Parse(std::string_view text, const Schema& schema, const Field& target);

  // Names of the top-level columns that it reads.
  const std::vector<std::string>& columns() const { return columns_; }

  // Values for the rows of a batch that has these columns (read::ToArrowType of the table's types), as the type of the
  // target. InvalidArgument: a value does not fit (a sum overflows, 300 for two digits), types that can't be joined.
  Result<std::shared_ptr<arrow::Array>> Evaluate(const arrow::RecordBatch& batch) const;

 private:
  std::string text_;
  Field target_;
  std::shared_ptr<arrow::DataType> target_type_;
  std::shared_ptr<const Node> root_;
  std::vector<std::string> columns_;
};

}  // namespace delenda::ops
