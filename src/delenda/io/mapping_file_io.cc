#include "delenda/io/mapping_file_io.h"

#include <algorithm>
#include <utility>

#include "delenda/io/location.h"

namespace delenda::io {
namespace {

std::string_view WithoutEndSlash(std::string_view location) {
  if (location.ends_with('/')) location.remove_suffix(1);
  return location;
}

bool IsS3Scheme(std::string_view scheme) { return scheme == "s3" || scheme == "s3a" || scheme == "s3n"; }

// What follows the scheme in its shortest form: file:/x and file:///x both give "/x".
std::string_view AfterScheme(std::string_view location, std::string_view scheme) {
  if (!scheme.empty()) location.remove_prefix(scheme.size() + 1);
  if (scheme == "file" && location.starts_with("///")) location.remove_prefix(2);
  return location;
}

// The rest of `path` below `from`; nullopt when it is not there.
std::optional<std::string_view> Below(std::string_view from, std::string_view path) {
  const std::string_view from_scheme = Scheme(from);
  const std::string_view path_scheme = Scheme(path);
  const bool schemes_agree = from_scheme == path_scheme || (IsS3Scheme(from_scheme) && IsS3Scheme(path_scheme)) ||
                             (from_scheme.empty() && path_scheme == "file");
  if (!schemes_agree) return std::nullopt;
  const std::string_view prefix = WithoutEndSlash(AfterScheme(from, from_scheme));
  std::string_view rest = AfterScheme(path, path_scheme);
  if (!rest.starts_with(prefix)) return std::nullopt;
  rest.remove_prefix(prefix.size());
  // Only whole names: /warehouse must not catch /warehouse2, another table's files.
  if (!rest.empty() && !rest.starts_with('/')) return std::nullopt;
  return rest;
}

class MappingFileIO final : public FileIO {
 public:
  MappingFileIO(std::shared_ptr<FileIO> inner, std::vector<LocationMapping> mappings)
      : inner_(std::move(inner)), mappings_(std::move(mappings)) {}

  using FileIO::Open;
  Result<std::unique_ptr<InputFile>> Open(std::string_view path, std::optional<uint64_t> known_size) override {
    auto file = DELENDA_TRY(inner_->Open(MapLocation(mappings_, path), known_size));
    return std::make_unique<File>(std::string(path), std::move(file));
  }

  Result<FileInfo> Stat(std::string_view path) override {
    FileInfo info = DELENDA_TRY(inner_->Stat(MapLocation(mappings_, path)));
    info.path = path;
    return info;
  }

  Result<std::vector<FileInfo>> List(std::string_view folder) override {
    std::vector<FileInfo> children = DELENDA_TRY(inner_->List(MapLocation(mappings_, folder)));
    for (FileInfo& child : children) child.path = Join(folder, Basename(child.path));
    return children;
  }

  Result<std::unique_ptr<OutputFile>> Create(std::string_view path) override {
    return inner_->Create(MapLocation(mappings_, path));
  }

  Result<void> Delete(std::string_view path) override { return inner_->Delete(MapLocation(mappings_, path)); }

  Result<void> Replace(std::string_view path, ByteView bytes) override {
    return inner_->Replace(MapLocation(mappings_, path), bytes);
  }

 private:
  class File final : public InputFile {
   public:
    File(std::string path, std::unique_ptr<InputFile> inner) : path_(std::move(path)), inner_(std::move(inner)) {}
    const std::string& path() const override { return path_; }
    Result<uint64_t> Size() override { return inner_->Size(); }
    bool SeeksAreCheap() const override { return inner_->SeeksAreCheap(); }
    Result<void> ReadAt(uint64_t offset, std::span<std::byte> into) override { return inner_->ReadAt(offset, into); }

   private:
    std::string path_;
    std::unique_ptr<InputFile> inner_;
  };

  std::shared_ptr<FileIO> inner_;
  std::vector<LocationMapping> mappings_;
};

}  // namespace

Result<LocationMapping> ParseLocationMapping(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return InvalidArgument("location mapping must be FROM=TO, found \"{}\"", text);
  }
  return LocationMapping{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string MapLocation(std::span<const LocationMapping> mappings, std::string_view path) {
  size_t best_length = 0;
  std::optional<std::string> best;
  for (const LocationMapping& mapping : mappings) {
    const std::optional<std::string_view> rest = Below(mapping.from, path);
    if (!rest) continue;
    // The longest prefix leaves the shortest rest; measured so, file:/x and /x count alike. Of equals the first wins.
    const size_t length = path.size() - rest->size();
    if (best && length <= best_length) continue;
    best_length = length;
    best = rest->empty() ? mapping.to : std::string(WithoutEndSlash(mapping.to)).append(*rest);
  }
  return best ? *std::move(best) : std::string(path);
}

std::shared_ptr<FileIO> MakeMappingFileIO(std::shared_ptr<FileIO> inner, std::vector<LocationMapping> mappings) {
  return std::make_shared<MappingFileIO>(std::move(inner), std::move(mappings));
}

}  // namespace delenda::io
