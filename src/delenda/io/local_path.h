// Locations of the local file system as paths for system calls.
#pragma once

#include <string>
#include <string_view>

#include "delenda/base/result.h"

namespace delenda::io {

// "/x", "x", "file:/x", "file:///x" → what open(2) takes; nothing is decoded. NotSupported for other schemes,
// InvalidArgument for an empty path, one with a NUL byte (open(2) would stop there and open another file) and file URIs
// that name a host.
Result<std::string> LocalPath(std::string_view location);

}  // namespace delenda::io
