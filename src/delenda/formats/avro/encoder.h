// The binary form of Avro values. Avro 1.12 specification, "Binary Encoding".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "delenda/base/bytes.h"

namespace delenda::avro {

// Appends values one after the other, in the order of the schema; it knows no schema. Records have no bytes of their
// own: their fields just follow each other.
class Encoder {
 public:
  void Boolean(bool value) { Byte(value ? 1 : 0); }
  // int and long, and every logical type on them.
  void Int(int64_t value) {
    uint64_t rest = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    while (rest >= 0x80) {
      Byte(static_cast<uint8_t>(rest | 0x80));
      rest >>= 7;
    }
    Byte(static_cast<uint8_t>(rest));
  }
  void Float(float value) { Number(std::bit_cast<uint32_t>(value)); }
  void Double(double value) { Number(std::bit_cast<uint64_t>(value)); }
  // string and bytes.
  void Text(std::string_view value) {
    Int(static_cast<int64_t>(value.size()));
    Fixed(value);
  }
  // fixed: the bytes alone.
  void Fixed(std::string_view value) {
    const ByteView bytes = AsBytes(value);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  // The branch of a union, before its value. Iceberg's optional fields are [null, T]: 0 is null, 1 the value.
  void Branch(int64_t index) { Int(index); }
  void Null() { Branch(0); }
  // Before the `count` items of an array (or entries of a map) ...
  void BeginItems(size_t count) {
    if (count > 0) Int(static_cast<int64_t>(count));
  }
  // ... and after them.
  void EndItems() { Int(0); }

  size_t size() const { return out_.size(); }
  ByteView view() const { return out_; }
  void Clear() { out_.clear(); }

 private:
  void Byte(uint8_t value) { out_.push_back(static_cast<std::byte>(value)); }
  template <typename T>
  void Number(T value) {
    if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    out_.insert(out_.end(), at, at + sizeof(T));
  }

  Bytes out_;
};

}  // namespace delenda::avro
