#include "delenda/iceberg/name_mapping_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace delenda::iceberg {
namespace {

// As deep as schemas may nest: a deeper one fits no table and could exhaust the stack.
constexpr int kMaxMappingDepth = 64;

class MappingReader {
 public:
  // The fields of one level.
  Result<std::vector<MappedField>> Level(const json::Value& value, int depth) {
    if (depth > kMaxMappingDepth) return value.Fail(fmt::format("mappings nest deeper than {}", kMaxMappingDepth));
    const auto items = DELENDA_TRY(value.As<json::Array>());
    std::vector<MappedField> fields;
    std::set<std::string, std::less<>> seen;
    for (const auto item : items) fields.push_back(DELENDA_TRY(OneField(item, depth, seen)));
    return fields;
  }

 private:
  // `seen`: the names of this level so far.
  Result<MappedField> OneField(const json::Value& value, int depth, std::set<std::string, std::less<>>& seen) {
    MappedField field;
    field.id = DELENDA_TRY(value.Optional<int32_t>("field-id"));
    // A second column under this id would be read in place of the first.
    if (field.id && !ids_.insert(*field.id).second)
      return value.Fail(fmt::format("field id {} stands there twice", *field.id));
    if (const auto names = DELENDA_TRY(value.Optional<json::Array>("names"))) {
      for (const auto item : *names) {
        auto name = DELENDA_TRY(item.As<std::string>());
        if (std::ranges::find(field.names, name) != field.names.end()) continue;
        if (!seen.insert(name).second) return item.Fail(fmt::format("the name '{}' stands for two fields", name));
        field.names.push_back(std::move(name));
      }
    }
    if (const auto nested = DELENDA_TRY(value.Optional<json::Value>("fields")))
      field.fields = DELENDA_TRY(Level(*nested, depth + 1));
    return field;
  }

  std::set<int32_t> ids_;
};

void LevelToJson(const std::vector<MappedField>& fields, json::Writer& out) {
  out.BeginArray();
  for (const MappedField& field : fields) {
    out.BeginObject();
    if (field.id) out.Member("field-id", *field.id);
    out.Key("names").BeginArray();
    for (const std::string& name : field.names) out.String(name);
    out.EndArray();
    if (!field.fields.empty()) {
      out.Key("fields");
      LevelToJson(field.fields, out);
    }
    out.EndObject();
  }
  out.EndArray();
}

}  // namespace

Result<NameMapping> NameMappingFromJson(const json::Value& value) {
  return NameMapping { DELENDA_TRY(MappingReader().Level(value, 0)) };
}

Result<NameMapping> NameMappingFromText(std::string_view text) {
  const auto read = [&]() -> Result<NameMapping> {
    const auto document = DELENDA_TRY(json::Document::Parse(text));
    return NameMappingFromJson(document.root());
  };
  return WithContext(read(), "table property", kNameMappingProperty);
}

Result<std::optional<NameMapping>> NameMappingOf(const std::map<std::string, std::string>& properties) {
  const auto found = properties.find(std::string(kNameMappingProperty));
  if (found == properties.end()) return std::nullopt;
  return DELENDA_TRY(NameMappingFromText(found->second));
}

void NameMappingToJson(const NameMapping& mapping, json::Writer& out) { LevelToJson(mapping.fields, out); }

}  // namespace delenda::iceberg
