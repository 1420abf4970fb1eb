// Copying one encoded roaring container into place while counting and checking what it holds. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace delenda {

// Positions of one container: the low 16 bits of a position.
inline constexpr uint32_t kContainerPositions = 65536;
// RoaringFormatSpec: an array container holds at most so many values, a bitset container more.
inline constexpr uint32_t kMaxArrayValues = 4096;
inline constexpr size_t kBitsetWords = kContainerPositions / 64;

// All sources are little-endian and not aligned.

struct ArrayContent {
  bool ascending = false;  // strictly: neither out of order nor twice
  uint32_t runs = 0;       // maximal runs of consecutive values; right only if ascending
};
// `count` values, 1 to kMaxArrayValues.
ArrayContent CopyArray(const std::byte* from, uint32_t count, uint16_t* to);

struct BitsetContent {
  uint32_t cardinality = 0;
  uint32_t runs = 0;
};
// kBitsetWords words.
BitsetContent CopyBitset(const std::byte* from, uint64_t* to);

struct RunContent {
  const char* fault = nullptr;  // null: the runs ascend, do not touch, and end within the container
  uint32_t cardinality = 0;     // right only without fault
};
// `count` pairs of first value and number of further values.
RunContent CopyRuns(const std::byte* from, uint32_t count, uint16_t* to);

}  // namespace delenda
