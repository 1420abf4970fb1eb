// A connection to an SQLite database.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"

struct sqlite3;

namespace delenda::catalog {

// Not thread-safe: one connection for each use.
class SqliteDatabase {
 public:
  enum class Mode : uint8_t { kRead, kWrite, kCreate };
  using Row = std::vector<std::optional<std::string>>;

  // kRead: changes nothing, but what a killed writer left half-done is undone.
  // NotFound for a file that does not exist (except with kCreate), Corrupt for one that is no database.
  static Result<SqliteDatabase> Open(const std::string& path, Mode mode);

  // The rows of one statement with text parameters. AlreadyExists when a key is there already.
  Result<std::vector<Row>> Query(const char* sql, const std::vector<std::string>& values = {}) const;
  // Rows that the last INSERT, UPDATE or DELETE changed.
  int64_t changed() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace delenda::catalog
