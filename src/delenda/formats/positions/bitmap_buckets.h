// What a PositionSet is made of. Private to this folder, the only one that sees CRoaring.
#pragma once

#include <roaring/roaring.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "delenda/formats/positions/position_set.h"

namespace delenda {

// Shared, since a set operation passes a bucket that only one side has on as it is.
using BitmapPtr = std::shared_ptr<const roaring_bitmap_t>;

inline BitmapPtr OwnBitmap(roaring_bitmap_t* bitmap) {
  return {bitmap, [](const roaring_bitmap_t* owned) { roaring_bitmap_free(owned); }};
}

// Where the parts of a bitmap lie that was made in one piece of memory: of each form of container all members side by
// side, by ascending key, and a table of the containers (frozen_bitmap.h).
struct FrozenLayout {
  std::span<const uint64_t> bitset_words;
  std::span<const uint16_t> run_pairs;  // first value and number of further values
  std::span<const uint16_t> array_values;
  std::span<const uint16_t> keys;
  std::span<const uint16_t> counts;  // number of runs, or cardinality less one
  std::span<const uint8_t> types;    // FrozenBitmapBuilder::kBitsetType and so on
};

inline uint32_t KeyOf(uint64_t position) { return static_cast<uint32_t>(position >> 32); }
inline uint32_t LowOf(uint64_t position) { return static_cast<uint32_t>(position); }

// The positions of one key; never empty.
struct Bucket {
  uint32_t key = 0;
  BitmapPtr bitmap;
  uint64_t cardinality = 0;
  uint64_t before = 0;  // members in all buckets before this one
  // Known to be in canonical form (portable_bitmap.h), so that it is encoded as it is; points into the bitmap's memory.
  std::optional<FrozenLayout> canonical = {};

  uint64_t base() const { return uint64_t{key} << 32; }
};

// The part of [begin, end) that lies in one bucket, relative to its base: begin < end <= 2^32.
struct BucketRange {
  const Bucket* bucket = nullptr;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct PositionSet::Impl {
  std::vector<Bucket> buckets;  // keys ascend strictly
  uint64_t cardinality = 0;

  // Appends a bucket whose key is above all others and that has members.
  void Append(uint32_t key, BitmapPtr bitmap, uint64_t count, const std::optional<FrozenLayout>& canonical) {
    buckets.push_back({key, std::move(bitmap), count, cardinality, canonical});
    cardinality += count;
  }
  // The same for a bucket of another set.
  void Append(const Bucket& bucket) { Append(bucket.key, bucket.bitmap, bucket.cardinality, bucket.canonical); }
  // The same for CRoaring's result, which may be empty: then it is dropped.
  void Append(uint32_t key, BitmapPtr bitmap) {
    const uint64_t count = roaring_bitmap_get_cardinality(bitmap.get());
    if (count > 0) Append(key, std::move(bitmap), count, std::nullopt);
  }

  // The first bucket with a key of at least `key`. A 64-bit key, so that positions above kMaxPosition compare right.
  std::vector<Bucket>::const_iterator LowerBound(uint64_t key) const {
    return std::ranges::lower_bound(buckets, key, {}, &Bucket::key);
  }

  // Calls `visit` with the overlap of [begin, end) with each bucket, ascending.
  template <typename Visit>
  void ForEachOverlap(uint64_t begin, uint64_t end, Visit&& visit) const {
    if (begin >= end) return;
    for (auto bucket = LowerBound(begin >> 32); bucket != buckets.end() && bucket->base() < end; ++bucket) {
      const uint64_t base = bucket->base();
      visit(BucketRange{&*bucket, begin > base ? begin - base : 0, std::min(end - base, uint64_t{1} << 32)});
    }
  }
};

}  // namespace delenda
