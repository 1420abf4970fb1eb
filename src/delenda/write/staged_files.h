// The files that an operation has written and no commit has published yet.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"

namespace delenda::write {

// Every path is entered before its file is created; what is not released is deleted. Thread-safe.
//
//   StagedFiles staged(io);
//   … write files, each entered with Add …
//   commit published:                        staged.Release();        // they belong to the table now
//   commit failed for certain:               staged.DeleteAll();      // or simply leave the scope
//   commit in an unknown state:              staged.Release();        // deleting them could break the table
class StagedFiles {
 public:
  explicit StagedFiles(std::shared_ptr<io::FileIO> io) : io_(std::move(io)) {}
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  void Add(std::string path);
  std::vector<std::string> paths() const;  // in the order of entering
  // Forgets one path: it is published, or was deleted.
  void Release(const std::string& path);
  // Forgets all.
  void Release();
  // Deletes all that is entered; files that do not exist are no error. What could not be deleted stays entered, and the
  // first error is returned after all were tried.
  Result<void> DeleteAll();

 private:
  std::shared_ptr<io::FileIO> io_;
  mutable std::mutex mutex_;
  std::vector<std::string> paths_;
};

}  // namespace delenda::write
