#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace delenda::cli {
namespace {

Error FileError(const std::string& path, std::string_view what, int error) {
  const auto kind = error == EACCES || error == EPERM || error == EROFS ? ErrorKind::kPermissionDenied : ErrorKind::kIo;
  Error result(kind, fmt::format("{}: {}", what, std::strerror(error)));
  result.Add("file", path);
  return result;
}

Error Exists(const std::string& path) {
  Error result(ErrorKind::kAlreadyExists, "the output file exists already; --overwrite replaces it");
  result.Add("file", path);
  return result;
}

}  // namespace

OutputFile::OutputFile(std::string path, std::string temporary, bool overwrite, int descriptor,
                       const CancelToken& cancel)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      overwrite_(overwrite),
      descriptor_(descriptor),
      output_(descriptor, cancel) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      overwrite_(other.overwrite_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      output_(std::move(other.output_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<OutputFile> OutputFile::Create(std::string path, bool overwrite, const CancelToken& cancel) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) == 0) {
    if (!overwrite) return std::unexpected(Exists(path));
    if (!S_ISREG(found.st_mode)) {
      Error error(ErrorKind::kAlreadyExists, "the output would replace something that is no regular file");
      error.Add("file", path);
      return std::unexpected(std::move(error));
    }
  }
  std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  // 0666 less the caller's mask, as every program creates files.
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return std::unexpected(FileError(path, "the output file can't be created", errno));
  return OutputFile(std::move(path), std::move(temporary), overwrite, descriptor, cancel);
}

Error OutputFile::Failure(std::string_view what, int error) const { return FileError(path_, what, error); }

Result<void> OutputFile::Write(std::string_view bytes) {
  auto written = output_.Write(bytes);
  if (!written) written.error().Add("file", path_);
  return written;
}

Result<void> OutputFile::Close() {
  if (descriptor_ < 0) return {};
  if (::fsync(descriptor_) != 0) return std::unexpected(Failure("writing the output failed", errno));
  if (::close(std::exchange(descriptor_, -1)) != 0) return std::unexpected(Failure("writing the output failed", errno));
  return {};
}

Result<void> OutputFile::Finish() {
  if (auto closed = Close(); !closed) return closed;
  if (overwrite_) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
      return std::unexpected(Failure("the output file can't be renamed", errno));
    temporary_.clear();
    return {};
  }
  // Unlike a rename, a link never replaces what somebody else has put there in the meantime.
  if (::link(temporary_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST) return std::unexpected(Exists(path_));
    return std::unexpected(Failure("the output file can't be renamed", errno));
  }
  return {};
}

}  // namespace delenda::cli
