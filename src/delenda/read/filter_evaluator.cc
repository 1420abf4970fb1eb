#include "delenda/read/filter_evaluator.h"

#include <arrow/array.h>
#include <arrow/type.h>

#include <algorithm>
#include <set>
#include <utility>

#include "delenda/read/arrow_type.h"
#include "delenda/read/nested_column.h"

namespace delenda::read {
namespace {

void CollectPaths(const Expr& expr, std::vector<std::vector<int32_t>>& paths) {
  for (const ExprRef& child : expr.children) CollectPaths(*child, paths);
  if (expr.children.empty() && !expr.column.path.empty()) paths.push_back(expr.column.path);
}

}  // namespace

Result<FilterEvaluator> FilterEvaluator::Make(ExprRef filter, const Schema& schema, FilterColumns columns) {
  FilterEvaluator evaluator;
  std::vector<std::vector<int32_t>> paths;
  CollectPaths(*filter, paths);
  std::set<int32_t> top_level;
  for (const auto& path : paths) top_level.insert(path.front());
  for (const int32_t id : top_level) {
    const Schema::Path path = schema.FindById(id);
    if (path.size() != 1) return InternalError("the filter looks at field id {}, which is no column of the schema", id);
    evaluator.fields_.push_back(columns == FilterColumns::kWhole ? *path[0] : CutDown(*path[0], paths));
    DELENDA_TRY(ToArrowField(evaluator.fields_.back()));
  }
  evaluator.filter_ = std::move(filter);
  return evaluator;
}

Result<Selection> FilterEvaluator::Evaluate(const std::vector<std::shared_ptr<arrow::Array>>& columns,
                                            int64_t rows) const {
  if (columns.size() != fields_.size()) return InternalError("filter columns are missing");
  return EvaluateNode(*filter_, columns, rows);
}

Result<Selection> FilterEvaluator::EvaluateNode(const Expr& expr,
                                                const std::vector<std::shared_ptr<arrow::Array>>& columns,
                                                int64_t rows) const {
  switch (expr.op) {
    case Op::kTrue:
    case Op::kFalse: return Selection(rows, expr.op == Op::kTrue);
    case Op::kNot: return InternalError("a bound filter holds NOT");
    case Op::kAnd:
    case Op::kOr: {
      Selection result(rows, expr.op == Op::kAnd);
      for (const ExprRef& child : expr.children) {
        const Selection part = DELENDA_TRY(EvaluateNode(*child, columns, rows));
        if (expr.op == Op::kAnd) {
          result &= part;
        } else {
          result |= part;
        }
      }
      return result;
    }
    default: break;
  }
  const std::vector<int32_t>& path = expr.column.path;
  const auto top =
      std::ranges::find_if(fields_, [&](const Field& field) { return !path.empty() && field.id == path[0]; });
  if (top == fields_.end()) return InternalError("column {} of the filter was not read", expr.column.name);
  const NestedColumn column = DELENDA_TRY(FollowPath(*top, path, columns[static_cast<size_t>(top - fields_.begin())]));
  if (column.array->length() != rows) {
    return InternalError("column {} has {} rows, not {}", expr.column.name, column.array->length(), rows);
  }
  return EvaluateLeafOnArray(expr, *column.array, column.valid);
}

}  // namespace delenda::read
