// A bar on standard error that shows how far long work has come.
#pragma once

#include <delenda/hooks.h>

#include <chrono>
#include <mutex>

#include "cli/output.h"

namespace delenda::cli {

// Thread-safe. Shows nothing in the first half second, and nothing at all unless standard error is a terminal.
class ProgressBar {
 public:
  ProgressBar(Output& error_output, bool enabled);
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Show(const Progress& progress);
  // Takes the bar away before other text is written.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  Output& output_;
  const bool enabled_;
  std::mutex mutex_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  bool visible_ = false;
};

}  // namespace delenda::cli
