// PositionSet: the set of deleted row positions of one data file, and the algebra that every capability rests on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda {

// Consecutive positions [begin, end).
struct PositionRun {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
  friend bool operator==(const PositionRun&, const PositionRun&) = default;
};

// What a set bit of a mask says.
enum class MaskBits : uint8_t {
  kMembers,     // 1 = the position is in the set (deleted)
  kNonMembers,  // 1 = the position is not in the set (live): the selection mask of a reader
};

// An immutable set of 64-bit row positions (0-based ordinals of rows in a data file).
//
// A value: copies share the bitmap, so they are cheap, and any number of threads may read one set at a time. Inside,
// one 32-bit roaring bitmap per high half ("key") of the positions, sorted by key; nearly every data file has exactly
// one.
class PositionSet {
 public:
  // Keys above 2^31-2 are refused everywhere: the Java reader of both table formats keeps keys in a signed array index,
  // so a vector with such a key could be written but never read again.
  static constexpr uint64_t kMaxKey = 0x7FFF'FFFE;
  static constexpr uint64_t kMaxPosition = (kMaxKey << 32) | 0xFFFF'FFFF;

  // The empty set.
  PositionSet();
  // Copies only: a moved-from set would have no bitmap to look into.
  PositionSet(const PositionSet&) = default;
  PositionSet& operator=(const PositionSet&) = default;
  ~PositionSet() = default;

  // Positions in any order, duplicates allowed. InvalidArgument if one is above kMaxPosition.
  static Result<PositionSet> FromPositions(std::span<const uint64_t> positions);
  // All positions of [begin, end). InvalidArgument if end < begin or the last one is above kMaxPosition.
  static Result<PositionSet> FromRange(uint64_t begin, uint64_t end);
  // The union of ranges in any order; they may touch and overlap. Errors as FromRange.
  static Result<PositionSet> FromRanges(std::span<const PositionRun> ranges);

  // Decode the portable 64-bit roaring encoding (Puffin specification, "deletion-vector-v1 blob type"; Delta
  // PROTOCOL.md, "Deletion Vector Format"): u64 little-endian bucket count, per bucket a u32 little-endian key in
  // ascending order and a portable 32-bit roaring bitmap. Empty buckets are allowed, since Java writes them for gaps
  // between keys. The bytes are not trusted: every count is bounded by the bytes that remain before anything is
  // allocated, and all that CRoaring's validator looks for is checked before the first use. Corrupt (with the byte
  // offset, counted from the start of the reader's bytes) if anything is wrong. ReadPortable leaves the reader behind
  // the last bucket; FromPortable refuses bytes after it.
  static Result<PositionSet> ReadPortable(ByteReader& reader);
  static Result<PositionSet> FromPortable(ByteView bytes);

  // The same encoding, run-optimised, without empty buckets. Equal sets give equal bytes, whatever they were made from.
  Bytes ToPortable() const;
  // The same, appended to `out`. Room for `more` bytes, which the caller writes next, is made at the same time.
  void WritePortable(ByteWriter& out, size_t more = 0) const;
  // Size of ToPortable() in bytes; as costly as making them.
  uint64_t PortableSize() const;

  // Number of positions in the set. O(1).
  uint64_t cardinality() const;
  bool empty() const { return cardinality() == 0; }
  // Lowest and highest position; nothing if the set is empty.
  std::optional<uint64_t> Min() const;
  std::optional<uint64_t> Max() const;

  bool Contains(uint64_t position) const;
  // Every position of [begin, end) is in the set; true for an empty range.
  bool ContainsRange(uint64_t begin, uint64_t end) const;
  // Number of positions of [begin, end) that are in the set.
  uint64_t CountInRange(uint64_t begin, uint64_t end) const;
  // Number of members strictly below `position`: a live row `p` is live row number `p - Rank(p)` of its file.
  uint64_t Rank(uint64_t position) const;
  // Rank of every element of `positions`, which must ascend: one pass instead of one search for each.
  std::vector<uint64_t> RankMany(std::span<const uint64_t> positions) const;
  // The member with exactly `rank` members below it; nothing if rank >= cardinality().
  std::optional<uint64_t> Select(uint64_t rank) const;

  PositionSet Union(const PositionSet& other) const;
  // Members of this set that are not in `other`.
  PositionSet Difference(const PositionSet& other) const;
  PositionSet Intersection(const PositionSet& other) const;
  // Every member of `other` is in this set.
  bool ContainsAll(const PositionSet& other) const;
  bool Intersects(const PositionSet& other) const;

  // Calls `visit` for every maximal run of members, clipped to [begin, end), in ascending order.
  void ForEachRun(const std::function<void(PositionRun)>& visit, uint64_t begin = 0, uint64_t end = UINT64_MAX) const;
  std::vector<PositionRun> Runs(uint64_t begin = 0, uint64_t end = UINT64_MAX) const;
  // All members, ascending.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    ForEachBlock([&visit](uint64_t base, std::span<const uint32_t> lows) {
      for (const uint32_t low : lows) visit(base | low);
    });
  }
  std::vector<uint64_t> ToVector() const;

  // Fill bit i (least significant bit of a byte first, as Arrow has it) of `bitmap` for position begin + i, i < count.
  // Writes exactly (count + 7) / 8 bytes, which `bitmap` must have; bits after the last one are 0. Returns the number
  // of members in the range.
  uint64_t FillMask(uint64_t begin, uint64_t count, uint8_t* bitmap, MaskBits bits) const;

  friend bool operator==(const PositionSet& a, const PositionSet& b) { return a.Equals(b); }

 private:
  struct Impl;
  explicit PositionSet(std::shared_ptr<const Impl> impl);
  bool Equals(const PositionSet& other) const;
  // All members, ascending, many at a time: `base` is their upper half.
  void ForEachBlock(const std::function<void(uint64_t base, std::span<const uint32_t> lows)>& visit) const;

  std::shared_ptr<const Impl> impl_;  // never null
};

}  // namespace delenda
