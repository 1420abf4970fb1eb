#include <fmt/format.h>

#include <utility>

#include "delenda/base/gzip.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/location.h"

namespace delenda::catalog {
namespace {

// How making the file of a version ended.
enum class Made : uint8_t { kYes, kNo, kTaken, kUnknown };

// `failure` is set unless the file was made.
struct Attempt {
  Made made = Made::kYes;
  std::optional<Error> failure;
};

Attempt MakeVersionFile(io::FileIO& io, const std::string& path, ByteView bytes) {
  const auto failed = [](const Error& error, Made otherwise) {
    return Attempt{.made = error.kind() == ErrorKind::kAlreadyExists ? Made::kTaken : otherwise, .failure = error};
  };
  auto file = io.Create(path);
  if (!file) return failed(file.error(), Made::kNo);
  if (const auto written = (*file)->Write(bytes); !written) return failed(written.error(), Made::kNo);
  // From here on the file may be visible although the call fails.
  if (const auto closed = (*file)->Close(); !closed) return failed(closed.error(), Made::kUnknown);
  return {};
}

class FolderCommitPoint final : public CommitPoint {
 public:
  FolderCommitPoint(std::shared_ptr<io::FileIO> io, std::string location)
      : io_(std::move(io)), location_(std::move(location)) {}

  Result<std::string> Current() override { return iceberg::FindMetadataFile(*io_, location_); }

  Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
    return WithContext(PublishAfter(base, text, gzip), "table", location_);
  }

 private:
  Result<std::string> PublishAfter(std::string_view base, std::string_view text, bool gzip) {
    const std::string_view base_name = io::Basename(base);
    const auto version = iceberg::MetadataVersion(base_name);
    // A catalog points to one of such files: a new one beside it would be a commit that the catalog's readers never
    // see.
    if (!version || !base_name.starts_with('v'))
      return ValidationFailed(
          "the table's metadata files are named by a catalog ({}): change it through that catalog, as "
          "CATALOG.NAMESPACE.TABLE",
          base_name);
    const int64_t next = *version + 1;
    const Bytes bytes = DELENDA_TRY(MetadataBytes(text, gzip));
    const std::string folder = io::Join(location_, "metadata");
    const auto names = iceberg::VersionFileNames(next);
    const std::string path = io::Join(folder, names[gzip ? 1 : 0]);
    // Making one file excludes only writers that spell the version alike: a compressed and a plain file of one version
    // would both be commits, and one of them lost.
    DELENDA_TRY(CheckFree(folder, names, ""));
    DELENDA_TRY(CheckNotPassed(folder, next));
    const Attempt attempt = MakeVersionFile(*io_, path, bytes);
    if (attempt.made == Made::kTaken) return CommitConflict("another writer has committed version {}", next);
    if (attempt.made == Made::kUnknown)
      return CommitStateUnknown("version {} may or may not have been committed: {}", next, attempt.failure->ToString());
    if (attempt.made == Made::kNo) return std::unexpected(*attempt.failure);
    // From here on others may build on the file: to take it back would break their snapshots, or make this commit
    // happen twice when it is tried again. So where a file of another spelling came at the same moment (readers prefer
    // the plain one), or others went on already, only the table tells what counts.
    for (const auto& seen : {CheckFree(folder, names, path), CheckNotPassed(folder, next)}) {
      if (!seen) return CommitStateUnknown("version {} was written, and {}", next, seen.error().ToString());
    }
    WriteHint(folder, next);
    return path;
  }

  Result<void> CheckFree(std::string_view folder, const std::vector<std::string>& names, std::string_view own) const {
    for (const auto& name : names) {
      const std::string path = io::Join(folder, name);
      if (path == own) continue;
      const auto info = io_->Stat(path);
      if (info) return CommitConflict("another writer has committed {}", name);
      if (info.error().kind() != ErrorKind::kNotFound) return std::unexpected(info.error());
    }
    return {};
  }

  // A base that is so old that the file of the next version is deleted again must not be taken for the newest one: the
  // commit would be below the current version, where nobody sees it.
  Result<void> CheckNotPassed(std::string_view folder, int64_t next) const {
    const auto hint = io::ReadWholeFile(*io_, io::Join(folder, iceberg::kVersionHintName), std::nullopt, 4096);
    if (!hint) {
      if (hint.error().kind() == ErrorKind::kNotFound) return {};
      return std::unexpected(hint.error());
    }
    const auto hinted = iceberg::MetadataVersion(fmt::format("v{}.metadata.json", Trimmed(AsText(*hint))));
    if (hinted && *hinted >= next) return CommitConflict("other writers have committed up to version {}", *hinted);
    return {};
  }

  static std::string_view Trimmed(std::string_view text) {
    while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
    return text;
  }

  // Only where readers begin to look: they go on from it. So a failure does no harm, and the commit has happened.
  void WriteHint(std::string_view folder, int64_t version) {
    const auto written = io_->Replace(io::Join(folder, iceberg::kVersionHintName), AsBytes(fmt::format("{}", version)));
    static_cast<void>(written);
  }

  std::shared_ptr<io::FileIO> io_;
  std::string location_;
};

}  // namespace

Result<Bytes> MetadataBytes(std::string_view text, bool gzip) {
  if (gzip) return Gzip(AsBytes(text));
  const ByteView bytes = AsBytes(text);
  return Bytes(bytes.begin(), bytes.end());
}

std::unique_ptr<CommitPoint> MakeFolderCommitPoint(std::shared_ptr<io::FileIO> io, std::string table_location) {
  return std::make_unique<FolderCommitPoint>(std::move(io), std::move(table_location));
}

Result<std::string> CreateInFolder(io::FileIO& io, std::string_view table_location, std::string_view text, bool gzip) {
  const std::string folder = io::Join(table_location, "metadata");
  const auto there = io.List(folder);
  if (!there && there.error().kind() != ErrorKind::kNotFound) return std::unexpected(there.error());
  if (there) {
    for (const auto& file : *there) {
      if (iceberg::MetadataVersion(io::Basename(file.path)))
        return AlreadyExists("there is a table in {} already ({})", table_location, io::Basename(file.path));
    }
  }
  const std::string path = io::Join(folder, iceberg::VersionFileNames(1)[gzip ? 1 : 0]);
  const Bytes bytes = DELENDA_TRY(MetadataBytes(text, gzip));
  const Attempt attempt = MakeVersionFile(io, path, bytes);
  if (attempt.made == Made::kUnknown)
    return CommitStateUnknown("the table may or may not have been made in {}: {}", table_location,
                              attempt.failure->ToString());
  if (attempt.failure) return std::unexpected(*attempt.failure);
  const auto hint = io.Replace(io::Join(folder, iceberg::kVersionHintName), AsBytes("1"));
  static_cast<void>(hint);  // only where readers begin to look
  return path;
}

}  // namespace delenda::catalog
