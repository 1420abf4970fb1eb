// A FileIO that fails on command: for tests of what the engine does when storage misbehaves.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "delenda/io/file_io.h"

namespace delenda::io {

enum class Operation : uint8_t { kOpen, kSize, kRead, kStat, kList, kCreate, kWrite, kClose, kDelete, kReplace };

// Return an error. With `after_the_fact` the operation is done first: the caller is told that something failed which in
// truth happened, as when the answer to a request is lost.
struct FailWith {
  ErrorKind kind = ErrorKind::kIo;
  std::string message = "injected failure";
  bool after_the_fact = false;
};
// Behave as if the file had only `size` bytes: reads past it fail, Stat tells it, and Size unless it was known.
struct TruncateTo {
  uint64_t size = 0;
};
// Xor the byte at `offset` of the file with `mask` in everything read.
struct FlipByte {
  uint64_t offset = 0;
  uint8_t mask = 0xff;
};
struct Delay {
  std::chrono::milliseconds time{0};
};

struct Fault {
  std::variant<FailWith, TruncateTo, FlipByte, Delay> effect;
  std::optional<Operation> operation;  // none = any; TruncateTo and FlipByte act on reads (and sizes) only
  std::string path_contains;           // empty = any path
  uint64_t skip = 0;                   // matching operations that pass before the fault sets in: 2 = from the third on
  uint64_t times = std::numeric_limits<uint64_t>::max();  // matching operations that are hit, then it is over
};

class FaultingFileIO : public FileIO {
 public:
  explicit FaultingFileIO(std::shared_ptr<FileIO> inner);

  // Faults act in the order of adding. Files that are already open obey too.
  void Add(Fault fault);
  void Clear();
  // Operations seen so far, so that a test can fail each one in turn: skip = 0 … operations() - 1.
  uint64_t operations() const;

  using FileIO::Open;
  Result<std::unique_ptr<InputFile>> Open(std::string_view path, std::optional<uint64_t> known_size) override;
  Result<FileInfo> Stat(std::string_view path) override;
  Result<std::vector<FileInfo>> List(std::string_view folder) override;
  Result<std::unique_ptr<OutputFile>> Create(std::string_view path) override;
  Result<void> Delete(std::string_view path) override;
  Result<void> Replace(std::string_view path, ByteView bytes) override;

  class Script;

 private:
  std::shared_ptr<FileIO> inner_;
  std::shared_ptr<Script> script_;
};

}  // namespace delenda::io
