// The portable 64-bit roaring encoding of a PositionSet (RoaringFormatSpec, "Extension for 64-bit Implementations").
#include "delenda/formats/positions/bitmap_buckets.h"
#include "delenda/formats/positions/portable_bitmap.h"

namespace delenda {

namespace {

constexpr size_t kBucketCountBytes = 8;
constexpr size_t kKeyBytes = 4;
// The smallest 32-bit bitmap: a cookie and a container count of zero.
constexpr size_t kMinBitmapBytes = 8;

// A bitmap in the one form that depends on nothing but its members (PortableBitmap::canonical).
class CanonicalBitmap {
 public:
  explicit CanonicalBitmap(const Bucket& bucket) {
    if (bucket.canonical) {
      layout_ = *bucket.canonical;
      return;
    }
    // The results of set operations may have containers of any form.
    if (Take(bucket.bitmap.get())) return;
    const BitmapPtr copy = OwnBitmap(roaring_bitmap_copy(bucket.bitmap.get()));
    auto* optimized = const_cast<roaring_bitmap_t*>(copy.get());
    roaring_bitmap_run_optimize(optimized);
    if (Take(optimized)) return;
    // CRoaring leaves runs that are as large as an array as they are, so they are undone first; this is rare, and
    // costly for large runs.
    roaring_bitmap_remove_run_compression(optimized);
    roaring_bitmap_run_optimize(optimized);
    Take(optimized);
  }

  const FrozenLayout& layout() const { return layout_; }

 private:
  // False if it is not canonical.
  bool Take(const roaring_bitmap_t* bitmap) {
    Bytes bytes(roaring_bitmap_portable_size_in_bytes(bitmap));
    roaring_bitmap_portable_serialize(bitmap, reinterpret_cast<char*>(bytes.data()));
    auto read = ReadPortableBitmap(bytes, 0, 0);
    if (!read.has_value() || !read->canonical) return false;
    owned_ = std::move(read->bitmap);
    layout_ = *read->canonical;
    return true;
  }

  BitmapPtr owned_;
  FrozenLayout layout_;
};

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
    // Looks at all bytes that are left: how many belong to the bitmap is not known yet.
    ByteReader ahead = reader;
    const ByteView left = DELENDA_TRY(ahead.Read(ahead.remaining(), "bitmap"));
    PortableBitmap read = DELENDA_TRY(ReadPortableBitmap(left, key, reader.offset()));
    (void)DELENDA_TRY(reader.Read(read.size, "bitmap"));
    if (read.cardinality > 0) impl->Append(key, std::move(read.bitmap), read.cardinality, read.canonical);
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

void PositionSet::WritePortable(ByteWriter& out, size_t more) const {
  std::vector<CanonicalBitmap> bitmaps;
  bitmaps.reserve(impl_->buckets.size());
  size_t size = kBucketCountBytes + more;
  for (const Bucket& bucket : impl_->buckets) {
    size += kKeyBytes + PortableBitmapSize(bitmaps.emplace_back(bucket).layout());
  }
  out.Reserve(size);
  out.WriteLittle(uint64_t{impl_->buckets.size()});
  for (size_t i = 0; i < bitmaps.size(); ++i) {
    out.WriteLittle(impl_->buckets[i].key);
    WritePortableBitmap(bitmaps[i].layout(), out);
  }
}

Bytes PositionSet::ToPortable() const {
  ByteWriter out;
  WritePortable(out);
  return std::move(out).Finish();
}

uint64_t PositionSet::PortableSize() const {
  uint64_t size = kBucketCountBytes;
  for (const Bucket& bucket : impl_->buckets) size += kKeyBytes + PortableBitmapSize(CanonicalBitmap(bucket).layout());
  return size;
}

}  // namespace delenda
