// How often and how long a commit is tried.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "delenda/base/result.h"
#include "delenda/hooks.h"

namespace delenda::commit {

// The table's properties commit.retry.*
struct RetryPolicy {
  uint64_t retries = 0;
  int64_t min_wait_ms = 0, max_wait_ms = 0, total_ms = 0;

  // What the table does not say: more retries than Iceberg's four, since here a lost race is merged with and costs a
  // few small files only: 100, waiting 20 ms to 5 s, for 30 minutes.
  static Result<RetryPolicy> From(const std::map<std::string, std::string>& properties);
  // Before retry number `retry` (from 1): doubles from min_wait_ms to max_wait_ms, of which a random part is waited, so
  // that writers which collided do not meet again.
  int64_t WaitMs(uint64_t retry) const;
};

// The attempts of one commit.
class Attempts {
 public:
  // Waits, and begins the next one. `reason`: why the last one failed. CommitConflict: the policy allows no other one.
  Result<void> Next(const RetryPolicy& policy, const std::string& reason, const Hooks& hooks);
  uint64_t count() const { return count_; }  // with the one that runs

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  uint64_t count_ = 1;
};

}  // namespace delenda::commit
