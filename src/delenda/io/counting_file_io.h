// Counts what passes through a FileIO: for --stats, and for tests that assert how often storage is asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "delenda/io/file_io.h"

namespace delenda::io {

struct IoCounts {
  uint64_t opens = 0;
  uint64_t opens_without_size = 0;  // those of `opens` that cost an object store a HEAD to learn the size
  uint64_t stats = 0;
  uint64_t lists = 0;
  uint64_t reads = 0;
  uint64_t bytes_read = 0;
  uint64_t creates = 0;
  uint64_t bytes_written = 0;
  uint64_t deletes = 0;
  friend bool operator==(const IoCounts&, const IoCounts&) = default;

  // Calls that an object store would answer: opening is free when the size is known.
  uint64_t requests() const { return opens_without_size + stats + lists + reads + creates + deletes; }
};

// Failed calls count too, except for the bytes.
class CountingFileIO : public FileIO {
 public:
  enum class Detail : uint8_t { kTotals, kPerPath };
  explicit CountingFileIO(std::shared_ptr<FileIO> inner, Detail detail = Detail::kTotals);

  using FileIO::Open;
  Result<std::unique_ptr<InputFile>> Open(std::string_view path, std::optional<uint64_t> known_size) override;
  Result<FileInfo> Stat(std::string_view path) override;
  Result<std::vector<FileInfo>> List(std::string_view folder) override;
  Result<std::unique_ptr<OutputFile>> Create(std::string_view path) override;
  Result<void> Delete(std::string_view path) override;
  Result<void> Replace(std::string_view path, ByteView bytes) override;

  IoCounts Snapshot() const;
  // By path as it was asked for; empty unless made with kPerPath.
  std::map<std::string, IoCounts, std::less<>> SnapshotPerPath() const;
  // The counts of one path; zeros when it was never touched.
  IoCounts SnapshotOf(std::string_view path) const;
  void Reset();

  class Ledger;  // shared with the files that were opened, which may outlive this object

 private:
  std::shared_ptr<FileIO> inner_;
  std::shared_ptr<Ledger> ledger_;
};

}  // namespace delenda::io
