// Turning a range of a PositionSet into a bit mask.
#include <array>
#include <bit>
#include <cstring>

#include "delenda/formats/positions/bitmap_buckets.h"

namespace delenda {

namespace {

// Positions of one roaring container.
constexpr uint64_t kWindow = 65536;
// From this share of members on (1 / 16), copying a window's words beats setting bits one at a time.
constexpr uint64_t kDenseShare = 16;

void SetBits(uint8_t* mask, uint64_t begin, uint64_t end) {
  for (; begin < end && begin % 8 != 0; ++begin) mask[begin / 8] |= static_cast<uint8_t>(1U << (begin % 8));
  std::memset(mask + begin / 8, 0xff, (end - begin) / 8);
  for (begin += (end - begin) / 8 * 8; begin < end; ++begin) mask[begin / 8] |= static_cast<uint8_t>(1U << (begin % 8));
}

// Eight bytes as they lie in a mask, whose first bit is the least significant one.
uint64_t MaskOrder(uint64_t word) {
  if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
  return word;
}

// Bits [from, from + count) of `words`, count <= 64.
uint64_t GatherBits(const uint64_t* words, uint64_t from, uint64_t count) {
  const uint64_t shift = from % 64;
  uint64_t value = words[from / 64] >> shift;
  if (shift + count > 64) value |= words[from / 64 + 1] << (64 - shift);
  return count == 64 ? value : value & ((uint64_t{1} << count) - 1);
}

// Or bits [from, from + count) of `words` into bits [to, to + count) of `mask`, where they are 0.
void OrBits(const uint64_t* words, uint64_t from, uint64_t count, uint8_t* mask, uint64_t to) {
  const uint64_t end = from + count;
  if (to % 8 != 0) {  // up to the next byte of the mask
    const uint64_t bits = std::min(8 - to % 8, count);
    mask[to / 8] = static_cast<uint8_t>(mask[to / 8] | GatherBits(words, from, bits) << (to % 8));
    from += bits;
    to += bits;
  }
  uint8_t* at = mask + to / 8;
  for (; end - from >= 64; from += 64, at += 8) {
    const uint64_t value = MaskOrder(GatherBits(words, from, 64));
    std::memcpy(at, &value, sizeof(value));
  }
  for (; from < end; ++at) {
    const uint64_t bits = std::min<uint64_t>(8, end - from);
    *at = static_cast<uint8_t>(*at | GatherBits(words, from, bits));
    from += bits;
  }
}

// Reusable buffer for the words of one window.
class WindowWords {
 public:
  // Or the members of [begin, end), which lies in the window from `window` on, into `mask` at bit `to`.
  void Or(const roaring_bitmap_t* bitmap, uint64_t window, uint64_t begin, uint64_t end, uint8_t* mask, uint64_t to) {
    // CRoaring shows no containers; cutting the window out and moving it to 0 copies its 8 KiB a few times, which is
    // still several times faster than going through its members.
    const BitmapPtr cut = OwnBitmap(roaring_bitmap_from_range(window, window + kWindow, 1));
    const BitmapPtr part = OwnBitmap(roaring_bitmap_and(bitmap, cut.get()));
    const BitmapPtr moved = OwnBitmap(roaring_bitmap_add_offset(part.get(), -static_cast<int64_t>(window)));
    if (bits_ == nullptr) bits_.reset(bitset_create_with_capacity(kWindow));
    bitset_clear(bits_.get());
    roaring_bitmap_to_bitset(moved.get(), bits_.get());
    const uint64_t available = uint64_t{bits_->arraysize} * 64;
    const uint64_t from = begin - window;
    if (from < available) OrBits(bits_->array, from, std::min(end - begin, available - from), mask, to);
  }

 private:
  struct Free {
    void operator()(bitset_t* bits) const { bitset_free(bits); }
  };
  std::unique_ptr<bitset_t, Free> bits_;  // made when first needed: most masks are of sparse sets
};

}  // namespace

uint64_t PositionSet::FillMask(uint64_t begin, uint64_t count, uint8_t* bitmap, MaskBits bits) const {
  const uint64_t size = count / 8 + (count % 8 != 0 ? 1 : 0);
  if (size == 0) return 0;
  std::memset(bitmap, 0, size);
  uint64_t members = 0;
  const uint64_t end = count > UINT64_MAX - begin ? UINT64_MAX : begin + count;
  WindowWords words;
  impl_->ForEachOverlap(begin, end, [&](const BucketRange& range) {
    const roaring_bitmap_t* source = range.bucket->bitmap.get();
    roaring_uint32_iterator_t at;
    roaring_iterator_init(source, &at);
    if (range.begin > 0) roaring_uint32_iterator_move_equalorlarger(&at, static_cast<uint32_t>(range.begin));
    const uint64_t shift = range.bucket->base() - begin;  // low + shift = bit of the mask; wraps as it should
    while (at.has_value && at.current_value < range.end) {
      const uint64_t window = at.current_value / kWindow * kWindow;
      const uint64_t from = std::max(window, range.begin);
      const uint64_t to = std::min(window + kWindow, range.end);
      const uint64_t found = roaring_bitmap_range_cardinality(source, from, to);
      members += found;
      if (found * kDenseShare >= kWindow || found == to - from) {
        if (found == to - from) {
          SetBits(bitmap, from + shift, to + shift);
        } else {
          words.Or(source, window, from, to, bitmap, from + shift);
        }
        if (to == uint64_t{1} << 32) break;
        roaring_uint32_iterator_move_equalorlarger(&at, static_cast<uint32_t>(to));
        continue;
      }
      std::array<uint32_t, kWindow / kDenseShare> lows;
      roaring_uint32_iterator_read(&at, lows.data(), static_cast<uint32_t>(found));
      for (uint64_t i = 0; i < found; ++i) {
        const uint64_t bit = lows[i] + shift;
        bitmap[bit / 8] |= static_cast<uint8_t>(1U << (bit % 8));
      }
    }
  });
  if (bits == MaskBits::kNonMembers) {
    for (uint64_t i = 0; i < size; ++i) bitmap[i] = static_cast<uint8_t>(~bitmap[i]);
    if (count % 8 != 0) bitmap[size - 1] &= static_cast<uint8_t>((1U << (count % 8)) - 1);
  }
  return members;
}

}  // namespace delenda
