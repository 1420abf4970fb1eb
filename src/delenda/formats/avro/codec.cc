#include "delenda/formats/avro/codec.h"

#include <libdeflate.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace delenda::avro {

std::optional<Codec> CodecNamed(std::string_view name) {
  if (name.empty() || name == "null") return Codec::kNull;
  if (name == "deflate") return Codec::kDeflate;
  if (name == "snappy") return Codec::kSnappy;
  if (name == "zstandard") return Codec::kZstandard;
  return std::nullopt;
}

struct Inflater::Buffer {
  std::unique_ptr<std::byte[]> bytes;
  size_t capacity = 0;
};

struct Inflater::State {
  struct FreeDeflate {
    void operator()(libdeflate_decompressor* at) const { libdeflate_free_decompressor(at); }
  };
  struct FreeZstd {
    void operator()(ZSTD_DCtx* at) const { ZSTD_freeDCtx(at); }
  };
  std::unique_ptr<libdeflate_decompressor, FreeDeflate> deflate;
  std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd;
};

Inflater::Inflater(Codec codec, uint64_t max_bytes, size_t padding)
    : codec_(codec), max_bytes_(max_bytes), padding_(padding), state_(std::make_unique<State>()) {}
Inflater::~Inflater() = default;
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;

std::unexpected<Error> Inflater::TooLarge() const {
  return NotSupported("the block inflates to more than the limit of {} bytes", max_bytes_);
}

// Room for `bytes` and the padding. What was in the buffer is lost.
std::byte* Inflater::Room(uint64_t bytes) {
  const size_t wanted = static_cast<size_t>(bytes) + padding_;
  if (!buffer_) buffer_ = std::make_shared<Buffer>();
  if (buffer_->capacity < wanted) {
    buffer_->bytes = std::make_unique_for_overwrite<std::byte[]>(wanted);
    buffer_->capacity = wanted;
  }
  return buffer_->bytes.get();
}

void Inflater::Recycle(std::shared_ptr<const void> owner) {
  if (owner && !buffer_ && owner.use_count() == 1) {
    // Made by Inflate, as a buffer that is not const.
    buffer_ = std::static_pointer_cast<Buffer>(std::const_pointer_cast<void>(std::move(owner)));
  }
}

Result<Inflater::Output> Inflater::Inflate(ByteView block) {
  size_t size = 0;
  switch (codec_) {
    case Codec::kDeflate: size = DELENDA_TRY(Deflate(block)); break;
    case Codec::kSnappy: size = DELENDA_TRY(Snappy(block)); break;
    case Codec::kZstandard: size = DELENDA_TRY(Zstandard(block)); break;
    case Codec::kNull: return InternalError("an Avro block without codec was to be inflated");
  }
  std::byte* bytes = buffer_->bytes.get();
  std::memset(bytes + size, 0, padding_);
  return Output{.owner = std::exchange(buffer_, nullptr), .data = ByteView(bytes, size)};
}

Result<size_t> Inflater::Deflate(ByteView block) {
  if (!state_->deflate) state_->deflate.reset(libdeflate_alloc_decompressor());
  if (!state_->deflate) return InternalError("no memory for a deflate decompressor");
  // The inflated size is not stored. Memory that is never touched costs nothing, a second try does: start generously.
  // Deflate cannot reach 1032 to 1, so a small block never gets a large buffer.
  const uint64_t most = std::min(max_bytes_, block.size() * 1032 + 64);
  uint64_t room = std::min(most, std::max<uint64_t>(block.size() * 12, 64 << 10));
  if (buffer_ && buffer_->capacity > padding_)
    room = std::max<uint64_t>(room, std::min(most, buffer_->capacity - padding_));
  for (;;) {
    std::byte* out = Room(room);
    size_t read = 0;
    size_t written = 0;
    // Bytes behind the end of the stream are no error: Python writers leave three of zlib's checksum there.
    switch (libdeflate_deflate_decompress_ex(state_->deflate.get(), block.data(), block.size(), out,
                                             static_cast<size_t>(room), &read, &written)) {
      case LIBDEFLATE_SUCCESS: return written;
      case LIBDEFLATE_INSUFFICIENT_SPACE: break;
      default: return Corrupt("the block is not valid deflate data");
    }
    if (room >= most) return TooLarge();
    room = std::min(most, room * 4);
  }
}

Result<size_t> Inflater::Snappy(ByteView block) {
  if (block.size() < 4) return Corrupt("snappy block of {} bytes has no checksum", block.size());
  const ByteView data = block.first(block.size() - 4);
  const auto* from = reinterpret_cast<const char*>(data.data());
  size_t size = 0;
  if (!snappy::GetUncompressedLength(from, data.size(), &size)) return Corrupt("the block is not valid snappy data");
  if (size > max_bytes_) return TooLarge();
  // A snappy copy of 64 bytes takes 2 at least: a length beyond that is a lie, and would cost its memory.
  if (size / 64 > data.size()) return Corrupt("snappy block of {} bytes claims to hold {}", data.size(), size);
  std::byte* out = Room(size);
  if (!snappy::RawUncompress(from, data.size(), reinterpret_cast<char*>(out))) {
    return Corrupt("the block is not valid snappy data");
  }
  const auto expected = LoadUnsigned<std::endian::big, uint32_t>(block.data() + data.size());
  const uint32_t found = Crc32(ByteView(out, size));
  if (found != expected)
    return Corrupt("checksum of the snappy block: expected {:#010x}, found {:#010x}", expected, found);
  return size;
}

Result<size_t> Inflater::Zstandard(ByteView block) {
  if (!state_->zstd) state_->zstd.reset(ZSTD_createDCtx());
  if (!state_->zstd) return InternalError("no memory for a zstandard decompressor");
  ZSTD_DCtx_reset(state_->zstd.get(), ZSTD_reset_session_only);
  // Writers that stream do not store the size: grow, keeping what has been inflated.
  const unsigned long long stated = ZSTD_getFrameContentSize(block.data(), block.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR) return Corrupt("the block is not valid zstandard data");
  const bool known = stated != ZSTD_CONTENTSIZE_UNKNOWN;
  if (known && stated > max_bytes_) return TooLarge();
  // One more than stated, so that the decompressor sees the end of the frame. A size that is stated gets its memory in
  // steps too: nothing but the data proves it.
  uint64_t room = std::min(max_bytes_, std::max<uint64_t>(block.size() * 12, 64 << 10));
  if (known) room = std::min<uint64_t>(std::max<uint64_t>(room, block.size() * 256), stated + 1);
  std::byte* start = Room(room);
  ZSTD_inBuffer in{block.data(), block.size(), 0};
  ZSTD_outBuffer out{start, static_cast<size_t>(room), 0};
  for (;;) {
    const size_t left = ZSTD_decompressStream(state_->zstd.get(), &out, &in);
    if (ZSTD_isError(left)) return Corrupt("the block is not valid zstandard data ({})", ZSTD_getErrorName(left));
    if (in.pos == in.size && left == 0) return out.pos;
    if (out.pos < out.size) {
      // All was read and there is room, but the frame wants more input.
      if (in.pos == in.size) return Corrupt("the zstandard data of the block ends early");
      continue;
    }
    if (room >= max_bytes_) return TooLarge();
    const uint64_t larger = std::min(max_bytes_, room * 4 + 64);
    std::shared_ptr<Buffer> old = std::exchange(buffer_, nullptr);
    std::byte* grown = Room(larger);
    std::memcpy(grown, old->bytes.get(), out.pos);
    room = larger;
    out = {grown, static_cast<size_t>(room), out.pos};
  }
}

}  // namespace delenda::avro
