#include "delenda/formats/parquet/compact_reader.h"

#include <limits>

namespace delenda::parquet {
namespace {

constexpr int kMaxDepth = 16;

}  // namespace

Result<bool> CompactReader::NextField(CompactField& field) {
  const uint8_t head = DELENDA_TRY(reader_.ReadLittle<uint8_t>(what_));
  field.type = head & 15;
  if (field.type == kStop) return false;
  const int64_t id = head >> 4 != 0 ? field.id + (head >> 4) : DELENDA_TRY(reader_.ReadZigZag(what_));
  if (id < 0 || id > std::numeric_limits<int16_t>::max()) return Corrupt("{} has a field {}", what_, id);
  field.id = static_cast<int16_t>(id);
  return true;
}

Result<int32_t> CompactReader::I32(const CompactField& field) {
  if (field.type != kI32) return Corrupt("field {} of {} has type {}, not i32", field.id, what_, field.type);
  const int64_t value = DELENDA_TRY(reader_.ReadZigZag(what_));
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
    return Corrupt("field {} of {} is {}", field.id, what_, value);
  return static_cast<int32_t>(value);
}

Result<int64_t> CompactReader::I64(const CompactField& field) {
  if (field.type != kI64) return Corrupt("field {} of {} has type {}, not i64", field.id, what_, field.type);
  return reader_.ReadZigZag(what_);
}

Result<size_t> CompactReader::BeginList(const CompactField& field, uint8_t element_type) {
  if (field.type != kList) return Corrupt("field {} of {} has type {}, not a list", field.id, what_, field.type);
  const uint8_t head = DELENDA_TRY(reader_.ReadLittle<uint8_t>(what_));
  const uint64_t size = head >> 4 == 15 ? DELENDA_TRY(Size()) : head >> 4;
  const uint8_t type = head & 15;
  // Truth values have two types, and writers use either for lists of them.
  if (size != 0 && type != element_type && !(element_type == kTrue && type == kFalse))
    return Corrupt("field {} of {} is a list of type {}, not {}", field.id, what_, type, element_type);
  if (size > reader_.remaining())
    return Corrupt("field {} of {} is said to have {} elements, {} bytes are left", field.id, what_, size,
                   reader_.remaining());
  return static_cast<size_t>(size);
}

Result<bool> CompactReader::BoolElement() {
  const uint8_t value = DELENDA_TRY(reader_.ReadLittle<uint8_t>(what_));
  if (value > kFalse) return Corrupt("{} holds a truth value {}", what_, value);
  return value == kTrue;  // false is 2, or 0 by some writers
}

Result<int64_t> CompactReader::IntegerElement() { return reader_.ReadZigZag(what_); }

Result<ByteView> CompactReader::BinaryElement() { return reader_.Read(DELENDA_TRY(Size()), what_); }

Result<void> CompactReader::Skip(uint8_t type, int depth) {
  if (depth > kMaxDepth) return Corrupt("{} is nested too deeply", what_);
  switch (type) {
    case kTrue:
    case kFalse: return {};
    case kByte: return SkipBytes(1);
    case kI16:
    case kI32:
    case kI64: DELENDA_TRY(reader_.ReadZigZag(what_)); return {};
    case kDouble: return SkipBytes(8);
    case kBinary: return SkipBytes(DELENDA_TRY(Size()));
    case kList:
    case kSet: {
      const uint8_t head = DELENDA_TRY(reader_.ReadLittle<uint8_t>(what_));
      const uint64_t size = head >> 4 == 15 ? DELENDA_TRY(Size()) : head >> 4;
      for (uint64_t i = 0; i < size; ++i) DELENDA_TRY(SkipElement(head & 15, depth + 1));
      return {};
    }
    case kMap: {
      const uint64_t size = DELENDA_TRY(Size());
      if (size == 0) return {};
      const uint8_t types = DELENDA_TRY(reader_.ReadLittle<uint8_t>(what_));
      for (uint64_t i = 0; i < size; ++i) {
        DELENDA_TRY(SkipElement(types >> 4, depth + 1));
        DELENDA_TRY(SkipElement(types & 15, depth + 1));
      }
      return {};
    }
    case kStruct: {
      CompactField field;
      while (DELENDA_TRY(NextField(field))) DELENDA_TRY(Skip(field.type, depth + 1));
      return {};
    }
    default: return Corrupt("{} holds a value of type {}", what_, type);
  }
}

Result<uint64_t> CompactReader::Size() {
  uint64_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    const uint8_t byte = DELENDA_TRY(reader_.ReadLittle<uint8_t>(what_));
    value |= uint64_t{byte & 127U} << shift;
    if (byte < 128) return value;
  }
  return Corrupt("{} holds a length of more than 35 bits", what_);
}

Result<void> CompactReader::SkipBytes(uint64_t count) {
  DELENDA_TRY(reader_.Read(count, what_));
  return {};
}

// Each takes at least one byte, so that a lying length ends with the bytes.
Result<void> CompactReader::SkipElement(uint8_t type, int depth) {
  return type == kTrue || type == kFalse ? SkipBytes(1) : Skip(type, depth);
}

}  // namespace delenda::parquet
