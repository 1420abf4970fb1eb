// Catalogs in SQLite databases.
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "delenda/catalog/catalog.h"

namespace delenda::catalog {
namespace {

constexpr int kBusyMilliseconds = 5000;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;
using Row = std::vector<std::optional<std::string>>;

std::unexpected<Error> SqlError(sqlite3* database, int code) {
  const char* message = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return Corrupt("the catalog is no sound SQLite database: {}", message);
    case SQLITE_PERM:
    case SQLITE_AUTH: return PermissionDenied("the catalog's database can't be opened: {}", message);
    default: return IoError("the catalog's database can't be read: {}", message);
  }
}

Result<std::vector<Row>> Query(sqlite3* database, const char* sql, const std::vector<std::string>& values) {
  sqlite3_stmt* raw = nullptr;
  int code = sqlite3_prepare_v2(database, sql, -1, &raw, nullptr);
  const Statement statement(raw);
  if (code != SQLITE_OK) return SqlError(database, code);
  for (size_t i = 0; i < values.size(); ++i) {
    code = sqlite3_bind_text64(raw, static_cast<int>(i) + 1, values[i].data(), values[i].size(), SQLITE_STATIC,
                               SQLITE_UTF8);
    if (code != SQLITE_OK) return SqlError(database, code);
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
  if (code != SQLITE_DONE) return SqlError(database, code);
  return rows;
}

class SqlCatalog final : public Catalog {
 public:
  SqlCatalog(std::string path, std::string name) : path_(std::move(path)), name_(std::move(name)) {}

  Result<std::string> Locate(const TableName& name) override { return WithContext(Find(name), "catalog", path_); }

 private:
  Result<std::string> Find(const TableName& name) const {
    const auto database = DELENDA_TRY(Open());
    // Java calls a table without this column "V0"; it has tables only.
    const auto typed = DELENDA_TRY(
        Query(database.get(), "SELECT 1 FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'", {}));
    const auto rows = DELENDA_TRY(
        Query(database.get(),
              typed.empty() ? "SELECT metadata_location, NULL FROM iceberg_tables WHERE catalog_name = ? AND "
                              "table_namespace = ? AND table_name = ?"
                            : "SELECT metadata_location, iceberg_type FROM iceberg_tables WHERE catalog_name = ? AND "
                              "table_namespace = ? AND table_name = ?",
              {name_, name.Namespace(), name.table}));
    if (rows.empty()) return DELENDA_TRY(Missing(database.get(), name));
    const auto& type = rows[0][1];
    if (type && *type != "TABLE") return NotSupported("{}.{} is a {}, no table", name.Namespace(), name.table, *type);
    if (!rows[0][0] || rows[0][0]->empty())
      return Corrupt("the catalog has no metadata location for {}.{}", name.Namespace(), name.table);
    return *rows[0][0];
  }

  Result<Database> Open() const {
    std::error_code error;
    // SQLite's own message would not say that the file is missing.
    if (!std::filesystem::exists(path_, error) && !error) return NotFound("the catalog's database does not exist");
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path_.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
    Database database(raw);
    if (code != SQLITE_OK) return SqlError(raw, code);
    // Writers hold the lock for a moment only.
    sqlite3_busy_timeout(raw, kBusyMilliseconds);
    if (DELENDA_TRY(Query(raw, "SELECT 1 FROM sqlite_master WHERE name = 'iceberg_tables'", {})).empty())
      return NotFound("the database has no table iceberg_tables: it is no catalog");
    return database;
  }

  Result<std::string> Missing(sqlite3* database, const TableName& name) const {
    const auto others = DELENDA_TRY(
        Query(database, "SELECT DISTINCT catalog_name FROM iceberg_tables ORDER BY catalog_name LIMIT 10", {}));
    std::string known;
    bool has_name = false;
    for (const auto& row : others) {
      const std::string other = row[0].value_or("");
      has_name = has_name || other == name_;
      known += (known.empty() ? "'" : ", '") + other + "'";
    }
    if (has_name || known.empty())
      return NotFound("catalog '{}' has no table {}.{}", name_, name.Namespace(), name.table);
    return NotFound("the database has no catalog '{}', only {}: set catalog-name to the one that holds {}.{}", name_,
                    known, name.Namespace(), name.table);
  }

  std::string path_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Catalog> MakeSqlCatalog(std::string database_path, std::string catalog_name) {
  return std::make_unique<SqlCatalog>(std::move(database_path), std::move(catalog_name));
}

}  // namespace delenda::catalog
