#include "delenda/io/posix_error.h"

#include <cerrno>
#include <system_error>

namespace delenda::io {

static ErrorKind KindOfErrno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:  // a part of the path is a file: what is asked for cannot exist
      return ErrorKind::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorKind::kPermissionDenied;
    case EEXIST: return ErrorKind::kAlreadyExists;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL: return ErrorKind::kInvalidArgument;
    default: return ErrorKind::kIo;
  }
}

Error PosixError(int error_number, std::string_view action, std::string_view path) {
  // Not strerror: it may share one buffer between threads.
  const std::string reason = std::system_category().message(error_number);
  Error error(KindOfErrno(error_number), fmt::format("cannot {}: {}", action, reason));
  error.Add("file", path);
  return error;
}

}  // namespace delenda::io
