// delenda's files as Arrow sees them.
#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/chunk_pages.h"
#include "delenda/io/file_io.h"
#include "delenda/io/ranges.h"

namespace delenda::parquet {

// A RandomAccessFile over an InputFile of known size. What was fetched before (the footer's speculative read, the
// column chunks of a row group) is served from memory, without a copy; everything else goes to the file. Thread-safe
// for ReadAt. Errors of the file travel through Arrow unchanged (ToStatus).
class InputAdapter final : public arrow::io::RandomAccessFile {
 public:
  InputAdapter(std::shared_ptr<io::InputFile> file, uint64_t size);
  ~InputAdapter() override;

  // Keep `bytes` as the content of the file from `offset` on.
  void Serve(uint64_t offset, std::shared_ptr<const Bytes> buffer, ByteView bytes);
  // Keep what another adapter of the same file keeps.
  void ServeAllOf(const InputAdapter& other);
  // The bytes of a column chunk: what is kept of them, else by pieces of the file.
  Result<ChunkBytes> Chunk(io::ByteRange range, DecodeContext& context) const;
  // Fetch ranges in few requests (io/ranges.h) and keep them.
  Result<void> Fetch(std::span<const io::ByteRange> wanted, const io::RangeOptions& options = {});

  using arrow::io::RandomAccessFile::ReadAt;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t nbytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t nbytes) override;
  arrow::Result<int64_t> GetSize() override;

  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> Read(int64_t nbytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override;

 private:
  struct Piece {
    uint64_t offset = 0;
    std::shared_ptr<const Bytes> buffer;
    ByteView bytes;
  };
  // The piece that holds the whole range, or null.
  const Piece* Find(uint64_t offset, uint64_t length) const;
  // How much of a read lies within the file: Arrow wants short reads at the end of it. Invalid for negative numbers.
  arrow::Result<int64_t> Clip(int64_t position, int64_t nbytes) const;

  std::shared_ptr<io::InputFile> file_;
  uint64_t size_;
  std::vector<Piece> pieces_;  // sorted by offset
  int64_t position_ = 0;
  bool closed_ = false;
};

}  // namespace delenda::parquet
