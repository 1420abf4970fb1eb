// New values of columns: SET.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/type.h"
#include "delenda/ops/value_expression.h"

namespace delenda::ops {

// The new value of one column.
struct Assignment {
  size_t column = 0;  // of the table's schema
  ValueExpression value;
};

// `set`: names of the table's columns and values, which see the columns of `seen`. NotFound: no such column to set.
// NotSupported: a nested one. InvalidArgument: one that is set twice; values as ValueExpression::Parse.
Result<std::vector<Assignment>> ParseAssignments(const std::vector<std::pair<std::string, std::string>>& set,
                                                 const Schema& table, const Schema& seen);

}  // namespace delenda::ops
