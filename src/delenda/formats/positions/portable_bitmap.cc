#include "delenda/formats/positions/portable_bitmap.h"

#include <bit>

#include "delenda/formats/positions/container_copy.h"
#include "delenda/formats/positions/frozen_bitmap.h"

namespace delenda {

namespace {

// RoaringFormatSpec, "Cookie header": this cookie and a u32 container count; or, if any container holds runs, the other
// one with the count less one in its upper half, then a bit for each container.
constexpr uint32_t kPlainCookie = 12346;
constexpr uint32_t kRunCookie = 12347;
constexpr uint32_t kMaxContainers = 65536;
// "Descriptive header": key and cardinality less one of each container.
constexpr size_t kDescriptionBytes = 4;
// "Offset header": always there without runs, else from so many containers on. Not looked at, since the containers
// follow each other.
constexpr uint32_t kMinContainersWithOffsets = 4;
constexpr size_t kOffsetBytes = 4;
constexpr size_t kWordBytes = sizeof(uint64_t);
constexpr size_t kValueBytes = sizeof(uint16_t);
constexpr size_t kEncodedRunBytes = 2 * kValueBytes;

uint16_t LoadValue(const std::byte* at) { return LoadUnsigned<std::endian::little, uint16_t>(at); }

template <typename T>
void WriteAllLittle(std::span<const T> numbers, ByteWriter& out) {
  if constexpr (std::endian::native == std::endian::little) {
    out.Write(std::as_bytes(numbers));
  } else {
    for (const T number : numbers) out.WriteLittle(number);
  }
}

// Goes through the containers of an encoded bitmap twice: what they need, then what they hold.
class PortableReader {
 public:
  PortableReader(ByteView bytes, uint32_t key, size_t offset) : bytes_(bytes), key_(key), offset_(offset) {}

  Result<PortableBitmap> Read() {
    if (!ReadHeader() || !MeasureContainers()) {
      return Corrupt("bitmap of key {} is no portable roaring bitmap, or is cut off: at byte {}, {} bytes left", key_,
                     offset_, bytes_.size());
    }
    if (shape_.containers == 0) return PortableBitmap{.bitmap = nullptr, .canonical = FrozenLayout{}, .size = size_};
    return Decode();
  }

 private:
  // Finds the descriptions; false if it is not all there.
  bool ReadHeader() {
    if (bytes_.size() < sizeof(uint32_t)) return false;
    const auto cookie = LoadUnsigned<std::endian::little, uint32_t>(bytes_.data());
    size_t at = sizeof(uint32_t);
    uint64_t count = 0;
    if ((cookie & 0xFFFF) == kRunCookie) {
      count = (cookie >> 16) + 1;
      run_flags_ = at;
      at += (count + 7) / 8;
    } else if (cookie == kPlainCookie) {
      if (bytes_.size() - at < sizeof(uint32_t)) return false;
      count = LoadUnsigned<std::endian::little, uint32_t>(bytes_.data() + at);
      at += sizeof(uint32_t);
      if (count > kMaxContainers) return false;
    } else {
      return false;
    }
    descriptions_ = at;
    at += count * kDescriptionBytes;
    if (run_flags_ == 0 || count >= kMinContainersWithOffsets) at += count * kOffsetBytes;
    shape_.containers = count;
    first_container_ = at;
    return at <= bytes_.size();
  }

  uint16_t KeyOfContainer(size_t index) const {
    return LoadValue(bytes_.data() + descriptions_ + index * kDescriptionBytes);
  }
  uint32_t StatedCardinality(size_t index) const {
    return uint32_t{LoadValue(bytes_.data() + descriptions_ + index * kDescriptionBytes + kValueBytes)} + 1;
  }
  bool HoldsRuns(size_t index) const {
    return run_flags_ != 0 &&
           (bytes_[run_flags_ + index / 8] & static_cast<std::byte>(1U << (index % 8))) != std::byte{0};
  }

  // What all containers need, bounded by the bytes; false if they are not all there.
  bool MeasureContainers() {
    size_t at = first_container_;
    for (size_t i = 0; i < shape_.containers; ++i) {
      const uint32_t cardinality = StatedCardinality(i);
      size_t need = 0;
      if (HoldsRuns(i)) {
        if (bytes_.size() - at < kValueBytes) return false;
        const uint32_t runs = LoadValue(bytes_.data() + at);
        shape_.runs += runs;
        need = kValueBytes + runs * kEncodedRunBytes;
      } else if (cardinality <= kMaxArrayValues) {
        shape_.array_values += cardinality;
        need = cardinality * kValueBytes;
      } else {
        ++shape_.bitsets;
        need = kBitsetWords * kWordBytes;
      }
      if (need > bytes_.size() - at) return false;
      at += need;
    }
    size_ = at;
    return true;
  }

  std::unexpected<Error> Inconsistent(std::string_view reason) const {
    return Corrupt("bitmap of key {} is inconsistent ({}): at byte {}", key_, reason, offset_);
  }

  Result<PortableBitmap> Decode() {
    FrozenBitmapBuilder builder(shape_);
    PortableBitmap out{.bitmap = nullptr, .canonical = std::nullopt, .size = size_};
    bool canonical = true;
    const std::byte* at = bytes_.data() + first_container_;
    for (size_t i = 0; i < shape_.containers; ++i) {
      const uint16_t key = KeyOfContainer(i);
      if (i > 0 && key <= KeyOfContainer(i - 1)) return Inconsistent("keys not strictly increasing");
      uint32_t cardinality = StatedCardinality(i);
      uint32_t runs = 0;
      ContainerForm form = ContainerForm::kArray;
      if (HoldsRuns(i)) {
        form = ContainerForm::kRuns;
        runs = LoadValue(at);
        const RunContent content = CopyRuns(at + kValueBytes, runs, builder.AddRuns(key, runs));
        if (content.fault != nullptr) return Inconsistent(content.fault);
        // The header's cardinality is not used: the runs say what is in the set.
        cardinality = content.cardinality;
        at += kValueBytes + runs * kEncodedRunBytes;
      } else if (cardinality <= kMaxArrayValues) {
        const ArrayContent content = CopyArray(at, cardinality, builder.AddArray(key, cardinality));
        if (!content.ascending) return Inconsistent("array elements not strictly increasing");
        runs = content.runs;
        at += cardinality * kValueBytes;
      } else {
        form = ContainerForm::kBitset;
        const BitsetContent content = CopyBitset(at, builder.AddBitset(key, cardinality));
        if (content.cardinality != cardinality) return Inconsistent("bitset has not as many members as stated");
        runs = content.runs;
        at += kBitsetWords * kWordBytes;
      }
      canonical = canonical && form == SmallestForm(cardinality, runs);
      out.cardinality += cardinality;
    }
    FrozenBitmapBuilder::Made made = std::move(builder).Finish();
    if (made.bitmap == nullptr) return NoBitmap();
    out.bitmap = std::move(made.bitmap);
    if (canonical) out.canonical = made.layout;
    return out;
  }

  ByteView bytes_;
  uint32_t key_;
  size_t offset_;
  // Within bytes_.
  size_t run_flags_ = 0;  // 0: no container holds runs
  size_t descriptions_ = 0;
  size_t first_container_ = 0;
  size_t size_ = 0;
  BitmapShape shape_;
};

}  // namespace

Result<PortableBitmap> ReadPortableBitmap(ByteView bytes, uint32_t key, size_t offset) {
  return PortableReader(bytes, key, offset).Read();
}

size_t PortableBitmapSize(const FrozenLayout& layout) {
  const size_t count = layout.keys.size();
  const auto runs = static_cast<size_t>(std::ranges::count(layout.types, FrozenBitmapBuilder::kRunType));
  size_t size = runs > 0 ? sizeof(uint32_t) + (count + 7) / 8 : 2 * sizeof(uint32_t);
  size += count * kDescriptionBytes;
  if (runs == 0 || count >= kMinContainersWithOffsets) size += count * kOffsetBytes;
  return size + runs * kValueBytes + layout.bitset_words.size_bytes() + layout.run_pairs.size_bytes() +
         layout.array_values.size_bytes();
}

void WritePortableBitmap(const FrozenLayout& layout, ByteWriter& out) {
  const size_t count = layout.keys.size();
  const bool has_runs = std::ranges::find(layout.types, FrozenBitmapBuilder::kRunType) != layout.types.end();
  if (has_runs) {
    out.WriteLittle(static_cast<uint32_t>(kRunCookie | (count - 1) << 16));
    Bytes flags((count + 7) / 8);
    for (size_t i = 0; i < count; ++i) {
      if (layout.types[i] == FrozenBitmapBuilder::kRunType) flags[i / 8] |= static_cast<std::byte>(1U << (i % 8));
    }
    out.Write(flags);
  } else {
    out.WriteLittle(kPlainCookie);
    out.WriteLittle(static_cast<uint32_t>(count));
  }

  const bool has_offsets = !has_runs || count >= kMinContainersWithOffsets;
  // Keys and cardinalities of all containers, then the offsets of all, from the beginning of the bitmap.
  Bytes table(count * (kDescriptionBytes + (has_offsets ? kOffsetBytes : 0)));
  std::byte* description = table.data();
  std::byte* offset_at = description + count * kDescriptionBytes;
  size_t offset = (has_runs ? sizeof(uint32_t) + (count + 7) / 8 : 2 * sizeof(uint32_t)) + table.size();
  const uint16_t* pairs = layout.run_pairs.data();
  for (size_t i = 0; i < count; ++i) {
    const uint8_t type = layout.types[i];
    uint32_t less_one = layout.counts[i];
    size_t bytes = type == FrozenBitmapBuilder::kBitsetType ? kBitsetWords * kWordBytes : (less_one + 1) * kValueBytes;
    if (type == FrozenBitmapBuilder::kRunType) {
      const uint32_t runs = layout.counts[i];
      less_one = runs - 1;
      for (const uint16_t* end = pairs + size_t{2} * runs; pairs != end; pairs += 2) less_one += pairs[1];
      bytes = kValueBytes + runs * kEncodedRunBytes;
    }
    StoreUnsigned<std::endian::little>(layout.keys[i], description);
    StoreUnsigned<std::endian::little>(static_cast<uint16_t>(less_one), description + kValueBytes);
    description += kDescriptionBytes;
    if (has_offsets) StoreUnsigned<std::endian::little>(static_cast<uint32_t>(offset), offset_at);
    offset_at += kOffsetBytes;
    offset += bytes;
  }
  out.Write(table);

  const uint64_t* words = layout.bitset_words.data();
  const uint16_t* values = layout.array_values.data();
  pairs = layout.run_pairs.data();
  for (size_t i = 0; i < count;) {
    const uint8_t type = layout.types[i];
    if (type == FrozenBitmapBuilder::kRunType) {
      const uint16_t runs = layout.counts[i++];
      out.WriteLittle(runs);
      WriteAllLittle(std::span(pairs, size_t{2} * runs), out);
      pairs += size_t{2} * runs;
      continue;
    }
    // Neighbours of one form lie side by side here and there.
    size_t members = 0;
    size_t containers = 0;
    for (; i < count && layout.types[i] == type; ++i, ++containers) members += size_t{layout.counts[i]} + 1;
    if (type == FrozenBitmapBuilder::kBitsetType) {
      WriteAllLittle(std::span(words, containers * kBitsetWords), out);
      words += containers * kBitsetWords;
    } else {
      WriteAllLittle(std::span(values, members), out);
      values += members;
    }
  }
}

}  // namespace delenda
