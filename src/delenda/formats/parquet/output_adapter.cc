#include "delenda/formats/parquet/output_adapter.h"

#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::parquet {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;

}  // namespace

OutputAdapter::OutputAdapter(ByteSink sink) : sink_(std::move(sink)) { set_mode(arrow::io::FileMode::WRITE); }

arrow::Status OutputAdapter::Hand(std::string_view bytes) {
  Result<void> taken = sink_(bytes);
  if (taken) return arrow::Status::OK();
  abandoned_ = true;
  return ToStatus(std::move(taken).error());
}

arrow::Status OutputAdapter::Write(const void* data, int64_t size) {
  if (abandoned_ || size <= 0) return arrow::Status::OK();
  position_ += size;
  const std::string_view bytes(static_cast<const char*>(data), static_cast<size_t>(size));
  if (bytes.size() >= kPieceBytes) {
    ARROW_RETURN_NOT_OK(Flush());
    return Hand(bytes);
  }
  buffer_.append(bytes);
  return buffer_.size() < kPieceBytes ? arrow::Status::OK() : Flush();
}

arrow::Status OutputAdapter::Flush() {
  if (abandoned_ || buffer_.empty()) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(Hand(buffer_));
  buffer_.clear();
  return arrow::Status::OK();
}

arrow::Status OutputAdapter::Close() {
  closed_ = true;
  return Flush();
}

void OutputAdapter::Abandon() {
  abandoned_ = true;
  buffer_.clear();
}

}  // namespace delenda::parquet
