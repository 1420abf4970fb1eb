#include "delenda/ops/keyed_rows_writer.h"

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/ops/new_rows.h"
#include "delenda/read/row_gather.h"
#include "delenda/write/required_check.h"

namespace delenda::ops {
namespace {

constexpr auto kKeyedRows = parquet::StatusSource::kCompute;

Result<std::shared_ptr<arrow::Array>> RowIdColumn(std::span<const int64_t> row_ids) {
  arrow::Int64Builder builder;
  DELENDA_TRY(parquet::ToResult(builder.Reserve(static_cast<int64_t>(row_ids.size())), kKeyedRows));
  for (const int64_t id : row_ids) {
    if (id == KeyedRowsWriter::kNewRow) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(id);
    }
  }
  return parquet::ToResult(builder.Finish(), kKeyedRows);
}

}  // namespace

KeyedRowsWriter::KeyedRowsWriter(write::PartitionedWriter writer, std::shared_ptr<write::StagedFiles> staged,
                                 const KeyedSource& source, bool dry_run)
    : writer_(std::move(writer)), staged_(std::move(staged)), source_(&source), dry_run_(dry_run) {}

Result<KeyedRowsWriter> KeyedRowsWriter::Make(const commit::TableSession& session, const KeyedSource& source,
                                              bool dry_run, bool row_ids) {
  auto staged = std::make_shared<write::StagedFiles>(session.io());
  // An empty table of format version 2 takes rows, but has no row ids.
  auto target = DELENDA_TRY(NewFiles(session, staged, row_ids && session.format_version() >= 3));
  KeyedRowsWriter writer(DELENDA_TRY(write::PartitionedWriter::Make(std::move(target))), staged, source, dry_run);
  writer.table_ = session.schema();
  writer.schema_ = DELENDA_TRY(writer.writer_.target().BatchSchema());
  return writer;
}

Result<void> KeyedRowsWriter::Write(const std::shared_ptr<arrow::RecordBatch>& batch, const read::Selection& written,
                                    std::span<const int64_t> row_ids) {
  const auto kept = DELENDA_TRY(read::KeepRows(batch, written, arrow::default_memory_pool()));
  if (kept == nullptr) return {};
  const auto columns = static_cast<std::ptrdiff_t>(table_.fields().size());
  arrow::ArrayVector values(kept->columns().begin(), kept->columns().begin() + columns);
  if (writer_.target().row_lineage) {
    values.push_back(DELENDA_TRY(RowIdColumn(row_ids)));
    // NULL: the commit's own number is inherited.
    values.push_back(
        DELENDA_TRY(parquet::ToResult(arrow::MakeArrayOfNull(arrow::int64(), kept->num_rows()), kKeyedRows)));
  }
  const auto rows = arrow::RecordBatch::Make(schema_, kept->num_rows(), std::move(values));
  DELENDA_TRY(CheckRows(*rows));
  if (dry_run_) return {};
  return writer_.Write(*rows);
}

Result<void> KeyedRowsWriter::CheckRows(const arrow::RecordBatch& rows) const {
  const auto all = write::CheckRequired(table_, rows, 1);
  if (all || all.error().kind() != ErrorKind::kInvalidArgument) return all;
  for (int64_t row = 0; row < rows.num_rows(); ++row) {
    auto one = write::CheckRequired(table_, *rows.Slice(row, 1), 1);
    if (!one)
      return std::unexpected(
          Error(ErrorKind::kInvalidArgument,
                fmt::format("the row with the key {}: {}", KeyText(*source_, rows, row), one.error().message())));
  }
  return all;
}

}  // namespace delenda::ops
