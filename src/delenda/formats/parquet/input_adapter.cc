#include "delenda/formats/parquet/input_adapter.h"

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

#include <algorithm>
#include <cstring>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::parquet {
namespace {

// A view of bytes that someone else owns, and who keeps them alive.
class HeldBuffer final : public arrow::Buffer {
 public:
  HeldBuffer(std::shared_ptr<const Bytes> owner, ByteView view)
      : arrow::Buffer(reinterpret_cast<const uint8_t*>(view.data()), static_cast<int64_t>(view.size())),
        owner_(std::move(owner)) {}

 private:
  std::shared_ptr<const Bytes> owner_;
};

}  // namespace

InputAdapter::InputAdapter(std::shared_ptr<io::InputFile> file, uint64_t size) : file_(std::move(file)), size_(size) {}
InputAdapter::~InputAdapter() = default;

void InputAdapter::Serve(uint64_t offset, std::shared_ptr<const Bytes> buffer, ByteView bytes) {
  auto at = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                             [](uint64_t wanted, const Piece& piece) { return wanted < piece.offset; });
  pieces_.insert(at, Piece{offset, std::move(buffer), bytes});
}

void InputAdapter::ServeAllOf(const InputAdapter& other) {
  for (const Piece& piece : other.pieces_) Serve(piece.offset, piece.buffer, piece.bytes);
}

Result<void> InputAdapter::Fetch(std::span<const io::ByteRange> wanted, const io::RangeOptions& options) {
  std::vector<io::ByteRange> missing;
  for (const io::ByteRange& range : wanted) {
    if (range.length != 0 && Find(range.offset, range.length) == nullptr) missing.push_back(range);
  }
  if (missing.empty()) return {};
  std::vector<io::RangeBytes> fetched = DELENDA_TRY(io::ReadRanges(*file_, missing, options));
  for (size_t i = 0; i < missing.size(); ++i) Serve(missing[i].offset, std::move(fetched[i].buffer), fetched[i].view);
  return {};
}

Result<ChunkBytes> InputAdapter::Chunk(io::ByteRange range, DecodeContext& context) const {
  if (const Piece* piece = Find(range.offset, range.length)) {
    return ChunkBytes(piece->buffer, piece->bytes.subspan(static_cast<size_t>(range.offset - piece->offset),
                                                          static_cast<size_t>(range.length)));
  }
  return ChunkBytes(file_, range, context);
}

const InputAdapter::Piece* InputAdapter::Find(uint64_t offset, uint64_t length) const {
  auto at = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                             [](uint64_t wanted, const Piece& piece) { return wanted < piece.offset; });
  // Pieces may overlap (a column chunk that lies in the footer's read): look at each that begins before the range.
  while (at != pieces_.begin()) {
    --at;
    const uint64_t skip = offset - at->offset;
    if (skip <= at->bytes.size() && length <= at->bytes.size() - skip) return &*at;
  }
  return nullptr;
}

arrow::Result<int64_t> InputAdapter::Clip(int64_t position, int64_t nbytes) const {
  if (closed_) return arrow::Status::Invalid("read of a closed file");
  if (position < 0 || nbytes < 0) return arrow::Status::Invalid("read of ", nbytes, " bytes at offset ", position);
  const auto size = static_cast<int64_t>(size_);
  if (position >= size) return 0;
  return std::min(nbytes, size - position);
}

arrow::Result<int64_t> InputAdapter::ReadAt(int64_t position, int64_t nbytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(nbytes, Clip(position, nbytes));
  if (nbytes == 0) return 0;
  const auto offset = static_cast<uint64_t>(position);
  const auto length = static_cast<size_t>(nbytes);
  if (const Piece* piece = Find(offset, length)) {
    std::memcpy(out, piece->bytes.data() + (offset - piece->offset), length);
    return nbytes;
  }
  Result<void> read = file_->ReadAt(offset, std::span(static_cast<std::byte*>(out), length));
  if (!read) return ToStatus(std::move(read).error());
  return nbytes;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> InputAdapter::ReadAt(int64_t position, int64_t nbytes) {
  ARROW_ASSIGN_OR_RAISE(nbytes, Clip(position, nbytes));
  if (nbytes != 0) {
    if (const Piece* piece = Find(static_cast<uint64_t>(position), static_cast<uint64_t>(nbytes))) {
      const ByteView view = piece->bytes.subspan(static_cast<size_t>(static_cast<uint64_t>(position) - piece->offset),
                                                 static_cast<size_t>(nbytes));
      return std::make_shared<HeldBuffer>(piece->buffer, view);
    }
  }
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(nbytes));
  ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position, nbytes, buffer->mutable_data()));
  if (got != nbytes) return arrow::Status::IOError("short read");
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t> InputAdapter::GetSize() { return static_cast<int64_t>(size_); }

arrow::Status InputAdapter::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status InputAdapter::Seek(int64_t position) {
  if (position < 0) return arrow::Status::Invalid("seek to offset ", position);
  position_ = position;
  return arrow::Status::OK();
}

arrow::Result<int64_t> InputAdapter::Read(int64_t nbytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position_, nbytes, out));
  position_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> InputAdapter::Read(int64_t nbytes) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, ReadAt(position_, nbytes));
  position_ += buffer->size();
  return buffer;
}

}  // namespace delenda::parquet
