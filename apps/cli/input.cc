#include "cli/input.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace delenda::cli {

Result<std::string> ReadText(const std::string& path) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  const auto failure = [&](std::string message) {
    Error error(ErrorKind::kIo, std::move(message));
    error.Add("file", path);
    return std::unexpected(std::move(error));
  };
  const bool is_input = path == "-";
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  const File file(is_input ? stdin : std::fopen(path.c_str(), "rbe"),
                  [](std::FILE* f) { return f == stdin ? 0 : std::fclose(f); });
  if (!file) return failure(fmt::format("the file can't be opened: {}", std::strerror(errno)));
  std::string text;
  char piece[64 * 1024];
  while (const size_t bytes = std::fread(piece, 1, sizeof piece, file.get())) {
    if (text.size() + bytes > kMostBytes) return failure("the file is longer than 1 GiB");
    text.append(piece, bytes);
  }
  if (std::ferror(file.get()) != 0) return failure(fmt::format("reading the file failed: {}", std::strerror(errno)));
  return text;
}

}  // namespace delenda::cli
