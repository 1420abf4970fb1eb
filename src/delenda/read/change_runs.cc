#include "delenda/read/change_runs.h"

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <string_view>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::read {
namespace {

constexpr auto kRuns = parquet::StatusSource::kCompute;
constexpr int64_t kMaxOrdinal = (int64_t{1} << 20) - 1;

using BatchRef = std::shared_ptr<arrow::RecordBatch>;

// Columns of another type would be read as what they are not.
Result<void> CheckTypes(const arrow::RecordBatch& batch, const arrow::Schema& numbered) {
  bool same = batch.num_columns() + 1 == numbered.num_fields();
  for (int i = 0; same && i < batch.num_columns(); ++i)
    same = batch.column(i)->type()->Equals(numbered.field(i)->type());
  if (!same) return InternalError("changes of another schema than was said: {}", batch.schema()->ToString());
  return {};
}

}  // namespace

Result<const ChangeRun*> ChangeRuns::Peek() {
  if (next_) return &*next_;
  while (batch_ == nullptr) {
    if (ended_) return nullptr;
    batch_ = DELENDA_TRY(source_->Next());
    row_ = 0;
    if (batch_ == nullptr) {
      ended_ = true;
    } else if (batch_->num_rows() == 0) {
      batch_ = nullptr;
    } else {
      DELENDA_TRY(CheckTypes(*batch_, *numbered_));
    }
  }
  const auto& types = static_cast<const arrow::StringArray&>(*batch_->column(columns_.type));
  const arrow::Array& ordinals = *batch_->column(columns_.ordinal);
  if (types.null_count() != 0 || ordinals.null_count() != 0) return InternalError("a change without type or ordinal");
  const bool narrow = ordinals.type_id() == arrow::Type::INT32;
  const auto* narrow_ordinals = narrow ? ordinals.data()->GetValues<int32_t>(1) : nullptr;
  const auto* wide_ordinals = narrow ? nullptr : ordinals.data()->GetValues<int64_t>(1);

  const int64_t begin = row_;
  const std::string_view type = types.GetView(begin);
  const int64_t ordinal = narrow ? narrow_ordinals[begin] : wide_ordinals[begin];
  const bool inserted = type == "INSERT";
  if (!inserted && type != "DELETE") return InternalError("a change of type {} where rows are still unpaired", type);
  if (ordinal < 0 || ordinal > kMaxOrdinal) return NotSupported("change ordinal {}: at most {}", ordinal, kMaxOrdinal);
  if (ordinal != ordinal_ || inserted != inserted_) {
    // Pairs would go unnoticed if rows of one snapshot did not lie together.
    if (ordinal < ordinal_ || (ordinal == ordinal_ && inserted_))
      return InternalError("changes out of order: {} of ordinal {} after {}", type, ordinal, ordinal_);
    index_ = 0;
  }
  ordinal_ = ordinal;
  inserted_ = inserted;
  int64_t end = begin + 1;
  const int64_t rows = batch_->num_rows();
  while (end < rows && (narrow ? narrow_ordinals[end] : wide_ordinals[end]) == ordinal && types.GetView(end) == type)
    ++end;
  const bool whole = begin == 0 && end == rows;
  next_ = ChangeRun{.batch = whole ? batch_ : batch_->Slice(begin, end - begin),
                    .ordinal = ordinal,
                    .inserted = inserted,
                    .first_index = index_};
  index_ += end - begin;
  row_ = end;
  if (row_ == rows) batch_ = nullptr;
  return &*next_;
}

ChangeRun ChangeRuns::Pop() {
  ChangeRun run = std::move(*next_);
  next_.reset();
  return run;
}

Result<BatchRef> ChangeRuns::NextOf(int64_t ordinal, bool inserted) {
  const ChangeRun* next = DELENDA_TRY(Peek());
  if (next == nullptr || next->ordinal != ordinal || next->inserted != inserted) return nullptr;
  const ChangeRun run = Pop();
  const int64_t rows = run.batch->num_rows();
  const int64_t first = ChangeNumber(ordinal, inserted ? ChangeRank::kInsert : ChangeRank::kDelete, run.first_index);
  arrow::Int64Builder numbers;
  DELENDA_TRY(parquet::ToResult(numbers.Reserve(rows), kRuns));
  for (int64_t row = 0; row < rows; ++row) numbers.UnsafeAppend(first + row);
  arrow::ArrayVector arrays = run.batch->columns();
  arrays.push_back(DELENDA_TRY(parquet::ToResult(numbers.Finish(), kRuns)));
  return arrow::RecordBatch::Make(numbered_, rows, std::move(arrays));
}

}  // namespace delenda::read
