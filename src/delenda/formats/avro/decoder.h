// Runs a program over the bytes of inflated blocks and fills the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/avro/columns.h"
#include "delenda/formats/avro/program.h"

namespace delenda::avro {

class Decoder {
 public:
  // Bytes behind the block's data that must be readable (their values do not matter): a variable-length number is read
  // without looking for the end at each of its bytes.
  static constexpr size_t kPadding = 16;

  Decoder(Columns& columns, uint64_t max_cells) : columns_(columns), program_(*columns.program_) {
    // Offsets of lists have 32 bits.
    budget_ = max_cells < UINT32_MAX ? max_cells : UINT32_MAX;
  }

  // Appends `rows` rows. `data` is followed by kPadding readable bytes. Corrupt names the record and the field.
  Result<void> Append(ByteView data, uint64_t rows);

 private:
  enum class Fault : uint8_t {
    kNone,
    kTruncated,
    kOverlong,
    kBranch,
    kLength,
    kCount,
    kBoolean,
    kUtf8,
    kSymbol,
    kIntRange,
    kCells,
    kDepth,
    kListSize,
  };
  using At = const uint8_t*;  // nullptr: failed

  At Run(At at, uint32_t begin, uint32_t end, int depth);
  At List(At at, const Op& op, uint32_t begin, int depth);
  At ListBody(At at, const Op& op, uint32_t begin, uint64_t count, int depth);
  At Pairs(At at, const Op& op, uint32_t begin, uint64_t count);
  At SkipList(At at, const Op& op, uint32_t begin, int depth);
  At SkipVarints(At at, uint64_t count);
  At Length(At at, int64_t& length);
  At Text(At at, const Op& op, bool is_string);
  At Varint(At at, int64_t& value);
  At LongVarint(At at, int64_t& value);
  At Fail(Fault fault, At at);
  bool Grow(const std::vector<Column*>& group, uint64_t count);
  static void SetNull(Column& column);
  std::string Describe() const;

  Columns& columns_;
  const Program& program_;
  uint64_t budget_;
  At begin_ = nullptr;
  At end_ = nullptr;
  Fault fault_ = Fault::kNone;
  At fault_at_ = nullptr;
  const Column* fault_column_ = nullptr;
};

}  // namespace delenda::avro
