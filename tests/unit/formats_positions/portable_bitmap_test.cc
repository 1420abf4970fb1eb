// The decoder of one bitmap against CRoaring's own decoder and validator, and the layout that it makes against the one
// that CRoaring writes.
#include "delenda/formats/positions/portable_bitmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "delenda/formats/positions/frozen_bitmap.h"
#include "support/seed.h"

namespace delenda {
namespace {

const char* Text(const Bytes& bytes) { return reinterpret_cast<const char*>(bytes.data()); }

Bytes Serialize(const roaring_bitmap_t* bitmap) {
  Bytes out(roaring_bitmap_portable_size_in_bytes(bitmap));
  roaring_bitmap_portable_serialize(bitmap, reinterpret_cast<char*>(out.data()));
  return out;
}

// A few containers of every form and density, with or without runs.
BitmapPtr RandomBitmap(std::mt19937_64& random) {
  roaring_bitmap_t* bitmap = roaring_bitmap_create();
  const uint64_t containers = random() % 6;
  for (uint64_t c = 0; c < containers; ++c) {
    const auto base = static_cast<uint32_t>((c * (1 + random() % 3)) << 16);
    switch (random() % 4) {
      case 0:
        for (uint64_t i = random() % 80; i-- > 0;) roaring_bitmap_add(bitmap, base + random() % 65'536);
        break;
      case 1:  // around the border between array and bitset
        for (uint64_t i = 4'000 + random() % 600; i-- > 0;) roaring_bitmap_add(bitmap, base + random() % 65'536);
        break;
      case 2: roaring_bitmap_add_range(bitmap, base + random() % 30'000, base + 30'000 + random() % 35'537); break;
      default:
        for (uint64_t i = 0; i < 40; ++i) {
          const uint64_t begin = base + random() % 65'000;
          roaring_bitmap_add_range(bitmap, begin, begin + random() % 500);
        }
    }
  }
  if (random() % 2 == 0) roaring_bitmap_run_optimize(bitmap);
  if (random() % 4 == 0) roaring_bitmap_remove_run_compression(bitmap);
  return OwnBitmap(bitmap);
}

// What CRoaring makes of the bytes: null if it refuses them.
BitmapPtr Reference(const Bytes& bytes, size_t& size) {
  size = roaring_bitmap_portable_deserialize_size(Text(bytes), bytes.size());
  if (size == 0) return nullptr;
  BitmapPtr bitmap = OwnBitmap(roaring_bitmap_portable_deserialize_safe(Text(bytes), size));
  const char* reason = nullptr;
  return bitmap != nullptr && roaring_bitmap_internal_validate(bitmap.get(), &reason) ? bitmap : nullptr;
}

// Accepts and refuses what CRoaring does, and finds the same members.
void ExpectAsCRoaring(const Bytes& bytes) {
  size_t size = 0;
  const BitmapPtr expected = Reference(bytes, size);
  const auto found = ReadPortableBitmap(bytes, 0, 0);
  ASSERT_EQ(found.has_value(), expected != nullptr) << (found.has_value() ? "accepted" : found.error().message());
  if (!found) return;
  ASSERT_EQ(found->size, size);
  ASSERT_EQ(found->cardinality, roaring_bitmap_get_cardinality(expected.get()));
  if (found->bitmap == nullptr) {
    ASSERT_EQ(found->cardinality, 0u);
    return;
  }
  const char* reason = nullptr;
  ASSERT_TRUE(roaring_bitmap_internal_validate(found->bitmap.get(), &reason)) << reason;
  ASSERT_EQ(roaring_bitmap_get_cardinality(found->bitmap.get()), found->cardinality);
  ASSERT_TRUE(roaring_bitmap_equals(found->bitmap.get(), expected.get()));
  // CRoaring writes the containers' forms as they are, and so does the encoder.
  if (!found->canonical) return;
  ByteWriter encoded;
  WritePortableBitmap(*found->canonical, encoded);
  ASSERT_EQ(std::move(encoded).Finish(), Serialize(expected.get()));
  ASSERT_EQ(PortableBitmapSize(*found->canonical), roaring_bitmap_portable_size_in_bytes(expected.get()));
}

TEST(PortableBitmapTest, AcceptsWhatCRoaringAcceptsAndFindsTheSameMembers) {
  std::mt19937_64 random(delenda::testing::Seed());
  for (int round = 0; round < 400; ++round) {
    Bytes bytes = Serialize(RandomBitmap(random).get());
    ASSERT_NO_FATAL_FAILURE(ExpectAsCRoaring(bytes));
    // Broken in up to three places, mostly in the front, where counts and keys are.
    for (int change = 0; change < 20; ++change) {
      Bytes broken = bytes;
      for (uint64_t i = 1 + random() % 3; i-- > 0 && !broken.empty();) {
        const size_t at = random() % (random() % 2 == 0 ? broken.size() : std::min<size_t>(broken.size(), 60));
        broken[at] = static_cast<std::byte>(
            random() % 3 == 0 ? std::to_integer<uint64_t>(broken[at]) ^ 1U << random() % 8 : random());
      }
      if (random() % 4 == 0) broken.resize(random() % (broken.size() + 1));
      ASSERT_NO_FATAL_FAILURE(ExpectAsCRoaring(broken));
    }
  }
}

// Every length of an array, with one fault at every place: the vector loops have borders.
TEST(PortableBitmapTest, SeesAFaultAtEveryPlaceOfAnArray) {
  for (uint32_t count = 2; count <= 70; ++count) {
    for (uint32_t fault = 0; fault < count; ++fault) {
      ByteWriter out;
      out.WriteLittle(uint32_t{12346});
      out.WriteLittle(uint32_t{1});
      out.WriteLittle(uint16_t{0});
      out.WriteLittle(static_cast<uint16_t>(count - 1));
      out.WriteLittle(uint32_t{16});
      for (uint32_t i = 0; i < count; ++i) {
        // 0xFF00 and above: as signed numbers these would descend.
        const uint32_t value = 32'760 + i + (i >= 5 ? 32'000 : 0);
        out.WriteLittle(static_cast<uint16_t>(fault > 0 && i == fault ? value - (fault == 5 ? 32'001 : 1) : value));
      }
      const auto found = ReadPortableBitmap(out.view(), 0, 0);
      ASSERT_EQ(found.has_value(), fault == 0) << count << ' ' << fault;
      // One run takes 6 bytes, as much as 3 values; two take 10, and there are 6 values then.
      if (found) {
        ASSERT_EQ(found->canonical.has_value(), count <= 3) << count;
      }
    }
  }
}

TEST(PortableBitmapTest, KnowsTheCanonicalForm) {
  std::mt19937_64 random(delenda::testing::Seed());
  for (int round = 0; round < 200; ++round) {
    const BitmapPtr bitmap = RandomBitmap(random);
    std::vector<uint64_t> members;
    roaring_uint32_iterator_t at;
    for (roaring_iterator_init(bitmap.get(), &at); at.has_value; roaring_uint32_iterator_advance(&at)) {
      members.push_back(at.current_value);
    }
    const Bytes canonical = PositionSet::FromPositions(members)->ToPortable();
    const Bytes bytes = Serialize(bitmap.get());
    const auto found = ReadPortableBitmap(bytes, 0, 0);
    ASSERT_TRUE(found.has_value());
    // Behind the count and the key of the 64-bit form.
    const bool same =
        canonical.size() == bytes.size() + 12 && std::equal(bytes.begin(), bytes.end(), canonical.begin() + 12);
    ASSERT_EQ(found->canonical.has_value(), same || members.empty());
  }
}

// CRoaring says that its frozen layout may change in a later version. This fails first if it does.
TEST(FrozenBitmapTest, HasTheLayoutThatCRoaringWrites) {
  FrozenBitmapBuilder builder({.containers = 3, .bitsets = 1, .runs = 2, .array_values = 3});
  uint16_t* values = builder.AddArray(2, 3);
  std::ranges::copy(std::array<uint16_t, 3>{7, 9, 65'535}, values);
  uint64_t* words = builder.AddBitset(5, 32'768);
  std::fill_n(words, kBitsetWords, 0x5555'5555'5555'5555);
  uint16_t* runs = builder.AddRuns(9, 2);
  std::ranges::copy(std::array<uint16_t, 4>{0, 999, 5'000, 60'535}, runs);
  const BitmapPtr made = std::move(builder).Finish().bitmap;
  ASSERT_NE(made, nullptr);

  roaring_bitmap_t* expected = roaring_bitmap_from(0x2'0007, 0x2'0009, 0x2'FFFF);
  for (uint32_t i = 0; i < 65'536; i += 2) roaring_bitmap_add(expected, 0x5'0000 + i);
  roaring_bitmap_add_range(expected, 0x9'0000, 0x9'0000 + 1'000);
  roaring_bitmap_add_range(expected, 0x9'0000 + 5'000, 0xA'0000);
  roaring_bitmap_run_optimize(expected);
  const BitmapPtr owner = OwnBitmap(expected);
  EXPECT_TRUE(roaring_bitmap_equals(made.get(), expected));
  const auto frozen = [](const roaring_bitmap_t* bitmap) {
    Bytes out(roaring_bitmap_frozen_size_in_bytes(bitmap));
    roaring_bitmap_frozen_serialize(bitmap, reinterpret_cast<char*>(out.data()));
    return out;
  };
  EXPECT_EQ(frozen(made.get()), frozen(expected));
}

}  // namespace
}  // namespace delenda
