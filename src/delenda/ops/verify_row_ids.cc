#include "delenda/ops/verify_row_ids.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "delenda/ops/row_id_set.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {
namespace {

constexpr size_t kMaxNamedIds = 100;
constexpr size_t kIdsAtOnce = size_t{1} << 20;

class RowIdCheck {
 public:
  RowIdCheck(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io, const RowIdBounds& bounds,
             size_t threads, const Hooks& hooks)
      : plan_(std::move(plan)), io_(std::move(io)), bounds_(bounds), threads_(threads), hooks_(hooks) {
    for (const auto& task : plan_->tasks) total_ += static_cast<uint64_t>(std::max<int64_t>(task.file.record_count, 0));
  }

  Result<Findings> Run() && {
    auto first = std::make_shared<plan::ScanPlan>(*plan_);
    first->columns.resize(2);
    DELENDA_TRY(ForEachBatch(std::move(first), [&](const arrow::RecordBatch& batch) { return Collect(batch); }));
    DELENDA_TRY(Flush());
    if (!seen_.duplicates().empty() || above_ > 0 || later_ > 0 || missing_ > 0) DELENDA_TRY(NameRows());
    Report();
    return std::move(findings_);
  }

 private:
  struct Row {
    std::string file;
    int64_t position = 0;
  };

  Result<void> ForEachBatch(std::shared_ptr<const plan::ScanPlan> plan,
                            const std::function<Result<void>(const arrow::RecordBatch&)>& body) {
    read::ReadOptions options;
    options.threads = threads_;
    options.hooks.cancel = hooks_.cancel;
    const auto stream = DELENDA_TRY(read::OpenScan(std::move(plan), io_, options));
    while (const auto batch = DELENDA_TRY(stream->Next())) DELENDA_TRY(body(*batch));
    return {};
  }

  static const arrow::Int64Array& Longs(const arrow::RecordBatch& batch, int column) {
    return static_cast<const arrow::Int64Array&>(*batch.column(column));
  }

  bool IsAbove(int64_t id) const { return id < 0 || id >= bounds_.next_row_id; }

  Result<void> Collect(const arrow::RecordBatch& batch) {
    const auto& ids = Longs(batch, 0);
    const auto& updated = Longs(batch, 1);
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      if (updated.IsValid(row) && updated.Value(row) > bounds_.sequence_number) ++later_;
      if (ids.IsNull(row)) {
        ++missing_;
      } else if (IsAbove(ids.Value(row))) {
        ++above_;
      } else {
        buffer_.push_back(static_cast<uint64_t>(ids.Value(row)));
      }
    }
    rows_ += static_cast<uint64_t>(batch.num_rows());
    if (hooks_.progress) hooks_.progress({.stage = "row ids", .done = rows_, .total = total_});
    return buffer_.size() >= kIdsAtOnce ? Flush() : Result<void>();
  }

  Result<void> Flush() {
    DELENDA_TRY(seen_.Add(buffer_));
    buffer_.clear();
    return {};
  }

  // Which rows it is about.
  Result<void> NameRows() {
    for (uint64_t rank = 0; rank < kMaxNamedIds; ++rank) {
      const auto id = seen_.duplicates().Select(rank);
      if (!id) break;
      rows_of_id_.try_emplace(static_cast<int64_t>(*id));
    }
    return ForEachBatch(plan_, [&](const arrow::RecordBatch& batch) -> Result<void> {
      const auto& ids = Longs(batch, 0);
      const auto& updated = Longs(batch, 1);
      const auto& files = static_cast<const arrow::StringArray&>(*batch.column(2));
      const auto& positions = Longs(batch, 3);
      for (int64_t row = 0; row < batch.num_rows(); ++row) {
        const auto name = [&] { return Row{std::string(files.GetView(row)), positions.Value(row)}; };
        if (updated.IsValid(row) && updated.Value(row) > bounds_.sequence_number && !first_later_) {
          first_later_ = {name(), updated.Value(row)};
        }
        if (ids.IsNull(row)) {
          if (!first_missing_) first_missing_ = name();
        } else if (IsAbove(ids.Value(row))) {
          if (!first_above_) first_above_ = {name(), ids.Value(row)};
        } else if (const auto found = rows_of_id_.find(ids.Value(row)); found != rows_of_id_.end()) {
          found->second.push_back(name());
        }
      }
      return {};
    });
  }

  void Report() {
    const auto add = [&](const Check& check, const std::string& place, std::string what) {
      findings_.push_back({.check = &check, .place = place, .what = std::move(what)});
    };
    if (first_above_) {
      add(checks::kRowIdRange, first_above_->first.file,
          fmt::format("the row at {} has row id {}, the table's next-row-id is {} ({} such row{})",
                      first_above_->first.position, first_above_->second, bounds_.next_row_id, above_,
                      above_ == 1 ? "" : "s"));
    }
    if (first_later_) {
      add(checks::kLastUpdated, first_later_->first.file,
          fmt::format("the row at {} was last updated by sequence number {}, the snapshot has {} ({} such row{})",
                      first_later_->first.position, first_later_->second, bounds_.sequence_number, later_,
                      later_ == 1 ? "" : "s"));
    }
    if (first_missing_) {
      add(checks::kRowIdMissing, first_missing_->file,
          fmt::format("{} row{} of the snapshot {} no row id, the one at {} among them", missing_,
                      missing_ == 1 ? "" : "s", missing_ == 1 ? "has" : "have", first_missing_->position));
    }
    const uint64_t twice = seen_.duplicates().cardinality();
    for (auto& [id, rows] : rows_of_id_) {
      if (rows.empty()) continue;
      std::ranges::sort(
          rows, [](const Row& a, const Row& b) { return std::tie(a.file, a.position) < std::tie(b.file, b.position); });
      const Row& last = rows.back();
      add(checks::kRowIdTwice, rows.front().file,
          fmt::format("row id {} is that of {} rows: at {}, and at {} of {}{}", id, rows.size(), rows.front().position,
                      last.position, last.file == rows.front().file ? "the same file" : last.file,
                      twice > kMaxNamedIds ? fmt::format(" (one of {} such ids)", twice) : ""));
    }
  }

  const std::shared_ptr<const plan::ScanPlan> plan_;
  const std::shared_ptr<io::FileIO> io_;
  const RowIdBounds bounds_;
  const size_t threads_;
  const Hooks& hooks_;

  RowIdSet seen_;
  std::vector<uint64_t> buffer_;
  uint64_t rows_ = 0, total_ = 0, missing_ = 0, above_ = 0, later_ = 0;
  std::map<int64_t, std::vector<Row>> rows_of_id_;
  std::optional<Row> first_missing_;
  std::optional<std::pair<Row, int64_t>> first_above_, first_later_;
  Findings findings_;
};

}  // namespace

Result<Findings> VerifyRowIds(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                              const RowIdBounds& bounds, size_t threads, const Hooks& hooks) {
  return RowIdCheck(std::move(plan), std::move(io), bounds, threads, hooks).Run();
}

}  // namespace delenda::ops
