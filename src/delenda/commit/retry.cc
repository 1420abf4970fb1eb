#include "delenda/commit/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <thread>

#include "delenda/commit/next_metadata.h"

namespace delenda::commit {

Result<RetryPolicy> RetryPolicy::From(const std::map<std::string, std::string>& properties) {
  RetryPolicy policy;
  policy.retries = static_cast<uint64_t>(DELENDA_TRY(NumberProperty(properties, "commit.retry.num-retries", 100)));
  policy.min_wait_ms = DELENDA_TRY(NumberProperty(properties, "commit.retry.min-wait-ms", 20));
  policy.max_wait_ms = DELENDA_TRY(NumberProperty(properties, "commit.retry.max-wait-ms", 5000));
  policy.total_ms = DELENDA_TRY(NumberProperty(properties, "commit.retry.total-timeout-ms", 1800000));
  return policy;
}

int64_t RetryPolicy::WaitMs(uint64_t retry) const {
  int64_t most = std::max<int64_t>(min_wait_ms, 1);
  for (uint64_t i = 1; i < retry && most < max_wait_ms; ++i) most *= 2;
  most = std::min(most, std::max<int64_t>(max_wait_ms, 1));
  std::random_device device;
  return std::uniform_int_distribution<int64_t>(most / 2, most)(device);
}

Result<void> Attempts::Next(const RetryPolicy& policy, const std::string& reason, const Hooks& hooks) {
  const auto now = std::chrono::steady_clock::now();
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - begin_).count();
  const int64_t wait = policy.WaitMs(count_);
  if (count_ > policy.retries || waited + wait > policy.total_ms) {
    return CommitConflict(
        "other writers were faster in all of {} attempts ({}); run it again, or raise the table's property "
        "commit.retry.num-retries",
        count_, reason);
  }
  if (hooks.log) hooks.log(LogLevel::kInfo, fmt::format("commit attempt {} failed, trying again: {}", count_, reason));
  std::this_thread::sleep_for(std::chrono::milliseconds(wait));
  ++count_;
  return {};
}

}  // namespace delenda::commit
