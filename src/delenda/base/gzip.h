// Gzip files (RFC 1952) in memory, as metadata files named *.gz.metadata.json are.
#pragma once

#include <cstdint>

#include "delenda/base/bytes.h"

namespace delenda {

// All members of a gzip file, inflated and joined. `limit` bounds the bytes that come out: a small file can claim to
// hold a thousand times its size. Corrupt when a member is damaged or cut short, its CRC or size differs, something
// follows the last member, or the limit is passed.
Result<Bytes> Gunzip(ByteView gzip, uint64_t limit);

// One gzip member, at zlib's default level; readable by every gzip.
Result<Bytes> Gzip(ByteView bytes);

// The bytes begin as a gzip file does.
bool IsGzip(ByteView bytes);

}  // namespace delenda
