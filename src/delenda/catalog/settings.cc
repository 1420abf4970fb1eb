#include "delenda/catalog/settings.h"

#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "delenda/base/bytes.h"

namespace delenda::catalog {
namespace {

constexpr std::string_view kPrefix = "DELENDA_CATALOG__";
constexpr size_t kMostBytes = size_t{1} << 20;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::optional<std::string> Variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

Result<void> AddToml(std::string_view text, Settings& settings) {
  try {
    const toml::table root = toml::parse(text);
    const toml::node* catalogs = root.get("catalog");
    if (catalogs == nullptr) return {};
    if (!catalogs->is_table()) return InvalidArgument("\"catalog\" must be a table: write [catalog.NAME]");
    for (const auto& [name, node] : *catalogs->as_table()) {
      const toml::table* table = node.as_table();
      if (table == nullptr)
        return InvalidArgument("\"catalog.{}\" must be a table: write [catalog.{}]", name.str(), name.str());
      CatalogSettings& catalog = settings.catalogs[std::string(name.str())];
      catalog.name = name.str();
      for (const auto& [key, value] : *table) {
        const auto property = value.value_exact<std::string>();
        if (!property) return InvalidArgument("\"catalog.{}.{}\" must be text", name.str(), key.str());
        catalog.properties[std::string(key.str())] = *property;
      }
    }
    return {};
  } catch (const toml::parse_error& error) {
    return InvalidArgument("line {}: {}", error.source().begin.line, error.description());
  } catch (const std::exception& error) {
    return InvalidArgument("the configuration can't be read: {}", error.what());
  }
}

void AddVariables(const std::vector<std::string>& environment, Settings& settings) {
  for (const auto& entry : environment) {
    const size_t equal = entry.find('=');
    if (!entry.starts_with(kPrefix) || equal == std::string::npos) continue;
    const std::string_view rest = std::string_view(entry).substr(kPrefix.size(), equal - kPrefix.size());
    const size_t gap = rest.find("__");
    if (gap == 0 || gap == std::string_view::npos || gap + 2 == rest.size()) continue;
    std::string name = Lower(rest.substr(0, gap));
    // The file may have spelled it otherwise.
    if (const CatalogSettings* known = settings.Find(name)) name = known->name;
    std::string property = Lower(rest.substr(gap + 2));
    std::ranges::replace(property, '_', '-');
    CatalogSettings& catalog = settings.catalogs[name];
    catalog.name = name;
    catalog.properties[property] = entry.substr(equal + 1);
  }
}

}  // namespace

const CatalogSettings* Settings::Find(std::string_view name) const {
  const auto exact = catalogs.find(name);
  if (exact != catalogs.end()) return &exact->second;
  const std::string lower = Lower(name);
  for (const auto& [known, catalog] : catalogs) {
    if (Lower(known) == lower) return &catalog;
  }
  return nullptr;
}

Result<Settings> LoadSettings(io::FileIO& io, const std::optional<std::string>& file,
                              const std::vector<std::string>& environment) {
  Settings settings;
  std::optional<std::string> path = file;
  if (!path) path = Variable(environment, "DELENDA_CONFIG");
  const bool must_exist = path.has_value();
  if (!path) {
    if (const auto home = Variable(environment, "HOME"); home && !home->empty()) path = *home + "/.delenda.toml";
  }
  if (path) {
    settings.places.push_back(*path);
    const auto bytes = WithContext(io::ReadWholeFile(io, *path, std::nullopt, kMostBytes), "file", *path);
    if (bytes) {
      DELENDA_TRY(WithContext(AddToml(AsText(*bytes), settings), "file", *path));
    } else if (must_exist || bytes.error().kind() != ErrorKind::kNotFound) {
      return std::unexpected(bytes.error());
    }
  }
  settings.places.push_back("environment variables DELENDA_CATALOG__NAME__URI, __TYPE and __WAREHOUSE");
  AddVariables(environment, settings);
  return settings;
}

std::vector<std::string> ProcessEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace delenda::catalog
