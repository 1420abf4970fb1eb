// A hash of texts for tables in memory. It may change with any release: nothing that is stored may depend on it.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "delenda/base/bytes.h"

namespace delenda {

__extension__ typedef unsigned __int128 WideProduct;

// All 64 bits are usable. Sixteen bytes a step, by multiplying to 128 bits and folding (the manner of wyhash): paths of
// table files have about a hundred bytes, and planning hashes each of them.
inline uint64_t HashText(std::string_view text, uint64_t seed = 0) {
  constexpr uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xe7037ed1a0b428db;
  const auto fold = [](uint64_t a, uint64_t b) {
    const WideProduct product = static_cast<WideProduct>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  const auto load = [](const char* at) {
    return LoadUnsigned<std::endian::little, uint64_t>(reinterpret_cast<const std::byte*>(at));
  };
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = seed ^ kOdd1 ^ left;
  for (; left > 16; left -= 16, at += 16) hash = fold(load(at) ^ kOdd2, load(at + 8) ^ hash);
  uint64_t low = 0, high = 0;
  if (left >= 8) {
    // The two loads overlap: together they hold all that is left.
    low = load(at);
    high = load(at + left - 8);
  } else {
    for (size_t i = 0; i < left; ++i) low |= uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  }
  hash = fold(low ^ kOdd2, high ^ hash);
  return fold(hash ^ kOdd1, kOdd2);
}

}  // namespace delenda
