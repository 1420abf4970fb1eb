#include <algorithm>
#include <map>
#include <mutex>

#include "delenda/io/file_io.h"
#include "delenda/io/location.h"

namespace delenda::io {
namespace {

// The files, shared with open ones: those may outlive their FileIO. Contents never change once they are visible.
struct MemoryStore {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Bytes>, std::less<>> files;
};

template <typename T>
Result<T> MemoryFailure(std::unexpected<Error> failure, std::string_view path) {
  failure.error().Add("file", path);
  return failure;
}

class MemoryInputFile final : public InputFile {
 public:
  MemoryInputFile(std::string path, std::shared_ptr<const Bytes> bytes, std::optional<uint64_t> known_size)
      : path_(std::move(path)), bytes_(std::move(bytes)), size_(known_size.value_or(bytes_->size())) {}

  const std::string& path() const override { return path_; }
  Result<uint64_t> Size() override { return size_; }

  Result<void> ReadAt(uint64_t offset, std::span<std::byte> into) override {
    if (into.empty()) return {};
    if (offset > bytes_->size() || into.size() > bytes_->size() - offset) {
      return MemoryFailure<void>(
          Corrupt("file ends at byte {}: needed {} bytes at byte {}", bytes_->size(), into.size(), offset), path_);
    }
    std::copy_n(bytes_->begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
    return {};
  }

 private:
  std::string path_;
  std::shared_ptr<const Bytes> bytes_;
  uint64_t size_;
};

class MemoryOutputFile final : public OutputFile {
 public:
  MemoryOutputFile(std::string path, std::shared_ptr<MemoryStore> store)
      : path_(std::move(path)), store_(std::move(store)) {}

  Result<void> Write(ByteView bytes) override {
    if (closed_) return InvalidArgument("write after close");
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }

  Result<void> Close() override {
    if (closed_) return InvalidArgument("file is closed already");
    closed_ = true;
    std::lock_guard lock(store_->mutex);
    const bool added = store_->files.try_emplace(path_, std::make_shared<const Bytes>(std::move(bytes_))).second;
    if (!added) return MemoryFailure<void>(AlreadyExists("cannot create file: file exists"), path_);
    return {};
  }

 private:
  std::string path_;
  std::shared_ptr<MemoryStore> store_;
  Bytes bytes_;
  bool closed_ = false;
};

// Like an object store: folders exist while a file is below them.
class MemoryFileIO final : public FileIO {
 public:
  using FileIO::Open;
  Result<std::unique_ptr<InputFile>> Open(std::string_view path, std::optional<uint64_t> known_size) override {
    std::lock_guard lock(store_->mutex);
    const auto found = store_->files.find(path);
    if (found == store_->files.end()) return Missing<std::unique_ptr<InputFile>>("open", path);
    return std::make_unique<MemoryInputFile>(std::string(path), found->second, known_size);
  }

  Result<FileInfo> Stat(std::string_view path) override {
    std::lock_guard lock(store_->mutex);
    if (const auto found = store_->files.find(path); found != store_->files.end()) {
      return FileInfo{found->first, found->second->size(), false};
    }
    const std::string prefix = Join(path, "");
    const auto below = store_->files.lower_bound(prefix);
    if (below == store_->files.end() || !below->first.starts_with(prefix)) return Missing<FileInfo>("find", path);
    return FileInfo{std::string(path), 0, true};
  }

  Result<std::vector<FileInfo>> List(std::string_view folder) override {
    const std::string prefix = Join(folder, "");
    std::vector<FileInfo> children;
    std::lock_guard lock(store_->mutex);
    for (auto at = store_->files.lower_bound(prefix); at != store_->files.end() && at->first.starts_with(prefix);
         ++at) {
      const size_t slash = at->first.find('/', prefix.size());
      if (slash == std::string::npos) {
        children.push_back({at->first, at->second->size(), false});
      } else if (std::string child = at->first.substr(0, slash);
                 children.empty() || children.back().path != child || !children.back().is_directory) {
        children.push_back({std::move(child), 0, true});
      }
    }
    if (children.empty()) return Missing<std::vector<FileInfo>>("list", folder);
    // A folder's files may lie apart in the map ("a/x", "a.b" order by '.' < '/'), but stay together among themselves.
    std::ranges::sort(children, {}, &FileInfo::path);
    return children;
  }

  Result<std::unique_ptr<OutputFile>> Create(std::string_view path) override {
    std::lock_guard lock(store_->mutex);
    if (store_->files.contains(path)) {
      return MemoryFailure<std::unique_ptr<OutputFile>>(AlreadyExists("cannot create file: file exists"), path);
    }
    return std::make_unique<MemoryOutputFile>(std::string(path), store_);
  }

  Result<void> Delete(std::string_view path) override {
    std::lock_guard lock(store_->mutex);
    const auto found = store_->files.find(path);
    if (found == store_->files.end()) return Missing<void>("delete", path);
    store_->files.erase(found);
    return {};
  }

  Result<void> Replace(std::string_view path, ByteView bytes) override {
    std::lock_guard lock(store_->mutex);
    store_->files.insert_or_assign(std::string(path), std::make_shared<const Bytes>(bytes.begin(), bytes.end()));
    return {};
  }

 private:
  template <typename T>
  static Result<T> Missing(std::string_view action, std::string_view path) {
    return MemoryFailure<T>(NotFound("cannot {} file: no such file or folder", action), path);
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

}  // namespace

std::shared_ptr<FileIO> MakeMemoryFileIO() { return std::make_shared<MemoryFileIO>(); }

}  // namespace delenda::io
