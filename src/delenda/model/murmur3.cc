#include "delenda/model/murmur3.h"

#include <bit>

namespace delenda {

namespace {

uint32_t ScrambleBlock(uint32_t block) { return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U; }

}  // namespace

uint32_t Murmur3Hash32(ByteView bytes) {
  uint32_t hash = 0;
  size_t at = 0;
  for (; bytes.size() - at >= 4; at += 4) {
    hash ^= ScrambleBlock(LoadUnsigned<std::endian::little, uint32_t>(bytes.data() + at));
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64U;
  }
  uint32_t tail = 0;
  for (size_t i = bytes.size(); i > at; --i) tail = (tail << 8) | std::to_integer<uint32_t>(bytes[i - 1]);
  hash ^= ScrambleBlock(tail);
  hash ^= static_cast<uint32_t>(bytes.size());
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return hash ^ (hash >> 16);
}

}  // namespace delenda
