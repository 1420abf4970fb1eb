// One 32-bit bitmap in the portable roaring encoding (RoaringFormatSpec). Private to this folder.
#pragma once

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/positions/bitmap_buckets.h"

namespace delenda {

struct PortableBitmap {
  BitmapPtr bitmap;  // null if it has no members
  uint64_t cardinality = 0;
  // Given if its encoding is the canonical one: each container as small as it can be, an array rather than runs of the
  // same size. Points into the bitmap's memory.
  std::optional<FrozenLayout> canonical;
  size_t size = 0;  // bytes that belong to it
};

// Decodes and checks the bitmap at the beginning of `bytes`, whatever follows it. `key` and `offset` (of `bytes` within
// what the caller reads) are for messages. Corrupt unless every count fits the bytes, container keys ascend, array
// values and runs ascend, and a bitset has as many members as its header says: with any of these wrong, members would
// be lost or come out twice, or memory be overrun later. The same that CRoaring's validator looks for, in one pass.
Result<PortableBitmap> ReadPortableBitmap(ByteView bytes, uint32_t key, size_t offset);

// Encodes a bitmap, container by container in the form that each has.
size_t PortableBitmapSize(const FrozenLayout& layout);
void WritePortableBitmap(const FrozenLayout& layout, ByteWriter& out);

}  // namespace delenda
