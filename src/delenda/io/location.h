// Paths and URIs as text. Locations are opaque: nothing here decodes percent signs or collapses slashes.
#pragma once

#include <string>
#include <string_view>

namespace delenda::io {

// The scheme of a URI ("s3" of "s3://bucket/x", "file" of "file:/x" and "file:///x"); empty for a bare path.
std::string_view Scheme(std::string_view location);

// One spelling for locations that mean the same place: s3, s3a and s3n become s3; file:/x, file:///x and /x become /x;
// all else stays. Only for the fallback when a delete's referenced file has no exact match: locations compare exactly
// first.
std::string CanonicalLocation(std::string_view location);

// CanonicalLocation without a copy: two locations have equal keys exactly if their canonical forms are equal. Points
// into the location.
struct LocationKey {
  bool is_s3 = false;     // s3, s3a or s3n, which `rest` lacks
  std::string_view rest;  // of other locations: all of the canonical form

  bool operator==(const LocationKey&) const = default;
};
LocationKey CanonicalKey(std::string_view location);

// A relative path with the current folder before it; else the location as it is. Without slashes at its end.
std::string AbsoluteLocation(std::string_view location);

// folder + "/" + name; a slash that the folder ends with is not doubled.
std::string Join(std::string_view folder, std::string_view name);

// What follows the last slash.
std::string_view Basename(std::string_view location);

// What precedes the last slash: "/" for "/x", empty when there is no folder ("x", "s3://bucket").
std::string_view Parent(std::string_view location);

}  // namespace delenda::io
