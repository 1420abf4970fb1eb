// A value that many threads want and one loads.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "delenda/base/result.h"

namespace delenda {

// The first caller of Get runs its loader; those who come meanwhile wait and get the same value or the same error. A
// value stays; an error does not: the next call after a failure loads again, since trying again may help with storage.
//
// Waiters never hang: whatever ends the loader (error, exception) wakes them. A loader that asks for its own cell gets
// an Internal error instead of waiting for itself.
template <typename T>
class OnceResult {
 public:
  using Loaded = Result<std::shared_ptr<const T>>;

  // `load` is called as Result<T>(), at most once, on the calling thread.
  template <typename Load>
  Loaded Get(Load&& load) {
    std::shared_ptr<Attempt> attempt;
    {
      std::unique_lock lock(mutex_);
      if (value_) return value_;
      if (running_) {
        attempt = running_;
        if (attempt->thread == std::this_thread::get_id()) {
          return InternalError("a value was asked for by its own loader");
        }
        attempt->done.wait(lock, [&] { return attempt->outcome.has_value(); });
        return *attempt->outcome;
      }
      attempt = std::make_shared<Attempt>();
      running_ = attempt;
    }
    Loaded outcome = Run(load);
    {
      std::lock_guard lock(mutex_);
      if (outcome) value_ = *outcome;
      attempt->outcome = outcome;
      running_.reset();
    }
    attempt->done.notify_all();
    return outcome;
  }

  // The value if it was loaded, else null.
  std::shared_ptr<const T> Peek() const {
    std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  // One run of a loader. Waiters hold it, so that they see its outcome even when the next run has already begun.
  struct Attempt {
    std::thread::id thread = std::this_thread::get_id();
    std::condition_variable done;
    std::optional<Loaded> outcome;
  };

  template <typename Load>
  static Loaded Run(Load& load) {
    try {
      Result<T> loaded = std::invoke(load);
      if (!loaded) return std::unexpected(std::move(loaded).error());
      return std::make_shared<const T>(std::move(*loaded));
    } catch (const std::exception& e) {
      return InternalError("a loader threw: {}", e.what());
    } catch (...) {
      return InternalError("a loader threw");
    }
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
  std::shared_ptr<Attempt> running_;
};

}  // namespace delenda
