#include "delenda/read/change_columns.h"

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::read {
namespace {

constexpr auto kColumns = parquet::StatusSource::kCompute;

Result<int> FindChangeColumn(const arrow::Schema& schema, size_t user_columns, std::string_view name,
                             std::initializer_list<arrow::Type::type> types, bool required) {
  for (int i = static_cast<int>(user_columns); i < schema.num_fields(); ++i) {
    const arrow::Field& field = *schema.field(i);
    if (field.name() != name) continue;
    for (const auto type : types) {
      if (field.type()->id() == type) return i;
    }
    return InvalidArgument("column {} of changes has type {}", name, field.type()->ToString());
  }
  if (required) return InvalidArgument("changes lack the column {}", name);
  return -1;
}

}  // namespace

int64_t NumberAt(const arrow::RecordBatch& batch, int column, int64_t row) {
  return static_cast<const arrow::Int64Array&>(*batch.column(column)).Value(row);
}

Result<ChangeColumns> FindChangeColumns(const arrow::Schema& schema, size_t user_columns) {
  const auto find = [&](std::string_view name, std::initializer_list<arrow::Type::type> types, bool required) {
    return FindChangeColumn(schema, user_columns, name, types, required);
  };
  ChangeColumns columns;
  columns.type = DELENDA_TRY(find("_change_type", {arrow::Type::STRING}, true));
  columns.ordinal = DELENDA_TRY(find("_change_ordinal", {arrow::Type::INT32, arrow::Type::INT64}, true));
  columns.snapshot_id = DELENDA_TRY(find("_commit_snapshot_id", {arrow::Type::INT64}, true));
  columns.row_id = DELENDA_TRY(find("_row_id", {arrow::Type::INT64}, false));
  columns.last_updated = DELENDA_TRY(find("_last_updated_sequence_number", {arrow::Type::INT64}, false));
  columns.number = schema.num_fields();
  return columns;
}

std::shared_ptr<arrow::Schema> WithNumber(const arrow::Schema& schema) {
  arrow::FieldVector fields = schema.fields();
  fields.push_back(arrow::field("number", arrow::int64(), false));
  return arrow::schema(std::move(fields));
}

Result<std::shared_ptr<arrow::RecordBatch>> NumberUpdates(const arrow::RecordBatch& images, int number) {
  constexpr int64_t kRankBits = int64_t{3} << kRankShift;
  arrow::Int64Builder numbers;
  DELENDA_TRY(parquet::ToResult(numbers.Reserve(images.num_rows()), kColumns));
  for (int64_t row = 0; row < images.num_rows(); ++row) {
    const int64_t inserted = NumberAt(images, number, row | 1);
    numbers.UnsafeAppend((inserted & ~kRankBits) | ChangeNumber(0, ChangeRank::kUpdate, 0));
  }
  const auto array = DELENDA_TRY(parquet::ToResult(numbers.Finish(), kColumns));
  return parquet::ToResult(images.SetColumn(number, images.schema()->field(number), array), kColumns);
}

}  // namespace delenda::read
