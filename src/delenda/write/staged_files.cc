#include "delenda/write/staged_files.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace delenda::write {

StagedFiles::~StagedFiles() { (void)DeleteAll(); }

void StagedFiles::Add(std::string path) {
  std::lock_guard lock(mutex_);
  paths_.push_back(std::move(path));
}

std::vector<std::string> StagedFiles::paths() const {
  std::lock_guard lock(mutex_);
  return paths_;
}

void StagedFiles::Release(const std::string& path) {
  std::lock_guard lock(mutex_);
  std::erase(paths_, path);
}

void StagedFiles::Release() {
  std::lock_guard lock(mutex_);
  paths_.clear();
}

Result<void> StagedFiles::DeleteAll() {
  std::lock_guard lock(mutex_);
  std::optional<Error> first;
  std::vector<std::string> left;
  for (std::string& path : paths_) {
    Result<void> deleted = io_->Delete(path);
    if (deleted || deleted.error().kind() == ErrorKind::kNotFound) continue;
    if (!first) first = std::move(deleted).error();
    left.push_back(std::move(path));
  }
  paths_ = std::move(left);
  if (first) return std::unexpected(*std::move(first));
  return {};
}

}  // namespace delenda::write
