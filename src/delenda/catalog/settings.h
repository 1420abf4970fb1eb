// Which catalogs there are: from a TOML file and from environment variables.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"

namespace delenda::catalog {

struct CatalogSettings {
  std::string name;
  std::map<std::string, std::string> properties;  // "type", "uri", "warehouse", ...
};

// The settings of all catalogs, and where they were looked for.
//
// The file has one table for each: [catalog.prod] type = "sql", uri = "sqlite:////data/catalog.db". A variable
// DELENDA_CATALOG__PROD__URI sets (or, since it is nearer to the one run, replaces) the property "uri" of catalog
// "prod"; names are in lower case, an underscore in a property's name stands for "-".
struct Settings {
  std::map<std::string, CatalogSettings, std::less<>> catalogs;
  std::vector<std::string> places;  // for messages

  // Null if there is no such catalog. Exact, else equal but for ASCII case.
  const CatalogSettings* Find(std::string_view name) const;
};

// `file`: given by the caller, so that it must exist; else DELENDA_CONFIG, which must exist too, else ~/.delenda.toml,
// if it is there. `environment` holds "NAME=value" texts.
// Errors of `io` for the file; InvalidArgument, with the line, for one that is no TOML or has other values than text.
Result<Settings> LoadSettings(io::FileIO& io, const std::optional<std::string>& file,
                              const std::vector<std::string>& environment);

// That of this process.
std::vector<std::string> ProcessEnvironment();

}  // namespace delenda::catalog
