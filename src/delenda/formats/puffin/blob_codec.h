// The compression codecs of Puffin: "lz4" (one LZ4 frame) and "zstd" (one Zstandard frame).
#pragma once

#include <cstdint>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::puffin {

// Decompress exactly one frame that fills `frame`. Corrupt if it is damaged, cut off, followed by more bytes, or grows
// beyond `max_bytes`: the output grows with what is really decoded, never by a size that the frame states.
Result<Bytes> DecompressLz4Frame(ByteView frame, uint64_t max_bytes);
Result<Bytes> DecompressZstdFrame(ByteView frame, uint64_t max_bytes);

}  // namespace delenda::puffin
