#include "delenda/base/gzip.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>

namespace delenda {

bool IsGzip(ByteView bytes) { return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b}; }

Result<Bytes> Gunzip(ByteView gzip, uint64_t limit) {
  // Deflate cannot expand further than this (RFC 1951: 258 bytes from 2 bits), so no more room is ever tried.
  constexpr uint64_t kMaxRatio = 1032;
  constexpr size_t kTrailer = 8;
  constexpr uint64_t kFirstGuess = uint64_t{64} << 10;
  constexpr uint64_t kUsualRatio = 32;

  const auto release = [](libdeflate_decompressor* d) { libdeflate_free_decompressor(d); };
  const std::unique_ptr<libdeflate_decompressor, decltype(release)> decompressor(libdeflate_alloc_decompressor(),
                                                                                 release);
  if (!decompressor) return InternalError("out of memory");

  Bytes out;
  uint64_t total = 0;
  size_t at = 0;
  do {
    const ByteView rest = gzip.subspan(at);
    if (!IsGzip(rest)) {
      return at == 0 ? Corrupt("not a gzip file")
                     : Corrupt("{} bytes that are no gzip member at byte {}", rest.size(), at);
    }
    const uint64_t most = std::min(limit - total, rest.size() * kMaxRatio);
    uint64_t room = std::min(kFirstGuess, most);
    // The trailer tells the size (mod 2^32) of the last member, usually the only one. It is believed only as far as
    // text compresses; a true size beyond that is reached by doubling.
    if (rest.size() > kTrailer) {
      const uint64_t told = LoadUnsigned<std::endian::little, uint32_t>(rest.data() + rest.size() - 4);
      room = std::clamp(told, room, std::max(room, std::min(most, rest.size() * kUsualRatio)));
    }
    for (;;) {
      out.resize(static_cast<size_t>(total + room));
      size_t used = 0;
      size_t made = 0;
      const libdeflate_result status = libdeflate_gzip_decompress_ex(
          decompressor.get(), rest.data(), rest.size(), out.data() + total, static_cast<size_t>(room), &used, &made);
      if (status == LIBDEFLATE_SUCCESS) {
        total += made;
        at += used;
        break;
      }
      if (status != LIBDEFLATE_INSUFFICIENT_SPACE) return Corrupt("damaged gzip member at byte {}", at);
      if (room == most) {
        return total + room >= limit ? Corrupt("gzip file inflates to more than the limit of {} bytes", limit)
                                     : Corrupt("damaged gzip member at byte {}", at);
      }
      room = std::min(most, std::max(room * 2, kFirstGuess));
    }
  } while (at < gzip.size());
  out.resize(static_cast<size_t>(total));
  return out;
}

Result<Bytes> Gzip(ByteView bytes) {
  constexpr int kDefaultLevel = 6;
  const auto release = [](libdeflate_compressor* c) { libdeflate_free_compressor(c); };
  const std::unique_ptr<libdeflate_compressor, decltype(release)> compressor(libdeflate_alloc_compressor(kDefaultLevel),
                                                                             release);
  if (!compressor) return InternalError("out of memory");
  Bytes out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()));
  const size_t size = libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size());
  if (size == 0) return InternalError("gzip did not fit its own bound");
  out.resize(size);
  return out;
}

}  // namespace delenda
