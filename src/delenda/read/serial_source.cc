#include <arrow/record_batch.h>

#include <optional>
#include <utility>

#include "delenda/read/batch_source.h"

namespace delenda::read {
namespace {

class SerialSource final : public BatchSource {
 public:
  explicit SerialSource(ScanContext& context) : context_(context) {}

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    for (;;) {
      DELENDA_TRY(context_.CheckCancelled());
      if (scan_) {
        if (auto batch = DELENDA_TRY(scan_->Next())) return batch;
        scan_.reset();
        context_.RowGroupDone();
      } else if (task_ && next_group_ < task_->row_groups.size()) {
        scan_.emplace(context_, task_, task_->row_groups[next_group_++]);
      } else {
        if (task_) context_.Finish(*task_);
        task_.reset();
        if (next_task_ == context_.plan().tasks.size()) return nullptr;
        task_ = DELENDA_TRY(context_.Open(next_task_++));
        next_group_ = 0;
      }
    }
  }

 private:
  ScanContext& context_;
  size_t next_task_ = 0;
  std::shared_ptr<const OpenTask> task_;
  size_t next_group_ = 0;
  std::optional<RowGroupScan> scan_;
};

}  // namespace

std::unique_ptr<BatchSource> MakeSerialSource(ScanContext& context) { return std::make_unique<SerialSource>(context); }

}  // namespace delenda::read
