// Which of a number of rows are kept, and moving kept values together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace delenda::parquet {

// `count` bits (1 … 64) of a bitmap from bit `begin` on, least significant first; never reads a byte that holds none.
inline uint64_t LoadBits(const uint8_t* bitmap, int64_t begin, int64_t count) {
  const uint8_t* at = bitmap + begin / 8;
  const int64_t shift = begin % 8;
  const int64_t bytes = (shift + count + 7) / 8;
  uint64_t word = 0;
  std::memcpy(&word, at, static_cast<size_t>(std::min<int64_t>(bytes, 8)));
  word >>= shift;
  if (bytes == 9) word |= uint64_t{at[8]} << (64 - shift);
  return count == 64 ? word : word & ((uint64_t{1} << count) - 1);
}
static_assert(std::endian::native == std::endian::little);

// The bits of `bits` whose places are set in `places`, moved together.
inline uint64_t ExtractBits(uint64_t bits, uint64_t places) {
  if (places == ~uint64_t{0}) return bits;
  uint64_t result = 0;
  for (int next = 0; places != 0; ++next, places &= places - 1)
    result |= (bits >> std::countr_zero(places) & 1) << next;
  return result;
}

// Bits of a bitmap from `begin` on say which rows are kept. Without a bitmap: all.
class RowMask {
 public:
  RowMask() = default;
  RowMask(const uint8_t* bitmap, int64_t begin) : bitmap_(bitmap), begin_(begin) {}

  bool all() const { return bitmap_ == nullptr; }
  RowMask From(int64_t row) const { return all() ? RowMask() : RowMask(bitmap_, begin_ + row); }
  bool Kept(int64_t row) const {
    const int64_t bit = begin_ + row;
    return all() || (bitmap_[bit / 8] >> (bit % 8) & 1) != 0;
  }
  // Rows [row, row + count) as bits, 1 ≤ count ≤ 64.
  uint64_t Word(int64_t row, int64_t count) const {
    if (all()) return ~uint64_t{0} >> (64 - count);
    return LoadBits(bitmap_, begin_ + row, count);
  }
  int64_t Count(int64_t rows) const {
    if (all()) return rows;
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row += 64) count += std::popcount(Word(row, std::min<int64_t>(64, rows - row)));
    return count;
  }
  bool None(int64_t rows) const {
    if (all()) return rows == 0;
    for (int64_t row = 0; row < rows; row += 64) {
      if (Word(row, std::min<int64_t>(64, rows - row)) != 0) return false;
    }
    return true;
  }

 private:
  const uint8_t* bitmap_ = nullptr;
  int64_t begin_ = 0;
};

// Appends bits to a bitmap that is zero from the first appended bit on, and whole words long.
class BitAppender {
 public:
  explicit BitAppender(uint64_t* words) : words_(words) {}
  int64_t size() const { return size_; }
  // The lowest `count` (0 … 64) bits of `bits`, which has no others.
  void Append(uint64_t bits, int64_t count) {
    if (count == 0) return;
    const int64_t shift = size_ % 64;
    words_[size_ / 64] |= bits << shift;
    if (shift + count > 64) words_[size_ / 64 + 1] |= bits >> (64 - shift);
    size_ += count;
  }

 private:
  uint64_t* words_;
  int64_t size_ = 0;
};

// Room that CompactRows and its callers may write to beyond the last kept value.
constexpr int64_t kCompactSlack = 64;

// Calls copy(row, out) for each kept row of `rows`, `out` moving on by `width` bytes per kept row, and
// copy_run(row, count, out) where 64 rows in a row are kept. copy may be called for rows that are not kept: what it
// wrote is then overwritten, or lies in the slack. Returns the end.
template <typename Copy, typename CopyRun>
std::byte* CompactRows(const RowMask& kept, int64_t rows, size_t width, std::byte* out, const Copy& copy,
                       const CopyRun& copy_run) {
  if (kept.all()) {
    copy_run(0, rows, out);
    return out + static_cast<size_t>(rows) * width;
  }
  for (int64_t row = 0; row < rows; row += 64) {
    const int64_t count = std::min<int64_t>(64, rows - row);
    uint64_t word = kept.Word(row, count);
    const int set = std::popcount(word);
    if (set == count) {
      copy_run(row, count, out);
      out += static_cast<size_t>(count) * width;
    } else if (set < 16) {
      for (; word != 0; word &= word - 1, out += width) copy(row + std::countr_zero(word), out);
    } else {
      // Scattered deletes: a branch for each row would be guessed wrong too often.
      for (int64_t i = 0; i < count; ++i, word >>= 1) {
        copy(row + i, out);
        out += width & (0 - static_cast<size_t>(word & 1));
      }
    }
  }
  return out;
}

// Values of `kWidth` bytes each (0: of `width`), kept ones moved together at `out`, which has kCompactSlack bytes more
// than they need. Returns the end.
template <size_t kWidth>
std::byte* CompactFixed(const std::byte* values, size_t width, const RowMask& kept, int64_t rows, std::byte* out) {
  const size_t step = kWidth != 0 ? kWidth : width;
  return CompactRows(
      kept, rows, step, out,
      [&](int64_t row, std::byte* to) { std::memcpy(to, values + static_cast<size_t>(row) * step, step); },
      [&](int64_t row, int64_t count, std::byte* to) {
        std::memcpy(to, values + static_cast<size_t>(row) * step, static_cast<size_t>(count) * step);
      });
}

}  // namespace delenda::parquet
