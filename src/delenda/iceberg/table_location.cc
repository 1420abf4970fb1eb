#include "delenda/iceberg/table_location.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "delenda/io/location.h"

namespace delenda::iceberg {
namespace {

constexpr std::array<std::string_view, 3> kSuffixes = {".metadata.json", ".gz.metadata.json", ".metadata.json.gz"};
// A version hint is a number or a file name: more is no hint.
constexpr uint64_t kMaxHintBytes = 4096;

// `name` without its metadata suffix, the longest that fits; nullopt if it has none.
std::optional<std::string_view> WithoutSuffix(std::string_view name) {
  for (const auto suffix : {kSuffixes[1], kSuffixes[2], kSuffixes[0]}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return std::nullopt;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

Result<LoadedTable> LoadFile(io::FileIO& io, std::string path) {
  const auto load = [&]() -> Result<TableMetadata> {
    return TableMetadata::Parse(DELENDA_TRY(io::ReadWholeFile(io, path)));
  };
  auto metadata = DELENDA_TRY(WithContext(load(), "metadata", path));
  return LoadedTable{.metadata_path = std::move(path), .metadata = std::move(metadata)};
}

// The spelling under which a version exists, or nothing.
Result<std::optional<std::string>> FindVersion(io::FileIO& io, std::string_view folder, int64_t version) {
  for (const auto& name : VersionFileNames(version)) {
    std::string path = io::Join(folder, name);
    const auto info = io.Stat(path);
    if (info) return path;
    if (info.error().kind() != ErrorKind::kNotFound) return std::unexpected(info.error());
  }
  return std::nullopt;
}

Result<std::string> FindByListing(io::FileIO& io, std::string_view folder, int64_t at_least);

Result<std::string> FindByHint(io::FileIO& io, std::string_view folder, std::string_view hint) {
  const auto version = WholeNumber(hint);
  if (!version) {
    // PyIceberg also takes the name of a file, with or without its suffix.
    if (hint.find('/') != std::string_view::npos)
      return Corrupt("{} holds '{}': expected a version number or the name of a metadata file", kVersionHintName, hint);
    return io::Join(folder, WithoutSuffix(hint) ? std::string(hint) : fmt::format("{}.metadata.json", hint));
  }
  auto path = DELENDA_TRY(FindVersion(io, folder, *version));
  // The version may be gone (old metadata is deleted after commits) while newer ones are there.
  if (!path) return FindByListing(io, folder, *version);
  for (int64_t next = *version + 1;; ++next) {
    auto newer = DELENDA_TRY(FindVersion(io, folder, next));
    if (!newer) break;
    path = std::move(newer);
  }
  return *std::move(path);
}

// `at_least`: the version of the hint. Metadata below it is an older state and must not pass for the current one.
Result<std::string> FindByListing(io::FileIO& io, std::string_view folder, int64_t at_least) {
  std::optional<int64_t> best;
  std::vector<std::string> paths;
  for (const auto& info : DELENDA_TRY(io.List(folder))) {
    const auto version = MetadataVersion(io::Basename(info.path));
    if (info.is_directory || !version || (best && *version < *best)) continue;
    if (best != version) paths.clear();
    best = version;
    paths.push_back(info.path);
  }
  if (!best) return NotFound("no *.metadata.json in {}", folder);
  if (*best < at_least) {
    return NotFound(
        "{} names version {}, which is gone; the newest in {} is {}, an older state: name its metadata file to read it",
        kVersionHintName, at_least, folder, *best);
  }
  if (paths.size() > 1) {
    return ValidationFailed(
        "{} files have version {} in {} ({} and {} among them): a catalog knows which one counts; name the metadata "
        "file itself",
        paths.size(), *best, folder, io::Basename(paths[0]), io::Basename(paths[1]));
  }
  return std::move(paths[0]);
}

}  // namespace

std::optional<int64_t> MetadataVersion(std::string_view file_name) {
  const auto stem = WithoutSuffix(file_name);
  if (!stem) return std::nullopt;
  if (stem->starts_with('v')) return WholeNumber(stem->substr(1));
  const size_t dash = stem->find('-');
  return dash == std::string_view::npos ? std::nullopt : WholeNumber(stem->substr(0, dash));
}

std::vector<std::string> VersionFileNames(int64_t version) {
  std::vector<std::string> names;
  for (const auto suffix : kSuffixes) names.push_back(fmt::format("v{}{}", version, suffix));
  return names;
}

Result<std::string> FindMetadataFile(io::FileIO& io, std::string_view location) {
  while (location.size() > 1 && location.ends_with('/')) location.remove_suffix(1);
  if (WithoutSuffix(location)) return std::string(location);
  const std::string folder = io::Join(location, "metadata");
  const auto hint = io::ReadWholeFile(io, io::Join(folder, kVersionHintName), std::nullopt, kMaxHintBytes);
  if (hint) return WithContext(FindByHint(io, folder, Trim(AsText(*hint))), "table", location);
  if (hint.error().kind() != ErrorKind::kNotFound) return std::unexpected(hint.error());
  auto path = FindByListing(io, folder, 0);
  if (!path && path.error().kind() == ErrorKind::kNotFound) {
    return NotFound("{} is no Iceberg table: it has no metadata/version-hint.text and no metadata/*.metadata.json",
                    location);
  }
  return WithContext(std::move(path), "table", location);
}

Result<LoadedTable> LoadTable(io::FileIO& io, std::string_view location) {
  return LoadFile(io, DELENDA_TRY(FindMetadataFile(io, location)));
}

}  // namespace delenda::iceberg
