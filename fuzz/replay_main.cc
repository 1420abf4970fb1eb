// Runs a fuzz target over files, without a fuzzer: every file of the folders and files named on the command line, and
// every beginning of it, since a file cut off anywhere is the commonest bad input. Fails if there was no file at all: a
// replay of nothing would look like a passed test.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// Beginnings of a file that are tried at most: all of a short file, evenly spread ones of a long file.
constexpr size_t kMaxBeginnings = 256;

void RunOne(const uint8_t* data, size_t size) {
  // A copy of exactly this size, so that a read past its end is seen by the sanitizers.
  const std::vector<uint8_t> exact(data, data + size);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

bool Replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof()) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  std::printf("%s: %zu bytes\n", path.c_str(), bytes.size());
  std::fflush(stdout);  // the last line names the file that crashed
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  RunOne(data, bytes.size());
  const size_t step = std::max<size_t>(1, bytes.size() / kMaxBeginnings);
  for (size_t size = 0; size < bytes.size(); size += step) RunOne(data, size);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path(argv[i]);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    } else {
      files.push_back(path);
    }
  }
  std::ranges::sort(files);
  if (files.empty()) {
    std::fprintf(stderr, "no inputs: give a corpus folder that holds at least one file\n");
    return 1;
  }
  size_t read = 0;
  for (const std::filesystem::path& file : files) read += Replay(file) ? 1 : 0;
  std::printf("%zu of %zu files replayed\n", read, files.size());
  return read == files.size() ? 0 : 1;
}
