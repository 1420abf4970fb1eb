// What decoding needs again and again, kept for the next page, batch and row group.
#pragma once

#include <arrow/buffer.h>
#include <parquet/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::parquet {

// Memory that goes back to its recycler when nobody holds it any more, wherever that is.
class BufferRecycler;
class RecycledBuffer final : public arrow::MutableBuffer {
 public:
  RecycledBuffer(std::shared_ptr<arrow::Buffer> block, int64_t size, std::shared_ptr<BufferRecycler> home);
  ~RecycledBuffer() override;
  std::byte* bytes() { return reinterpret_cast<std::byte*>(mutable_data()); }
  int64_t room() const { return block_->size(); }
  // At most room().
  void SetSize(int64_t size) { size_ = size; }

 private:
  std::shared_ptr<arrow::Buffer> block_;
  std::shared_ptr<BufferRecycler> home_;
};

// The columns of a batch are as large as those of the batch before. Taken from an allocator, their memory would come
// from the system and go back to it batch by batch, to be cleared each time; here it is also still in a cache.
// Thread-safe.
class BufferRecycler : public std::enable_shared_from_this<BufferRecycler> {
 public:
  static std::shared_ptr<BufferRecycler> Make() { return std::shared_ptr<BufferRecycler>(new BufferRecycler()); }

  // `size` bytes of any content, with room for at least `slack` more.
  Result<std::shared_ptr<RecycledBuffer>> Allocate(int64_t size, int64_t slack = 0);

 private:
  friend class RecycledBuffer;
  BufferRecycler() = default;
  std::shared_ptr<arrow::Buffer> TakeFree(int64_t wanted);
  void Return(std::shared_ptr<arrow::Buffer> block);

  std::mutex mutex_;
  std::vector<std::shared_ptr<arrow::Buffer>> free_;  // the last one was in use last
  int64_t free_bytes_ = 0, used_bytes_ = 0;
};

// Decompresses pages. A context of Zstandard costs as much to make as a small page to decompress.
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

// For one thread at a time; what it made may be let go on any thread, and outlive it.
struct DecodeContext {
  Decompressor decompressor;
  std::shared_ptr<BufferRecycler> buffers = BufferRecycler::Make();
};

}  // namespace delenda::parquet
