// The pages of one column chunk.
#pragma once

#include <arrow/type_fwd.h>
#include <parquet/types.h>

#include <cstdint>
#include <memory>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/parquet/page_header.h"
#include "delenda/io/file_io.h"
#include "delenda/io/ranges.h"

namespace delenda::parquet {

// Memory that grows without being cleared or kept.
class Scratch {
 public:
  // At least `size` bytes, of any content.
  std::byte* Resize(size_t size);
  size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t capacity_ = 0;
};

// The stored bytes of a column chunk: in memory, or read from the file piece by piece as they are asked for.
class ChunkBytes {
 public:
  ChunkBytes(std::shared_ptr<const Bytes> owner, ByteView bytes) : owner_(std::move(owner)), held_(bytes) {
    range_.length = bytes.size();
  }
  ChunkBytes(std::shared_ptr<io::InputFile> file, io::ByteRange range) : file_(std::move(file)), range_(range) {}

  uint64_t size() const { return range_.length; }
  // Bytes [offset, offset + length) of the chunk, which it must have. Valid until the next call.
  Result<ByteView> View(uint64_t offset, uint64_t length);

 private:
  std::shared_ptr<const Bytes> owner_;  // in memory
  std::shared_ptr<io::InputFile> file_;
  io::ByteRange range_;  // of the file
  Scratch buffer_;
  ByteView held_;             // what is in memory
  uint64_t held_offset_ = 0;  // where in the chunk it begins
};

// Decompresses pages. One for all columns that a thread reads: a context of Zstandard costs as much to make as a small
// page to decompress.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  static bool Supports(::parquet::Compression::type codec);

  // Exactly out.size() bytes. Corrupt if the page holds other than that.
  Result<void> Decompress(::parquet::Compression::type codec, ByteView stored, std::span<std::byte> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class ChunkPages {
 public:
  ChunkPages(ChunkBytes bytes, ::parquet::Compression::type codec, Decompressor& decompressor)
      : bytes_(std::move(bytes)), codec_(codec), decompressor_(&decompressor) {}

  // Goes on to the next data or dictionary page; false at the end of the chunk. The bytes of a page that is not loaded
  // are not even read from a file that is read by pieces.
  Result<bool> Next();
  const PageHeader& header() const { return header_; }
  // The page that Next() went to, decompressed (the levels of version 2 too). Valid until the next call of either.
  Result<ByteView> Load();

 private:
  ChunkBytes bytes_;
  ::parquet::Compression::type codec_;
  Decompressor* decompressor_;
  PageHeader header_;
  uint64_t page_ = 0;  // where the bytes of the page begin
  uint64_t next_ = 0;  // where the next header begins
  Scratch decoded_;
};

}  // namespace delenda::parquet
