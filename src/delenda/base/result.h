// Making and passing on errors: factories per kind with fmt strings, and the early-return macro.
#pragma once

#include <fmt/format.h>

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "delenda/result.h"

namespace delenda {

// Hide user info ("//user:secret@host") and query strings ("?X-Amz-Signature=…") of every URI in `text`. A presigned
// URL or a connection string in an error message would otherwise leak a credential into logs.
std::string Redact(std::string_view text);

template <ErrorKind kKind>
struct ErrorMaker {
  template <typename... Args>
  std::unexpected<Error> operator()(fmt::format_string<Args...> format, Args&&... args) const {
    return std::unexpected<Error>(Error(kKind, fmt::format(format, std::forward<Args>(args)...)));
  }
};

// Usage: return Corrupt("bad magic: expected {}, found {}", a, b);
inline constexpr ErrorMaker<ErrorKind::kInvalidArgument> InvalidArgument{};
inline constexpr ErrorMaker<ErrorKind::kNotFound> NotFound{};
inline constexpr ErrorMaker<ErrorKind::kAlreadyExists> AlreadyExists{};
inline constexpr ErrorMaker<ErrorKind::kNotSupported> NotSupported{};
inline constexpr ErrorMaker<ErrorKind::kCorrupt> Corrupt{};
inline constexpr ErrorMaker<ErrorKind::kValidationFailed> ValidationFailed{};
inline constexpr ErrorMaker<ErrorKind::kCommitConflict> CommitConflict{};
inline constexpr ErrorMaker<ErrorKind::kCommitStateUnknown> CommitStateUnknown{};
inline constexpr ErrorMaker<ErrorKind::kPermissionDenied> PermissionDenied{};
inline constexpr ErrorMaker<ErrorKind::kIo> IoError{};
inline constexpr ErrorMaker<ErrorKind::kCancelled> Cancelled{};
inline constexpr ErrorMaker<ErrorKind::kInternal> InternalError{};

// Add context to the error of a result, if it has one: return WithContext(Decode(bytes), "file", path);
template <typename T, typename V>
Result<T> WithContext(Result<T> result, std::string_view key, const V& value) {
  if (!result) result.error().Add(key, value);
  return result;
}

namespace detail {
template <typename T>
T Take(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace detail

}  // namespace delenda

#define DELENDA_CONCAT_INNER(a, b) a##b
#define DELENDA_CONCAT(a, b) DELENDA_CONCAT_INNER(a, b)
#define DELENDA_TRY_IMPL(name, ...)                    \
  __extension__({                                      \
    auto name = (__VA_ARGS__);                         \
    if (!name) [[unlikely]]                            \
      return std::unexpected(std::move(name).error()); \
    ::delenda::detail::Take(std::move(name));          \
  })
// The value of a Result, or return its error from the enclosing function: auto bytes = DELENDA_TRY(file.ReadAll());
#define DELENDA_TRY(...) DELENDA_TRY_IMPL(DELENDA_CONCAT(delenda_try_, __COUNTER__), __VA_ARGS__)
