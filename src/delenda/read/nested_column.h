// Fields inside structs: the part of a column that leads to one field, and that field's values.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/type.h"
#include "delenda/read/selection.h"

namespace delenda::read {

// A column cut down to what lies on the paths (field ids from the top level down); a path that ends at a struct keeps
// it whole.
Field CutDown(const Field& field, const std::vector<std::vector<int32_t>>& paths, size_t depth = 0);

struct NestedColumn {
  std::shared_ptr<arrow::Array> array;
  Selection valid;  // rows in which neither the value nor a struct around it is NULL
};
// The field at `path` of the top-level column `top`, whose values are `array`. Internal: `top` was not cut down for the
// path.
Result<NestedColumn> FollowPath(const Field& top, const std::vector<int32_t>& path,
                                std::shared_ptr<arrow::Array> array);

}  // namespace delenda::read
