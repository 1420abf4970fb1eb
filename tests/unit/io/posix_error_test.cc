#include "delenda/io/posix_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace delenda::io {
namespace {

TEST(PosixError, KindFollowsFromWhatTheCallerCanDo) {
  const std::vector<std::pair<int, ErrorKind>> cases = {
      {ENOENT, ErrorKind::kNotFound},
      {ENOTDIR, ErrorKind::kNotFound},
      {EACCES, ErrorKind::kPermissionDenied},
      {EPERM, ErrorKind::kPermissionDenied},
      {EROFS, ErrorKind::kPermissionDenied},
      {EEXIST, ErrorKind::kAlreadyExists},
      {EISDIR, ErrorKind::kInvalidArgument},
      {ENAMETOOLONG, ErrorKind::kInvalidArgument},
      {ELOOP, ErrorKind::kInvalidArgument},
      {EIO, ErrorKind::kIo},
      {ENOSPC, ErrorKind::kIo},
      {EMFILE, ErrorKind::kIo},
      {123456, ErrorKind::kIo},
  };
  for (const auto& [number, kind] : cases) EXPECT_EQ(PosixError(number, "open file", "/x").kind(), kind) << number;
}

TEST(PosixError, NamesActionReasonAndFile) {
  EXPECT_EQ(PosixError(EACCES, "open file", "/table/x").ToString(),
            "permission denied: cannot open file: Permission denied (file: /table/x)");
}

}  // namespace
}  // namespace delenda::io
