#include "delenda/write/input_stream.h"

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/input_adapter.h"

namespace delenda::write {
namespace {

constexpr size_t kReadBytes = size_t{1} << 20;
constexpr size_t kLongestLine = size_t{1} << 30;

class StandardInput final : public arrow::io::InputStream {
 public:
  arrow::Result<int64_t> Read(int64_t nbytes, void* out) override {
    int64_t got = 0;
    while (got < nbytes) {
      const ssize_t now = ::read(STDIN_FILENO, static_cast<char*>(out) + got, static_cast<size_t>(nbytes - got));
      if (now < 0 && errno == EINTR) continue;
      if (now < 0) return parquet::ToStatus(Error(ErrorKind::kIo, std::string("read: ") + std::strerror(errno)));
      if (now == 0) break;
      got += now;
    }
    position_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ResizableBuffer> buffer, arrow::AllocateResizableBuffer(nbytes));
    ARROW_ASSIGN_OR_RAISE(const int64_t got, Read(nbytes, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(got));
    return buffer;
  }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }

 private:
  int64_t position_ = 0;
  bool closed_ = false;
};

}  // namespace

Result<std::shared_ptr<arrow::io::InputStream>> OpenBytes(io::FileIO& io, std::string_view path) {
  if (path == "-") return std::make_shared<StandardInput>();
  std::shared_ptr<io::InputFile> file = DELENDA_TRY(io.Open(path));
  const uint64_t size = DELENDA_TRY(file->Size());
  return std::make_shared<parquet::InputAdapter>(std::move(file), size);
}

Result<bool> LineReader::Next(std::string_view& line) {
  size_t searched = at_;
  while (true) {
    size_t end = buffer_.find('\n', searched);
    if (end == std::string::npos && !ended_) {
      if (buffer_.size() - at_ > kLongestLine)
        return Corrupt("line {} is longer than {} bytes", number_ + 1, kLongestLine);
      buffer_.erase(0, at_);
      at_ = 0;
      searched = buffer_.size();
      buffer_.resize(searched + kReadBytes);
      const int64_t got = DELENDA_TRY(parquet::ToResult(stream_->Read(kReadBytes, buffer_.data() + searched)));
      buffer_.resize(searched + static_cast<size_t>(got));
      ended_ = got == 0;
      continue;
    }
    if (end == std::string::npos) {
      if (at_ == buffer_.size()) return false;
      end = buffer_.size();
    }
    line = std::string_view(buffer_).substr(at_, end - at_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at_ = std::min(end + 1, buffer_.size());
    ++number_;
    return true;
  }
}

}  // namespace delenda::write
