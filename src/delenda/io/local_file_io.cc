#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <limits>
#include <utility>

#include "delenda/io/file_io.h"
#include "delenda/io/local_path.h"
#include "delenda/io/location.h"
#include "delenda/io/posix_error.h"

namespace delenda::io {

Result<std::string> LocalPath(std::string_view location) {
  const auto refuse = [&](std::unexpected<Error> failure) {
    failure.error().Add("file", location);
    return failure;
  };
  std::string_view path = location;
  if (Scheme(path) == "file") {
    path.remove_prefix(std::string_view("file:").size());
    if (path.starts_with("//")) {
      path.remove_prefix(2);
      if (!path.starts_with('/')) return refuse(InvalidArgument("a file URI must not name a host"));
    }
  } else if (!Scheme(path).empty()) {
    return refuse(NotSupported("no storage for scheme \"{}\"", Scheme(path)));
  }
  if (path.empty()) return refuse(InvalidArgument("empty path"));
  if (path.find('\0') != std::string_view::npos) return refuse(InvalidArgument("path holds a NUL byte"));
  return std::string(path);
}

namespace {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

template <typename Call>
auto RetryInterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

Descriptor OpenDescriptor(const std::string& path, int flags, mode_t mode = 0) {
  return Descriptor(RetryInterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
}

std::unexpected<Error> PosixFailure(std::string_view action, std::string_view path) {
  return std::unexpected(PosixError(errno, action, path));
}

class LocalInputFile final : public InputFile {
 public:
  LocalInputFile(std::string path, Descriptor descriptor, std::optional<uint64_t> known_size)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(known_size) {}

  const std::string& path() const override { return path_; }

  Result<uint64_t> Size() override { return *size_; }
  bool SeeksAreCheap() const override { return true; }

  Result<void> ReadAt(uint64_t offset, std::span<std::byte> into) override {
    const uint64_t start = offset;
    const size_t wanted = into.size();
    while (!into.empty()) {
      if (offset > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) return EndsEarly(start, wanted, 0);
      const ssize_t got = RetryInterrupted(
          [&] { return ::pread(descriptor_.get(), into.data(), into.size(), static_cast<off_t>(offset)); });
      if (got < 0) return PosixFailure("read file", path_);
      // Never hand out a short read: the rest of the buffer would pass for data.
      if (got == 0) return EndsEarly(start, wanted, offset);
      into = into.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
    return {};
  }

 private:
  Result<void> EndsEarly(uint64_t start, size_t wanted, uint64_t reached) const {
    struct stat info = {};
    const bool known = ::fstat(descriptor_.get(), &info) == 0;
    const uint64_t end = known ? static_cast<uint64_t>(info.st_size) : reached;
    return WithContext(Result<void>(Corrupt("file ends at byte {}: needed {} bytes at byte {}", end, wanted, start)),
                       "file", path_);
  }

  std::string path_;
  Descriptor descriptor_;
  std::optional<uint64_t> size_;
};

// Writes into a hidden file beside the final one and links it into place, so that nobody sees half a file and no file
// is ever replaced unasked: link(2) fails when the name exists, rename(2) would silently destroy another writer's file.
class LocalOutputFile final : public OutputFile {
 public:
  LocalOutputFile(std::string location, std::string path, std::string temporary, Descriptor descriptor)
      : location_(std::move(location)),
        path_(std::move(path)),
        temporary_(std::move(temporary)),
        descriptor_(std::move(descriptor)) {}

  ~LocalOutputFile() override {
    if (!closed_) Discard();
  }

  Result<void> Write(ByteView bytes) override {
    if (closed_) return InvalidArgument("write after close");
    if (failed_) return InvalidArgument("write after a failed write");
    while (!bytes.empty()) {
      const ssize_t written = RetryInterrupted([&] { return ::write(descriptor_.get(), bytes.data(), bytes.size()); });
      if (written < 0) {
        failed_ = true;
        return PosixFailure("write file", location_);
      }
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return {};
  }

  Result<void> Close() override { return Close(&LocalOutputFile::Link); }
  // The same, in place of a file that may be there.
  Result<void> CloseOver() { return Close(&LocalOutputFile::Rename); }

 private:
  using MakeVisible = Result<void> (LocalOutputFile::*)();

  Result<void> Close(MakeVisible make_visible) {
    if (closed_) return InvalidArgument("file is closed already");
    // A file with a hole in its middle must not become visible because a caller overlooked the failed write.
    if (failed_) return WithContext(Result<void>(IoError("an earlier write failed")), "file", location_);
    closed_ = true;
    Result<void> published = Publish(make_visible);
    Discard();
    return published;
  }

  Result<void> Publish(MakeVisible make_visible) {
    if (RetryInterrupted([&] { return ::fsync(descriptor_.get()); }) != 0) return PosixFailure("sync file", location_);
    // The descriptor is gone even when close(2) is interrupted; network file systems report late write errors here.
    if (::close(descriptor_.Release()) != 0 && errno != EINTR) return PosixFailure("close file", location_);
    DELENDA_TRY((this->*make_visible)());
    // From here on the file is visible: an error below means that it may not survive a power cut, not that it is not
    // there.
    return SyncFolder();
  }

  Result<void> Link() {
    if (::link(temporary_.c_str(), path_.c_str()) != 0) return PosixFailure("create file", location_);
    return {};
  }
  Result<void> Rename() {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) return PosixFailure("replace file", location_);
    temporary_.clear();
    return {};
  }

  // Without it a power cut may lose the name of a file that a commit already refers to.
  Result<void> SyncFolder() {
    const std::string_view parent = Parent(path_);
    Descriptor folder = OpenDescriptor(parent.empty() ? "." : std::string(parent), O_RDONLY | O_DIRECTORY);
    if (!folder.valid()) return PosixFailure("open the folder of file", location_);
    const int status = RetryInterrupted([&] { return ::fsync(folder.get()); });
    // Some file systems cannot sync folders and say so.
    if (status != 0 && errno != EINVAL && errno != ENOTSUP) return PosixFailure("sync the folder of file", location_);
    return {};
  }

  void Discard() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
  }

  std::string location_;
  std::string path_;
  std::string temporary_;
  Descriptor descriptor_;
  bool closed_ = false;
  bool failed_ = false;
};

class LocalFileIO final : public FileIO {
 public:
  using FileIO::Open;
  Result<std::unique_ptr<InputFile>> Open(std::string_view location, std::optional<uint64_t> known_size) override {
    const std::string path = DELENDA_TRY(LocalPath(location));
    // Without O_NONBLOCK a named pipe in place of a file would block us for ever.
    Descriptor descriptor = OpenDescriptor(path, O_RDONLY | O_NONBLOCK);
    if (!descriptor.valid()) return PosixFailure("open file", location);
    // With a known size nothing more is asked: a folder is then found out by its first read.
    if (!known_size) {
      struct stat info = {};
      if (::fstat(descriptor.get(), &info) != 0) return PosixFailure("open file", location);
      if (S_ISDIR(info.st_mode)) return std::unexpected(PosixError(EISDIR, "open file", location));
      if (!S_ISREG(info.st_mode)) {
        std::unexpected<Error> failure = InvalidArgument("cannot open file: not a regular file");
        failure.error().Add("file", location);
        return failure;
      }
      known_size = static_cast<uint64_t>(info.st_size);
    }
    return std::make_unique<LocalInputFile>(std::string(location), std::move(descriptor), known_size);
  }

  Result<FileInfo> Stat(std::string_view location) override {
    const std::string path = DELENDA_TRY(LocalPath(location));
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) return PosixFailure("find file", location);
    return ToInfo(std::string(location), info);
  }

  Result<std::vector<FileInfo>> List(std::string_view location) override {
    const std::string path = DELENDA_TRY(LocalPath(location));
    const auto close_folder = [](DIR* dir) { ::closedir(dir); };
    const std::unique_ptr<DIR, decltype(close_folder)> folder(::opendir(path.c_str()), close_folder);
    if (!folder) return PosixFailure("list folder", location);
    std::vector<FileInfo> found;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(folder.get());
      if (entry == nullptr) {
        // A listing that breaks off must not pass for a whole one: the newest version would be missed.
        if (errno != 0) return PosixFailure("list folder", location);
        break;
      }
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      struct stat info = {};
      if (::fstatat(::dirfd(folder.get()), entry->d_name, &info, 0) != 0) {
        if (errno == ENOENT) continue;  // deleted meanwhile, or a link to nowhere
        return PosixFailure("list folder", Join(location, name));
      }
      found.push_back(ToInfo(Join(location, name), info));
    }
    std::ranges::sort(found, {}, &FileInfo::path);
    return found;
  }

  Result<std::unique_ptr<OutputFile>> Create(std::string_view location) override {
    const std::string path = DELENDA_TRY(LocalPath(location));
    struct stat info = {};
    // Only to fail early; Close() is what guarantees it.
    if (::lstat(path.c_str(), &info) == 0) return std::unexpected(PosixError(EEXIST, "create file", location));
    if (errno != ENOENT) return PosixFailure("create file", location);
    return DELENDA_TRY(OpenTemporary(location, path));
  }

  Result<void> Replace(std::string_view location, ByteView bytes) override {
    const std::string path = DELENDA_TRY(LocalPath(location));
    const auto file = DELENDA_TRY(OpenTemporary(location, path));
    DELENDA_TRY(file->Write(bytes));
    return file->CloseOver();
  }

  Result<void> Delete(std::string_view location) override {
    const std::string path = DELENDA_TRY(LocalPath(location));
    if (::unlink(path.c_str()) != 0) return PosixFailure("delete file", location);
    return {};
  }

 private:
  Result<std::unique_ptr<LocalOutputFile>> OpenTemporary(std::string_view location, const std::string& path) {
    if (const Result<void> made = CreateFolders(path); !made) return std::unexpected(made.error());
    for (;;) {
      std::string temporary = TemporaryName(path);
      Descriptor descriptor = OpenDescriptor(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (descriptor.valid()) {
        return std::make_unique<LocalOutputFile>(std::string(location), path, std::move(temporary),
                                                 std::move(descriptor));
      }
      if (errno != EEXIST) return PosixFailure("create file", location);
    }
  }

  static FileInfo ToInfo(std::string path, const struct stat& info) {
    const bool is_directory = S_ISDIR(info.st_mode);
    return {std::move(path), is_directory ? 0 : static_cast<uint64_t>(info.st_size), is_directory};
  }

  // Object stores have no folders to make first: neither do callers of FileIO.
  static Result<void> CreateFolders(const std::string& path) {
    std::vector<std::string_view> missing;
    for (std::string_view folder = Parent(path); !folder.empty() && folder != "/"; folder = Parent(folder)) {
      struct stat info = {};
      if (::stat(std::string(folder).c_str(), &info) == 0) break;
      if (errno != ENOENT) return PosixFailure("create folder", folder);
      missing.push_back(folder);
    }
    for (auto folder = missing.rbegin(); folder != missing.rend(); ++folder) {
      if (::mkdir(std::string(*folder).c_str(), 0777) != 0 && errno != EEXIST) {
        return PosixFailure("create folder", *folder);
      }
    }
    return {};
  }

  // Begins with a dot, as readers of table folders skip such names. Not derived from the final name, which may be as
  // long as names can be. Different processes and threads never share one; a left-over of a dead process is passed by
  // O_EXCL.
  std::string TemporaryName(const std::string& path) {
    struct timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const std::string name =
        fmt::format(".delenda-{}-{}-{:x}{:x}.tmp", ::getpid(), next_.fetch_add(1), now.tv_sec, now.tv_nsec);
    const std::string_view parent = Parent(path);
    return parent.empty() ? name : Join(parent, name);
  }

  std::atomic<uint64_t> next_{0};
};

}  // namespace

std::shared_ptr<FileIO> MakeLocalFileIO() { return std::make_shared<LocalFileIO>(); }

}  // namespace delenda::io
