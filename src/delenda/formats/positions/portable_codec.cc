// The portable 64-bit roaring encoding of a PositionSet (RoaringFormatSpec, "Extension for 64-bit Implementations").
#include "delenda/formats/positions/bitmap_buckets.h"

namespace delenda {

namespace {

constexpr size_t kBucketCountBytes = 8;
constexpr size_t kKeyBytes = 4;
// The smallest 32-bit bitmap: a cookie and a container count of zero.
constexpr size_t kMinBitmapBytes = 8;

// One 32-bit bitmap at the reader's place; it may be empty.
Result<BitmapPtr> ReadBitmap(ByteReader& reader, uint32_t key) {
  const size_t offset = reader.offset();
  // Looks at the reader's remaining bytes without taking them: how many belong to the bitmap is not known yet.
  ByteReader ahead = reader;
  const ByteView left = DELENDA_TRY(ahead.Read(ahead.remaining(), "bitmap"));
  const auto* text = reinterpret_cast<const char*>(left.data());
  const size_t size = roaring_bitmap_portable_deserialize_size(text, left.size());
  if (size == 0) {
    return Corrupt("bitmap of key {} is no portable roaring bitmap, or is cut off: at byte {}, {} bytes left", key,
                   offset, left.size());
  }
  BitmapPtr bitmap = OwnBitmap(roaring_bitmap_portable_deserialize_safe(text, size));
  if (bitmap == nullptr) return Corrupt("bitmap of key {} cannot be decoded: at byte {}", key, offset);
  // Without the validator, unsorted containers or runs would pass and members would be lost, or memory be overrun
  // later.
  const char* reason = nullptr;
  if (!roaring_bitmap_internal_validate(bitmap.get(), &reason)) {
    return Corrupt("bitmap of key {} is inconsistent ({}): at byte {}", key, reason == nullptr ? "no reason" : reason,
                   offset);
  }
  (void)DELENDA_TRY(reader.Read(size, "bitmap"));
  return bitmap;
}

// RoaringFormatSpec: a bitmap with run containers begins with this cookie, the container count less one above it.
constexpr uint32_t kRunCookie = 12347;
// From this many containers on, a bitmap with runs has container offsets, too.
constexpr uint32_t kMinContainersWithOffsets = 4;
constexpr uint32_t kMaxArrayValues = 4096;
constexpr size_t kBitsetBytes = 8192;

// A serialised bitmap of ours has a run container that would be as large as an array: 2 + 4 * runs = 2 * values.
bool HasRunAsLargeAsArray(ByteView bitmap) {
  const auto word = [&](size_t at) { return LoadUnsigned<std::endian::little, uint16_t>(bitmap.data() + at); };
  if (word(0) != kRunCookie) return false;
  const uint32_t count = uint32_t{word(2)} + 1;
  const size_t flags = 4;
  const size_t descriptions = flags + (count + 7) / 8;
  size_t at = descriptions + count * 4 + (count >= kMinContainersWithOffsets ? count * 4 : 0);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t values = uint32_t{word(descriptions + i * 4 + 2)} + 1;
    if ((bitmap[flags + i / 8] & static_cast<std::byte>(1U << (i % 8))) != std::byte{0}) {
      const uint32_t runs = word(at);
      if (values == 2 * runs + 1) return true;
      at += 2 + size_t{runs} * 4;
    } else {
      at += values <= kMaxArrayValues ? values * 2 : kBitsetBytes;
    }
  }
  return false;
}

// The bitmap in the one form that depends on nothing but its members: each container as small as it can be, and an
// array rather than a run container of the same size (as Java writes it). CRoaring leaves such a run container as it
// is, so it is undone first; this is rare, and costly for large runs.
Bytes SerializeCanonical(const roaring_bitmap_t* bitmap) {
  const BitmapPtr copy = OwnBitmap(roaring_bitmap_copy(bitmap));
  auto* optimized = const_cast<roaring_bitmap_t*>(copy.get());
  const auto serialize = [&] {
    roaring_bitmap_run_optimize(optimized);
    Bytes out(roaring_bitmap_portable_size_in_bytes(optimized));
    roaring_bitmap_portable_serialize(optimized, reinterpret_cast<char*>(out.data()));
    return out;
  };
  Bytes out = serialize();
  if (!HasRunAsLargeAsArray(out)) return out;
  roaring_bitmap_remove_run_compression(optimized);
  return serialize();
}

}  // namespace

Result<PositionSet> PositionSet::ReadPortable(ByteReader& reader) {
  const size_t start = reader.offset();
  const auto count = DELENDA_TRY(reader.ReadLittle<uint64_t>("bucket count"));
  if (count > reader.remaining() / (kKeyBytes + kMinBitmapBytes)) {
    return Corrupt("bucket count does not fit the bytes: at byte {}, at most {} expected, {} found", start,
                   reader.remaining() / (kKeyBytes + kMinBitmapBytes), count);
  }
  auto impl = std::make_shared<Impl>();
  std::optional<uint32_t> previous;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t offset = reader.offset();
    const auto key = DELENDA_TRY(reader.ReadLittle<uint32_t>("bucket key"));
    if (key > kMaxKey)
      return Corrupt("bucket key is too large: at byte {}, at most {} expected, {} found", offset, kMaxKey, key);
    // With keys out of order or twice, a later bucket would hide an earlier one and deleted rows would come back.
    if (previous && key <= *previous) {
      return Corrupt("bucket keys do not ascend: at byte {}, more than {} expected, {} found", offset, *previous, key);
    }
    previous = key;
    impl->Append(key, DELENDA_TRY(ReadBitmap(reader, key)));
  }
  return PositionSet(std::move(impl));
}

Result<PositionSet> PositionSet::FromPortable(ByteView bytes) {
  ByteReader reader(bytes);
  PositionSet set = DELENDA_TRY(ReadPortable(reader));
  if (reader.remaining() != 0) {
    return Corrupt("bytes left over after the last bitmap: at byte {}, 0 expected, {} found", reader.offset(),
                   reader.remaining());
  }
  return set;
}

Bytes PositionSet::ToPortable() const {
  ByteWriter out;
  out.WriteLittle(uint64_t{impl_->buckets.size()});
  for (const Bucket& bucket : impl_->buckets) {
    out.WriteLittle(bucket.key);
    out.Write(SerializeCanonical(bucket.bitmap.get()));
  }
  return std::move(out).Finish();
}

uint64_t PositionSet::PortableSize() const {
  uint64_t size = kBucketCountBytes;
  for (const Bucket& bucket : impl_->buckets) size += kKeyBytes + SerializeCanonical(bucket.bitmap.get()).size();
  return size;
}

}  // namespace delenda
