#include "delenda/read/row_gather.h"

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::read {
namespace {

constexpr auto kGather = parquet::StatusSource::kCompute;
constexpr size_t kMergedRows = size_t{16} * 1024;

using BatchRef = std::shared_ptr<arrow::RecordBatch>;

Result<BatchRef> TakeRows(const BatchRef& batch, const std::vector<int32_t>& rows, arrow::MemoryPool* pool) {
  const auto count = static_cast<int64_t>(rows.size());
  const arrow::Int32Array indices(count, arrow::Buffer::Wrap(rows));
  arrow::compute::ExecContext context(pool);
  const arrow::Datum taken =
      DELENDA_TRY(parquet::ToResult(arrow::compute::Take(arrow::Datum(batch), arrow::Datum(indices.data()),
                                                         arrow::compute::TakeOptions::NoBoundsCheck(), &context),
                                    kGather));
  return taken.record_batch();
}

}  // namespace

Result<BatchRef> KeepRows(BatchRef batch, const Selection& kept, arrow::MemoryPool* pool) {
  const int64_t count = kept.Count();
  if (count == 0) return nullptr;
  if (count == kept.rows()) return batch;
  std::vector<int32_t> rows;
  rows.reserve(static_cast<size_t>(count));
  for (int64_t row = 0; row < kept.rows(); ++row) {
    if (kept.Kept(row)) rows.push_back(static_cast<int32_t>(row));
  }
  return TakeRows(batch, rows, pool);
}

Result<BatchRef> GatherRows(const std::vector<BatchRef>& batches, std::span<const RowRef> rows,
                            arrow::MemoryPool* pool) {
  // First each batch's rows, then all in the wanted order.
  struct Part {
    uint32_t batch = 0;
    uint32_t begin = 0;  // in `order`
    uint32_t end = 0;
  };
  std::vector<uint32_t> order(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) order[i] = static_cast<uint32_t>(i);
  const auto by_batch = [&](uint32_t a, uint32_t b) { return std::tie(rows[a].batch, a) < std::tie(rows[b].batch, b); };
  const bool sorted = std::ranges::is_sorted(order, by_batch);
  if (!sorted) std::ranges::sort(order, by_batch);
  arrow::RecordBatchVector parts;
  std::vector<int32_t> taken;
  for (size_t begin = 0; begin < order.size();) {
    const uint32_t batch = rows[order[begin]].batch;
    taken.clear();
    size_t end = begin;
    for (; end < order.size() && rows[order[end]].batch == batch; ++end)
      taken.push_back(static_cast<int32_t>(rows[order[end]].row));
    parts.push_back(DELENDA_TRY(TakeRows(batches[batch], taken, pool)));
    begin = end;
  }
  if (parts.size() == 1) return std::move(parts[0]);
  auto joined = DELENDA_TRY(parquet::ToResult(arrow::ConcatenateRecordBatches(parts, pool), kGather));
  if (sorted) return joined;
  parts.clear();
  taken.assign(rows.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) taken[order[i]] = static_cast<int32_t>(i);
  return TakeRows(joined, taken, pool);
}

Result<RowBuffer> MergeRuns(std::vector<RowBuffer> runs, int order, SpillContext& context, RowBuffer merged) {
  std::erase_if(runs, [](const RowBuffer& run) { return run.rows() == 0; });
  if (runs.size() == 1) return std::move(runs[0]);
  struct Run {
    uint32_t batch = 0;  // among `batches`
    int64_t row = 0;
    int64_t rows = 0;
    const int64_t* numbers = nullptr;
  };
  std::vector<BatchRef> batches;
  std::vector<Run> current(runs.size());
  using Head = std::pair<int64_t, size_t>;  // next number, run
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  uint64_t held_bytes = 0;
  const auto load = [&](size_t index) -> Result<void> {
    auto batch = DELENDA_TRY(runs[index].Pop());
    if (batch == nullptr) return {};
    const auto& numbers = static_cast<const arrow::Int64Array&>(*batch->column(order));
    current[index] = {
        .batch = static_cast<uint32_t>(batches.size()), .rows = batch->num_rows(), .numbers = numbers.raw_values()};
    heads.emplace(numbers.Value(0), index);
    held_bytes += DELENDA_TRY(BatchBytes(*batch));
    batches.push_back(std::move(batch));
    return {};
  };
  for (size_t i = 0; i < runs.size(); ++i) DELENDA_TRY(load(i));

  std::vector<RowRef> chosen;
  const uint64_t limit = 2 * (runs.size() + 1) * context.block_bytes;
  const auto flush = [&]() -> Result<void> {
    if (!chosen.empty()) DELENDA_TRY(merged.Append(DELENDA_TRY(GatherRows(batches, chosen, context.pool))));
    chosen.clear();
    std::vector<BatchRef> kept;
    held_bytes = 0;
    for (Run& run : current) {
      if (run.row == run.rows) continue;
      held_bytes += DELENDA_TRY(BatchBytes(*batches[run.batch]));
      kept.push_back(std::move(batches[run.batch]));
      run.batch = static_cast<uint32_t>(kept.size() - 1);
    }
    batches = std::move(kept);
    return {};
  };
  while (!heads.empty()) {
    const size_t index = heads.top().second;
    heads.pop();
    // As long as this run has the lowest number. Numbers are unique but within a pair, whose rows lie side by side.
    Run& run = current[index];
    while (run.row < run.rows && (heads.empty() || run.numbers[run.row] <= heads.top().first)) {
      chosen.push_back({run.batch, static_cast<uint32_t>(run.row)});
      ++run.row;
    }
    if (run.row < run.rows) {
      heads.emplace(run.numbers[run.row], index);
    } else {
      DELENDA_TRY(load(index));
    }
    if (chosen.size() >= kMergedRows || held_bytes > limit) DELENDA_TRY(flush());
  }
  DELENDA_TRY(flush());
  return merged;
}

}  // namespace delenda::read
