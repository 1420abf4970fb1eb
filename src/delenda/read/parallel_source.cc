#include <arrow/record_batch.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/read/batch_source.h"

namespace delenda::read {
namespace {

using BatchRef = std::shared_ptr<arrow::RecordBatch>;

// Batches that a row group may have ready before its turn comes.
constexpr size_t kReadyPerUnit = 4;

class ParallelSource final : public BatchSource {
 public:
  ParallelSource(ScanContext& context, size_t threads)
      : context_(context),
        threads_(threads),
        ordered_(context.options().ordered),
        slots_(context.plan().tasks.size()) {}

  ~ParallelSource() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    executor_.reset();  // joins
  }

  Result<BatchRef> Next() override {
    std::unique_lock lock(mutex_);
    if (!executor_ && !slots_.empty()) {
      executor_.emplace(threads_);
      for (size_t i = 0; i < threads_; ++i) executor_->Submit([this] { Work(); });
    }
    for (;;) {
      if (error_) return std::unexpected(*error_);
      if (std::optional<BatchRef> batch = ordered_ ? TakeInOrder() : TakeAny()) return *std::move(batch);
      ready_.wait(lock);
    }
  }

 private:
  // A row group, or a part of one, that is being read or waits for it.
  struct Unit {
    std::shared_ptr<const OpenTask> task;
    size_t row_group = 0;
    int64_t first_row = 0, end_row = 0;
    bool last = true;            // of its row group
    std::deque<BatchRef> ready;  // in order only
    bool done = false;
  };
  using UnitRef = std::shared_ptr<Unit>;
  struct Slot {
    bool opened = false;
    size_t units_left = 0;      // not read to their end
    std::deque<UnitRef> units;  // in order only: not yet handed out whole
  };
  // Plan order: task, row group, first row.
  using UnitKey = std::tuple<size_t, size_t, int64_t>;

  // --- The caller's side, under the lock. Nothing: wait. Null: the end.

  std::optional<BatchRef> TakeInOrder() {
    while (turn_ < slots_.size()) {
      Slot& slot = slots_[turn_];
      if (!slot.opened) return std::nullopt;
      if (slot.units.empty()) {
        ++turn_;
        work_.notify_all();
        continue;
      }
      Unit& unit = *slot.units.front();
      if (!unit.ready.empty()) {
        BatchRef batch = std::move(unit.ready.front());
        unit.ready.pop_front();
        work_.notify_all();
        return batch;
      }
      if (!unit.done) return std::nullopt;
      slot.units.pop_front();
      --begun_;
      work_.notify_all();
    }
    return BatchRef();
  }

  std::optional<BatchRef> TakeAny() {
    if (!any_ready_.empty()) {
      BatchRef batch = std::move(any_ready_.front());
      any_ready_.pop_front();
      work_.notify_all();
      return batch;
    }
    if (Exhausted() && busy_ == 0) return BatchRef();
    return std::nullopt;
  }

  // --- The threads' side.

  bool Exhausted() const { return next_task_ == slots_.size() && opening_ == 0 && pending_.empty(); }

  // The next row group, if it may be begun now.
  bool MayBegin() const {
    if (pending_.empty()) return false;
    if (!ordered_ || begun_ < 2 * threads_) return true;
    // Too far ahead, except for the one that the caller waits for: without it nothing would move.
    const UnitKey& key = pending_.begin()->first;
    return std::get<0>(key) == turn_ && slots_[turn_].units.front() == pending_.begin()->second;
  }

  bool MayOpen() const {
    return next_task_ < slots_.size() && pending_.empty() && (!ordered_ || next_task_ <= turn_ + threads_ + 1);
  }

  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [&] { return stopping_ || error_ || Exhausted() || MayBegin() || MayOpen(); });
      if (stopping_ || error_) return;
      if (MayBegin()) {
        const UnitRef unit = pending_.begin()->second;
        pending_.erase(pending_.begin());
        ++begun_;
        ++busy_;
        Read(unit, lock);
        --busy_;
        ready_.notify_all();
        work_.notify_all();
      } else if (MayOpen()) {
        const size_t index = next_task_++;
        ++opening_;
        Open(index, lock);
        --opening_;
        ready_.notify_all();
        work_.notify_all();
      } else {
        return;
      }
    }
  }

  void Open(size_t index, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    Result<std::shared_ptr<const OpenTask>> task = parquet::Guarded([&] { return context_.Open(index); });
    lock.lock();
    if (!task) return Fail(std::move(task).error());
    Slot& slot = slots_[index];
    slot.opened = true;
    if ((*task)->row_groups.empty()) context_.Finish(**task);
    // The last row groups are cut, so that no thread is idle while another one reads alone. (A few pages are then
    // decompressed by both.) Not for changes: what is read along for other tasks is a whole row group's.
    const bool is_cut = index + threads_ >= slots_.size() && context_.change(index) == nullptr;
    const auto parts = static_cast<int64_t>(is_cut ? threads_ : 1);
    const int64_t batch_rows = context_.options().batch_rows;
    for (const size_t row_group : (*task)->row_groups) {
      const int64_t rows = (*task)->data->file->row_groups()[row_group].num_rows;
      const int64_t batches = rows / batch_rows + (rows % batch_rows != 0 ? 1 : 0);
      const int64_t step = parts == 1 ? rows : (batches + parts - 1) / parts * batch_rows;
      for (int64_t first = 0; first < rows; first += step) {
        auto unit = std::make_shared<Unit>();
        unit->task = *task;
        unit->row_group = row_group;
        unit->first_row = first;
        unit->end_row = std::min(rows, first + step);
        unit->last = unit->end_row == rows;
        if (ordered_) slot.units.push_back(unit);
        pending_.emplace(UnitKey(index, row_group, first), std::move(unit));
        ++slot.units_left;
      }
    }
  }

  void Read(const UnitRef& unit, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    {
      RowGroupScan scan(context_, unit->task, unit->row_group, unit->first_row, unit->end_row);
      for (;;) {
        Result<BatchRef> batch = scan.Next();
        lock.lock();
        if (!batch) return Fail(std::move(batch).error());
        if (*batch == nullptr) break;
        std::deque<BatchRef>& queue = ordered_ ? unit->ready : any_ready_;
        const size_t bound = ordered_ ? kReadyPerUnit : 2 * threads_;
        work_.wait(lock, [&] { return stopping_ || error_ || queue.size() < bound; });
        if (stopping_ || error_) return;
        queue.push_back(*std::move(batch));
        ready_.notify_all();
        lock.unlock();
      }
    }
    unit->done = true;
    const std::shared_ptr<const OpenTask> task = std::move(unit->task);
    const bool last = --slots_[task->index].units_left == 0;
    if (!ordered_) --begun_;
    lock.unlock();
    if (last) context_.Finish(*task);
    if (unit->last) context_.RowGroupDone();
    lock.lock();
  }

  // The first error counts; rows that are ready but not handed out are dropped.
  void Fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  ScanContext& context_;
  const size_t threads_;
  const bool ordered_;

  std::mutex mutex_;
  std::condition_variable work_;   // for the threads: something to begin, room, or the end
  std::condition_variable ready_;  // for the caller: a batch, the end, or an error
  std::vector<Slot> slots_;        // by task
  size_t next_task_ = 0;           // the next one to open
  size_t opening_ = 0;
  size_t turn_ = 0;  // in order only: the task whose batches are handed out
  std::map<UnitKey, UnitRef> pending_;
  size_t begun_ = 0;  // row groups that were begun and (in order) not handed out whole
  size_t busy_ = 0;   // row groups that are being read
  std::deque<BatchRef> any_ready_;
  std::optional<Error> error_;
  bool stopping_ = false;
  std::optional<Executor> executor_;  // last: its threads use all of the above
};

}  // namespace

std::unique_ptr<BatchSource> MakeParallelSource(ScanContext& context, size_t threads) {
  return std::make_unique<ParallelSource>(context, threads);
}

}  // namespace delenda::read
