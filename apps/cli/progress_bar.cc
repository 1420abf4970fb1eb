#include "cli/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace delenda::cli {
namespace {

constexpr auto kSilence = std::chrono::milliseconds(500);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr uint64_t kBarWidth = 30;
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

ProgressBar::ProgressBar(Output& error_output, bool enabled)
    : output_(error_output), enabled_(enabled && error_output.IsTerminal()) {}

void ProgressBar::Show(const Progress& progress) {
  if (!enabled_) return;
  // Whoever finds the bar being drawn goes on working.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const auto now = Clock::now();
  if (!lock || now - start_ < kSilence || now - last_ < kInterval) return;
  last_ = now;
  std::string line(kEraseLine);
  if (progress.total > 0) {
    const uint64_t done = std::min(progress.done, progress.total);
    const auto filled =
        static_cast<size_t>(static_cast<double>(done) / static_cast<double>(progress.total) * kBarWidth);
    line += fmt::format("{} [{}{}] {}/{}", progress.stage, std::string(filled, '#'),
                        std::string(kBarWidth - filled, '.'), done, progress.total);
  } else {
    line += fmt::format("{} {}", progress.stage, progress.done);
  }
  visible_ = output_.Write(line).has_value();
}

void ProgressBar::Clear() {
  const std::lock_guard lock(mutex_);
  if (visible_) static_cast<void>(output_.Write(kEraseLine));
  visible_ = false;
}

}  // namespace delenda::cli
