// Errors of the operating system as errors of delenda.
#pragma once

#include <string_view>

#include "delenda/base/result.h"

namespace delenda::io {

// Kind by what the caller can do: missing (also: below something that is no folder) NotFound, refused or read-only
// PermissionDenied, exists AlreadyExists, not a file or no possible name InvalidArgument, all else Io. Context: "file".
Error PosixError(int error_number, std::string_view action, std::string_view path);

}  // namespace delenda::io
