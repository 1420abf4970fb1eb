#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>

#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/read/task_reader.h"

namespace delenda::read {
namespace {

constexpr auto kCompute = parquet::StatusSource::kCompute;
using ArrayRef = std::shared_ptr<arrow::Array>;

Result<ArrayRef> Compact(const ArrayRef& array, const Selection& kept) {
  const auto bits = std::make_shared<arrow::Buffer>(kept.bytes(), (kept.rows() + 7) / 8);
  const arrow::BooleanArray mask(kept.rows(), bits);
  const arrow::Datum filtered = DELENDA_TRY(parquet::ToResult(
      arrow::compute::Filter(array, arrow::Datum(mask.data()), arrow::compute::FilterOptions::Defaults()), kCompute));
  return filtered.make_array();
}

Result<ArrayRef> Positions(uint64_t first, int64_t rows, const std::optional<Selection>& kept, int64_t count) {
  arrow::Int64Builder builder;
  DELENDA_TRY(parquet::ToResult(builder.Reserve(count), kCompute));
  for (int64_t row = 0; row < rows; ++row) {
    if (!kept || kept->Kept(row)) builder.UnsafeAppend(static_cast<int64_t>(first) + row);
  }
  return parquet::ToResult(builder.Finish(), kCompute);
}

}  // namespace

RowGroupScan::RowGroupScan(ScanContext& context, std::shared_ptr<const OpenTask> task, size_t row_group)
    : context_(context),
      task_(std::move(task)),
      row_group_(row_group),
      check_keys_(task_->ChecksKeys(row_group)),
      column_plan_(check_keys_ ? task_->with_keys : task_->plain),
      info_(task_->data->file->row_groups()[row_group]) {}
RowGroupScan::~RowGroupScan() = default;

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupScan::Next() {
  Result<std::shared_ptr<arrow::RecordBatch>> batch = parquet::Guarded([&] { return NextOrError(); });
  if (!batch) {
    batch.error().Add("row group", row_group_).Add("file", context_.plan().tasks[task_->index].file.path);
  }
  return batch;
}

// Positions are ordinals in the file: the row group's first position plus the row within the group, whatever other row
// groups were skipped and whatever rows the filter drops.
std::optional<Selection> RowGroupScan::LiveRows(int64_t begin, int64_t rows) const {
  const PositionSet& deleted = task_->data->deleted;
  if (deleted.empty()) return std::nullopt;
  Selection live(rows);
  const uint64_t first = info_.first_position + static_cast<uint64_t>(begin);
  if (deleted.FillMask(first, static_cast<uint64_t>(rows), live.mutable_bytes(), MaskBits::kNonMembers) == 0)
    return std::nullopt;
  return live;
}

Result<std::optional<Selection>> RowGroupScan::Decide(std::span<const ArrayRef> columns, int64_t rows) const {
  std::optional<Selection> left;
  size_t next = 0;
  const auto take = [&](size_t count) {
    const auto part = columns.subspan(next, count);
    next += count;
    return std::vector<ArrayRef>(part.begin(), part.end());
  };
  if (task_->filter) left = DELENDA_TRY(task_->filter->Evaluate(take(task_->filter->fields().size()), rows));
  if (!check_keys_) return left;
  if (!left) left = Selection(rows, true);
  const int64_t data_sequence_number = context_.plan().tasks[task_->index].file.data_sequence_number;
  for (const auto& keys : task_->equality)
    DELENDA_TRY(keys->RemoveDeleted(take(keys->fields().size()), data_sequence_number, *left));
  return left;
}

Result<bool> RowGroupScan::FirstPass() {
  const int64_t batch_rows = context_.options().batch_rows;
  Selection matching(info_.num_rows);
  int64_t begin = 0;
  const auto evaluate = [&](const arrow::RecordBatch* batch, int64_t rows) -> Result<void> {
    DELENDA_TRY(context_.CheckCancelled());
    const auto columns = DELENDA_TRY(column_plan_.deciding.Adapt(batch, rows));
    const auto part = DELENDA_TRY(Decide(columns, rows));
    matching.Assign(begin, part ? *part : Selection(rows, true));
    begin += rows;
    return {};
  };
  if (column_plan_.deciding.leaves().empty()) {
    while (begin < info_.num_rows) DELENDA_TRY(evaluate(nullptr, std::min(batch_rows, info_.num_rows - begin)));
  } else {
    filter_reader_ = DELENDA_TRY(task_->data->file->Read(row_group_, column_plan_.deciding.leaves(), batch_rows));
    while (const auto batch = DELENDA_TRY(filter_reader_->Next()))
      DELENDA_TRY(evaluate(batch.get(), batch->num_rows()));
  }
  if (const std::optional<Selection> live = LiveRows(0, info_.num_rows)) matching &= *live;
  const int64_t count = matching.Count();
  if (count != info_.num_rows) selected_ = std::move(matching);
  return count != 0;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupScan::NextOrError() {
  const bool reads = !column_plan_.columns.leaves().empty();
  if (!started_) {
    started_ = true;
    if (column_plan_.two_passes && !DELENDA_TRY(FirstPass())) next_row_ = info_.num_rows;
    if (reads && next_row_ < info_.num_rows) {
      reader_ = DELENDA_TRY(task_->data->file->Read(row_group_, column_plan_.columns.leaves(),
                                                    context_.options().batch_rows, filter_reader_.get()));
      filter_reader_.reset();
    }
  }
  while (next_row_ < info_.num_rows) {
    DELENDA_TRY(context_.CheckCancelled());
    std::shared_ptr<arrow::RecordBatch> batch;
    int64_t rows = std::min(context_.options().batch_rows, info_.num_rows - next_row_);
    if (reads) {
      batch = DELENDA_TRY(reader_->Next());
      if (!batch) return InternalError("a row group ended early");
      rows = batch->num_rows();
    }
    const int64_t begin = next_row_;
    next_row_ += rows;
    // The last batch: see that nothing follows it, which would mean that the columns and the row count disagree.
    if (reads && next_row_ == info_.num_rows && DELENDA_TRY(reader_->Next()))
      return Corrupt("more rows than the row group has");

    std::optional<Selection> kept;
    if (column_plan_.two_passes) {
      if (selected_) kept = selected_->Slice(begin, rows);
      if (kept && kept->Count() == 0) continue;
    } else {
      kept = LiveRows(begin, rows);
      if (kept && kept->Count() == 0) continue;
    }
    std::vector<ArrayRef> columns = DELENDA_TRY(column_plan_.columns.Adapt(batch.get(), rows));
    if (!column_plan_.two_passes && (task_->filter || check_keys_)) {
      const size_t outputs = context_.output_fields().size();
      const auto left = DELENDA_TRY(Decide(std::span(columns).subspan(outputs), rows));
      if (!kept) {
        kept = left;
      } else if (left) {
        *kept &= *left;
      }
      columns.resize(outputs);
    }
    if (auto result = DELENDA_TRY(Assemble(begin, rows, kept, std::move(columns)))) return result;
  }
  return nullptr;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupScan::Assemble(int64_t begin, int64_t rows,
                                                                   const std::optional<Selection>& kept,
                                                                   std::vector<ArrayRef> fields) const {
  const int64_t count = kept ? kept->Count() : rows;
  if (count == 0) return nullptr;
  const plan::ScanPlan& plan = context_.plan();
  std::vector<ArrayRef> columns;
  size_t next_field = 0;
  for (const plan::OutputColumn& column : plan.columns) {
    switch (column.kind) {
      case plan::OutputColumn::Kind::kField: {
        ArrayRef& array = fields[next_field++];
        columns.push_back(count == rows ? std::move(array) : DELENDA_TRY(Compact(array, *kept)));
        break;
      }
      case plan::OutputColumn::Kind::kFilePath: {
        const arrow::StringScalar path(plan.tasks[task_->index].file.path);
        columns.push_back(DELENDA_TRY(parquet::ToResult(arrow::MakeArrayFromScalar(path, count), kCompute)));
        break;
      }
      case plan::OutputColumn::Kind::kPosition:
        columns.push_back(
            DELENDA_TRY(Positions(info_.first_position + static_cast<uint64_t>(begin), rows, kept, count)));
        break;
    }
  }
  return arrow::RecordBatch::Make(context_.schema(), count, std::move(columns));
}

}  // namespace delenda::read
