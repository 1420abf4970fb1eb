// Which columns a plan gives: fields of the schema, and columns that the reader makes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"
#include "delenda/plan/scan_task.h"

namespace delenda::plan {

struct ColumnChoice {
  // Top-level fields of the schema (exact, else case-insensitive names) and metadata columns (OutputColumn::Kind), in
  // this order. Used when `select_all` is false.
  const std::vector<std::string>& select;
  bool select_all = true;
  std::vector<std::string_view> append = {};  // metadata columns that come last, unless they are selected
};

// NotFound: no such column. InvalidArgument: a column is selected twice.
Result<std::vector<OutputColumn>> ChooseColumns(const ColumnChoice& choice, const Schema& schema,
                                                const std::map<int32_t, BoundSpec>& specs);

}  // namespace delenda::plan
