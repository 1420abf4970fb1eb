// Constants of the deletion vector framings, shared by readers and writers.
// Iceberg: Puffin specification, "deletion-vector-v1 blob type". Delta: PROTOCOL.md, "Deletion Vector Format".
#pragma once

#include <cstddef>
#include <cstdint>

namespace delenda::dv {

// Both formats frame the same vector: length (u32 big-endian, of magic + vector), magic, vector, CRC-32 (u32
// big-endian, of magic + vector). The magic is the bytes D1 D3 39 64, which Delta states as a little-endian number.
inline constexpr uint32_t kMagicLittleEndian = 1681511377;
inline constexpr size_t kLengthBytes = 4;
inline constexpr size_t kMagicBytes = 4;
inline constexpr size_t kCrcBytes = 4;
// What a frame adds to magic + vector: Iceberg's content_size_in_bytes counts it, Delta's sizeInBytes does not.
inline constexpr size_t kFrameBytes = kLengthBytes + kCrcBytes;

// Delta: byte 0 of a `.bin` file is its version; the first frame follows at offset 1.
inline constexpr uint8_t kDeltaFileVersion = 1;
inline constexpr uint64_t kDeltaFirstOffset = 1;

}  // namespace delenda::dv
