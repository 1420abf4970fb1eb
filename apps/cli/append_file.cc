#include "cli/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace delenda::cli {

AppendFile::AppendFile(std::string path, int descriptor, OutputPosition position, const CancelToken& cancel)
    : path_(std::move(path)), descriptor_(descriptor), position_(position), output_(descriptor, cancel) {}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      position_(other.position_),
      output_(std::move(other.output_)) {}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Error AppendFile::Failure(std::string_view what, int error) const {
  const auto kind = error == EACCES || error == EPERM || error == EROFS ? ErrorKind::kPermissionDenied : ErrorKind::kIo;
  Error result(kind, fmt::format("{}: {}", what, std::strerror(error)));
  result.Add("file", path_);
  return result;
}

Result<AppendFile> AppendFile::Open(std::string path, const std::optional<OutputPosition>& stored, bool overwrite,
                                    const CancelToken& cancel) {
  // Not blocking: a pipe without a reader would hang here before it is refused.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  AppendFile file(std::move(path), descriptor, {}, cancel);
  if (descriptor < 0) return std::unexpected(file.Failure("the output file can't be opened", errno));
  struct stat found = {};
  if (::fstat(descriptor, &found) != 0) return std::unexpected(file.Failure("the output file can't be opened", errno));
  const auto refuse = [&](const char* message) {
    Error error(ErrorKind::kAlreadyExists, message);
    error.Add("file", file.path_);
    return std::unexpected(std::move(error));
  };
  if (!S_ISREG(found.st_mode)) return refuse("the output is no regular file: leave -o out, and redirect the output");
  file.position_ = {.device = found.st_dev, .inode = found.st_ino, .bytes = static_cast<uint64_t>(found.st_size)};
  if (found.st_size == 0) return file;
  if (stored && stored->device == found.st_dev && stored->inode == found.st_ino) {
    file.position_.bytes = std::min(file.position_.bytes, stored->bytes);
  } else if (overwrite) {
    file.position_.bytes = 0;
  } else {
    return refuse(stored ? "the output file is not the one that the checkpoint tells of; --overwrite empties it"
                         : "the output file exists already; --overwrite empties it");
  }
  if (auto cut = file.CutBack(); !cut) return std::unexpected(std::move(cut).error());
  return file;
}

Result<void> AppendFile::Write(std::string_view bytes) {
  auto written = output_.Write(bytes);
  if (!written) written.error().Add("file", path_);
  return written;
}

Result<OutputPosition> AppendFile::Store() {
  if (::fsync(descriptor_) != 0) return std::unexpected(Failure("writing the output failed", errno));
  struct stat found = {};
  if (::fstat(descriptor_, &found) != 0) return std::unexpected(Failure("writing the output failed", errno));
  position_.bytes = static_cast<uint64_t>(found.st_size);
  return position_;
}

Result<void> AppendFile::CutBack() {
  if (::ftruncate(descriptor_, static_cast<off_t>(position_.bytes)) != 0)
    return std::unexpected(Failure("the output file can't be cut", errno));
  return {};
}

}  // namespace delenda::cli
