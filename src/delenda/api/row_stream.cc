#include <arrow/c/bridge.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include <utility>

#include "delenda/api/row_stream_impl.h"
#include "delenda/formats/parquet/arrow_status.h"

namespace delenda {
namespace {

// What a producer of batches reports is about data that it made or read: our side asked for nothing wrong.
constexpr auto kForeign = parquet::StatusSource::kFile;

class ForeignRows final : public RowStream::Impl {
 public:
  explicit ForeignRows(std::shared_ptr<arrow::RecordBatchReader> reader)
      : reader_(std::move(reader)), schema_(reader_->schema()) {}
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    std::shared_ptr<arrow::RecordBatch> batch = DELENDA_TRY(parquet::ToResult(reader_->Next(), kForeign));
    // Its buffers are not trusted: offsets that lie would be read past their end.
    if (batch) DELENDA_TRY(parquet::ToResult(batch->ValidateFull(), kForeign));
    if (batch) stats_.rows += static_cast<uint64_t>(batch->num_rows());
    return batch;
  }
  ScanStats stats() const override { return stats_; }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
  ScanStats stats_;
};

// Our stream as Arrow sees it. The status code decides the errno that the C stream returns.
class ExportedRows final : public arrow::RecordBatchReader {
 public:
  explicit ExportedRows(std::unique_ptr<RowStream::Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return impl_->schema(); }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    auto next = impl_->Next();
    if (!next) return StatusOf(next.error());
    *batch = *std::move(next);
    return arrow::Status::OK();
  }

 private:
  static arrow::Status StatusOf(const Error& error) {
    switch (error.kind()) {
      case ErrorKind::kNotSupported: return arrow::Status::NotImplemented(error.ToString());
      case ErrorKind::kCancelled: return arrow::Status::Cancelled(error.ToString());
      case ErrorKind::kIo:
      case ErrorKind::kNotFound:
      case ErrorKind::kPermissionDenied: return arrow::Status::IOError(error.ToString());
      default: return arrow::Status::Invalid(error.ToString());
    }
  }

  std::unique_ptr<RowStream::Impl> impl_;
};

}  // namespace

RowStream::RowStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RowStream::RowStream(RowStream&&) noexcept = default;
RowStream& RowStream::operator=(RowStream&&) noexcept = default;
RowStream::~RowStream() = default;

Result<RowStream> RowStream::Import(ArrowArrayStream* stream) {
  if (stream == nullptr || stream->release == nullptr) return InvalidArgument("the Arrow stream was released already");
  auto reader = arrow::ImportRecordBatchReader(stream);
  if (!reader.ok()) {
    if (stream->release != nullptr) stream->release(stream);
    return InvalidArgument("not a stream of Arrow batches: {}", reader.status().message());
  }
  return RowStream(std::make_unique<ForeignRows>(std::move(reader).ValueUnsafe()));
}

Result<void> RowStream::GetSchema(ArrowSchema* out) const {
  return parquet::ToResult(arrow::ExportSchema(*impl_->schema(), out), parquet::StatusSource::kCompute);
}

Result<bool> RowStream::Next(ArrowArray* out) {
  *out = {};
  const auto batch = DELENDA_TRY(impl_->Next());
  if (!batch) return false;
  DELENDA_TRY(parquet::ToResult(arrow::ExportRecordBatch(*batch, out), parquet::StatusSource::kCompute));
  return true;
}

Result<void> RowStream::Export(ArrowArrayStream* out) && {
  auto reader = std::make_shared<ExportedRows>(std::move(impl_));
  return parquet::ToResult(arrow::ExportRecordBatchReader(std::move(reader), out), parquet::StatusSource::kCompute);
}

ScanStats RowStream::stats() const { return impl_->stats(); }

}  // namespace delenda
