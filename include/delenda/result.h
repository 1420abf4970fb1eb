// Result<T> and Error: how every function of delenda reports failure. No function of the library throws.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace delenda {

// What the caller can do next decides the kind.
enum class ErrorKind : uint8_t {
  kInvalidArgument,     // the call or the expression is wrong: change it
  kNotFound,            // a file, table, snapshot or column that was named does not exist
  kAlreadyExists,       // what was to be created exists
  kNotSupported,        // valid, but this version of delenda refuses it: the message names the way out
  kCorrupt,             // bytes or metadata break their format: repair or restore the file
  kValidationFailed,    // the table is not in the state that the operation needs
  kCommitConflict,      // another writer won and retries are used up: run the operation again
  kCommitStateUnknown,  // the commit may or may not have happened: look at the table before trying again
  kPermissionDenied,    // the storage refused access
  kIo,                  // the storage failed: trying again may help
  kCancelled,           // the caller asked to stop
  kInternal,            // a fault of delenda: report it
};

// "invalid argument", "corrupt", ...: for messages and JSON output.
std::string_view ErrorKindName(ErrorKind kind);

// A failure: kind, message (static text first, values last) and context pairs that are added while unwinding, innermost
// first ("file", "offset", "snapshot", ...). Credentials never appear: every string that may hold a URI is redacted.
class [[nodiscard]] Error {
 public:
  Error(ErrorKind kind, std::string message);

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::vector<std::pair<std::string, std::string>>& context() const { return context_; }

  // Add where the failure happened. A key that is present already is kept: the innermost place is the most exact one.
  Error& Add(std::string_view key, std::string_view value);
  Error& Add(std::string_view key, uint64_t value);

  // "corrupt: deletion vector CRC mismatch: expected 0x…, found 0x… (file: …; offset: 4)"
  std::string ToString() const;

 private:
  ErrorKind kind_;
  std::string message_;
  std::vector<std::pair<std::string, std::string>> context_;
};

template <typename T>
using Result = std::expected<T, Error>;

}  // namespace delenda
