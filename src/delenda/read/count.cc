#include "delenda/read/count.h"

#include <arrow/record_batch.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "delenda/plan/shard.h"

namespace delenda::read {
namespace {

// Counting from metadata is exact for this task.
bool IsCountedByMetadata(const plan::FileTask& task, const ReadOptions& options) {
  return !options.keys && (!task.residual || task.residual->op == Op::kTrue) && task.position_deletes.empty() &&
         task.equality_deletes.empty() && task.start == 0 &&
         task.length == static_cast<uint64_t>(std::max<int64_t>(task.file.file_size, 0));
}

Result<uint64_t> LiveRows(const plan::ScanPlan& plan, const plan::FileTask& task) {
  int64_t rows = task.file.record_count;
  if (rows < 0) return Corrupt("the manifest says that the file holds {} rows", rows);
  if (task.dv) {
    if (*task.dv >= plan.deletes.size()) return InternalError("the plan has no delete {}", *task.dv);
    const ContentFile& vector = plan.deletes[*task.dv];
    if (!vector.IsDeletionVector()) return InternalError("{} is no deletion vector", vector.path);
    if (vector.record_count < 0 || vector.record_count > rows) {
      return Corrupt("the deletion vector is said to delete {} of {} rows", vector.record_count, rows);
    }
    rows -= vector.record_count;
  }
  return static_cast<uint64_t>(rows);
}

Result<void> AddTo(uint64_t& sum, uint64_t rows) {
  if (rows > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - sum)
    return Corrupt("more than 2^63 - 1 rows");
  sum += rows;
  return {};
}

}  // namespace

Result<CountResult> CountRows(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                              ReadOptions options) {
  CountResult result;
  std::vector<plan::FileTask> rest;
  for (const plan::FileTask& task : plan->tasks) {
    if (!IsCountedByMetadata(task, options)) {
      rest.push_back(task);
      continue;
    }
    DELENDA_TRY(AddTo(result.rows, DELENDA_TRY(WithContext(LiveRows(*plan, task), "file", task.file.path))));
    ++result.files_by_metadata;
  }
  result.files_read = rest.size();
  const uint64_t limit = options.limit.value_or(std::numeric_limits<uint64_t>::max());
  if (!rest.empty() && result.rows < limit) {
    auto reading = std::make_shared<plan::ScanPlan>(DELENDA_TRY(plan::PlanOf(*plan, std::move(rest))));
    reading->columns.clear();
    if (options.limit) options.limit = limit - result.rows;
    const auto stream = DELENDA_TRY(OpenScan(std::move(reading), std::move(io), std::move(options)));
    while (const auto batch = DELENDA_TRY(stream->Next()))
      DELENDA_TRY(AddTo(result.rows, static_cast<uint64_t>(batch->num_rows())));
  }
  result.rows = std::min(result.rows, limit);
  return result;
}

}  // namespace delenda::read
