#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "delenda/base/uuid.h"
#include "delenda/catalog/catalog.h"
#include "delenda/catalog/sqlite.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/location.h"

namespace delenda::catalog {
namespace {

using Mode = SqliteDatabase::Mode;

// As Java's JdbcCatalog (schema version V1) and PyIceberg make them.
constexpr const char* kMakeTables =
    "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT "
    "NULL, table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location "
    "VARCHAR(1000), "
    "iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))";
constexpr const char* kMakeNamespaces =
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace "
    "VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000), PRIMARY KEY "
    "(catalog_name, namespace, property_key))";

// The database, of which iceberg_tables is known to be there.
struct Entries {
  SqliteDatabase database;
  bool typed = true;  // has the column iceberg_type; Java calls a table without it "V0": it has tables only
};

Result<Entries> OpenEntries(const std::string& path, Mode mode) {
  auto database = DELENDA_TRY(SqliteDatabase::Open(path, mode));
  if (mode == Mode::kCreate) {
    DELENDA_TRY(database.Query(kMakeTables));
    DELENDA_TRY(database.Query(kMakeNamespaces));
  }
  if (DELENDA_TRY(database.Query("SELECT 1 FROM sqlite_master WHERE name = 'iceberg_tables'")).empty())
    return NotFound("the database has no table iceberg_tables: it is no catalog");
  const bool typed =
      !DELENDA_TRY(database.Query("SELECT 1 FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'"))
  .empty();
  return Entries{.database = std::move(database), .typed = typed};
}

// What the catalog's row says of a table; empty: there is no such row.
Result<std::optional<std::string>> MetadataLocation(const Entries& entries, const std::string& catalog,
                                                    const TableName& name) {
  const auto rows = DELENDA_TRY(entries.database.Query(
      entries.typed ? "SELECT metadata_location, iceberg_type FROM iceberg_tables WHERE catalog_name = ? AND "
                      "table_namespace = ? AND table_name = ?"
                    : "SELECT metadata_location, NULL FROM iceberg_tables WHERE catalog_name = ? AND "
                      "table_namespace = ? AND table_name = ?",
      {catalog, name.Namespace(), name.table}));
  if (rows.empty()) return std::nullopt;
  const auto& type = rows[0][1];
  if (type && *type != "TABLE") return NotSupported("{}.{} is a {}, no table", name.Namespace(), name.table, *type);
  if (!rows[0][0] || rows[0][0]->empty())
    return Corrupt("the catalog has no metadata location for {}.{}", name.Namespace(), name.table);
  return rows[0][0];
}

// "…/00012-<uuid>.metadata.json": never the name of another writer's file.
std::string NewMetadataPath(std::string_view folder, int64_t version, bool gzip) {
  return io::Join(folder, fmt::format("{:05}-{}{}.metadata.json", version, RandomUuid(), gzip ? ".gz" : ""));
}

class SqlCommitPoint final : public CommitPoint {
 public:
  SqlCommitPoint(std::string database, std::string catalog, TableName name, std::shared_ptr<io::FileIO> io)
      : database_(std::move(database)), catalog_(std::move(catalog)), name_(std::move(name)), io_(std::move(io)) {}

  Result<std::string> Current() override {
    const auto find = [&]() -> Result<std::string> {
      const auto entries = DELENDA_TRY(OpenEntries(database_, Mode::kRead));
      auto location = DELENDA_TRY(MetadataLocation(entries, catalog_, name_));
      if (!location) return NotFound("catalog '{}' has no table {}.{}", catalog_, name_.Namespace(), name_.table);
      return *std::move(location);
    };
    return WithContext(find(), "catalog", database_);
  }

  Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
    return WithContext(PublishAfter(std::string(base), text, gzip), "catalog", database_);
  }

 private:
  Result<std::string> PublishAfter(const std::string& base, std::string_view text, bool gzip) {
    const auto entries = DELENDA_TRY(OpenEntries(database_, Mode::kWrite));
    const int64_t version = iceberg::MetadataVersion(io::Basename(base)).value_or(0);
    const std::string path = NewMetadataPath(io::Parent(base), version + 1, gzip);
    const Bytes bytes = DELENDA_TRY(MetadataBytes(text, gzip));
    if (auto written = io::WriteWholeFile(*io_, path, bytes); !written) {
      Discard(path);
      return std::unexpected(written.error());
    }
    // One statement: SQLite does it wholly or not at all, and only one writer finds `base` there.
    const auto updated = entries.database.Query(
        "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? WHERE catalog_name = ? AND "
        "table_namespace = ? AND table_name = ? AND metadata_location = ?",
        {path, base, catalog_, name_.Namespace(), name_.table, base});
    if (!updated)
      return CommitStateUnknown("the catalog may or may not have taken {}: {}", path, updated.error().ToString());
    if (entries.database.changed() == 1) return path;
    Discard(path);
    const auto current = DELENDA_TRY(MetadataLocation(entries, catalog_, name_));
    if (!current) return NotFound("table {}.{} was dropped", name_.Namespace(), name_.table);
    return CommitConflict("another writer has committed {}", io::Basename(*current));
  }

  // Nothing refers to the file. One that stays is found as an orphan later.
  void Discard(const std::string& path) { static_cast<void>(io_->Delete(path)); }

  std::string database_;
  std::string catalog_;
  TableName name_;
  std::shared_ptr<io::FileIO> io_;
};

class SqlCatalog final : public Catalog {
 public:
  SqlCatalog(SqlCatalogOptions options, std::shared_ptr<io::FileIO> io)
      : options_(std::move(options)), io_(std::move(io)) {}

  Result<std::string> Locate(const TableName& name) override { return WithContext(Find(name), "catalog", path()); }

  Result<std::string> DefaultLocation(const TableName& name) override {
    if (options_.warehouse.empty())
      return InvalidArgument("catalog '{}' has no warehouse: say where the table's files go", options_.catalog_name);
    std::string location = options_.warehouse;
    for (const auto& part : name.names) location = io::Join(location, part);
    return io::Join(location, name.table);
  }

  Result<std::string> CreateTable(const TableName& name, const std::string& location, std::string_view text,
                                  bool gzip) override {
    const auto create = [&]() -> Result<std::string> {
      const auto entries = DELENDA_TRY(OpenEntries(path(), Mode::kCreate));
      if (DELENDA_TRY(MetadataLocation(entries, options_.catalog_name, name))) return Taken(name);
      const std::string file = NewMetadataPath(io::Join(location, "metadata"), 0, gzip);
      DELENDA_TRY(io::WriteWholeFile(*io_, file, DELENDA_TRY(MetadataBytes(text, gzip))));
      if (auto entered = Enter(entries, name, file); !entered) {
        // An insert that failed for its key alone has surely not happened.
        if (entered.error().kind() == ErrorKind::kAlreadyExists) static_cast<void>(io_->Delete(file));
        return std::unexpected(entered.error());
      }
      return file;
    };
    return WithContext(create(), "catalog", path());
  }

  Result<void> Register(const TableName& name, const std::string& metadata_file) override {
    const auto enter = [&]() -> Result<void> {
      // A name that leads nowhere would only be noticed by readers.
      DELENDA_TRY(iceberg::LoadTable(*io_, metadata_file));
      return Enter(DELENDA_TRY(OpenEntries(path(), Mode::kCreate)), name, metadata_file);
    };
    return WithContext(enter(), "catalog", path());
  }

  Result<std::vector<TableName>> List() override {
    const auto list = [&]() -> Result<std::vector<TableName>> {
      const auto entries = DELENDA_TRY(OpenEntries(path(), Mode::kRead));
      const auto rows = DELENDA_TRY(entries.database.Query(
          entries.typed ? "SELECT table_namespace, table_name FROM iceberg_tables WHERE catalog_name = ? AND "
                          "(iceberg_type = 'TABLE' OR iceberg_type IS NULL) ORDER BY table_namespace, table_name"
                        : "SELECT table_namespace, table_name FROM iceberg_tables WHERE catalog_name = ? ORDER BY "
                          "table_namespace, table_name",
          {options_.catalog_name}));
      std::vector<TableName> tables;
      for (const auto& row : rows) {
        auto& table = tables.emplace_back();
        table.table = row[1].value_or("");
        const std::string names = row[0].value_or("");
        for (size_t begin = 0; begin <= names.size();) {
          const size_t dot = std::min(names.find('.', begin), names.size());
          table.names.push_back(names.substr(begin, dot - begin));
          begin = dot + 1;
        }
      }
      return tables;
    };
    return WithContext(list(), "catalog", path());
  }

  Result<void> Drop(const TableName& name) override {
    const auto drop = [&]() -> Result<void> {
      const auto entries = DELENDA_TRY(OpenEntries(path(), Mode::kWrite));
      if (!DELENDA_TRY(MetadataLocation(entries, options_.catalog_name, name))) return Missing(entries, name);
      DELENDA_TRY(entries.database.Query(
          "DELETE FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?",
          {options_.catalog_name, name.Namespace(), name.table}));
      return {};
    };
    return WithContext(drop(), "catalog", path());
  }

  Result<void> Rename(const TableName& from, const TableName& to) override {
    const auto rename = [&]() -> Result<void> {
      const auto entries = DELENDA_TRY(OpenEntries(path(), Mode::kWrite));
      if (!DELENDA_TRY(MetadataLocation(entries, options_.catalog_name, from))) return Missing(entries, from);
      const auto renamed = entries.database.Query(
          "UPDATE iceberg_tables SET table_namespace = ?, table_name = ? WHERE catalog_name = ? AND table_namespace = "
          "? AND table_name = ?",
          {to.Namespace(), to.table, options_.catalog_name, from.Namespace(), from.table});
      if (!renamed && renamed.error().kind() == ErrorKind::kAlreadyExists) return Taken(to);
      if (!renamed) return std::unexpected(renamed.error());
      return {};
    };
    return WithContext(rename(), "catalog", path());
  }

  Result<std::unique_ptr<CommitPoint>> Open(const TableName& name) override {
    DELENDA_TRY(Locate(name));
    return std::make_unique<SqlCommitPoint>(path(), options_.catalog_name, name, io_);
  }

 private:
  const std::string& path() const { return options_.database_path; }

  std::unexpected<Error> Taken(const TableName& name) const {
    return AlreadyExists("catalog '{}' has a table {}.{} already", options_.catalog_name, name.Namespace(), name.table);
  }

  Result<void> Enter(const Entries& entries, const TableName& name, const std::string& metadata_file) const {
    const auto entered = entries.database.Query(
        entries.typed ? "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, "
                        "previous_metadata_location, iceberg_type) VALUES (?, ?, ?, ?, NULL, 'TABLE')"
                      : "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, "
                        "previous_metadata_location) VALUES (?, ?, ?, ?, NULL)",
        {options_.catalog_name, name.Namespace(), name.table, metadata_file});
    if (!entered && entered.error().kind() == ErrorKind::kAlreadyExists) return Taken(name);
    if (!entered) return std::unexpected(entered.error());
    return {};
  }

  Result<std::string> Find(const TableName& name) const {
    const auto entries = DELENDA_TRY(OpenEntries(path(), Mode::kRead));
    auto location = DELENDA_TRY(MetadataLocation(entries, options_.catalog_name, name));
    if (!location) return std::unexpected(Missing(entries, name).error());
    return *std::move(location);
  }

  // NotFound that tells a wrong table from a wrong catalog name.
  Result<void> Missing(const Entries& entries, const TableName& name) const {
    const auto others = DELENDA_TRY(
        entries.database.Query("SELECT DISTINCT catalog_name FROM iceberg_tables ORDER BY catalog_name LIMIT 10"));
    std::string known;
    bool has_name = false;
    for (const auto& row : others) {
      const std::string other = row[0].value_or("");
      has_name = has_name || other == options_.catalog_name;
      known += (known.empty() ? "'" : ", '") + other + "'";
    }
    if (has_name || known.empty())
      return NotFound("catalog '{}' has no table {}.{}", options_.catalog_name, name.Namespace(), name.table);
    return NotFound("the database has no catalog '{}', only {}: set catalog-name to the one that holds {}.{}",
                    options_.catalog_name, known, name.Namespace(), name.table);
  }

  SqlCatalogOptions options_;
  std::shared_ptr<io::FileIO> io_;
};

}  // namespace

std::unique_ptr<Catalog> MakeSqlCatalog(SqlCatalogOptions options, std::shared_ptr<io::FileIO> io) {
  return std::make_unique<SqlCatalog>(std::move(options), std::move(io));
}

}  // namespace delenda::catalog
