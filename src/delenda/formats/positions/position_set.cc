#include "delenda/formats/positions/position_set.h"

#include <array>

#include "delenda/formats/positions/bitmap_buckets.h"

namespace delenda {

namespace {

// A range over more keys (over 4 * 10^12 positions) is no data file: a lying record count must not take all memory.
constexpr uint64_t kMaxKeysOfRange = 1024;

std::unexpected<Error> TooLarge(uint64_t position) {
  return InvalidArgument("position is too large: at most {}, found {}", PositionSet::kMaxPosition, position);
}

}  // namespace

PositionSet::PositionSet() {
  static const std::shared_ptr<const Impl> kEmpty = std::make_shared<Impl>();
  impl_ = kEmpty;
}

PositionSet::PositionSet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<PositionSet> PositionSet::FromPositions(std::span<const uint64_t> positions) {
  std::vector<uint64_t> sorted;
  if (!std::ranges::is_sorted(positions)) {
    sorted.assign(positions.begin(), positions.end());
    std::ranges::sort(sorted);
    positions = sorted;
  }
  if (!positions.empty() && positions.back() > kMaxPosition) return TooLarge(positions.back());

  auto impl = std::make_shared<Impl>();
  std::vector<uint32_t> lows;
  for (size_t at = 0; at < positions.size();) {
    const uint32_t key = KeyOf(positions[at]);
    lows.clear();
    for (; at < positions.size() && KeyOf(positions[at]) == key; ++at) lows.push_back(LowOf(positions[at]));
    roaring_bitmap_t* bitmap = roaring_bitmap_of_ptr(lows.size(), lows.data());
    // The set is read many times: runs make it small and its masks quick.
    roaring_bitmap_run_optimize(bitmap);
    impl->Append(key, OwnBitmap(bitmap));
  }
  return PositionSet(std::move(impl));
}

Result<PositionSet> PositionSet::FromRange(uint64_t begin, uint64_t end) {
  const PositionRun run{begin, end};
  return FromRanges({&run, 1});
}

Result<PositionSet> PositionSet::FromRanges(std::span<const PositionRun> ranges) {
  std::vector<PositionRun> sorted;
  for (const PositionRun& run : ranges) {
    if (run.end < run.begin)
      return InvalidArgument("range of positions ends before it begins: {} to {}", run.begin, run.end);
    if (run.begin == run.end) continue;
    if (run.end - 1 > kMaxPosition) return TooLarge(run.end - 1);
    if (((run.end - 1) >> 32) - (run.begin >> 32) >= kMaxKeysOfRange) {
      return InvalidArgument("range of positions is too long: at most {} positions, found {} to {}",
                             kMaxKeysOfRange << 32, run.begin, run.end);
    }
    sorted.push_back(run);
  }
  std::ranges::sort(sorted, {}, &PositionRun::begin);

  auto impl = std::make_shared<Impl>();
  BitmapPtr full;  // every position of a key: built once, shared by all such keys
  roaring_bitmap_t* open = nullptr;
  uint32_t open_key = 0;
  const auto close = [&] {
    if (open == nullptr) return;
    roaring_bitmap_run_optimize(open);
    impl->Append(open_key, OwnBitmap(open));
    open = nullptr;
  };
  // Overlapping ranges are merged first, so that keys only ever ascend below.
  for (size_t at = 0; at < sorted.size();) {
    PositionRun run = sorted[at];
    for (++at; at < sorted.size() && sorted[at].begin <= run.end; ++at) run.end = std::max(run.end, sorted[at].end);
    for (uint64_t begin = run.begin; begin < run.end;) {
      const uint32_t key = KeyOf(begin);
      const uint64_t end = std::min(run.end, (uint64_t{key} + 1) << 32);
      if (end - begin == uint64_t{1} << 32) {
        close();
        if (full == nullptr) full = OwnBitmap(roaring_bitmap_from_range(0, uint64_t{1} << 32, 1));
        impl->Append(key, full);
      } else {
        if (open != nullptr && open_key != key) close();
        if (open == nullptr) open = roaring_bitmap_create();
        open_key = key;
        roaring_bitmap_add_range_closed(open, LowOf(begin), LowOf(end - 1));
      }
      begin = end;
    }
  }
  close();
  return PositionSet(std::move(impl));
}

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
      out->Append(left->key, left->bitmap);
      ++left;
    } else if (left == left_end || right->key < left->key) {
      out->Append(right->key, right->bitmap);
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
      out->Append(bucket.key, bucket.bitmap);
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

void PositionSet::ForEach(const std::function<void(uint64_t)>& visit) const {
  for (const Bucket& bucket : impl_->buckets) {
    roaring_uint32_iterator_t at;
    roaring_iterator_init(bucket.bitmap.get(), &at);
    std::array<uint32_t, 1024> lows;
    while (const uint32_t count = roaring_uint32_iterator_read(&at, lows.data(), lows.size())) {
      for (uint32_t i = 0; i < count; ++i) visit(bucket.base() | lows[i]);
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
