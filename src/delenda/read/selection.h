// Which rows of a batch are kept: a bitmap, least significant bit first, as Arrow has it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace delenda::read {

class Selection {
 public:
  Selection() = default;
  // `rows` rows, all kept or none.
  explicit Selection(int64_t rows, bool keep = false)
      : rows_(rows), words_((static_cast<size_t>(rows) + 63) / 64, keep ? ~uint64_t{0} : 0) {
    ClearTail();
  }

  int64_t rows() const { return rows_; }
  bool Kept(int64_t row) const { return (words_[static_cast<size_t>(row) / 64] >> (row % 64) & 1) != 0; }
  void Drop(int64_t row) { words_[static_cast<size_t>(row) / 64] &= ~(uint64_t{1} << (row % 64)); }
  int64_t Count() const {
    int64_t count = 0;
    for (uint64_t word : words_) count += std::popcount(word);
    return count;
  }

  // Bit i of the result says what `keep(i)` says; called for every row in order.
  template <typename Keep>
  static Selection Where(int64_t rows, Keep&& keep) {
    Selection result(rows);
    for (int64_t begin = 0; begin < rows; begin += 64) {
      const int64_t end = begin + 64 < rows ? begin + 64 : rows;
      uint64_t word = 0;
      for (int64_t row = begin; row < end; ++row) word |= static_cast<uint64_t>(keep(row) ? 1 : 0) << (row - begin);
      result.words_[static_cast<size_t>(begin) / 64] = word;
    }
    return result;
  }

  Selection& operator&=(const Selection& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  Selection& operator|=(const Selection& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  // Rows [begin, begin + part.rows()) become those of `part`.
  void Assign(int64_t begin, const Selection& part) {
    const int64_t shift = begin % 64;
    for (int64_t row = 0; row < part.rows(); row += 64) {
      const int64_t count = part.rows() - row < 64 ? part.rows() - row : 64;
      const uint64_t places = ~uint64_t{0} >> (64 - count);
      const uint64_t bits = part.words_[static_cast<size_t>(row) / 64];
      uint64_t* word = &words_[static_cast<size_t>(begin + row) / 64];
      word[0] = (word[0] & ~(places << shift)) | bits << shift;
      if (shift + count > 64) word[1] = (word[1] & ~(places >> (64 - shift))) | bits >> (64 - shift);
    }
  }
  Selection Slice(int64_t begin, int64_t rows) const {
    Selection result(rows);
    const int64_t shift = begin % 64;
    size_t from = static_cast<size_t>(begin) / 64;
    for (uint64_t& word : result.words_) {
      word = words_[from++] >> shift;
      if (shift != 0 && from < words_.size()) word |= words_[from] << (64 - shift);
    }
    result.ClearTail();
    return result;
  }
  void Invert() {
    for (uint64_t& word : words_) word = ~word;
    ClearTail();
  }

  // (rows + 7) / 8 bytes are meant; bits after the last row are 0. (Little-endian machines only, as the build checks.)
  static_assert(std::endian::native == std::endian::little);
  const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(words_.data()); }
  uint8_t* mutable_bytes() { return reinterpret_cast<uint8_t*>(words_.data()); }

 private:
  void ClearTail() {
    if (rows_ % 64 != 0) words_.back() &= (uint64_t{1} << (rows_ % 64)) - 1;
  }

  int64_t rows_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace delenda::read
