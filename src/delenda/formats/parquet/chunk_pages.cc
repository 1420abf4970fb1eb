#include "delenda/formats/parquet/chunk_pages.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace delenda::parquet {
namespace {

using Codec = ::parquet::Compression;

// Of a file that is read by pieces: what is asked for at least. Pieces of this size stay in the processor's cache until
// they are decompressed.
constexpr uint64_t kPieceBytes = uint64_t{128} << 10;
// What is read with a header alone: less costs no less.
constexpr uint64_t kHeaderPieceBytes = uint64_t{4} << 10;
// Headers are this long at most, but for statistics of long strings.
constexpr uint64_t kHeaderBytes = 256;

}  // namespace

Result<ByteView> ChunkBytes::View(uint64_t offset, uint64_t length, uint64_t ahead) {
  if (offset > range_.length || length > range_.length - offset) {
    return Corrupt("a page needs {} bytes at byte {} of its column chunk, which has {}", length, offset, range_.length);
  }
  const uint64_t held_end = held_offset_ + held_.size();
  if (offset >= held_offset_ && length <= held_end - std::min(held_end, offset))
    return held_.subspan(static_cast<size_t>(offset - held_offset_), static_cast<size_t>(length));
  const uint64_t wanted = std::max(length, std::min(ahead, range_.length - offset));
  // What is held of the wanted bytes is moved, not read again.
  const uint64_t kept = offset >= held_offset_ && offset < held_end ? held_end - offset : 0;
  std::shared_ptr<RecycledBuffer> larger;
  if (!piece_ || static_cast<uint64_t>(piece_->room()) < wanted)
    larger = DELENDA_TRY(context_->buffers->Allocate(static_cast<int64_t>(wanted)));
  std::byte* to = (larger ? larger : piece_)->bytes();
  if (kept != 0) std::memmove(to, held_.data() + (offset - held_offset_), static_cast<size_t>(kept));
  if (larger) piece_ = std::move(larger);
  held_ = {};
  DELENDA_TRY(file_->ReadAt(range_.offset + offset + kept, std::span(to + kept, static_cast<size_t>(wanted - kept))));
  held_ = ByteView(to, static_cast<size_t>(wanted));
  held_offset_ = offset;
  return held_.first(static_cast<size_t>(length));
}

Result<bool> ChunkPages::Next(Ahead ahead) {
  const uint64_t piece = ahead == Ahead::kHeader ? kHeaderPieceBytes : kPieceBytes;
  for (;;) {
    if (next_ == bytes_.size()) return false;
    const uint64_t left = bytes_.size() - next_;
    for (uint64_t length = std::min(kHeaderBytes, left);; length = std::min(length * 8, left)) {
      Result<PageHeader> header = ParsePageHeader(DELENDA_TRY(bytes_.View(next_, length, piece)));
      if (header) {
        header_ = *header;
        break;
      }
      if (length == left) {
        header.error().Add("byte of the column chunk", next_);
        return std::unexpected(std::move(header).error());
      }
    }
    page_ = next_ + header_.header_bytes;
    if (header_.stored_bytes > bytes_.size() - page_) {
      return Corrupt("a page is said to be {} bytes long, its column chunk has {} more", header_.stored_bytes,
                     bytes_.size() - page_);
    }
    next_ = page_ + header_.stored_bytes;
    if (header_.kind != PageHeader::Kind::kOther) return true;
  }
}

Result<ByteView> ChunkPages::Load() {
  const ByteView stored = DELENDA_TRY(bytes_.View(page_, header_.stored_bytes, kPieceBytes));
  const bool v2 = header_.kind == PageHeader::Kind::kDataV2;
  const uint64_t levels = v2 ? uint64_t{header_.repetition_bytes} + header_.definition_bytes : 0;
  if (levels > header_.stored_bytes || levels > header_.decoded_bytes)
    return Corrupt("the levels of a page are said to be {} bytes long, the page {}", levels, header_.stored_bytes);
  if (codec_ == Codec::UNCOMPRESSED || (v2 && !header_.compressed)) {
    if (header_.stored_bytes != header_.decoded_bytes)
      return Corrupt("a page that is not compressed has {} bytes and {}", header_.stored_bytes, header_.decoded_bytes);
    return stored;
  }
  if (!decoded_ || decoded_->room() < int64_t{header_.decoded_bytes})
    decoded_ = DELENDA_TRY(context_->buffers->Allocate(header_.decoded_bytes));
  std::byte* out = decoded_->bytes();
  if (levels != 0) std::memcpy(out, stored.data(), static_cast<size_t>(levels));
  const std::span<std::byte> values(out + levels, static_cast<size_t>(header_.decoded_bytes - levels));
  // Some writers store nothing at all of a page without values.
  if (!values.empty())
    DELENDA_TRY(context_->decompressor.Decompress(codec_, stored.subspan(static_cast<size_t>(levels)), values));
  return ByteView(out, header_.decoded_bytes);
}

}  // namespace delenda::parquet
