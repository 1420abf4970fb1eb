#include "delenda/plan/output_columns.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace delenda::plan {
namespace {

// All partition fields that any spec ever had, by field id: a file's tuple fills those of its own spec.
Type PartitionColumnType(const std::map<int32_t, BoundSpec>& specs) {
  std::map<int32_t, Field> fields;
  for (const auto& [id, spec] : specs) {
    for (size_t i = 0; i < spec.spec.fields.size(); ++i) {
      const PartitionField& field = spec.spec.fields[i];
      fields[field.field_id] = {.id = field.field_id, .name = field.name, .type = spec.result_types[i]};
    }
  }
  std::vector<Field> all;
  for (auto& [id, field] : fields) all.push_back(std::move(field));
  return Type::Struct(std::move(all));
}

// A column that the reader makes; ids from the spec, "Reserved Field IDs". Nothing: no metadata column has the name.
std::optional<OutputColumn> MetadataColumn(std::string_view name, const std::map<int32_t, BoundSpec>& specs) {
  using enum OutputColumn::Kind;
  const auto column = [&](OutputColumn::Kind kind, int32_t id, Type type, bool required) {
    return OutputColumn{.kind = kind,
                        .field = {.id = id, .name = std::string(name), .type = std::move(type), .required = required}};
  };
  if (name == "_file") return column(kFilePath, 2147483646, TypeKind::kString, true);
  if (name == "_pos") return column(kPosition, 2147483645, TypeKind::kLong, true);
  if (name == "_deleted") return column(kDeleted, 2147483644, TypeKind::kBoolean, true);
  if (name == "_spec_id") return column(kSpecId, 2147483643, TypeKind::kInt, true);
  if (name == "_partition") return column(kPartition, 2147483642, PartitionColumnType(specs), false);
  if (name == "_row_id") return column(kRowId, kRowIdFieldId, TypeKind::kLong, false);
  if (name == "_last_updated_sequence_number")
    return column(kLastUpdated, kLastUpdatedSequenceFieldId, TypeKind::kLong, false);
  return std::nullopt;
}

}  // namespace

Result<std::vector<OutputColumn>> ChooseColumns(const ColumnChoice& choice, const Schema& schema,
                                                const std::map<int32_t, BoundSpec>& specs) {
  std::vector<OutputColumn> columns;
  std::set<int32_t> chosen;
  const auto add = [&](OutputColumn column) {
    if (!chosen.insert(column.field.id).second) return false;
    columns.push_back(std::move(column));
    return true;
  };
  if (choice.select_all) {
    for (const auto& field : schema.fields()) add({.kind = OutputColumn::Kind::kField, .field = field});
  }
  for (const auto& name : choice.select_all ? std::vector<std::string>() : choice.select) {
    const bool in_schema = std::ranges::any_of(schema.fields(), [&](const Field& field) { return field.name == name; });
    OutputColumn column;
    if (auto made = MetadataColumn(name, specs); made && !in_schema) {
      column = *std::move(made);
    } else {
      const auto selected = DELENDA_TRY(schema.Select({name}));
      column.field = selected.fields().front();
    }
    if (!add(std::move(column))) return InvalidArgument("column '{}' is selected twice", name);
  }
  for (const std::string_view name : choice.append) add(*MetadataColumn(name, specs));
  return columns;
}

}  // namespace delenda::plan
