// Making a PositionSet of positions or ranges.
#include <functional>

#include "delenda/formats/positions/bitmap_buckets.h"
#include "delenda/formats/positions/frozen_bitmap.h"

namespace delenda {

namespace {

// A range over more keys (over 4 * 10^12 positions) is no data file: a lying record count must not take all memory.
constexpr uint64_t kMaxKeysOfRange = 1024;

std::unexpected<Error> TooLarge(uint64_t position) {
  return InvalidArgument("position is too large: at most {}, found {}", PositionSet::kMaxPosition, position);
}

// The positions that share all but their lowest 16 bits: what one container holds.
struct Window {
  std::span<const uint64_t> positions;
  uint32_t runs = 0;

  uint16_t key() const { return static_cast<uint16_t>(positions.front() >> 16); }
  uint32_t count() const { return static_cast<uint32_t>(positions.size()); }
  ContainerForm form() const { return SmallestForm(count(), runs); }
};

// `positions` ascend strictly.
std::vector<Window> SplitIntoWindows(std::span<const uint64_t> positions) {
  std::vector<Window> windows;
  for (size_t begin = 0; begin < positions.size();) {
    const uint64_t window = positions[begin] >> 16;
    uint32_t runs = 1;
    size_t end = begin + 1;
    for (; end < positions.size() && positions[end] >> 16 == window; ++end) {
      runs += positions[end] == positions[end - 1] + 1 ? 0 : 1;
    }
    windows.push_back({positions.subspan(begin, end - begin), runs});
    begin = end;
  }
  return windows;
}

void FillRuns(std::span<const uint64_t> positions, uint16_t* pairs) {
  uint64_t begin = positions.front();
  uint64_t last = begin;
  const auto close = [&] {
    *pairs++ = static_cast<uint16_t>(begin);
    *pairs++ = static_cast<uint16_t>(last - begin);
  };
  for (const uint64_t position : positions.subspan(1)) {
    if (position != last + 1) {
      close();
      begin = position;
    }
    last = position;
  }
  close();
}

// `positions` ascend strictly and share their upper half. No bitmap if it cannot be made.
FrozenBitmapBuilder::Made MakeBitmap(std::span<const uint64_t> positions) {
  const std::vector<Window> windows = SplitIntoWindows(positions);
  BitmapShape shape;
  for (const Window& window : windows) shape.Add(window.form(), window.count(), window.runs);
  FrozenBitmapBuilder builder(shape);
  for (const Window& window : windows) {
    switch (window.form()) {
      case ContainerForm::kArray:
        std::ranges::transform(window.positions, builder.AddArray(window.key(), window.count()),
                               [](uint64_t position) { return static_cast<uint16_t>(position); });
        break;
      case ContainerForm::kRuns: FillRuns(window.positions, builder.AddRuns(window.key(), window.runs)); break;
      case ContainerForm::kBitset: {
        uint64_t* words = builder.AddBitset(window.key(), window.count());
        std::fill_n(words, kBitsetWords, 0);
        for (const uint64_t position : window.positions)
          words[position % kContainerPositions / 64] |= uint64_t{1} << (position % 64);
      }
    }
  }
  return std::move(builder).Finish();
}

}  // namespace

Result<PositionSet> PositionSet::FromPositions(std::span<const uint64_t> positions) {
  std::vector<uint64_t> sorted;
  if (std::ranges::adjacent_find(positions, std::greater_equal<>{}) != positions.end()) {
    sorted.assign(positions.begin(), positions.end());
    std::ranges::sort(sorted);
    sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
    positions = sorted;
  }
  if (!positions.empty() && positions.back() > kMaxPosition) return TooLarge(positions.back());

  auto impl = std::make_shared<Impl>();
  while (!positions.empty()) {
    const uint32_t key = KeyOf(positions.front());
    const auto end = std::ranges::upper_bound(positions, key, {}, KeyOf);
    const std::span<const uint64_t> bucket(positions.begin(), end);
    FrozenBitmapBuilder::Made made = MakeBitmap(bucket);
    if (made.bitmap == nullptr) return NoBitmap();
    impl->Append(key, std::move(made.bitmap), bucket.size(), made.layout);
    positions = positions.subspan(bucket.size());
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

}  // namespace delenda
