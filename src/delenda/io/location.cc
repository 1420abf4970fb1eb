#include "delenda/io/location.h"

#include <filesystem>
#include <system_error>

#include <algorithm>

namespace delenda::io {

std::string_view Scheme(std::string_view location) {
  const size_t colon = location.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view scheme = location.substr(0, colon);
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  if (!letter(scheme[0]) || !std::ranges::all_of(scheme, allowed)) return {};
  // "a:b" and "c:/x" are names that local files may have: only the file scheme is known with fewer slashes than two.
  const std::string_view rest = location.substr(colon + 1);
  if (rest.starts_with("//") || (scheme == "file" && rest.starts_with('/'))) return scheme;
  return {};
}

LocationKey CanonicalKey(std::string_view location) {
  if (location.starts_with('/')) return {.is_s3 = false, .rest = location};
  const std::string_view scheme = Scheme(location);
  if (scheme == "s3" || scheme == "s3a" || scheme == "s3n")
    return {.is_s3 = true, .rest = location.substr(scheme.size())};
  if (scheme == "file") {
    const std::string_view rest = location.substr(scheme.size() + 1);
    if (rest.starts_with("///")) return {.is_s3 = false, .rest = rest.substr(2)};
    if (!rest.starts_with("//")) return {.is_s3 = false, .rest = rest};
  }
  return {.is_s3 = false, .rest = location};
}

std::string CanonicalLocation(std::string_view location) {
  const LocationKey key = CanonicalKey(location);
  return std::string(key.is_s3 ? "s3" : "").append(key.rest);
}

std::string AbsoluteLocation(std::string_view location) {
  while (location.size() > 1 && location.ends_with('/')) location.remove_suffix(1);
  if (location.starts_with('/') || !Scheme(location).empty()) return std::string(location);
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) return std::string(location);  // the folder is gone, and nothing can be made in it
  std::string path = (here / location).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string Join(std::string_view folder, std::string_view name) {
  std::string joined(folder);
  if (!joined.ends_with('/')) joined.push_back('/');
  joined.append(name);
  return joined;
}

// Where the path of a location begins: after scheme and slashes, so that those are not taken for folders.
static size_t PathStart(std::string_view location) {
  const std::string_view scheme = Scheme(location);
  if (scheme.empty()) return 0;
  const size_t after = scheme.size() + 1;
  return location.substr(after).starts_with("//") ? after + 2 : after;
}

std::string_view Basename(std::string_view location) {
  const size_t start = PathStart(location);
  const size_t slash = location.rfind('/');
  return location.substr(slash == std::string_view::npos || slash < start ? start : slash + 1);
}

std::string_view Parent(std::string_view location) {
  const size_t start = PathStart(location);
  const size_t slash = location.rfind('/');
  if (slash == std::string_view::npos || slash < start) return {};
  // The root of a path without authority keeps its slash: "/" of "/x", "file:///" of "file:///x".
  return location.substr(0, slash == start ? slash + 1 : slash);
}

}  // namespace delenda::io
