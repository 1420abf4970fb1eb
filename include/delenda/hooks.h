// Hooks through which a program follows and stops long work: log lines, progress, cancellation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace delenda {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning };

// Receives log lines. Called from any thread; must not throw. The library itself never prints.
using LogHook = std::function<void(LogLevel, std::string_view)>;

// What long work has done so far. `total` is 0 while it is unknown.
struct Progress {
  std::string_view stage;  // "plan", "scan", ...
  uint64_t done = 0;
  uint64_t total = 0;
};

// Receives progress. Called from any thread, often; must be quick and must not throw.
using ProgressHook = std::function<void(const Progress&)>;

// A flag that the caller sets to stop work: every loop over files, manifests or row groups looks at it. Copies share
// one flag. Cancel() is safe in a signal handler.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void Cancel() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return flag_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

struct Hooks {
  LogHook log;            // may be empty
  ProgressHook progress;  // may be empty
  CancelToken cancel;
};

}  // namespace delenda
