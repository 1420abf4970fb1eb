#include "delenda/formats/positions/container_copy.h"

#include <array>
#include <bit>
#include <cstring>

#include "delenda/base/bytes.h"

namespace delenda {

namespace {

uint16_t LoadValue(const std::byte* values, size_t index) {
  return LoadUnsigned<std::endian::little, uint16_t>(values + index * sizeof(uint16_t));
}

// The bodies are written in the compiler's portable vector types and plain loops, then compiled for a few kinds of
// processor, one of which is chosen at run time. (Function multi-versioning would do the same, but its resolvers run
// before the thread sanitizer is ready.)
#define DELENDA_INLINE_BODY [[gnu::always_inline]] inline

constexpr uint32_t kLanes = 16;
using Lanes = uint16_t __attribute__((vector_size(kLanes * sizeof(uint16_t))));
using LaneWords = uint64_t __attribute__((vector_size(kLanes * sizeof(uint16_t))));
constexpr Lanes kLaneIndex = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

struct LaneContent {
  Lanes faults = {};  // not 0: a value is not above the one before it
  Lanes steps = {};   // values that follow directly; below kMaxArrayValues in all, so that 16 bits are enough
};

// Copies kLanes values and compares each with the one before it. Lanes below `skipped` are not counted.
DELENDA_INLINE_BODY LaneContent CopyLanes(const std::byte* from, uint16_t* to, uint16_t skipped, LaneContent found) {
  Lanes value;
  Lanes before;
  std::memcpy(&value, from, sizeof(value));
  std::memcpy(&before, from - sizeof(uint16_t), sizeof(before));
  if constexpr (std::endian::native == std::endian::big) {
    value = value << 8 | value >> 8;
    before = before << 8 | before >> 8;
  }
  std::memcpy(to, &value, sizeof(value));
  found.faults |= static_cast<Lanes>(value <= before);
  found.steps -= static_cast<Lanes>(value == before + 1) & static_cast<Lanes>(kLaneIndex >= skipped);
  return found;
}

DELENDA_INLINE_BODY ArrayContent CopyArrayBody(const std::byte* __restrict from, uint32_t count,
                                               uint16_t* __restrict to) {
  uint32_t direct = 0;  // values that follow their predecessor directly
  bool ascending = true;
  to[0] = LoadValue(from, 0);
  uint32_t i = 1;
  if (count > kLanes) {
    LaneContent found;
    for (; i + kLanes <= count; i += kLanes) found = CopyLanes(from + i * sizeof(uint16_t), to + i, 0, found);
    if (i < count) {
      // The rest ends a block of lanes, the first of which were seen before.
      const auto skipped = static_cast<uint16_t>(kLanes - (count - i));
      i = count - kLanes;
      found = CopyLanes(from + i * sizeof(uint16_t), to + i, skipped, found);
    }
    i = count;
    const auto faults = reinterpret_cast<LaneWords>(found.faults);
    ascending = (faults[0] | faults[1] | faults[2] | faults[3]) == 0;
    const auto steps = reinterpret_cast<LaneWords>(found.steps);
    // Adds the four fields of each word: all sums stay below 2^16, so that nothing is carried between fields.
    direct = static_cast<uint32_t>((steps[0] + steps[1] + steps[2] + steps[3]) * 0x0001'0001'0001'0001ULL >> 48);
  }
  for (; i < count; ++i) {
    to[i] = LoadValue(from, i);
    ascending = ascending && to[i] > to[i - 1];
    direct += to[i] == to[i - 1] + 1 ? 1 : 0;
  }
  return {ascending, count - direct};
}

DELENDA_INLINE_BODY BitsetContent CopyBitsetBody(const std::byte* __restrict from, uint64_t* __restrict to) {
  const auto load = [&](size_t i) __attribute__((always_inline)) {
    return LoadUnsigned<std::endian::little, uint64_t>(from + i * sizeof(uint64_t));
  };
  to[0] = load(0);
  auto cardinality = static_cast<uint64_t>(std::popcount(to[0]));
  auto runs = static_cast<uint64_t>(std::popcount(to[0] & ~(to[0] << 1)));
  for (size_t i = 1; i < kBitsetWords; ++i) {
    const uint64_t word = load(i);
    to[i] = word;
    cardinality += static_cast<uint64_t>(std::popcount(word));
    // A run begins at a set bit whose predecessor is not set.
    runs += static_cast<uint64_t>(std::popcount(word & ~(word << 1 | load(i - 1) >> 63)));
  }
  return {static_cast<uint32_t>(cardinality), static_cast<uint32_t>(runs)};
}

#if defined(__x86_64__)

[[gnu::target("avx2,bmi,bmi2,popcnt")]] ArrayContent CopyArrayAvx2(const std::byte* from, uint32_t count,
                                                                   uint16_t* to) {
  return CopyArrayBody(from, count, to);
}
[[gnu::target("avx2,bmi,bmi2,popcnt")]] BitsetContent CopyBitsetAvx2(const std::byte* from, uint64_t* to) {
  return CopyBitsetBody(from, to);
}
[[gnu::target("avx2,bmi,bmi2,popcnt,avx512f,avx512vl,avx512vpopcntdq")]] BitsetContent CopyBitsetAvx512(
    const std::byte* from, uint64_t* to) {
  return CopyBitsetBody(from, to);
}

bool HasAvx2() {
  static const bool kFound = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                             __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return kFound;
}
bool HasAvx512() {
  static const bool kFound = HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                             __builtin_cpu_supports("avx512vpopcntdq");
  return kFound;
}

#endif

}  // namespace

ArrayContent CopyArray(const std::byte* from, uint32_t count, uint16_t* to) {
#if defined(__x86_64__)
  if (HasAvx2()) return CopyArrayAvx2(from, count, to);
#endif
  return CopyArrayBody(from, count, to);
}

BitsetContent CopyBitset(const std::byte* from, uint64_t* to) {
#if defined(__x86_64__)
  if (HasAvx512()) return CopyBitsetAvx512(from, to);
  if (HasAvx2()) return CopyBitsetAvx2(from, to);
#endif
  return CopyBitsetBody(from, to);
}

RunContent CopyRuns(const std::byte* from, uint32_t count, uint16_t* to) {
  if (count == 0) return {"no runs", 0};
  RunContent content;
  uint32_t end = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t begin = to[2 * i] = LoadValue(from, size_t{2} * i);
    const uint32_t more = to[2 * i + 1] = LoadValue(from, size_t{2} * i + 1);
    // Runs that touch would be one; runs out of order or overlapping would lose members or count them twice.
    if (i > 0 && begin <= end) return {"runs overlap, touch or do not ascend", 0};
    end = begin + more + 1;
    if (end > kContainerPositions) return {"a run goes past the container", 0};
    content.cardinality += end - begin;
  }
  return content;
}

}  // namespace delenda
