// What a caller names a table by.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "delenda/base/result.h"
#include "delenda/catalog/catalog.h"
#include "delenda/io/file_io.h"
#include "delenda/table.h"

namespace delenda::api {

// A path, unless there is a catalog.
struct TablePlace {
  std::string path;
  std::unique_ptr<catalog::Catalog> catalog;
  catalog::TableName name;
};

// "catalog.namespace.table" is a name in a catalog of the settings, unless a file or folder is called so: what exists
// is what the caller sees. A metadata file that does not exist is no table of a catalog. InvalidArgument for an empty
// location; errors of catalog::LoadSettings and FindCatalog.
Result<TablePlace> FindTable(std::string_view location, const OpenOptions& options, std::shared_ptr<io::FileIO> io);

}  // namespace delenda::api
