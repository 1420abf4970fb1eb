#include "delenda/read/scan_stream.h"

#include <arrow/compute/initialize.h>
#include <arrow/record_batch.h>

#include <thread>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/read/batch_source.h"
#include "delenda/read/open_stream.h"
#include "delenda/read/task_reader.h"

namespace delenda::read {
namespace {

// Arrow's compute kernels (casts, filters) must be registered once a process.
Result<void> InitializeCompute() {
  static const arrow::Status status = arrow::compute::Initialize();
  return parquet::ToResult(status, parquet::StatusSource::kCompute);
}

class Stream final : public ScanStream {
 public:
  Stream(std::unique_ptr<ScanContext> context, size_t threads) : context_(std::move(context)) {
    source_ = threads == 1 ? MakeSerialSource(*context_) : MakeParallelSource(*context_, threads);
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return context_->schema(); }
  ReadMetrics metrics() const override { return context_->metrics(); }

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (error_) return std::unexpected(*error_);
    if (!source_) return nullptr;
    Result<std::shared_ptr<arrow::RecordBatch>> batch = NextOrError();
    if (!batch) error_ = batch.error();
    if (!batch || *batch == nullptr) source_.reset();  // stops what still runs
    return batch;
  }

 private:
  Result<std::shared_ptr<arrow::RecordBatch>> NextOrError() {
    const std::optional<uint64_t> limit = context_->options().limit;
    const uint64_t rows = context_->rows();
    if (limit && rows >= *limit) return nullptr;
    DELENDA_TRY(context_->CheckCancelled());
    std::shared_ptr<arrow::RecordBatch> batch = DELENDA_TRY(source_->Next());
    if (!batch) return nullptr;
    const auto length = static_cast<uint64_t>(batch->num_rows());
    if (limit && length >= *limit - rows) {
      batch = batch->Slice(0, static_cast<int64_t>(*limit - rows));
      source_.reset();
    }
    context_->rows() += static_cast<uint64_t>(batch->num_rows());
    return batch;
  }

  std::unique_ptr<ScanContext> context_;
  std::unique_ptr<BatchSource> source_;  // null at the end; before the context goes, so do its threads
  std::optional<Error> error_;
};

}  // namespace

Result<std::unique_ptr<ScanStream>> OpenStream(std::shared_ptr<const plan::ScanPlan> plan,
                                               std::shared_ptr<io::FileIO> io, ReadOptions options,
                                               std::vector<TaskChange> changes) {
  DELENDA_TRY(InitializeCompute());
  size_t threads = options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::unique_ptr<ScanContext> context =
      DELENDA_TRY(ScanContext::Make(std::move(plan), std::move(io), std::move(options), std::move(changes)));
  return std::make_unique<Stream>(std::move(context), threads);
}

Result<std::unique_ptr<ScanStream>> OpenScan(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                                             ReadOptions options) {
  return OpenStream(std::move(plan), std::move(io), std::move(options), {});
}

}  // namespace delenda::read
