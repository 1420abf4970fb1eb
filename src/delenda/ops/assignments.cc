#include "delenda/ops/assignments.h"

#include <cstdint>
#include <set>

namespace delenda::ops {

Result<std::vector<Assignment>> ParseAssignments(const std::vector<std::pair<std::string, std::string>>& set,
                                                 const Schema& table, const Schema& seen) {
  std::vector<Assignment> assignments;
  std::set<int32_t> known;
  for (const auto& [name, text] : set) {
    const auto path = table.FindByName(name);
    if (path.empty()) return NotFound("there is no column '{}' to set", name);
    if (path.size() != 1) return NotSupported("'{}' is nested: only whole columns can be set", name);
    if (!known.insert(path[0]->id).second) return InvalidArgument("column '{}' is set twice", name);
    size_t at = 0;
    while (table.fields()[at].id != path[0]->id) ++at;
    auto value = DELENDA_TRY(ValueExpression::Parse(text, seen, *path[0]));
    assignments.push_back({.column = at, .value = std::move(value)});
  }
  return assignments;
}

}  // namespace delenda::ops
