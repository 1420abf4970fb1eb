#include "delenda/read/change_output.h"

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::read {
namespace {

constexpr auto kOutput = parquet::StatusSource::kCompute;

}  // namespace

ChangeOutput::ChangeOutput(const arrow::Schema& schema, ChangeColumns columns, std::vector<int> output_columns,
                           int64_t batch_rows)
    : columns_(columns), output_columns_(std::move(output_columns)), batch_rows_(batch_rows) {
  arrow::FieldVector fields;
  for (const int column : output_columns_) fields.push_back(schema.field(column));
  schema_ = arrow::schema(std::move(fields), schema.metadata());
}

Result<void> ChangeOutput::Add(const std::shared_ptr<arrow::RecordBatch>& batch) {
  if (current_ != nullptr || !waiting_.empty()) return InternalError("rows would overtake others");
  current_ = DELENDA_TRY(Project(*batch));
  current_row_ = 0;
  return {};
}

Result<std::shared_ptr<arrow::RecordBatch>> ChangeOutput::Next() {
  while (current_ == nullptr) {
    if (waiting_.empty()) return nullptr;
    auto batch = DELENDA_TRY(waiting_.front().Pop());
    if (batch == nullptr) {
      waiting_.pop_front();
      continue;
    }
    current_ = DELENDA_TRY(Project(*DELENDA_TRY(WithTypes(std::move(batch)))));
    current_row_ = 0;
  }
  const int64_t rows = std::min(batch_rows_, current_->num_rows() - current_row_);
  auto slice = rows == current_->num_rows() ? current_ : current_->Slice(current_row_, rows);
  current_row_ += rows;
  if (current_row_ == current_->num_rows()) current_ = nullptr;
  return slice;
}

Result<std::shared_ptr<arrow::RecordBatch>> ChangeOutput::Project(const arrow::RecordBatch& batch) const {
  arrow::ArrayVector arrays;
  arrays.reserve(output_columns_.size());
  for (const int column : output_columns_) arrays.push_back(batch.column(column));
  return arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(arrays));
}

Result<std::shared_ptr<arrow::RecordBatch>> ChangeOutput::WithTypes(std::shared_ptr<arrow::RecordBatch> batch) {
  const auto& numbers = static_cast<const arrow::Int64Array&>(*batch->column(columns_.number));
  const int64_t rows = batch->num_rows();
  const auto is_update = [&](int64_t row) { return RankOfNumber(numbers.Value(row)) == ChangeRank::kUpdate; };
  bool any = false;
  for (int64_t row = 0; row < rows && !any; ++row) any = is_update(row);
  if (!any) return batch;
  arrow::StringBuilder types;
  DELENDA_TRY(parquet::ToResult(types.Reserve(rows), kOutput));
  const auto& old_types = static_cast<const arrow::StringArray&>(*batch->column(columns_.type));
  for (int64_t row = 0; row < rows; ++row) {
    if (!is_update(row)) {
      DELENDA_TRY(parquet::ToResult(types.Append(old_types.GetView(row)), kOutput));
      continue;
    }
    DELENDA_TRY(parquet::ToResult(types.Append(after_next_ ? "UPDATE_AFTER" : "UPDATE_BEFORE"), kOutput));
    after_next_ = !after_next_;
  }
  return parquet::ToResult(batch->SetColumn(columns_.type, batch->schema()->field(columns_.type),
                                            DELENDA_TRY(parquet::ToResult(types.Finish(), kOutput))),
                           kOutput);
}

}  // namespace delenda::read
