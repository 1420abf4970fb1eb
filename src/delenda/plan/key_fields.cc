#include "delenda/plan/key_fields.h"

#include <optional>
#include <utility>

namespace delenda::plan {
namespace {

std::optional<KeyField> FindKeyField(const Schema& schema, int32_t id) {
  const Schema::Path path = schema.FindById(id);
  // Lists and maps hold no keys.
  if (path.empty() || !HasOneValueARow(path)) return std::nullopt;
  KeyField key{.column = *path.front(), .path = {}, .type = path.back()->type};
  for (const Field* field : path) key.path.push_back(field->id);
  key.column.required = false;
  return key;
}

}  // namespace

Result<std::map<int32_t, KeyField>> FindKeyFields(const std::vector<ContentFile>& deletes, const Schema& schema,
                                                  const iceberg::TableMetadata& metadata) {
  std::map<int32_t, KeyField> fields;
  for (const ContentFile& file : deletes) {
    for (const int32_t id : file.equality_ids) {
      if (fields.contains(id)) continue;
      auto key = FindKeyField(schema, id);
      for (auto older = metadata.schemas.rbegin(); !key && older != metadata.schemas.rend(); ++older)
        key = FindKeyField(*older, id);
      if (!key) return Corrupt("equality delete file {}: no schema of the table has key field {}", file.path, id);
      if (key->type.is_nested())
        return Corrupt("equality delete file {}: key field {} is a {}", file.path, id, key->type.ToString());
      fields.emplace(id, *std::move(key));
    }
  }
  return fields;
}

}  // namespace delenda::plan
