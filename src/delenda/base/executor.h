// A small thread pool. Work is split over it with ParallelFor; nothing in delenda starts threads by any other door.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/hooks.h"

namespace delenda {

// Threads start when work first needs them and are joined by the destructor, which first runs all that was submitted.
// Thread-safe. The destructor must not run on one of the executor's own threads.
class Executor {
 public:
  // `threads` counts the calling thread of ParallelFor; 0 = one per hardware thread.
  explicit Executor(size_t threads = 0);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  size_t threads() const { return threads_; }

  // Run `task` some time later on a thread of the pool. It must not throw and should not wait for a task submitted
  // later: the pool never grows past threads().
  void Submit(std::move_only_function<void()> task);

  // body(0) … body(count - 1), on up to threads() threads, the calling one among them; in order and inline when there
  // is one thread or one item. After a failure no higher index is started, and the failure with the lowest index is
  // returned: the same one in every run. Cancelled when the token was set before the last item was started.
  //
  // Calls nest: the caller works only on its own items while it waits, so a body may call ParallelFor again, or wait in
  // OnceResult, without a deadlock. An exception in `body` becomes an Internal error.
  Result<void> ParallelFor(size_t count, const std::function<Result<void>(size_t)>& body);
  Result<void> ParallelFor(size_t count, const std::function<Result<void>(size_t)>& body, const CancelToken& cancel);

 private:
  void RunWorker();

  const size_t threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::move_only_function<void()>> queue_;
  std::vector<std::thread> workers_;
  size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace delenda
