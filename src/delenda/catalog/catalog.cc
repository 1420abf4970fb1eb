#include "delenda/catalog/catalog.h"

#include <utility>

#include "delenda/io/location.h"

namespace delenda::catalog {
namespace {

std::string Joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string joined;
  for (const auto& text : texts) joined.append(joined.empty() ? "" : separator).append(text);
  return joined;
}

// nullopt: no SQLite.
std::optional<std::string> SqlitePath(std::string_view uri) {
  for (const std::string_view prefix : {"sqlite:///", "jdbc:sqlite:", "sqlite:"}) {
    if (uri.starts_with(prefix)) return std::string(uri.substr(prefix.size()));
  }
  return std::nullopt;
}

}  // namespace

std::string TableName::Namespace() const { return Joined(names, "."); }

std::optional<TableName> ParseTableName(std::string_view text) {
  // A slash: a path. So that no part can lead out of a warehouse.
  if (text.find('/') != std::string_view::npos) return std::nullopt;
  std::vector<std::string> parts;
  while (true) {
    const size_t dot = text.find('.');
    parts.emplace_back(text.substr(0, dot));
    if (parts.back().empty()) return std::nullopt;
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  if (parts.size() < 3) return std::nullopt;
  TableName name;
  name.catalog = std::move(parts.front());
  name.table = std::move(parts.back());
  name.names.assign(parts.begin() + 1, parts.end() - 1);
  return name;
}

Result<std::unique_ptr<Catalog>> Catalog::Make(const CatalogSettings& settings, std::shared_ptr<io::FileIO> io) {
  const auto property = [&](const char* key) -> std::string {
    const auto found = settings.properties.find(key);
    return found == settings.properties.end() ? std::string() : found->second;
  };
  const std::string uri = property("uri");
  // The metadata of new tables says where they are to everyone, wherever he stands.
  const std::string warehouse = property("warehouse").empty() ? "" : io::AbsoluteLocation(property("warehouse"));
  std::string type = property("type");
  if (type.empty()) type = !uri.empty() ? "sql" : "folder";
  if (type == "sql") {
    if (uri.empty()) return InvalidArgument("catalog '{}' has no uri", settings.name);
    auto path = SqlitePath(uri);
    if (!path)
      return NotSupported("catalog '{}': of SQL databases only SQLite can be used (sqlite:///PATH)", settings.name);
    if (path->empty()) return InvalidArgument("the uri of catalog '{}' names no file", settings.name);
    const std::string name = property("catalog-name");
    return MakeSqlCatalog({.database_path = *std::move(path),
                           .catalog_name = name.empty() ? settings.name : name,
                           .warehouse = warehouse},
                          std::move(io));
  }
  if (type == "folder") {
    if (warehouse.empty()) return InvalidArgument("catalog '{}' has neither uri nor warehouse", settings.name);
    return MakeFolderCatalog(warehouse, std::move(io));
  }
  return NotSupported("catalog '{}' is of type '{}': sql and folder can be used", settings.name, type);
}

Result<std::unique_ptr<Catalog>> FindCatalog(const Settings& settings, const TableName& name,
                                             std::shared_ptr<io::FileIO> io) {
  const CatalogSettings* found = settings.Find(name.catalog);
  if (found == nullptr) {
    std::vector<std::string> known;
    for (const auto& [catalog, unused] : settings.catalogs) known.push_back(catalog);
    return NotFound("there is no catalog '{}' ({}); looked in {}", name.catalog,
                    known.empty() ? "none is configured" : "there are: " + Joined(known, ", "),
                    Joined(settings.places, " and "));
  }
  return Catalog::Make(*found, std::move(io));
}

}  // namespace delenda::catalog
