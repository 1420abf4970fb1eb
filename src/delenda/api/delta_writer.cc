#include "delenda/delta_writer.h"

#include <utility>

#include "delenda/api/key_resolver.h"
#include "delenda/api/row_stream_impl.h"
#include "delenda/api/writable_table_impl.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/ops/commit_deltas.h"
#include "delenda/ops/delta_writer.h"
#include "delenda/rows.h"

namespace delenda {

class DeltaResult::Impl {
 public:
  ops::DeltaResult result;
};

DeltaResult::DeltaResult(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeltaResult::DeltaResult(DeltaResult&&) noexcept = default;
DeltaResult& DeltaResult::operator=(DeltaResult&&) noexcept = default;
DeltaResult::~DeltaResult() = default;

uint64_t DeltaResult::order() const { return impl_->result.order; }
uint64_t DeltaResult::rows() const { return impl_->result.rows; }

std::vector<std::string> DeltaResult::data_files() const {
  std::vector<std::string> paths;
  for (const auto& file : impl_->result.data_files) paths.push_back(file.path);
  return paths;
}

std::vector<std::string> DeltaResult::delete_files() const {
  std::vector<std::string> paths;
  for (const auto& keys : impl_->result.keys) paths.push_back(keys.file.path);
  return paths;
}

class DeltaWriter::Impl {
 public:
  ops::DeltaWriter writer;
};

DeltaWriter::DeltaWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeltaWriter::DeltaWriter(DeltaWriter&&) noexcept = default;
DeltaWriter& DeltaWriter::operator=(DeltaWriter&&) noexcept = default;
DeltaWriter::~DeltaWriter() = default;

Result<DeltaWriter> DeltaWriter::Make(WritableTable& table, DeltaOptions options) {
  auto& session = *table.impl().session;
  DELENDA_TRY(session.Refresh());
  auto writer =
      DELENDA_TRY(ops::DeltaWriter::Make(session, {.key = std::move(options.key),
                                                   .operation_column = std::move(options.operation_column),
                                                   .ignore_unknown_columns = options.ignore_unknown_columns,
                                                   .order = options.order,
                                                   .fallback = options.fallback == DeltaFallback::kCommitEqualityDeletes
                                                                   ? ops::DeltaFallback::kCommitEqualityDeletes
                                                                   : ops::DeltaFallback::kAbort,
                                                   .memory_budget = options.memory,
                                                   .temp_folder = std::move(options.temp_folder)}));
  return DeltaWriter(std::make_unique<Impl>(Impl{.writer = std::move(writer)}));
}

Result<void> DeltaWriter::Write(ArrowArrayStream* batches) {
  auto rows = DELENDA_TRY(RowStream::Import(batches));
  return parquet::Guarded([&]() -> Result<void> {
    while (const auto batch = DELENDA_TRY(rows.impl().Next())) DELENDA_TRY(impl_->writer.Write(*batch));
    return {};
  });
}

Result<DeltaResult> DeltaWriter::Finish() {
  return parquet::Guarded([&]() -> Result<DeltaResult> {
    auto result = DELENDA_TRY(impl_->writer.Finish());
    return DeltaResult(std::make_unique<DeltaResult::Impl>(DeltaResult::Impl{.result = std::move(result)}));
  });
}

Result<ChangeReport> CommitDeltas(WritableTable& table, const std::vector<DeltaResult>& results,
                                  const CommitDeltasRequest& request) {
  return parquet::Guarded([&]() -> Result<ChangeReport> {
    std::vector<ops::DeltaResult> deltas;  // copies share the files
    for (const DeltaResult& result : results) deltas.push_back(result.impl().result);
    const auto resolver = api::CallersResolver::Of(request.resolver);
    return api::ToReport(DELENDA_TRY(ops::CommitDeltas(*table.impl().session, deltas,
                                                       {.branch = request.branch,
                                                        .most_tries = request.most_tries,
                                                        .key_memory = request.memory,
                                                        .resolver = resolver ? &*resolver : nullptr})));
  });
}

}  // namespace delenda
