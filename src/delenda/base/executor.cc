#include "delenda/base/executor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace delenda {
namespace {

size_t ThreadCount(size_t wanted) {
  if (wanted != 0) return wanted;
  return std::max(1u, std::thread::hardware_concurrency());
}

// One ParallelFor. Kept alive by the pool's tasks, which may start after the call has returned: they then find the loop
// closed and touch nothing else, for `body` and what it refers to are gone by then.
class Loop {
 public:
  Loop(size_t count, const std::function<Result<void>(size_t)>& body, const CancelToken& cancel)
      : body_(body), cancel_(cancel), end_(count) {}

  // Entry of the pool's threads.
  void Help() {
    {
      std::lock_guard lock(mutex_);
      if (closed_) return;
      ++helpers_;
    }
    Work();
    // Notify under the lock: the caller may go on as soon as it sees zero.
    std::lock_guard lock(mutex_);
    if (--helpers_ == 0) done_.notify_all();
  }

  // Entry of the calling thread, which comes back when all is done.
  Result<void> Finish() {
    Work();
    std::unique_lock lock(mutex_);
    closed_ = true;
    done_.wait(lock, [&] { return helpers_ == 0; });
    if (error_) return std::unexpected(*std::move(error_));
    if (cancelled_) return Cancelled("stopped at the caller's request");
    return {};
  }

 private:
  void Work() {
    for (;;) {
      // Indexes are handed out in ascending order and each that is handed out below the first failure is run. So the
      // lowest failing index is always among those that ran: the error does not depend on timing.
      const size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= end_.load(std::memory_order_acquire)) return;
      if (cancel_.cancelled()) {
        std::lock_guard lock(mutex_);
        cancelled_ = true;
        end_.store(0, std::memory_order_release);
        return;
      }
      Result<void> result = Run(index);
      if (result) continue;
      std::lock_guard lock(mutex_);
      if (error_ && index > error_index_) continue;
      error_ = std::move(result).error();
      error_index_ = index;
      end_.store(std::min(index, end_.load(std::memory_order_relaxed)), std::memory_order_release);
    }
  }

  Result<void> Run(size_t index) const {
    try {
      return body_(index);
    } catch (const std::exception& e) {
      return InternalError("parallel work threw: {}", e.what());
    } catch (...) {
      return InternalError("parallel work threw");
    }
  }

  const std::function<Result<void>(size_t)>& body_;
  const CancelToken& cancel_;
  std::atomic<size_t> next_{0};
  std::atomic<size_t> end_;  // indexes from here on are not started

  std::mutex mutex_;
  std::condition_variable done_;
  size_t helpers_ = 0;
  bool closed_ = false;
  bool cancelled_ = false;
  std::optional<Error> error_;
  size_t error_index_ = 0;
};

}  // namespace

Executor::Executor(size_t threads) : threads_(ThreadCount(threads)) {}

Executor::~Executor() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Executor::Submit(std::move_only_function<void()> task) {
  bool queued = true;
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() >= idle_ && workers_.size() < threads_) {
      try {
        workers_.emplace_back([this] { RunWorker(); });
      } catch (const std::system_error&) {
        // No more threads to be had. The others will get to the task; with none at all it is done here.
        queued = !workers_.empty();
      }
    }
    if (queued) queue_.push_back(std::move(task));
  }
  if (queued) {
    wake_.notify_one();
  } else {
    task();
  }
}

void Executor::RunWorker() {
  for (;;) {
    std::move_only_function<void()> task;
    {
      std::unique_lock lock(mutex_);
      ++idle_;
      wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      --idle_;
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

Result<void> Executor::ParallelFor(size_t count, const std::function<Result<void>(size_t)>& body) {
  return ParallelFor(count, body, CancelToken());
}

Result<void> Executor::ParallelFor(size_t count, const std::function<Result<void>(size_t)>& body,
                                   const CancelToken& cancel) {
  if (count == 0) return {};
  const auto loop = std::make_shared<Loop>(count, body, cancel);
  const size_t helpers = std::min(threads_, count) - 1;
  for (size_t i = 0; i < helpers; ++i) Submit([loop] { loop->Help(); });
  return loop->Finish();
}

}  // namespace delenda
