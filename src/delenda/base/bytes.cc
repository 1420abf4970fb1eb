#include "delenda/base/bytes.h"

#include <libdeflate.h>

namespace delenda {

std::unexpected<Error> ByteReader::Truncated(uint64_t wanted, std::string_view what) const {
  return Corrupt("bytes end inside {}: needed {} bytes at byte {}, {} left", what, wanted, offset_, remaining());
}

Result<int64_t> ByteReader::ReadZigZag(std::string_view what) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (remaining() == 0) return Truncated(1, what);
    const auto byte = std::to_integer<uint64_t>(bytes_[offset_++]);
    // The tenth byte may hold only the highest bit: anything more would be silently cut off.
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  return Corrupt("variable-length number of {} is longer than 64 bits at byte {}", what, offset_);
}

void ByteWriter::WriteZigZag(int64_t value) {
  auto bits = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  while (bits >= 0x80) {
    bytes_.push_back(static_cast<std::byte>((bits & 0x7f) | 0x80));
    bits >>= 7;
  }
  bytes_.push_back(static_cast<std::byte>(bits));
}

uint32_t Crc32(ByteView bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

bool IsValidUtf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = at + text.size();
  const auto top_bits = [](const unsigned char* from) {
    return LoadUnsigned<std::endian::native, uint64_t>(reinterpret_cast<const std::byte*>(from)) & 0x8080808080808080u;
  };
  // Nearly all texts of table metadata are ASCII: up to 32 bytes at a time.
  while (end - at >= 32 && (top_bits(at) | top_bits(at + 8) | top_bits(at + 16) | top_bits(at + 24)) == 0) at += 32;
  while (at < end) {
    if (end - at >= 8 && top_bits(at) == 0) {
      at += 8;
      continue;
    }
    const unsigned lead = *at++;
    if (lead < 0x80) continue;
    const int extra = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || end - at < extra) return false;
    unsigned code = lead & (0x3Fu >> extra);
    for (int i = 0; i < extra; ++i) {
      if ((*at & 0xC0) != 0x80) return false;
      code = (code << 6) | (*at++ & 0x3Fu);
    }
    const unsigned smallest = extra == 3 ? 0x10000 : extra == 2 ? 0x800 : 0x80;
    if (code < smallest || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  }
  return true;
}

}  // namespace delenda
