#include "delenda/ops/delta_writer.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <string_view>
#include <utility>

#include "delenda/commit/upgrade.h"
#include "delenda/ops/source_files.h"

namespace delenda::ops {
namespace {

// The operation column is the last one of the source's rows.
const arrow::StringArray& OperationsOf(const arrow::RecordBatch& batch) {
  return static_cast<const arrow::StringArray&>(*batch.column(batch.num_columns() - 1));
}

}  // namespace

Result<DeltaWriter> DeltaWriter::Make(const commit::TableSession& session, DeltaWriterOptions options) {
  DELENDA_TRY(commit::CheckTakesDeletes(session.format_version()));
  if (options.operation_column.empty()) return InvalidArgument("the column with the operations has no name");
  if (!session.schema().FindByName(options.operation_column).empty()) {
    return InvalidArgument("the table has a column '{}': name another one for the operations",
                           options.operation_column);
  }
  options.key = DELENDA_TRY(KeyColumns(session.schema(), options.key));
  auto source = DELENDA_TRY(KeyedSource::ForBatches(
      session.schema(),
      {.rows = {.key = options.key, .memory_budget = options.memory_budget, .temp_folder = options.temp_folder}},
      {Field{.name = options.operation_column, .type = TypeKind::kString}}, session.hooks()));
  options.key = source.key();
  if (options.fallback == DeltaFallback::kCommitEqualityDeletes)
    DELENDA_TRY(CheckTakesEqualityDeletes(session, options.key));
  return DeltaWriter(session, std::move(options), std::move(source));
}

Result<void> DeltaWriter::Write(const arrow::RecordBatch& batch) {
  if (state_ != State::kOpen) return InvalidArgument("the writer is finished: take another one for more events");
  if (batch.num_rows() == 0) return {};
  if (batch_schema_ == nullptr || !batch_schema_->Equals(*batch.schema())) {
    std::vector<std::string> needed = options_.key;
    DELENDA_TRY(CheckHasKey(*batch.schema(), needed));
    if (batch.schema()->GetFieldIndex(options_.operation_column) < 0)
      return InvalidArgument("the events have no column '{}' that says what happened", options_.operation_column);
    conformer_ = DELENDA_TRY(
        write::RowConformer::Make(*batch.schema(), source_.schema(),
                                  {.ignore_unknown_columns = options_.ignore_unknown_columns, .parse_text = false}));
    batch_schema_ = batch.schema();
  }
  auto rows = DELENDA_TRY(conformer_->Conform(batch));
  const arrow::StringArray& operations = OperationsOf(*rows);
  for (int64_t row = 0; row < rows->num_rows(); ++row) {
    const std::string_view operation = operations.IsNull(row) ? "NULL" : operations.GetView(row);
    if (operation.size() == 1 && std::string_view("crud").contains(operation[0])) continue;
    return InvalidArgument("column '{}', event {}: '{}' is no operation: expected c, r, u or d",
                           options_.operation_column, rows_ + static_cast<uint64_t>(row) + 1, operation.substr(0, 40));
  }
  rows_ += static_cast<uint64_t>(rows->num_rows());
  return source_.Add(std::move(rows));
}

Result<DeltaResult> DeltaWriter::Finish() {
  if (state_ == State::kUsedUp) return InvalidArgument("the writer is finished: take another one for more events");
  if (state_ == State::kOpen) {
    state_ = State::kUsedUp;  // should temporary files fail, which hold the events
    DELENDA_TRY(source_.Close());
    state_ = State::kClosed;
  }
  const auto only_deletes = [](const arrow::RecordBatch& batch) -> Result<read::Selection> {
    const arrow::StringArray& operations = OperationsOf(batch);
    return read::Selection::Where(batch.num_rows(), [&](int64_t row) { return operations.GetView(row) == "d"; });
  };
  auto result = DELENDA_TRY(
      WriteDeltaFiles(*session_, source_, only_deletes, {.order = options_.order, .fallback = options_.fallback}));
  state_ = State::kUsedUp;
  return result;
}

}  // namespace delenda::ops
