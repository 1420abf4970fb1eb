#include "delenda/write/required_check.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::write {
namespace {

using parquet::ToResult;
constexpr auto kOursToCheck = parquet::StatusSource::kCompute;

bool HasRequired(const Field& field) { return field.required || std::ranges::any_of(field.type.fields(), HasRequired); }

// The full name of a required field at or below `field` that is NULL. `array`: its values, NULL too where a parent is;
// so many are: `parent_nulls`.
Result<std::optional<std::string>> FindNull(const Field& field, const arrow::Array& array, int64_t parent_nulls) {
  if (field.required && array.null_count() > parent_nulls) return std::optional(field.name);
  const auto below = [&](const Field& child, const arrow::Array& values,
                         int64_t nulls) -> Result<std::optional<std::string>> {
    if (!HasRequired(child)) return std::optional<std::string>();
    std::optional<std::string> name = DELENDA_TRY(FindNull(child, values, nulls));
    if (name) name = field.name + "." + *name;
    return name;
  };
  const auto& children = field.type.fields();
  switch (field.type.kind()) {
    case TypeKind::kStruct: {
      const auto& values = static_cast<const arrow::StructArray&>(array);
      for (size_t i = 0; i < children.size(); ++i) {
        if (!HasRequired(children[i])) continue;
        const auto child = DELENDA_TRY(ToResult(values.GetFlattenedField(static_cast<int>(i)), kOursToCheck));
        if (auto name = DELENDA_TRY(below(children[i], *child, values.null_count()))) return name;
      }
      return std::optional<std::string>();
    }
    case TypeKind::kList: {
      const auto values = DELENDA_TRY(ToResult(static_cast<const arrow::ListArray&>(array).Flatten(), kOursToCheck));
      return below(children[0], *values, 0);
    }
    case TypeKind::kMap: {
      const auto entries = DELENDA_TRY(ToResult(static_cast<const arrow::MapArray&>(array).Flatten(), kOursToCheck));
      const auto& pairs = static_cast<const arrow::StructArray&>(*entries);
      for (int i = 0; i < 2; ++i) {
        const auto child = DELENDA_TRY(ToResult(pairs.GetFlattenedField(i), kOursToCheck));
        if (auto name = DELENDA_TRY(below(children[static_cast<size_t>(i)], *child, 0))) return name;
      }
      return std::optional<std::string>();
    }
    default: return std::optional<std::string>();
  }
}

Result<std::optional<std::string>> FindNullIn(const Schema& schema, const arrow::RecordBatch& batch) {
  for (size_t i = 0; i < schema.fields().size(); ++i) {
    const Field& field = schema.fields()[i];
    if (!HasRequired(field)) continue;
    if (auto name = DELENDA_TRY(FindNull(field, *batch.column(static_cast<int>(i)), 0))) return name;
  }
  return std::optional<std::string>();
}

}  // namespace

Result<void> CheckRequired(const Schema& schema, const arrow::RecordBatch& batch, int64_t first_row) {
  std::optional<std::string> name = DELENDA_TRY(FindNullIn(schema, batch));
  if (!name) return {};
  // The first row that has one, by halving: rows of nested values are not found otherwise without a second walk.
  int64_t row = 0;
  int64_t count = batch.num_rows();
  while (count > 1) {
    const int64_t half = count / 2;
    if (auto earlier = DELENDA_TRY(FindNullIn(schema, *batch.Slice(row, half)))) {
      name = std::move(earlier);
      count = half;
    } else {
      row += half;
      count -= half;
    }
  }
  name = DELENDA_TRY(FindNullIn(schema, *batch.Slice(row, 1)));
  return InvalidArgument("column {} is required: row {} has NULL", name.value_or("?"), first_row + row);
}

}  // namespace delenda::write
