#include "delenda/write/row_file.h"

#include <arrow/array.h>
#include <arrow/extension/uuid.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <string>
#include <utility>
#include <vector>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/output_adapter.h"

namespace delenda::write {
namespace {

using parquet::ToResult;
// The batches are ours: what Arrow finds wrong with them is our fault.
constexpr auto kOurs = parquet::StatusSource::kCompute;
constexpr int64_t kRowGroupRows = int64_t{1} << 20;

class IpcWriter final : public RowFileWriter {
 public:
  static Result<std::unique_ptr<RowFileWriter>> Make(bool is_file, const std::shared_ptr<arrow::Schema>& schema,
                                                     ByteSink sink) {
    auto stream = std::make_shared<parquet::OutputAdapter>(std::move(sink));
    auto writer = DELENDA_TRY(ToResult(
        is_file ? arrow::ipc::MakeFileWriter(stream, schema) : arrow::ipc::MakeStreamWriter(stream, schema), kOurs));
    return std::make_unique<IpcWriter>(std::move(stream), std::move(writer));
  }
  IpcWriter(std::shared_ptr<parquet::OutputAdapter> stream, std::shared_ptr<arrow::ipc::RecordBatchWriter> writer)
      : stream_(std::move(stream)), writer_(std::move(writer)) {}
  ~IpcWriter() override { stream_->Abandon(); }

  Result<void> Write(const arrow::RecordBatch& batch) override {
    return ToResult(writer_->WriteRecordBatch(batch), kOurs);
  }
  Result<void> Finish() override {
    DELENDA_TRY(ToResult(writer_->Close(), kOurs));
    return ToResult(stream_->Close(), kOurs);
  }

 private:
  std::shared_ptr<parquet::OutputAdapter> stream_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

bool IsMarkedUuid(const arrow::Field& field) {
  const auto& metadata = field.metadata();
  if (!metadata || !field.type()->Equals(arrow::fixed_size_binary(16))) return false;
  const auto name = metadata->Get("ARROW:extension:name");
  return name.ok() && *name == "arrow.uuid";
}

class ParquetWriter final : public RowFileWriter {
 public:
  static Result<std::unique_ptr<RowFileWriter>> Make(const std::shared_ptr<arrow::Schema>& schema, ByteSink sink) {
    arrow::FieldVector fields = schema->fields();
    for (auto& field : fields) {
      if (!IsMarkedUuid(*field)) continue;
      auto metadata = field->metadata()->Copy();
      for (const char* key : {"ARROW:extension:name", "ARROW:extension:metadata"}) {
        const int at = metadata->FindKey(key);
        if (at >= 0) DELENDA_TRY(ToResult(metadata->Delete(at), kOurs));
      }
      field = arrow::field(field->name(), arrow::extension::uuid(), field->nullable(), std::move(metadata));
    }
    auto writer_schema = arrow::schema(std::move(fields), schema->metadata());
    const auto properties = ::parquet::WriterProperties::Builder()
                                .compression(arrow::Compression::ZSTD)
                                ->created_by("delenda")
                                ->max_row_group_length(kRowGroupRows)
                                ->build();
    // With the Arrow schema beside Parquet's own, so that Arrow readers get back the very types.
    const auto arrow_properties = ::parquet::ArrowWriterProperties::Builder().store_schema()->build();
    auto stream = std::make_shared<parquet::OutputAdapter>(std::move(sink));
    auto writer = DELENDA_TRY(ToResult(::parquet::arrow::FileWriter::Open(*writer_schema, arrow::default_memory_pool(),
                                                                          stream, properties, arrow_properties),
                                       kOurs));
    return std::make_unique<ParquetWriter>(std::move(stream), std::move(writer), std::move(writer_schema));
  }
  ParquetWriter(std::shared_ptr<parquet::OutputAdapter> stream, std::unique_ptr<::parquet::arrow::FileWriter> writer,
                std::shared_ptr<arrow::Schema> schema)
      : stream_(std::move(stream)), writer_(std::move(writer)), schema_(std::move(schema)) {}
  ~ParquetWriter() override { stream_->Abandon(); }

  Result<void> Write(const arrow::RecordBatch& batch) override {
    return parquet::Guarded([&]() -> Result<void> {
      arrow::ArrayVector columns = batch.columns();
      for (int i = 0; i < schema_->num_fields(); ++i) {
        const auto& type = schema_->field(i)->type();
        auto& column = columns[static_cast<size_t>(i)];
        if (type->id() == arrow::Type::EXTENSION && column->type_id() != arrow::Type::EXTENSION)
          column = arrow::ExtensionType::WrapArray(type, column);
      }
      const auto wrapped = arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(columns));
      return ToResult(writer_->WriteRecordBatch(*wrapped), kOurs);
    });
  }
  Result<void> Finish() override {
    return parquet::Guarded([&]() -> Result<void> {
      DELENDA_TRY(ToResult(writer_->Close(), kOurs));
      return ToResult(stream_->Close(), kOurs);
    });
  }

 private:
  std::shared_ptr<parquet::OutputAdapter> stream_;
  std::unique_ptr<::parquet::arrow::FileWriter> writer_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

Result<std::unique_ptr<RowFileWriter>> RowFileWriter::Make(RowFileFormat format,
                                                           const std::shared_ptr<arrow::Schema>& schema,
                                                           ByteSink sink) {
  return parquet::Guarded([&]() -> Result<std::unique_ptr<RowFileWriter>> {
    if (format == RowFileFormat::kParquet) return ParquetWriter::Make(schema, std::move(sink));
    return IpcWriter::Make(format == RowFileFormat::kArrowFile, schema, std::move(sink));
  });
}

}  // namespace delenda::write
