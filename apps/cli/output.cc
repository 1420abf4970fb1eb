#include "cli/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace delenda::cli {

bool Output::IsTerminal() const { return isatty(descriptor_) == 1; }

size_t Output::Width() const {
  winsize size = {};
  if (!IsTerminal()) return 0;
  if (ioctl(descriptor_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

Result<void> Output::Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    const int error = written < 0 ? errno : 0;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    // A signal ends a write that waits, after some of the text (a short count) or before it (EINTR).
    if (!text.empty() && cancel_.cancelled()) {
      return std::unexpected(Error(ErrorKind::kCancelled, "cancelled while writing the output"));
    }
    if (error == 0 || error == EINTR) continue;
    closed_ = error == EPIPE;
    return std::unexpected(Error(ErrorKind::kIo, fmt::format("writing the output failed: {}", std::strerror(error))));
  }
  return {};
}

Result<void> Output::Sync() const {
  struct stat found = {};
  if (::fstat(descriptor_, &found) != 0 || !S_ISREG(found.st_mode) || ::fsync(descriptor_) == 0) return {};
  return std::unexpected(Error(ErrorKind::kIo, fmt::format("writing the output failed: {}", std::strerror(errno))));
}

}  // namespace delenda::cli
