#include "delenda/read/nested_column.h"

#include <arrow/array.h>
#include <arrow/type.h>

#include <algorithm>
#include <utility>

namespace delenda::read {

namespace {

// The rows that are not NULL.
Selection ValidRows(const arrow::Array& array) {
  if (array.type_id() == arrow::Type::NA) return Selection(array.length());
  const uint8_t* bitmap = array.null_bitmap_data();
  if (bitmap == nullptr || array.null_count() == 0) return Selection(array.length(), true);
  const int64_t offset = array.offset();
  return Selection::Where(array.length(), [&](int64_t row) {
    const int64_t bit = offset + row;
    return (bitmap[bit / 8] >> (bit % 8) & 1) != 0;
  });
}

}  // namespace

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

Result<NestedColumn> FollowPath(const Field& top, const std::vector<int32_t>& path,
                                std::shared_ptr<arrow::Array> array) {
  NestedColumn column{.array = std::move(array), .valid = Selection()};
  column.valid = ValidRows(*column.array);
  const Field* field = &top;
  for (size_t depth = 1; depth < path.size(); ++depth) {
    const auto& children = field->type.fields();
    const auto child = std::ranges::find(children, path[depth], &Field::id);
    if (child == children.end() || column.array->type_id() != arrow::Type::STRUCT) {
      return InternalError("field {} of column {} was not read", path[depth], top.name);
    }
    // A field of a NULL struct is NULL, whatever its own slot says.
    column.array =
        static_cast<const arrow::StructArray&>(*column.array).field(static_cast<int>(child - children.begin()));
    column.valid &= ValidRows(*column.array);
    field = &*child;
  }
  return column;
}

}  // namespace delenda::read
