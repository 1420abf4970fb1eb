#include "delenda/read/taken_along.h"

#include <arrow/record_batch.h>

#include <algorithm>

namespace delenda::read {

bool TakenAlong::Reserve(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > budget_ - used_) return false;
  used_ += bytes;
  return true;
}

void TakenAlong::Release(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  used_ -= std::min(bytes, used_);
}

void TakenAlong::Put(size_t task, size_t row_group, Rows rows, uint64_t bytes) {
  {
    std::lock_guard lock(mutex_);
    if (entries_.try_emplace({task, row_group}, Entry{std::move(rows), bytes}).second) return;
  }
  Release(bytes);
}

std::optional<TakenAlong::Rows> TakenAlong::Claim(size_t task, size_t row_group) {
  std::lock_guard lock(mutex_);
  const auto [at, is_new] = entries_.try_emplace({task, row_group});
  if (is_new) return std::nullopt;
  used_ -= std::min(at->second.bytes, used_);
  return std::exchange(at->second.rows, std::nullopt);
}

}  // namespace delenda::read
