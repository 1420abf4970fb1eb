#include "delenda/catalog/sqlite.h"

#include <sqlite3.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace delenda::catalog {
namespace {

// Writers hold the lock for a moment only.
constexpr int kBusyMilliseconds = 10000;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

std::unexpected<Error> SqlError(sqlite3* database, int code) {
  const char* message = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return Corrupt("the catalog is no sound SQLite database: {}", message);
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return PermissionDenied("the catalog's database can't be opened: {}", message);
    case SQLITE_CONSTRAINT: return AlreadyExists("the catalog has such an entry already: {}", message);
    default: return IoError("the catalog's database can't be used: {}", message);
  }
}

int Flags(SqliteDatabase::Mode mode) {
  switch (mode) {
    // Reading may have to undo what a writer had begun when it was killed, which a read-only connection refuses. Where
    // the file is write-protected SQLite opens it for reading all the same.
    case SqliteDatabase::Mode::kRead:
    case SqliteDatabase::Mode::kWrite: return SQLITE_OPEN_READWRITE;
    case SqliteDatabase::Mode::kCreate: break;
  }
  return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
}

}  // namespace

void SqliteDatabase::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Result<SqliteDatabase> SqliteDatabase::Open(const std::string& path, Mode mode) {
  std::error_code error;
  // SQLite's own message would not say that the file is missing.
  if (mode != Mode::kCreate && !std::filesystem::exists(path, error) && !error)
    return NotFound("the catalog's database does not exist");
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, Flags(mode), nullptr);
  SqliteDatabase database(raw);
  if (code != SQLITE_OK) return SqlError(raw, code);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  if (mode == Mode::kRead) DELENDA_TRY(database.Query("PRAGMA query_only = ON"));
  return database;
}

Result<std::vector<SqliteDatabase::Row>> SqliteDatabase::Query(const char* sql,
                                                               const std::vector<std::string>& values) const {
  sqlite3_stmt* raw = nullptr;
  int code = sqlite3_prepare_v2(database_.get(), sql, -1, &raw, nullptr);
  const std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement(raw);
  if (code != SQLITE_OK) return SqlError(database_.get(), code);
  for (size_t i = 0; i < values.size(); ++i) {
    code = sqlite3_bind_text64(raw, static_cast<int>(i) + 1, values[i].data(), values[i].size(), SQLITE_STATIC,
                               SQLITE_UTF8);
    if (code != SQLITE_OK) return SqlError(database_.get(), code);
  }
  std::vector<Row> rows;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    Row& row = rows.emplace_back();
    for (int column = 0; column < sqlite3_column_count(raw); ++column) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, column));
      if (text == nullptr) {
        row.emplace_back();
      } else {
        row.emplace_back(std::string(text, static_cast<size_t>(sqlite3_column_bytes(raw, column))));
      }
    }
  }
  if (code != SQLITE_DONE) return SqlError(database_.get(), code);
  return rows;
}

int64_t SqliteDatabase::changed() const { return sqlite3_changes(database_.get()); }

}  // namespace delenda::catalog
