// Copies of fixture tables, and random values for changes of their rows.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/seed.h"
#include "unit/ops/table_copy.h"

namespace delenda::ops::testing {

class RandomTable {
 public:
  explicit RandomTable(const std::string& name)
      : table(name), rows(delenda::testing::ReadJsonLines(name, "current.jsonl")) {}

  size_t Below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); }
  // One of `count` ids that the fixture lacks; sometimes NULL, where that may be.
  Json NewId(size_t count) {
    const bool takes_null = !session.schema().FindByName("id")[0]->required;
    return takes_null && Below(8) == 0 ? Json() : Json(7000 + Below(count));
  }
  // Of `column`.
  Json NewValue() {
    return column->type.kind() == TypeKind::kString ? Json(fmt::format("new {}", Below(4))) : Json(Below(100));
  }

  const uint64_t seed = delenda::testing::Seed();
  std::mt19937_64 random{seed};
  TableCopy table;
  commit::TableSession session = table.Session();
  const std::optional<Field> column = ColumnToSet(session.schema());  // none: it has nothing but ids
  const std::vector<Json> rows;                                       // at first
};

}  // namespace delenda::ops::testing
