// Name mappings in JSON (Iceberg spec, "Appendix C: JSON serialization", "Name Mapping Serialization").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "delenda/base/result.h"
#include "delenda/formats/json/json.h"
#include "delenda/formats/json/writer.h"
#include "delenda/model/name_mapping.h"

namespace delenda::iceberg {

// The table property that holds a mapping as text.
inline constexpr std::string_view kNameMappingProperty = "schema.name-mapping.default";

// An array of {"field-id": 1, "names": ["id"], "fields": […]}; "field-id", "names" and "fields" may be missing, as in
// the reference implementation. Corrupt with the JSON path, also for a name that stands for two fields of one level or
// an id that stands there twice (which column is read would be a guess), and for mappings nested deeper than 64 levels.
Result<NameMapping> NameMappingFromJson(const json::Value& value);
// The same of the property's text; errors name the property.
Result<NameMapping> NameMappingFromText(std::string_view text);

// That of a table, by its properties; nothing if it has none.
Result<std::optional<NameMapping>> NameMappingOf(const std::map<std::string, std::string>& properties);

void NameMappingToJson(const NameMapping& mapping, json::Writer& out);

}  // namespace delenda::iceberg
