// The pages of one column chunk.
#pragma once

#include <parquet/types.h>

#include <cstdint>
#include <memory>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/parquet/decode_context.h"
#include "delenda/formats/parquet/page_header.h"
#include "delenda/io/file_io.h"
#include "delenda/io/ranges.h"

namespace delenda::parquet {

// The stored bytes of a column chunk: in memory, or read from the file piece by piece as they are asked for.
class ChunkBytes {
 public:
  ChunkBytes(std::shared_ptr<const Bytes> owner, ByteView bytes) : owner_(std::move(owner)), held_(bytes) {
    range_.length = bytes.size();
  }
  ChunkBytes(std::shared_ptr<io::InputFile> file, io::ByteRange range, DecodeContext& context)
      : file_(std::move(file)), range_(range), context_(&context) {}

  uint64_t size() const { return range_.length; }
  // Bytes [offset, offset + length) of the chunk, which it must have. Valid until the next call. Where they must be
  // read, `ahead` bytes are, if the chunk has as many.
  Result<ByteView> View(uint64_t offset, uint64_t length, uint64_t ahead);

 private:
  std::shared_ptr<const Bytes> owner_;  // in memory
  std::shared_ptr<io::InputFile> file_;
  io::ByteRange range_;  // of the file
  DecodeContext* context_ = nullptr;
  std::shared_ptr<RecycledBuffer> piece_;
  ByteView held_;             // what is in memory
  uint64_t held_offset_ = 0;  // where in the chunk it begins
};

// The pages themselves.
class ChunkPages {
 public:
  ChunkPages(ChunkBytes bytes, ::parquet::Compression::type codec, DecodeContext& context)
      : bytes_(std::move(bytes)), codec_(codec), context_(&context) {}
  DecodeContext& context() const { return *context_; }

  // What is read of a file that is read by pieces, together with the next header.
  enum class Ahead : uint8_t {
    kPages,   // a piece: the page will be loaded, and the ones behind it
    kHeader,  // little: it will probably be passed over, and more headers be read
  };
  // Goes on to the next data or dictionary page; false at the end of the chunk. The bytes of a page that is not loaded
  // are not even read from a file that is read by pieces.
  Result<bool> Next(Ahead ahead = Ahead::kPages);
  const PageHeader& header() const { return header_; }
  // The page that Next() went to, decompressed (the levels of version 2 too). Valid until the next call of either.
  Result<ByteView> Load();

 private:
  ChunkBytes bytes_;
  ::parquet::Compression::type codec_;
  DecodeContext* context_;
  PageHeader header_;
  uint64_t page_ = 0;  // where the bytes of the page begin
  uint64_t next_ = 0;  // where the next header begins
  std::shared_ptr<RecycledBuffer> decoded_;
};

}  // namespace delenda::parquet
