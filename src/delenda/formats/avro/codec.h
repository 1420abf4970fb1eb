// Inflating the blocks of an Avro file. Avro 1.12 specification, "Required Codecs" and "Optional Codecs".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::avro {

enum class Codec : uint8_t { kNull, kDeflate, kSnappy, kZstandard };

// By the value of "avro.codec"; nullopt: one that is not read.
std::optional<Codec> CodecNamed(std::string_view name);

// Inflates one block after the other. Keeps the decompressors and, while nobody else holds it, the output buffer: fresh
// memory for each block costs about as much as decoding it.
class Inflater {
 public:
  struct Output {
    std::shared_ptr<const void> owner;
    ByteView data;  // followed by `padding` readable bytes
  };

  Inflater(Codec codec, uint64_t max_bytes, size_t padding);
  ~Inflater();
  Inflater(Inflater&&) noexcept;
  Inflater& operator=(Inflater&&) noexcept;

  // Not for kNull. Corrupt: broken data, wrong checksum; NotSupported: more than max_bytes.
  Result<Output> Inflate(ByteView block);

  // Gives the buffer of the last output back for the next one, if `owner` is its only holder.
  void Recycle(std::shared_ptr<const void> owner);

 private:
  struct Buffer;
  struct State;

  Result<size_t> Deflate(ByteView block);
  Result<size_t> Snappy(ByteView block);
  Result<size_t> Zstandard(ByteView block);
  std::byte* Room(uint64_t bytes);
  std::unexpected<Error> TooLarge() const;

  Codec codec_;
  uint64_t max_bytes_;
  size_t padding_;
  std::shared_ptr<Buffer> buffer_;
  std::unique_ptr<State> state_;
};

}  // namespace delenda::avro
