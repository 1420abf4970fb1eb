#include "delenda/formats/positions/position_set.h"

#include <array>

#include "delenda/formats/positions/bitmap_buckets.h"

namespace delenda {

PositionSet::PositionSet() {
  static const std::shared_ptr<const Impl> kEmpty = std::make_shared<Impl>();
  impl_ = kEmpty;
}

PositionSet::PositionSet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

uint64_t PositionSet::cardinality() const { return impl_->cardinality; }

std::optional<uint64_t> PositionSet::Min() const {
  if (empty()) return std::nullopt;
  const Bucket& first = impl_->buckets.front();
  return first.base() | roaring_bitmap_minimum(first.bitmap.get());
}

std::optional<uint64_t> PositionSet::Max() const {
  if (empty()) return std::nullopt;
  const Bucket& last = impl_->buckets.back();
  return last.base() | roaring_bitmap_maximum(last.bitmap.get());
}

bool PositionSet::Contains(uint64_t position) const {
  const auto bucket = impl_->LowerBound(position >> 32);
  return bucket != impl_->buckets.end() && bucket->key == position >> 32 &&
         roaring_bitmap_contains(bucket->bitmap.get(), LowOf(position));
}

bool PositionSet::ContainsRange(uint64_t begin, uint64_t end) const {
  if (begin >= end) return true;
  // Fewer members than positions: no need to look closer. Also keeps the loop short for absurdly long ranges.
  if (end - begin > cardinality()) return false;
  uint64_t covered = 0;
  impl_->ForEachOverlap(begin, end, [&](const BucketRange& range) {
    if (roaring_bitmap_contains_range(range.bucket->bitmap.get(), range.begin, range.end)) {
      covered += range.end - range.begin;
    }
  });
  return covered == end - begin;
}

uint64_t PositionSet::CountInRange(uint64_t begin, uint64_t end) const {
  uint64_t count = 0;
  impl_->ForEachOverlap(begin, end, [&](const BucketRange& range) {
    count += roaring_bitmap_range_cardinality(range.bucket->bitmap.get(), range.begin, range.end);
  });
  return count;
}

uint64_t PositionSet::Rank(uint64_t position) const {
  const auto bucket = impl_->LowerBound(position >> 32);
  if (bucket == impl_->buckets.end()) return cardinality();
  const uint32_t low = LowOf(position);
  if (bucket->key != position >> 32 || low == 0) return bucket->before;
  return bucket->before +
         roaring_bitmap_rank(bucket->bitmap.get(), low - 1);  // CRoaring counts members <= its argument
}

std::vector<uint64_t> PositionSet::RankMany(std::span<const uint64_t> positions) const {
  std::vector<uint64_t> ranks(positions.size());
  if (!std::ranges::is_sorted(positions)) {
    std::ranges::transform(positions, ranks.begin(), [&](uint64_t position) { return Rank(position); });
    return ranks;
  }
  std::vector<uint32_t> lows;
  for (size_t at = 0; at < positions.size();) {
    const uint64_t key = positions[at] >> 32;
    const auto bucket = impl_->LowerBound(key);
    const bool present = bucket != impl_->buckets.end() && bucket->key == key;
    const uint64_t before = bucket == impl_->buckets.end() ? cardinality() : bucket->before;
    // Members below p are the members <= p - 1; position 0 of a key has none in its bucket.
    for (; at < positions.size() && positions[at] >> 32 == key && (!present || LowOf(positions[at]) == 0); ++at) {
      ranks[at] = before;
    }
    const size_t first = at;
    lows.clear();
    for (; at < positions.size() && positions[at] >> 32 == key; ++at) lows.push_back(LowOf(positions[at]) - 1);
    if (lows.empty()) continue;
    roaring_bitmap_rank_many(bucket->bitmap.get(), lows.data(), lows.data() + lows.size(), ranks.data() + first);
    for (size_t i = first; i < at; ++i) ranks[i] += before;
  }
  return ranks;
}

std::optional<uint64_t> PositionSet::Select(uint64_t rank) const {
  if (rank >= cardinality()) return std::nullopt;
  const auto bucket = std::prev(std::ranges::upper_bound(impl_->buckets, rank, {}, &Bucket::before));
  uint32_t low = 0;
  roaring_bitmap_select(bucket->bitmap.get(), static_cast<uint32_t>(rank - bucket->before), &low);
  return bucket->base() | low;
}

PositionSet PositionSet::Union(const PositionSet& other) const {
  if (other.empty() || impl_ == other.impl_) return *this;
  if (empty()) return other;
  auto out = std::make_shared<Impl>();
  auto left = impl_->buckets.begin();
  auto right = other.impl_->buckets.begin();
  const auto left_end = impl_->buckets.end();
  const auto right_end = other.impl_->buckets.end();
  while (left != left_end || right != right_end) {
    if (right == right_end || (left != left_end && left->key < right->key)) {
      out->Append(*left);
      ++left;
    } else if (left == left_end || right->key < left->key) {
      out->Append(*right);
      ++right;
    } else {
      out->Append(left->key, OwnBitmap(roaring_bitmap_or(left->bitmap.get(), right->bitmap.get())));
      ++left;
      ++right;
    }
  }
  return PositionSet(std::move(out));
}

PositionSet PositionSet::Difference(const PositionSet& other) const {
  if (empty() || other.empty()) return *this;
  auto out = std::make_shared<Impl>();
  for (const Bucket& bucket : impl_->buckets) {
    const auto match = other.impl_->LowerBound(bucket.key);
    if (match == other.impl_->buckets.end() || match->key != bucket.key) {
      out->Append(bucket);
    } else {
      out->Append(bucket.key, OwnBitmap(roaring_bitmap_andnot(bucket.bitmap.get(), match->bitmap.get())));
    }
  }
  return PositionSet(std::move(out));
}

PositionSet PositionSet::Intersection(const PositionSet& other) const {
  auto out = std::make_shared<Impl>();
  for (const Bucket& bucket : impl_->buckets) {
    const auto match = other.impl_->LowerBound(bucket.key);
    if (match == other.impl_->buckets.end() || match->key != bucket.key) continue;
    out->Append(bucket.key, OwnBitmap(roaring_bitmap_and(bucket.bitmap.get(), match->bitmap.get())));
  }
  return PositionSet(std::move(out));
}

bool PositionSet::ContainsAll(const PositionSet& other) const {
  return other.cardinality() <= cardinality() && std::ranges::all_of(other.impl_->buckets, [&](const Bucket& bucket) {
           const auto match = impl_->LowerBound(bucket.key);
           return match != impl_->buckets.end() && match->key == bucket.key &&
                  roaring_bitmap_is_subset(bucket.bitmap.get(), match->bitmap.get());
         });
}

bool PositionSet::Intersects(const PositionSet& other) const {
  return std::ranges::any_of(impl_->buckets, [&](const Bucket& bucket) {
    const auto match = other.impl_->LowerBound(bucket.key);
    return match != other.impl_->buckets.end() && match->key == bucket.key &&
           roaring_bitmap_intersect(bucket.bitmap.get(), match->bitmap.get());
  });
}

bool PositionSet::Equals(const PositionSet& other) const {
  if (impl_ == other.impl_) return true;
  return std::ranges::equal(impl_->buckets, other.impl_->buckets, [](const Bucket& a, const Bucket& b) {
    return a.key == b.key && a.cardinality == b.cardinality && roaring_bitmap_equals(a.bitmap.get(), b.bitmap.get());
  });
}

void PositionSet::ForEachRun(const std::function<void(PositionRun)>& visit, uint64_t begin, uint64_t end) const {
  PositionRun open;  // not visited yet: a run may go on in the next bucket
  impl_->ForEachOverlap(begin, end, [&](const BucketRange& range) {
    roaring_uint32_iterator_t at;
    roaring_iterator_init(range.bucket->bitmap.get(), &at);
    if (range.begin > 0) roaring_uint32_iterator_move_equalorlarger(&at, static_cast<uint32_t>(range.begin));
    std::array<roaring_uint32_range_closed_t, 128> found;
    const uint64_t base = range.bucket->base();
    while (at.has_value && at.current_value < range.end) {
      const size_t count = roaring_uint32_iterator_read_ranges(&at, found.data(), found.size());
      for (size_t i = 0; i < count && found[i].min < range.end; ++i) {
        const PositionRun run{base + found[i].min, base + std::min(uint64_t{found[i].max} + 1, range.end)};
        if (run.begin == open.end && open.size() > 0) {
          open.end = run.end;
          continue;
        }
        if (open.size() > 0) visit(open);
        open = run;
      }
    }
  });
  if (open.size() > 0) visit(open);
}

std::vector<PositionRun> PositionSet::Runs(uint64_t begin, uint64_t end) const {
  std::vector<PositionRun> runs;
  ForEachRun([&](PositionRun run) { runs.push_back(run); }, begin, end);
  return runs;
}

void PositionSet::ForEachBlock(const std::function<void(uint64_t base, std::span<const uint32_t> lows)>& visit) const {
  // CRoaring gives all members at once several times faster than an iterator does, but memory must stay bounded: a few
  // bytes may say that billions of positions are in the set.
  constexpr uint64_t kMaxAtOnce = uint64_t{4} << 20;
  constexpr uint32_t kBlock = 1024;
  const uint64_t largest =
      impl_->buckets.empty() ? 0 : std::ranges::max(impl_->buckets, {}, &Bucket::cardinality).cardinality;
  const auto lows = std::make_unique_for_overwrite<uint32_t[]>(largest <= kMaxAtOnce ? largest : kMaxAtOnce);
  for (const Bucket& bucket : impl_->buckets) {
    if (bucket.cardinality <= kMaxAtOnce) {
      roaring_bitmap_to_uint32_array(bucket.bitmap.get(), lows.get());
      visit(bucket.base(), {lows.get(), static_cast<size_t>(bucket.cardinality)});
      continue;
    }
    roaring_uint32_iterator_t at;
    roaring_iterator_init(bucket.bitmap.get(), &at);
    while (const uint32_t count = roaring_uint32_iterator_read(&at, lows.get(), kBlock)) {
      visit(bucket.base(), {lows.get(), count});
    }
  }
}

std::vector<uint64_t> PositionSet::ToVector() const {
  std::vector<uint64_t> positions;
  positions.reserve(cardinality());
  ForEach([&](uint64_t position) { positions.push_back(position); });
  return positions;
}

}  // namespace delenda
