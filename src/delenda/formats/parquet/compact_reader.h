// Thrift's compact protocol, in which Parquet stores page headers and page indexes (apache/thrift,
// doc/specs/thrift-compact-protocol.md): as much of it as they need. The rest is skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::parquet {

// Types of fields and elements.
enum CompactType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

struct CompactField {
  int16_t id = 0;
  uint8_t type = kStop;
};

// A cursor over the fields of structs. Every error is Corrupt: no length is believed that the bytes do not hold.
//
// EXAMPLE  CompactField field;
//          while (DELENDA_TRY(reader.NextField(field))) {
//            if (field.id == 2) size = DELENDA_TRY(reader.I32(field)); else DELENDA_TRY(reader.Skip(field.type));
//          }
class CompactReader {
 public:
  // `what` the bytes are, for messages: "a page header".
  CompactReader(ByteView bytes, std::string_view what) : reader_(bytes), what_(what) {}

  size_t offset() const { return reader_.offset(); }

  // Moves on to the field behind this one (a new CompactField: to the first of a struct); false at the struct's end.
  Result<bool> NextField(CompactField& field);
  Result<int32_t> I32(const CompactField& field);
  Result<int64_t> I64(const CompactField& field);
  Result<void> Skip(uint8_t type) { return Skip(type, 0); }

  // Begins a list of elements of this type (kTrue: of truth values) and says how many follow; each takes at least one
  // of the bytes that are left, so that as many may be allocated. They are read by the functions below, or skipped.
  Result<size_t> BeginList(const CompactField& field, uint8_t element_type);
  Result<bool> BoolElement();
  Result<int64_t> IntegerElement();
  Result<ByteView> BinaryElement();

 private:
  // Unsigned varint.
  Result<uint64_t> Size();
  Result<void> Skip(uint8_t type, int depth);
  Result<void> SkipBytes(uint64_t count);
  Result<void> SkipElement(uint8_t type, int depth);

  ByteReader reader_;
  std::string_view what_;
};

}  // namespace delenda::parquet
