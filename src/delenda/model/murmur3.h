// The hash of bucket partitions.
#pragma once

#include <cstdint>

#include "delenda/base/bytes.h"

namespace delenda {

// Murmur3, 32-bit x86 variant, seed 0 (Iceberg spec, Appendix B).
uint32_t Murmur3Hash32(ByteView bytes);

}  // namespace delenda
