#include "delenda/api/table_place.h"

#include <utility>

namespace delenda::api {

Result<TablePlace> FindTable(std::string_view location, const OpenOptions& options, std::shared_ptr<io::FileIO> io) {
  if (location.empty()) return InvalidArgument("the table's location is empty");
  TablePlace place{.path = std::string(location), .catalog = nullptr, .name = {}};
  auto name = catalog::ParseTableName(location);
  if (!name || location.ends_with(".json") || io->Stat(location)) return place;
  const auto settings = DELENDA_TRY(catalog::LoadSettings(*io, options.config, catalog::ProcessEnvironment()));
  place.catalog = DELENDA_TRY(catalog::FindCatalog(settings, *name, std::move(io)));
  place.name = *std::move(name);
  return place;
}

}  // namespace delenda::api
