#include "delenda/read/filter_evaluator.h"

#include <arrow/array.h>
#include <arrow/type.h>

#include <algorithm>
#include <set>
#include <utility>

#include "delenda/read/arrow_type.h"

namespace delenda::read {
namespace {

// A struct cut down to what lies on the paths through it.
Field CutDown(const Field& field, const std::vector<std::vector<int32_t>>& paths, size_t depth) {
  // A path that ends here wants the field itself (IS NULL of a struct): any part of it tells, keep it whole.
  std::vector<std::vector<int32_t>> deeper;
  for (const auto& path : paths) {
    if (path.size() <= depth || path[depth] != field.id) continue;
    if (path.size() == depth + 1) return field;
    deeper.push_back(path);
  }
  if (field.type.kind() != TypeKind::kStruct) return field;
  std::vector<Field> kept;
  for (const Field& child : field.type.fields()) {
    const bool wanted = std::ranges::any_of(deeper, [&](const auto& path) { return path[depth + 1] == child.id; });
    if (wanted) kept.push_back(CutDown(child, deeper, depth + 1));
  }
  Field result = field;
  result.type = Type::Struct(std::move(kept));
  return result;
}

void CollectPaths(const Expr& expr, std::vector<std::vector<int32_t>>& paths) {
  for (const ExprRef& child : expr.children) CollectPaths(*child, paths);
  if (expr.children.empty() && !expr.column.path.empty()) paths.push_back(expr.column.path);
}

}  // namespace

Result<FilterEvaluator> FilterEvaluator::Make(ExprRef filter, const Schema& schema) {
  FilterEvaluator evaluator;
  std::vector<std::vector<int32_t>> paths;
  CollectPaths(*filter, paths);
  std::set<int32_t> top_level;
  for (const auto& path : paths) top_level.insert(path.front());
  for (const int32_t id : top_level) {
    const Schema::Path path = schema.FindById(id);
    if (path.size() != 1) return InternalError("the filter looks at field id {}, which is no column of the schema", id);
    evaluator.fields_.push_back(CutDown(*path[0], paths, 0));
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
  const Field* field = &*top;
  std::shared_ptr<arrow::Array> array = columns[static_cast<size_t>(top - fields_.begin())];
  Selection valid = ValidRows(*array);
  for (size_t depth = 1; depth < path.size(); ++depth) {
    const auto& children = field->type.fields();
    const auto child = std::ranges::find(children, path[depth], &Field::id);
    if (child == children.end() || array->type_id() != arrow::Type::STRUCT) {
      return InternalError("column {} of the filter was not read", expr.column.name);
    }
    // A field of a NULL struct is NULL, whatever its own slot says.
    array = static_cast<const arrow::StructArray&>(*array).field(static_cast<int>(child - children.begin()));
    valid &= ValidRows(*array);
    field = &*child;
  }
  if (array->length() != rows)
    return InternalError("column {} has {} rows, not {}", expr.column.name, array->length(), rows);
  return EvaluateLeafOnArray(expr, *array, valid);
}

}  // namespace delenda::read
