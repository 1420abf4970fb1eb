// A hash table from the paths of files to their indexes, for the hundred thousands of files of one plan.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace delenda::plan {

// Holds indexes and a part of their paths' hashes, eight bytes a slot: who asks compares the paths themselves. One
// allocation, whatever the count.
class PathSlots {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  PathSlots() = default;
  // Room for `count` indexes, all below kNone.
  explicit PathSlots(size_t count)
      : slots_(std::bit_ceil(count + count / 2 + 1)), shift_(64 - std::countr_zero(slots_.size())) {}

  // The index whose path has this hash and is `same` (called with an index), or kNone.
  template <typename Same>
  uint32_t Find(uint64_t hash, const Same& same) const {
    if (slots_.empty()) return kNone;
    const Slot& slot = slots_[Locate(hash, same)];
    return slot.index;
  }

  // The same; if there is none, `index` takes its place.
  template <typename Same>
  uint32_t FindOrAdd(uint64_t hash, uint32_t index, const Same& same) {
    Slot& slot = slots_[Locate(hash, same)];
    if (slot.index != kNone) return slot.index;
    slot = {.tag = Tag(hash), .index = index};
    return kNone;
  }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t index = kNone;
  };

  static uint32_t Tag(uint64_t hash) { return static_cast<uint32_t>(hash); }

  // The slot of the path, or the free one where it would be. At least a third of all slots is free.
  template <typename Same>
  size_t Locate(uint64_t hash, const Same& same) const {
    size_t at = shift_ < 64 ? static_cast<size_t>(hash >> shift_) : 0;
    for (;; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.index == kNone || (slot.tag == Tag(hash) && same(slot.index))) return at;
    }
  }

  std::vector<Slot> slots_;
  int shift_ = 64;
};

}  // namespace delenda::plan
