#include "delenda/io/file_io.h"

#include "delenda/io/ranges.h"

namespace delenda::io {

Result<Bytes> ReadWholeFile(FileIO& io, std::string_view path, std::optional<uint64_t> known_size, uint64_t limit) {
  auto file = DELENDA_TRY(io.Open(path, known_size));
  const uint64_t size = DELENDA_TRY(file->Size());
  if (size > limit) {
    return WithContext(Result<Bytes>(Corrupt("file has {} bytes, more than the limit of {}", size, limit)), "file",
                       path);
  }
  return ReadRange(*file, ByteRange{0, size});
}

Result<void> WriteWholeFile(FileIO& io, std::string_view path, ByteView bytes) {
  const auto file = DELENDA_TRY(io.Create(path));
  DELENDA_TRY(file->Write(bytes));
  return file->Close();
}

}  // namespace delenda::io
