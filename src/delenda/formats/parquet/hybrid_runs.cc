#include "delenda/formats/parquet/hybrid_runs.h"

#include <algorithm>

namespace delenda::parquet {
namespace {

// Numbers [first, first + count) of a bit-packed run. The last ones are loaded byte by byte: nothing is read behind
// `packed`, which has (first + count) · width bits.
void Unpack(ByteView packed, int width, int64_t first, int64_t count, uint32_t* out) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  const auto bits = static_cast<uint64_t>(width);
  uint64_t bit = static_cast<uint64_t>(first) * bits;
  int64_t i = 0;
  for (; i < count && bit / 8 + 8 <= packed.size(); ++i, bit += bits) {
    const auto word = LoadUnsigned<std::endian::little, uint64_t>(packed.data() + bit / 8);
    out[i] = static_cast<uint32_t>(word >> (bit % 8) & mask);
  }
  for (; i < count; ++i, bit += bits) {
    uint64_t word = 0;
    for (size_t byte = 0; byte < 8 && bit / 8 + byte < packed.size(); ++byte)
      word |= std::to_integer<uint64_t>(packed[bit / 8 + byte]) << (8 * byte);
    out[i] = static_cast<uint32_t>(word >> (bit % 8) & mask);
  }
}

}  // namespace

Result<void> HybridRuns::NextRun() {
  if (!repeated_) {
    // Behind the bytes of the packed run that ended. Numbers that only fill up its last byte were counted too.
    offset_ += static_cast<size_t>((packed_at_ * width_ + 7) / 8);
  }
  packed_at_ = 0;
  uint64_t head = 0;
  for (int shift = 0;; shift += 7) {
    if (offset_ >= bytes_.size()) return Corrupt("a page ends within its levels or indices");
    if (shift > 28) return Corrupt("a run of levels or indices has too long a header");
    const auto byte = std::to_integer<uint64_t>(bytes_[offset_++]);
    head |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  repeated_ = (head & 1) == 0;
  if (repeated_) {
    const auto length = static_cast<size_t>((width_ + 7) / 8);
    if (length > bytes_.size() - offset_) return Corrupt("a page ends within its levels or indices");
    value_ = 0;
    for (size_t i = 0; i < length; ++i) value_ |= std::to_integer<uint32_t>(bytes_[offset_ + i]) << (8 * i);
    offset_ += length;
    left_ = static_cast<int64_t>(head >> 1);
  } else {
    left_ = static_cast<int64_t>(head >> 1) * 8;
    // Some writers cut the last run short behind its last number.
    if (width_ != 0) left_ = std::min(left_, static_cast<int64_t>((bytes_.size() - offset_) * 8) / width_);
    if (left_ == 0) return Corrupt("a page ends within its levels or indices");
  }
  return {};
}

Result<void> HybridRuns::Decode(uint32_t* out, int64_t count) {
  while (count > 0) {
    if (left_ == 0) {
      DELENDA_TRY(NextRun());
      continue;
    }
    const int64_t taken = std::min(count, left_);
    if (repeated_) {
      std::fill_n(out, taken, value_);
    } else {
      Unpack(bytes_.subspan(offset_), width_, packed_at_, taken, out);
      packed_at_ += taken;
    }
    left_ -= taken;
    out += taken;
    count -= taken;
  }
  return {};
}

Result<bool> HybridRuns::SkipRepeated(uint32_t value, int64_t count) {
  if (count == 0) return true;
  if (left_ == 0) DELENDA_TRY(NextRun());
  if (!repeated_ || value_ != value || left_ < count) return false;
  left_ -= count;
  return true;
}

Result<void> HybridRuns::Skip(int64_t count) {
  while (count > 0) {
    if (left_ == 0) {
      DELENDA_TRY(NextRun());
      continue;
    }
    const int64_t taken = std::min(count, left_);
    if (!repeated_) packed_at_ += taken;
    left_ -= taken;
    count -= taken;
  }
  return {};
}

}  // namespace delenda::parquet
