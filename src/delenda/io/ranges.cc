#include "delenda/io/ranges.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "delenda/base/large_pages.h"

namespace delenda::io {

Result<std::vector<RangeGroup>> GroupRanges(std::span<const ByteRange> wanted, const RangeOptions& options) {
  for (const ByteRange& range : wanted) {
    if (range.length > std::numeric_limits<uint64_t>::max() - range.offset) {
      return Corrupt("range of {} bytes at byte {} ends past 2^64", range.length, range.offset);
    }
  }
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return std::tuple(wanted[i].offset, wanted[i].length, i); });

  std::vector<RangeGroup> groups;
  for (const size_t i : order) {
    const ByteRange& range = wanted[i];
    if (!groups.empty()) {
      ByteRange& last = groups.back().range;
      const uint64_t last_end = last.offset + last.length;
      const uint64_t end = std::max(last_end, range.offset + range.length);
      const bool near = range.offset <= last_end || range.offset - last_end <= options.max_gap;
      const bool inside = end == last_end;
      if (inside || (near && end - last.offset <= options.max_size)) {
        last.length = end - last.offset;
        groups.back().members.push_back(i);
        continue;
      }
    }
    groups.push_back({range, {i}});
  }
  return groups;
}

Result<Bytes> ReadRange(InputFile& file, ByteRange range) {
  // Lengths come from metadata. Ask for the last byte before much memory is taken on the word of a number; below that
  // size the request costs more than the memory.
  constexpr uint64_t kTrusted = uint64_t{64} << 20;
  if (range.length > std::numeric_limits<uint64_t>::max() - range.offset) {
    return WithContext(
        Result<Bytes>(Corrupt("range of {} bytes at byte {} ends past 2^64", range.length, range.offset)), "file",
        file.path());
  }
  if (range.length > kTrusted) {
    std::byte last[1];
    DELENDA_TRY(file.ReadAt(range.offset + range.length - 1, last));
  }
  Bytes bytes;
  ReserveLarge(bytes, static_cast<size_t>(range.length));
  bytes.resize(static_cast<size_t>(range.length));
  if (!bytes.empty()) DELENDA_TRY(file.ReadAt(range.offset, bytes));
  return bytes;
}

Result<std::vector<RangeBytes>> ReadRanges(InputFile& file, std::span<const ByteRange> wanted,
                                           const RangeOptions& options) {
  const std::vector<RangeGroup> groups = DELENDA_TRY(WithContext(GroupRanges(wanted, options), "file", file.path()));
  std::vector<RangeBytes> results(wanted.size());
  for (const RangeGroup& group : groups) {
    const auto buffer = std::make_shared<const Bytes>(DELENDA_TRY(ReadRange(file, group.range)));
    for (const size_t i : group.members) {
      const auto start = static_cast<size_t>(wanted[i].offset - group.range.offset);
      results[i] = {buffer, ByteView(*buffer).subspan(start, static_cast<size_t>(wanted[i].length))};
    }
  }
  return results;
}

}  // namespace delenda::io
