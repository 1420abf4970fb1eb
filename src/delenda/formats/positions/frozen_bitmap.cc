#include "delenda/formats/positions/frozen_bitmap.h"

#include <cstring>

namespace delenda {

namespace {

// CRoaring's frozen layout ("Frozen serialization format description" in roaring.c), in native byte order: the words of
// all bitsets, all runs, all array values, then for each container its key (u16), its count (u16: the number of runs,
// or the cardinality less one) and its type (u8), and at the end a cookie below the number of containers.
constexpr uint32_t kFrozenCookie = 13766;
constexpr uint32_t kFrozenCookieBits = 15;
constexpr size_t kBitsetBytes = kBitsetWords * sizeof(uint64_t);
constexpr size_t kRunBytes = 2 * sizeof(uint16_t);

}  // namespace

void BitmapShape::Add(ContainerForm form, uint32_t cardinality, uint32_t container_runs) {
  ++containers;
  switch (form) {
    case ContainerForm::kArray: array_values += cardinality; break;
    case ContainerForm::kBitset: ++bitsets; break;
    case ContainerForm::kRuns: runs += container_runs; break;
  }
}

std::unexpected<Error> NoBitmap() {
  return InternalError("CRoaring does not take the layout of a bitmap: is it a version that this was not built for?");
}

FrozenBitmapBuilder::FrozenBitmapBuilder(const BitmapShape& shape) {
  const size_t runs_at = shape.bitsets * kBitsetBytes;
  const size_t values_at = runs_at + shape.runs * kRunBytes;
  const size_t keys_at = values_at + shape.array_values * sizeof(uint16_t);
  const size_t counts_at = keys_at + shape.containers * sizeof(uint16_t);
  const size_t types_at = counts_at + shape.containers * sizeof(uint16_t);
  size_ = types_at + shape.containers + sizeof(uint32_t);
  memory_.reset(static_cast<std::byte*>(::operator new(size_, kAlignment)));
  std::byte* at = memory_.get();
  bitset_ = reinterpret_cast<uint64_t*>(at);
  run_ = reinterpret_cast<uint16_t*>(at + runs_at);
  value_ = reinterpret_cast<uint16_t*>(at + values_at);
  key_ = reinterpret_cast<uint16_t*>(at + keys_at);
  count_ = reinterpret_cast<uint16_t*>(at + counts_at);
  type_ = reinterpret_cast<uint8_t*>(at + types_at);
  layout_ = {{bitset_, shape.bitsets * kBitsetWords},
             {run_, shape.runs * 2},
             {value_, shape.array_values},
             {key_, shape.containers},
             {count_, shape.containers},
             {type_, shape.containers}};
}

FrozenBitmapBuilder::Made FrozenBitmapBuilder::Finish() && {
  const auto header = static_cast<uint32_t>(layout_.keys.size() << kFrozenCookieBits | kFrozenCookie);
  std::memcpy(type_, &header, sizeof(header));
  const roaring_bitmap_t* view = roaring_bitmap_frozen_view(reinterpret_cast<const char*>(memory_.get()), size_);
  if (view == nullptr) return {};
  // The view's memory is owned by whoever owns the view.
  BitmapPtr bitmap(view, [memory = std::shared_ptr<std::byte>(std::move(memory_))](const roaring_bitmap_t* owned) {
    roaring_bitmap_free(owned);
  });
  return {std::move(bitmap), layout_};
}

}  // namespace delenda
