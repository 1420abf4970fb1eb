#include "delenda/formats/parquet/decode_context.h"

#include <arrow/memory_pool.h>
#include <arrow/util/compression.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::parquet {
namespace {

using Codec = ::parquet::Compression;

// What a recycler may always keep without use; else no more than is in use.
constexpr int64_t kFreeBytes = int64_t{8} << 20;

// Blocks come in a few sizes, at most an eighth larger than asked for, so that they fit again.
int64_t BlockSize(int64_t wanted) {
  const auto size = static_cast<uint64_t>(std::max<int64_t>(wanted, 1024));
  const uint64_t step = std::bit_floor(size) / 8;
  return static_cast<int64_t>((size + step - 1) / step * step);
}

}  // namespace

RecycledBuffer::RecycledBuffer(std::shared_ptr<arrow::Buffer> block, int64_t size, std::shared_ptr<BufferRecycler> home)
    : arrow::MutableBuffer(block->mutable_data(), size), block_(std::move(block)), home_(std::move(home)) {}

RecycledBuffer::~RecycledBuffer() { home_->Return(std::move(block_)); }

Result<std::shared_ptr<RecycledBuffer>> BufferRecycler::Allocate(int64_t size, int64_t slack) {
  const int64_t wanted = BlockSize(size + slack);
  std::shared_ptr<arrow::Buffer> block = TakeFree(wanted);
  if (!block) block = DELENDA_TRY(ToResult(arrow::AllocateBuffer(wanted)));
  auto buffer = std::make_shared<RecycledBuffer>(std::move(block), size, shared_from_this());
  std::lock_guard lock(mutex_);
  used_bytes_ += buffer->room();
  return buffer;
}

// The smallest that fits without much waste; of equal ones that which was in use last.
std::shared_ptr<arrow::Buffer> BufferRecycler::TakeFree(int64_t wanted) {
  std::lock_guard lock(mutex_);
  size_t best = free_.size();
  for (size_t i = free_.size(); i-- > 0;) {
    const int64_t room = free_[i]->size();
    if (room >= wanted && room <= 2 * wanted && (best == free_.size() || room < free_[best]->size())) best = i;
  }
  if (best == free_.size()) return nullptr;
  std::shared_ptr<arrow::Buffer> block = std::move(free_[best]);
  free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
  free_bytes_ -= block->size();
  return block;
}

void BufferRecycler::Return(std::shared_ptr<arrow::Buffer> block) {
  std::vector<std::shared_ptr<arrow::Buffer>> dropped;  // freed without the lock
  std::lock_guard lock(mutex_);
  free_bytes_ += block->size();
  used_bytes_ -= block->size();
  free_.push_back(std::move(block));
  // The oldest ones are of sizes that are not asked for any more.
  while (free_bytes_ > std::max(kFreeBytes, used_bytes_)) {
    free_bytes_ -= free_.front()->size();
    dropped.push_back(std::move(free_.front()));
    free_.erase(free_.begin());
  }
}

struct Decompressor::State {
  struct FreeZstd {
    void operator()(ZSTD_DCtx* at) const { ZSTD_freeDCtx(at); }
  };
  std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd;
  std::map<Codec::type, std::unique_ptr<arrow::util::Codec>> others;
};

Decompressor::Decompressor() : state_(std::make_unique<State>()) {}
Decompressor::~Decompressor() = default;

bool Decompressor::Supports(Codec::type codec) {
  switch (codec) {
    case Codec::UNCOMPRESSED:
    case Codec::ZSTD: return true;
    case Codec::SNAPPY:
    case Codec::GZIP:
    case Codec::BROTLI:
    case Codec::LZ4: return arrow::util::Codec::IsAvailable(codec);
    default: return false;
  }
}

Result<void> Decompressor::Decompress(Codec::type codec, ByteView stored, std::span<std::byte> out) {
  uint64_t decoded = 0;
  if (codec == Codec::ZSTD) {
    if (!state_->zstd) state_->zstd.reset(ZSTD_createDCtx());
    if (!state_->zstd) return IoError("out of memory");
    const size_t size = ZSTD_decompressDCtx(state_->zstd.get(), out.data(), out.size(), stored.data(), stored.size());
    if (ZSTD_isError(size)) return Corrupt("damaged Zstandard frame: {}", ZSTD_getErrorName(size));
    decoded = size;
  } else {
    std::unique_ptr<arrow::util::Codec>& known = state_->others[codec];
    if (!known) known = DELENDA_TRY(ToResult(arrow::util::Codec::Create(codec)));
    decoded = static_cast<uint64_t>(DELENDA_TRY(
        ToResult(known->Decompress(static_cast<int64_t>(stored.size()), reinterpret_cast<const uint8_t*>(stored.data()),
                                   static_cast<int64_t>(out.size()), reinterpret_cast<uint8_t*>(out.data())))));
  }
  if (decoded != out.size()) return Corrupt("expected {} bytes in a page, found {}", out.size(), decoded);
  return {};
}

}  // namespace delenda::parquet
