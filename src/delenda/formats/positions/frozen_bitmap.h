// A 32-bit roaring bitmap in one piece of memory. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "delenda/base/result.h"
#include "delenda/formats/positions/bitmap_buckets.h"
#include "delenda/formats/positions/container_copy.h"

namespace delenda {

enum class ContainerForm : uint8_t { kArray, kBitset, kRuns };

// The form in which `cardinality` members in `runs` maximal runs take the fewest bytes; of two equal ones not the runs,
// as Java has it.
inline ContainerForm SmallestForm(uint32_t cardinality, uint32_t runs) {
  const bool array = cardinality <= kMaxArrayValues;
  // An encoded run container has its number of runs in front.
  const size_t as_runs = sizeof(uint16_t) + runs * 2 * sizeof(uint16_t);
  if (as_runs < (array ? cardinality * sizeof(uint16_t) : kBitsetWords * sizeof(uint64_t))) return ContainerForm::kRuns;
  return array ? ContainerForm::kArray : ContainerForm::kBitset;
}

// How much a bitmap holds of each form of container.
struct BitmapShape {
  size_t containers = 0;
  size_t bitsets = 0;       // containers
  size_t runs = 0;          // runs of all run containers
  size_t array_values = 0;  // values of all array containers

  void Add(ContainerForm form, uint32_t cardinality, uint32_t container_runs);
};

// Makes a bitmap whose containers lie side by side in one allocation, where CRoaring's own would have two allocations
// each: a sparse vector has ten thousand containers and more. CRoaring looks at it through its "frozen view", which all
// functions that do not change a bitmap accept.
//
// The containers are added by ascending key, exactly as many as the shape says; the caller fills what each call gives.
class FrozenBitmapBuilder {
 public:
  explicit FrozenBitmapBuilder(const BitmapShape& shape);

  // kBitsetWords words.
  uint64_t* AddBitset(uint16_t key, uint32_t cardinality) {
    Add(key, cardinality - 1, kBitsetType);
    return std::exchange(bitset_, bitset_ + kBitsetWords);
  }
  // Pairs of first value and number of further values.
  uint16_t* AddRuns(uint16_t key, uint32_t runs) {
    Add(key, runs, kRunType);
    return std::exchange(run_, run_ + size_t{2} * runs);
  }
  uint16_t* AddArray(uint16_t key, uint32_t cardinality) {
    Add(key, cardinality - 1, kArrayType);
    return std::exchange(value_, value_ + cardinality);
  }

  // CRoaring's names of the forms.
  static constexpr uint8_t kBitsetType = 1;
  static constexpr uint8_t kArrayType = 2;
  static constexpr uint8_t kRunType = 3;

  struct Made {
    BitmapPtr bitmap;     // null if CRoaring does not take the layout (a later version may change it) or has no memory
    FrozenLayout layout;  // points into the bitmap's memory
  };
  Made Finish() &&;

 private:
  // What CRoaring's frozen layout demands of the first byte.
  static constexpr std::align_val_t kAlignment{32};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  void Add(uint16_t key, uint32_t count, uint8_t type) {
    *key_++ = key;
    *count_++ = static_cast<uint16_t>(count);
    *type_++ = type;
  }

  size_t size_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
  FrozenLayout layout_;
  // Where the next container of each form goes, and the next entry of the table of containers.
  uint64_t* bitset_ = nullptr;
  uint16_t* run_ = nullptr;
  uint16_t* value_ = nullptr;
  uint16_t* key_ = nullptr;
  uint16_t* count_ = nullptr;
  uint8_t* type_ = nullptr;
};

// What a caller says of a null bitmap.
std::unexpected<Error> NoBitmap();

}  // namespace delenda
