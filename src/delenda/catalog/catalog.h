// From a table's name to where its metadata is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/catalog/settings.h"

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

  // By "type": "sql" (an SQLite database at "uri": sqlite:///relative, sqlite:////absolute, jdbc:sqlite:PATH) or
  // "folder" (tables at "warehouse"/NAMESPACE/TABLE). Without a type, a "uri" means sql and a "warehouse" alone folder.
  // A table's rows in the database carry the catalog's name; "catalog-name" says another one than it has here.
  // InvalidArgument for settings that lack something, NotSupported for other types.
  static Result<std::unique_ptr<Catalog>> Make(const CatalogSettings& settings);
};

// The location of a table that is named by a catalog of the settings. NotFound, with the places that were looked at,
// for an unknown catalog.
Result<std::string> LocateTable(const Settings& settings, const TableName& name);

// PyIceberg's and Java's tables iceberg_tables, with a column iceberg_type ("V1") or without ("V0"); opened read-only.
std::unique_ptr<Catalog> MakeSqlCatalog(std::string database_path, std::string catalog_name);
std::unique_ptr<Catalog> MakeFolderCatalog(std::string warehouse);

}  // namespace delenda::catalog
