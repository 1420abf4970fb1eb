// From a table's name to where its metadata is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/catalog/settings.h"
#include "delenda/io/file_io.h"

namespace delenda::catalog {

struct TableName {
  std::string catalog;
  std::vector<std::string> names;  // namespaces from the outermost inwards, at least one
  std::string table;

  // "db.nested"
  std::string Namespace() const;
};

// "catalog.namespace.table", with any number of namespaces; nullopt for anything else (a path, an empty part).
std::optional<TableName> ParseTableName(std::string_view text);

class Catalog {
 public:
  virtual ~Catalog() = default;

  // The table's current metadata file, or its folder. NotFound names where it was looked for.
  virtual Result<std::string> Locate(const TableName& name) = 0;

  // Where a new table's files go, unless its creator says otherwise. InvalidArgument without a warehouse.
  virtual Result<std::string> DefaultLocation(const TableName& name) = 0;
  // Writes the first metadata file of a table at `location` and enters the table. AlreadyExists.
  virtual Result<std::string> CreateTable(const TableName& name, const std::string& location, std::string_view text,
                                          bool gzip) = 0;
  // Enters a table that exists, by its metadata file. AlreadyExists; NotSupported by folder catalogs.
  virtual Result<void> Register(const TableName& name, const std::string& metadata_file) = 0;
  // All tables, by name.
  virtual Result<std::vector<TableName>> List() = 0;
  // Forgets the table. Its files stay; from a folder the metadata files are deleted, since they are the catalog.
  virtual Result<void> Drop(const TableName& name) = 0;
  // NotFound, AlreadyExists; NotSupported by folder catalogs: the metadata holds the folder's name.
  virtual Result<void> Rename(const TableName& from, const TableName& to) = 0;
  // Of a table that exists.
  virtual Result<std::unique_ptr<CommitPoint>> Open(const TableName& name) = 0;

  // By "type": "sql" (an SQLite database at "uri": sqlite:///relative, sqlite:////absolute, jdbc:sqlite:PATH) or
  // "folder" (tables at "warehouse"/NAMESPACE/TABLE). Without a type, a "uri" means sql and a "warehouse" alone folder.
  // A table's rows in the database carry the catalog's name; "catalog-name" says another one than it has here.
  // InvalidArgument for settings that lack something, NotSupported for other types.
  static Result<std::unique_ptr<Catalog>> Make(const CatalogSettings& settings, std::shared_ptr<io::FileIO> io);
};

// The catalog that a table's name begins with. NotFound, with the places that were looked at, for an unknown one.
Result<std::unique_ptr<Catalog>> FindCatalog(const Settings& settings, const TableName& name,
                                             std::shared_ptr<io::FileIO> io);

// What an SQL catalog needs to know.
struct SqlCatalogOptions {
  std::string database_path;
  std::string catalog_name;
  std::string warehouse;  // may be empty: then new tables need a location
};
// PyIceberg's and Java's table iceberg_tables, with a column iceberg_type ("V1") or without ("V0"). Only creating or
// registering a table makes the database, in the V1 form.
std::unique_ptr<Catalog> MakeSqlCatalog(SqlCatalogOptions options, std::shared_ptr<io::FileIO> io);
std::unique_ptr<Catalog> MakeFolderCatalog(std::string warehouse, std::shared_ptr<io::FileIO> io);

}  // namespace delenda::catalog
