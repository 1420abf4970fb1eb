// From a plan to a RowStream.
#include "delenda/api/table_rows.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <utility>

#include "delenda/api/row_stream_impl.h"
#include "delenda/api/uuid_fields.h"

namespace delenda::api {
namespace {

class TableRows final : public RowStream::Impl {
 public:
  TableRows(std::shared_ptr<const plan::ScanPlan> plan, std::unique_ptr<read::ScanStream> stream)
      : plan_(std::move(plan)), stream_(std::move(stream)), schema_(stream_->schema()) {
    schema_ = WithUuids(schema_, plan_->columns);
    is_marked_ = schema_ != stream_->schema();
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    auto batch = DELENDA_TRY(stream_->Next());
    if (!batch || !is_marked_) return batch;
    return arrow::RecordBatch::Make(schema_, batch->num_rows(), batch->columns());
  }

  ScanStats stats() const override {
    const read::ReadMetrics metrics = stream_->metrics();
    const plan::PlanMetrics& planned = plan_->metrics;
    return {.rows = metrics.rows,
            .files = planned.data_files_live - planned.data_files_pruned,
            .files_pruned = planned.data_files_pruned,
            .deletes = plan_->deletes.size(),
            .manifests = planned.data_manifests + planned.delete_manifests,
            .manifests_read = planned.data_manifests_read + planned.delete_manifests_read,
            .row_groups = metrics.row_groups,
            .row_groups_pruned = metrics.row_groups_pruned,
            .row_groups_all_deleted = metrics.row_groups_all_deleted,
            .rows_pruned = metrics.rows_pruned,
            .row_groups_unchanged = 0,
            .carry_overs = 0,
            .updates = 0,
            .spilled_bytes = 0};
  }

 private:
  std::shared_ptr<const plan::ScanPlan> plan_;
  std::unique_ptr<read::ScanStream> stream_;
  std::shared_ptr<arrow::Schema> schema_;
  bool is_marked_ = false;
};

}  // namespace

Result<RowStream> OpenRows(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                           read::ReadOptions options) {
  auto stream = DELENDA_TRY(read::OpenScan(plan, std::move(io), std::move(options)));
  return RowStream(std::make_unique<TableRows>(std::move(plan), std::move(stream)));
}

}  // namespace delenda::api
