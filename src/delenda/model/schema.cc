#include <algorithm>
#include <unordered_set>

#include "delenda/model/type.h"

namespace delenda {

namespace {

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

Result<void> CheckUnique(const std::vector<Field>& fields, const std::string& prefix, std::unordered_set<int32_t>* ids,
                         std::unordered_set<std::string>* names) {
  for (const Field& field : fields) {
    std::string full = prefix.empty() ? field.name : prefix + "." + field.name;
    if (!ids->insert(field.id).second)
      return InvalidArgument("field id {} appears twice, also for column '{}'", field.id, full);
    if (!names->insert(full).second) return InvalidArgument("column name '{}' appears twice", full);
    if (field.type.is_nested()) DELENDA_TRY(CheckUnique(field.type.fields(), full, ids, names));
  }
  return {};
}

bool AppendPathById(const std::vector<Field>& fields, int32_t id, Schema::Path* path) {
  for (const Field& field : fields) {
    path->push_back(&field);
    if (field.id == id || AppendPathById(field.type.fields(), id, path)) return true;
    path->pop_back();
  }
  return false;
}

// All fields whose full name is `name`; a name may itself hold dots, so every split is tried.
void CollectByName(const std::vector<Field>& fields, std::string_view name, bool ignore_case, Schema::Path* path,
                   std::vector<Schema::Path>* found) {
  const auto same = [&](std::string_view a, std::string_view b) {
    return ignore_case ? SameIgnoringCase(a, b) : a == b;
  };
  for (const Field& field : fields) {
    if (field.name.size() > name.size() || !same(field.name, name.substr(0, field.name.size()))) continue;
    path->push_back(&field);
    const std::string_view rest = name.substr(field.name.size());
    if (rest.empty()) {
      found->push_back(*path);
    } else if (rest.front() == '.') {
      CollectByName(field.type.fields(), rest.substr(1), ignore_case, path, found);
    }
    path->pop_back();
  }
}

}  // namespace

Result<Schema> Schema::Make(int32_t schema_id, std::vector<Field> fields, std::vector<int32_t> identifier_ids) {
  std::unordered_set<int32_t> ids;
  std::unordered_set<std::string> names;
  DELENDA_TRY(CheckUnique(fields, "", &ids, &names));
  Schema schema;
  schema.id_ = schema_id;
  schema.root_ = Type::Struct(std::move(fields));
  schema.identifier_ids_ = std::move(identifier_ids);
  return schema;
}

Schema::Path Schema::FindById(int32_t id) const {
  Path path;
  AppendPathById(fields(), id, &path);
  return path;
}

Schema::Path Schema::FindByName(std::string_view dotted_name) const {
  for (const bool ignore_case : {false, true}) {
    Path path;
    std::vector<Path> found;
    CollectByName(fields(), dotted_name, ignore_case, &path, &found);
    if (found.size() == 1) return found.front();
    if (!found.empty()) return {};  // ambiguous: choosing one would read another column than was meant
  }
  return {};
}

Result<Schema> Schema::Select(const std::vector<std::string>& names) const {
  std::vector<Field> selected;
  for (const std::string& name : names) {
    const Field* match = nullptr;
    int loose_matches = 0;
    for (const Field& field : fields()) {
      if (field.name == name) {
        match = &field;
        loose_matches = 1;
        break;
      }
      if (SameIgnoringCase(field.name, name)) {
        match = &field;
        ++loose_matches;
      }
    }
    if (loose_matches != 1) {
      if (loose_matches > 1) return InvalidArgument("column '{}' is ambiguous: columns are {}", name, ColumnNames());
      return NotFound("no column '{}': columns are {}", name, ColumnNames());
    }
    selected.push_back(*match);
  }
  std::vector<int32_t> kept_identifiers;
  for (const int32_t id : identifier_ids_) {
    const Path path = FindById(id);
    const bool kept = !path.empty() && std::any_of(selected.begin(), selected.end(),
                                                   [&](const Field& field) { return field.id == path.front()->id; });
    if (kept) kept_identifiers.push_back(id);
  }
  return Make(id_, std::move(selected), std::move(kept_identifiers));
}

std::string Schema::ColumnNames() const {
  std::string names;
  for (const Field& field : fields()) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

std::string FullName(const Schema::Path& path) {
  std::string name;
  for (const Field* field : path) name += (name.empty() ? "" : ".") + field->name;
  return name;
}

bool HasOneValueARow(const Schema::Path& path) {
  return std::all_of(path.begin(), path.end(), [&](const Field* field) {
    return field == path.back() || field->type.kind() == TypeKind::kStruct;
  });
}

}  // namespace delenda
