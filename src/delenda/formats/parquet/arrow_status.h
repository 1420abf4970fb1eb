// The one place where errors of Arrow and Parquet become errors of delenda, and the other way round.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <exception>
#include <type_traits>
#include <utility>

#include "delenda/base/result.h"

namespace delenda::parquet {

// An error on its way through Arrow, which knows statuses only: ToError gives back the very same error, so that a
// missing file stays NotFound and a refused one PermissionDenied instead of turning into "IOError".
arrow::Status ToStatus(Error error);

// What a status means depends on where it arose.
enum class StatusSource : uint8_t {
  kFile,     // reading a file's bytes: an invalid argument or a type error is the file's fault (Corrupt)
  kCompute,  // working on data that was checked: such an error is delenda's fault (Internal)
};
Error ToError(const arrow::Status& status, StatusSource source = StatusSource::kFile);

// The error of the exception that is being handled; for use in a catch (...) block.
Error CurrentExceptionToError(StatusSource source = StatusSource::kFile);

template <typename T>
Result<T> ToResult(arrow::Result<T> result, StatusSource source = StatusSource::kFile) {
  if (!result.ok()) return std::unexpected(ToError(result.status(), source));
  return std::move(result).ValueUnsafe();
}
inline Result<void> ToResult(const arrow::Status& status, StatusSource source = StatusSource::kFile) {
  if (!status.ok()) return std::unexpected(ToError(status, source));
  return {};
}

// Runs `body`, which returns some Result, and turns what it throws into an error: Parquet reports broken files by
// throwing.
template <typename Body>
auto Guarded(Body&& body) -> std::invoke_result_t<Body> {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return std::unexpected(CurrentExceptionToError());
  }
}

}  // namespace delenda::parquet
