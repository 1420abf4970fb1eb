// Reading tables whose files were moved: locations in metadata are replaced by where the files are now.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "delenda/io/file_io.h"

namespace delenda::io {

// Locations at or below `from` are at the same place below `to`.
struct LocationMapping {
  std::string from;
  std::string to;
};

// "FROM=TO", cut at the first '='. InvalidArgument when a side is empty or there is no '='. A slash at the end of a
// side makes no difference.
Result<LocationMapping> ParseLocationMapping(std::string_view text);

// Replaces the longest FROM that is `path` or is followed by '/' in it; other paths stay. Bytes are compared as they
// are: no decoding, no collapsing of slashes. A FROM without scheme also stands for its file:/ and file:/// forms; one
// with a scheme for that scheme only, where s3, s3a and s3n are one, and so are file:/x and file:///x.
std::string MapLocation(std::span<const LocationMapping> mappings, std::string_view path);

// Results carry paths in the form in which they were asked for; errors name the place that was really tried.
std::shared_ptr<FileIO> MakeMappingFileIO(std::shared_ptr<FileIO> inner, std::vector<LocationMapping> mappings);

}  // namespace delenda::io
