// The one door to storage. Everything that delenda reads or writes passes through a FileIO, so that wrappers can count,
// fail or redirect it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::io {

struct FileInfo {
  std::string path;
  uint64_t size = 0;
  bool is_directory = false;
};

// An open file. Thread-safe: positional reads only.
class InputFile {
 public:
  virtual ~InputFile() = default;
  virtual const std::string& path() const = 0;
  // Bytes of the file. Known without a request when Open was given the size.
  virtual Result<uint64_t> Size() = 0;
  // Fill `into` from `offset`: all of it, or Corrupt ("file ends at …"): a short read is never returned as data.
  virtual Result<void> ReadAt(uint64_t offset, std::span<std::byte> into) = 0;
  // Many small reads cost no more than one large one. Not so on object stores, where each is a request.
  virtual bool SeeksAreCheap() const { return false; }
};

// A file being written. Nothing is visible under its path before Close() succeeded.
class OutputFile {
 public:
  virtual ~OutputFile() = default;  // not closed: what was written is discarded
  virtual Result<void> Write(ByteView bytes) = 0;
  // Make the file durable and visible. AlreadyExists when the path exists: files are never overwritten.
  virtual Result<void> Close() = 0;
};

class FileIO {
 public:
  virtual ~FileIO() = default;
  // `known_size`, from metadata, saves a request on object stores; it is not checked here.
  virtual Result<std::unique_ptr<InputFile>> Open(std::string_view path, std::optional<uint64_t> known_size) = 0;
  virtual Result<FileInfo> Stat(std::string_view path) = 0;  // NotFound
  // Direct children of a folder, sorted by path.
  virtual Result<std::vector<FileInfo>> List(std::string_view folder) = 0;
  virtual Result<std::unique_ptr<OutputFile>> Create(std::string_view path) = 0;
  virtual Result<void> Delete(std::string_view path) = 0;
  // Put a small file in place of another, or anew: readers see the old bytes or the new ones. Whoever is last wins, so
  // that only what may be stale is written in this way (a version hint), never what a commit depends on.
  virtual Result<void> Replace(std::string_view path, ByteView bytes) = 0;

  Result<std::unique_ptr<InputFile>> Open(std::string_view path) { return Open(path, std::nullopt); }
};

// A whole file in one request. `limit` bounds what is allocated: metadata files that claim to be larger are refused as
// Corrupt.
Result<Bytes> ReadWholeFile(FileIO& io, std::string_view path, std::optional<uint64_t> known_size = std::nullopt,
                            uint64_t limit = uint64_t{4} << 30);

// A new file with these bytes. Errors as FileIO::Create and OutputFile::Close.
Result<void> WriteWholeFile(FileIO& io, std::string_view path, ByteView bytes);

// Local paths, bare (/x, x) or as file:/x, file:///x URIs. (A URI is cut at its scheme, not decoded: Iceberg paths are
// opaque.)
std::shared_ptr<FileIO> MakeLocalFileIO();
// Files held in memory, for tests and for staged work.
std::shared_ptr<FileIO> MakeMemoryFileIO();

}  // namespace delenda::io
