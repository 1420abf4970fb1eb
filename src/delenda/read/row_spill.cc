#include "delenda/read/row_spill.h"

#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/byte_size.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::read {
namespace {

constexpr auto kSpill = parquet::StatusSource::kCompute;
// Batches below either are joined: thousands of batches with a few rows each cost more than their rows.
constexpr int64_t kJoinedRows = int64_t{16} * 1024;
constexpr uint64_t kJoinedBytes = uint64_t{1} << 20;

std::string SystemError() { return std::generic_category().message(errno); }

using BatchRef = std::shared_ptr<arrow::RecordBatch>;

}  // namespace

std::string SpillFolder(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error).string();
  return error ? "/tmp" : folder;  // TMPDIR is no folder; an error comes when one is needed
}

Result<uint64_t> BatchBytes(const arrow::RecordBatch& batch) {
  return static_cast<uint64_t>(DELENDA_TRY(parquet::ToResult(arrow::util::ReferencedBufferSize(batch), kSpill)));
}

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> SpillFile::Open() {
#ifdef O_TMPFILE
  descriptor_ = ::open(context_->folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return {};
#endif
  // File systems without nameless files: the name is taken away at once.
  std::string name = context_->folder + "/delenda-spill-XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    return IoError("cannot make a temporary file for rows that exceed the memory budget in {}: {}; name another folder",
                   context_->folder, SystemError());
  }
  ::unlink(name.c_str());
  return {};
}

Result<SpillFile::Block> SpillFile::Write(const arrow::RecordBatch& batch) {
  if (descriptor_ < 0) DELENDA_TRY(Open());
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.memory_pool = context_->pool;
  options.use_threads = false;
  const auto bytes = DELENDA_TRY(parquet::ToResult(arrow::ipc::SerializeRecordBatch(batch, options), kSpill));
  const Block block{.offset = size_, .size = static_cast<uint64_t>(bytes->size())};
  for (uint64_t done = 0; done < block.size;) {
    const auto written =
        ::pwrite(descriptor_, bytes->data() + done, block.size - done, static_cast<off_t>(block.offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return IoError(
          "cannot write {} bytes of rows that exceed the memory budget to a temporary file in {}: {}; name another "
          "folder, or allow more memory",
          block.size, context_->folder, SystemError());
    }
    done += static_cast<uint64_t>(written);
  }
  size_ += block.size;
  context_->spilled_bytes += block.size;
  return block;
}

Result<BatchRef> SpillFile::Read(const Block& block) const {
  const auto size = static_cast<int64_t>(block.size);
  std::shared_ptr<arrow::Buffer> bytes =
      DELENDA_TRY(parquet::ToResult(arrow::AllocateBuffer(size, context_->pool), kSpill));
  for (uint64_t done = 0; done < block.size;) {
    const auto read =
        ::pread(descriptor_, bytes->mutable_data() + done, block.size - done, static_cast<off_t>(block.offset + done));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) {
      return IoError("cannot read {} bytes back from a temporary file in {}: {}", block.size, context_->folder,
                     read < 0 ? SystemError() : "the file ends early");
    }
    done += static_cast<uint64_t>(read);
  }
  arrow::io::BufferReader reader(std::move(bytes));
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = context_->pool;
  options.use_threads = false;
  const arrow::ipc::DictionaryMemo memo;
  return parquet::ToResult(arrow::ipc::ReadRecordBatch(context_->schema, &memo, options, &reader), kSpill);
}

RowBuffer::RowBuffer(SpillContext& context, std::shared_ptr<SpillFile> file, uint64_t memory_limit)
    : context_(&context), file_(std::move(file)), memory_limit_(memory_limit) {}

Result<void> RowBuffer::Append(BatchRef batch) {
  if (batch->num_rows() == 0) return {};
  const uint64_t bytes = DELENDA_TRY(BatchBytes(*batch));
  rows_ += batch->num_rows();
  bytes_ += bytes;
  memory_bytes_ += bytes;
  const bool part = static_cast<uint64_t>(arrow::util::TotalBufferSize(*batch)) > 2 * bytes + 4096;
  if (!part && (batch->num_rows() >= kJoinedRows || bytes >= std::min(kJoinedBytes, context_->block_bytes))) {
    DELENDA_TRY(JoinSmall());
    batches_.push_back({std::move(batch), bytes});
  } else {
    small_rows_ += batch->num_rows();
    small_bytes_ += bytes;
    small_.push_back({std::move(batch), bytes});
    if (part || small_rows_ >= kJoinedRows || small_bytes_ >= std::min(kJoinedBytes, context_->block_bytes))
      DELENDA_TRY(JoinSmall());
  }
  // Once written, always in blocks: what is in memory is the tail.
  const uint64_t limit = blocks_.empty() ? memory_limit_ : std::min(memory_limit_, context_->block_bytes);
  if (memory_bytes_ > limit) DELENDA_TRY(WriteOut());
  return {};
}

Result<void> RowBuffer::JoinSmall() {
  if (small_.empty()) return {};
  arrow::RecordBatchVector parts;
  for (Waiting& waiting : small_) parts.push_back(std::move(waiting.batch));
  small_.clear();
  auto joined = DELENDA_TRY(parquet::ToResult(arrow::ConcatenateRecordBatches(parts, context_->pool), kSpill));
  const uint64_t bytes = DELENDA_TRY(BatchBytes(*joined));
  bytes_ = bytes_ - small_bytes_ + bytes;
  memory_bytes_ = memory_bytes_ - small_bytes_ + bytes;
  small_bytes_ = 0;
  small_rows_ = 0;
  batches_.push_back({std::move(joined), bytes});
  return {};
}

Result<void> RowBuffer::WriteOut() {
  DELENDA_TRY(JoinSmall());
  while (!batches_.empty()) {
    const Waiting waiting = std::move(batches_.front());
    batches_.pop_front();
    const int64_t rows = waiting.batch->num_rows();
    const auto blocks = static_cast<int64_t>(waiting.bytes / context_->block_bytes) + 1;
    const int64_t block_rows = (rows + blocks - 1) / blocks;
    for (int64_t begin = 0; begin < rows; begin += block_rows) {
      const int64_t count = std::min(block_rows, rows - begin);
      const auto block = DELENDA_TRY(file_->Write(*waiting.batch->Slice(begin, count)));
      blocks_.push_back({block, count, waiting.bytes * static_cast<uint64_t>(count) / static_cast<uint64_t>(rows)});
    }
    memory_bytes_ -= waiting.bytes;
  }
  return {};
}

Result<void> RowBuffer::Flush() { return WriteOut(); }

Result<void> RowBuffer::ForEach(const std::function<Result<void>(const BatchRef&)>& visit) {
  DELENDA_TRY(JoinSmall());
  for (const Spilled& spilled : blocks_) DELENDA_TRY(visit(DELENDA_TRY(file_->Read(spilled.block))));
  for (const Waiting& waiting : batches_) DELENDA_TRY(visit(waiting.batch));
  return {};
}

Result<BatchRef> RowBuffer::Pop() {
  if (!blocks_.empty()) {
    const Spilled spilled = blocks_.front();
    blocks_.pop_front();
    rows_ -= spilled.rows;
    bytes_ -= spilled.bytes;
    return file_->Read(spilled.block);
  }
  if (batches_.empty()) DELENDA_TRY(JoinSmall());
  if (batches_.empty()) return nullptr;
  Waiting waiting = std::move(batches_.front());
  batches_.pop_front();
  rows_ -= waiting.batch->num_rows();
  bytes_ -= waiting.bytes;
  memory_bytes_ -= waiting.bytes;
  return std::move(waiting.batch);
}

}  // namespace delenda::read
