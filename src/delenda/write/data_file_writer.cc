#include "delenda/write/data_file_writer.h"

#include <arrow/extension/uuid.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/read/arrow_type.h"
#include "delenda/write/file_metrics.h"
#include "delenda/write/required_check.h"

namespace delenda::write {
namespace {

// Between slices the size of the file is looked at.
constexpr int64_t kRollRows = 64 * 1024;
constexpr int64_t kFewestRollRows = 100;

// Parquet has no UUID in Arrow's plain types.
std::shared_ptr<arrow::DataType> FileType(const Type& type, const std::shared_ptr<arrow::DataType>& arrow_type) {
  if (type.kind() == TypeKind::kUuid) return arrow::extension::uuid();
  if (!type.is_nested()) return arrow_type;
  arrow::FieldVector fields;
  for (size_t i = 0; i < type.fields().size(); ++i) {
    const auto& field = type.kind() == TypeKind::kMap ? arrow_type->field(0)->type()->field(static_cast<int>(i))
                                                      : arrow_type->field(static_cast<int>(i));
    fields.push_back(field->WithType(FileType(type.fields()[i].type, field->type())));
  }
  if (type.kind() == TypeKind::kStruct) return arrow::struct_(std::move(fields));
  if (type.kind() == TypeKind::kList) return arrow::list(fields[0]);
  return std::make_shared<arrow::MapType>(fields[0], fields[1]);
}

bool HasUnknownBelow(const Type& type) {
  return std::ranges::any_of(type.fields(), [](const Field& field) {
    return field.type.kind() == TypeKind::kUnknown || HasUnknownBelow(field.type);
  });
}

}  // namespace

Result<Schema> WriteTarget::RowSchema() const {
  std::vector<Field> fields = schema.fields();
  if (row_lineage) {
    fields.push_back({.id = kRowIdFieldId, .name = "_row_id", .type = TypeKind::kLong});
    fields.push_back(
        {.id = kLastUpdatedSequenceFieldId, .name = "_last_updated_sequence_number", .type = TypeKind::kLong});
  }
  return Schema::Make(schema.id(), std::move(fields), schema.identifier_ids());
}

Result<std::shared_ptr<arrow::Schema>> WriteTarget::BatchSchema() const {
  const Schema rows = DELENDA_TRY(RowSchema());
  arrow::FieldVector fields;
  for (const Field& field : rows.fields()) {
    auto arrow_field = read::ToArrowField(field);
    if (!arrow_field && arrow_field.error().kind() == ErrorKind::kNotSupported) {
      return NotSupported("column {} is of type {}, which cannot be written yet", field.name, field.type.ToString());
    }
    fields.push_back(DELENDA_TRY(std::move(arrow_field)));
  }
  return arrow::schema(std::move(fields));
}

struct DataFileWriter::State {
  const WriteTarget* target = nullptr;
  DataFileNames* names = nullptr;
  std::shared_ptr<const PartitionTuple> partition;
  std::string partition_path;
  Schema rows;              // of the batches
  std::vector<int> stored;  // columns of the batches that the file has: all but those of type unknown
  std::shared_ptr<arrow::Schema> file_schema;
  std::map<int32_t, MetricsMode> metrics_modes;

  std::unique_ptr<parquet::FileWriter> file;
  std::optional<MetricsCollector> metrics;
  std::vector<ContentFile> finished;
  int64_t rows_taken = 0;

  Result<void> OpenFile();
};

DataFileWriter::DataFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
DataFileWriter::~DataFileWriter() = default;
DataFileWriter::DataFileWriter(DataFileWriter&&) noexcept = default;
DataFileWriter& DataFileWriter::operator=(DataFileWriter&&) noexcept = default;

Result<DataFileWriter> DataFileWriter::Make(const WriteTarget& target, DataFileNames& names,
                                            std::shared_ptr<const PartitionTuple> partition) {
  if (!partition || partition->values.size() != target.spec.spec.fields.size()) {
    return InvalidArgument("a partition of {} values for a spec of {} fields", partition ? partition->values.size() : 0,
                           target.spec.spec.fields.size());
  }
  auto state = std::make_unique<State>();
  state->target = &target;
  state->names = &names;
  state->partition = std::move(partition);
  state->partition_path = PartitionPath(target.spec, *state->partition);
  state->rows = DELENDA_TRY(target.RowSchema());
  state->metrics_modes = target.properties.metrics;
  if (target.row_lineage) {
    // Always: readers that look for rows by their ids prune by them.
    state->metrics_modes[kRowIdFieldId] = MetricsMode();
    state->metrics_modes[kLastUpdatedSequenceFieldId] = MetricsMode();
  }
  const auto batch_schema = DELENDA_TRY(target.BatchSchema());
  arrow::FieldVector fields;
  for (int i = 0; i < batch_schema->num_fields(); ++i) {
    const Field& field = state->rows.fields()[static_cast<size_t>(i)];
    // Columns of type unknown are not stored (spec, Appendix A): every value is NULL.
    if (field.type.kind() == TypeKind::kUnknown) continue;
    if (HasUnknownBelow(field.type)) {
      return NotSupported("column {}: type unknown inside another type cannot be written yet", field.name);
    }
    const auto& arrow_field = batch_schema->field(i);
    state->stored.push_back(i);
    fields.push_back(arrow_field->WithType(FileType(field.type, arrow_field->type())));
  }
  if (fields.empty()) return NotSupported("a table without a column that has values cannot be written");
  state->file_schema = arrow::schema(std::move(fields));
  return DataFileWriter(std::move(state));
}

Result<void> DataFileWriter::State::OpenFile() {
  std::string path = names->Next(partition_path);
  if (target->staged) target->staged->Add(path);
  parquet::WriterOptions options = target->properties.parquet;
  options.executor = target->executor;
  file = DELENDA_TRY(parquet::FileWriter::Make(*target->io, std::move(path), file_schema, options));
  metrics.emplace(rows, metrics_modes);
  return {};
}

Result<void> DataFileWriter::Write(const arrow::RecordBatch& batch) {
  State& s = *state_;
  if (batch.num_rows() == 0) return {};
  if (static_cast<size_t>(batch.num_columns()) != s.rows.fields().size()) {
    return InternalError("a batch of {} columns for a table of {}", batch.num_columns(), s.rows.fields().size());
  }
  DELENDA_TRY(CheckRequired(s.rows, batch, s.rows_taken + 1));
  s.rows_taken += batch.num_rows();
  std::shared_ptr<arrow::RecordBatch> stored = DELENDA_TRY(parquet::ToResult(batch.SelectColumns(s.stored)));
  const int64_t bytes = DELENDA_TRY(parquet::ToResult(arrow::util::ReferencedBufferSize(batch)));
  const int64_t bytes_per_row = bytes / batch.num_rows() + 1;
  const int64_t slice_rows =
      std::clamp(s.target->properties.target_file_bytes / 8 / bytes_per_row, kFewestRollRows, kRollRows);
  for (int64_t at = 0; at < batch.num_rows(); at += slice_rows) {
    if (!s.file) DELENDA_TRY(s.OpenFile());
    const auto slice = stored->Slice(at, std::min(slice_rows, batch.num_rows() - at));
    DELENDA_TRY(s.metrics->Add(*slice));
    DELENDA_TRY(s.file->Write(*slice));
    if (s.file->estimated_size() >= static_cast<uint64_t>(s.target->properties.target_file_bytes)) {
      DELENDA_TRY(CloseFile());
    }
  }
  return {};
}

Result<void> DataFileWriter::CloseFile() {
  State& s = *state_;
  if (!s.file) return {};
  // Taken first: a file that could not be finished must not be finished again.
  const std::unique_ptr<parquet::FileWriter> file = std::move(s.file);
  const parquet::WrittenFile written = DELENDA_TRY(file->Finish());
  FileMetrics metrics = DELENDA_TRY(s.metrics->Finish(written));
  ContentFile data;
  data.content = FileContent::kData;
  data.format = FileFormat::kParquet;
  data.path = written.path;
  data.spec_id = s.target->spec.spec.spec_id;
  data.partition = s.partition;
  data.record_count = written.rows;
  data.file_size = static_cast<int64_t>(written.size);
  data.sort_order_id = s.target->sort_order_id;
  data.split_offsets = written.row_group_offsets;
  data.metrics = std::make_shared<const FileMetrics>(std::move(metrics));
  s.finished.push_back(std::move(data));
  return {};
}

Result<void> DataFileWriter::EndRowGroup() { return state_->file ? state_->file->EndRowGroup() : Result<void>(); }

uint64_t DataFileWriter::buffered_bytes() const { return state_->file ? state_->file->buffered_bytes() : 0; }

bool DataFileWriter::has_open_file() const { return state_->file != nullptr; }

Result<std::vector<ContentFile>> DataFileWriter::Finish() {
  DELENDA_TRY(CloseFile());
  return std::exchange(state_->finished, {});
}

}  // namespace delenda::write
