// Reading several ranges of one file in few requests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/io/file_io.h"

namespace delenda::io {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct RangeOptions {
  uint64_t max_gap = uint64_t{64} << 10;   // bytes read for nothing between two ranges, rather than asking twice
  uint64_t max_size = uint64_t{16} << 20;  // ranges are not joined into a request larger than this
};

// One request and the ranges that it serves, as indexes into the list of wanted ranges.
struct RangeGroup {
  ByteRange range;
  std::vector<size_t> members;
};

// Groups sorted by offset; every wanted range lies within exactly one. A range larger than max_size is a group of its
// own. Corrupt when a range ends past 2^64.
Result<std::vector<RangeGroup>> GroupRanges(std::span<const ByteRange> wanted, const RangeOptions& options = {});

// The bytes of one wanted range. `buffer` keeps the bytes of its whole group alive.
struct RangeBytes {
  std::shared_ptr<const Bytes> buffer;
  ByteView view;
};

// The wanted ranges, in their order; one ReadAt per group. Corrupt when a range ends past the end of the file.
Result<std::vector<RangeBytes>> ReadRanges(InputFile& file, std::span<const ByteRange> wanted,
                                           const RangeOptions& options = {});

// `range` of the file in a buffer of its own. Nothing is allocated that the file does not hold.
Result<Bytes> ReadRange(InputFile& file, ByteRange range);

}  // namespace delenda::io
