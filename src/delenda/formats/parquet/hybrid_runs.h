// The RLE/bit-packing hybrid that dictionary indices and levels are stored in (Parquet format, Encodings.md, "RLE").
#pragma once

#include <cstdint>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::parquet {

class HybridRuns {
 public:
  HybridRuns() = default;
  // Numbers of `bit_width` (0 … 32) bits; their runs fill `bytes`.
  HybridRuns(ByteView bytes, int bit_width) : bytes_(bytes), width_(bit_width) {}

  // The next `count` numbers, or Corrupt if there are fewer.
  Result<void> Decode(uint32_t* out, int64_t count);
  Result<void> Skip(int64_t count);
  // Passes over the next `count` numbers if the first run alone says that all of them are `value`.
  Result<bool> SkipRepeated(uint32_t value, int64_t count);

 private:
  // Reads the header of the next run when the current one is used up.
  Result<void> NextRun();

  ByteView bytes_;
  int width_ = 0;
  size_t offset_ = 0;  // behind the header and (repeated) value of the run
  int64_t left_ = 0;   // numbers left of the run
  bool repeated_ = false;
  uint32_t value_ = 0;     // of a repeated run
  int64_t packed_at_ = 0;  // of a bit-packed run: which number comes next
};

}  // namespace delenda::parquet
