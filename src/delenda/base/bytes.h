// Reading and writing integers in byte buffers, with bounds checked before every access.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"

namespace delenda {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

inline ByteView AsBytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string_view AsText(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Load a number from memory that is known to hold sizeof(T) bytes.
template <std::endian kOrder, std::unsigned_integral T>
T LoadUnsigned(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  if constexpr (kOrder != std::endian::native) value = std::byteswap(value);
  return value;
}

// Store a number where sizeof(T) bytes are known to be.
template <std::endian kOrder, std::unsigned_integral T>
void StoreUnsigned(T value, std::byte* at) {
  if constexpr (kOrder != std::endian::native) value = std::byteswap(value);
  std::memcpy(at, &value, sizeof(T));
}

// A cursor over bytes that were not written by us: every read checks what is left and fails with Corrupt naming the
// offset, so that a truncated or lying file can never be read past its end.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : bytes_(bytes) {}

  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }

  template <std::unsigned_integral T>
  Result<T> ReadLittle(std::string_view what) {
    return ReadUnsigned<std::endian::little, T>(what);
  }
  template <std::unsigned_integral T>
  Result<T> ReadBig(std::string_view what) {
    return ReadUnsigned<std::endian::big, T>(what);
  }

  // The next `count` bytes, not copied.
  Result<ByteView> Read(uint64_t count, std::string_view what) {
    if (count > remaining()) return Truncated(count, what);
    ByteView view = bytes_.subspan(offset_, static_cast<size_t>(count));
    offset_ += static_cast<size_t>(count);
    return view;
  }

  // Avro / Protobuf style zigzag varint of at most 64 bits.
  Result<int64_t> ReadZigZag(std::string_view what);

 private:
  template <std::endian kOrder, std::unsigned_integral T>
  Result<T> ReadUnsigned(std::string_view what) {
    if (remaining() < sizeof(T)) return Truncated(sizeof(T), what);
    T value = LoadUnsigned<kOrder, T>(bytes_.data() + offset_);
    offset_ += sizeof(T);
    return value;
  }
  std::unexpected<Error> Truncated(uint64_t wanted, std::string_view what) const;

  ByteView bytes_;
  size_t offset_ = 0;
};

// Appends numbers and bytes to a buffer.
class ByteWriter {
 public:
  template <std::unsigned_integral T>
  void WriteLittle(T value) {
    WriteUnsigned<std::endian::little>(value);
  }
  template <std::unsigned_integral T>
  void WriteBig(T value) {
    WriteUnsigned<std::endian::big>(value);
  }
  void Write(ByteView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void WriteZigZag(int64_t value);
  // Memory for `more` bytes, so that writing them moves nothing.
  void Reserve(size_t more) { bytes_.reserve(bytes_.size() + more); }
  size_t size() const { return bytes_.size(); }
  ByteView view() const { return bytes_; }
  Bytes Finish() && { return std::move(bytes_); }

 private:
  template <std::endian kOrder, std::unsigned_integral T>
  void WriteUnsigned(T value) {
    if constexpr (kOrder != std::endian::native) value = std::byteswap(value);
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof(T));
  }
  Bytes bytes_;
};

// CRC-32 (ISO-HDLC, the one of zlib and gzip), as deletion vectors carry it.
uint32_t Crc32(ByteView bytes);

// The text is well-formed UTF-8 (no overlong forms, surrogates or values above U+10FFFF).
bool IsValidUtf8(std::string_view text);

}  // namespace delenda
