// Which columns of a file without field ids are which fields of a table (Iceberg spec, "Column Projection" and "Name
// Mapping Serialization").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace delenda {

// Columns of a file with one of `names` (exact; a dot in a name is a letter like others) are the field `id`; without an
// id they are no field of the table. `fields` are mapped within it: a struct's fields by their names, a list's element
// as "element", a map's key and value as "key" and "value", whatever the file calls them.
struct MappedField {
  std::optional<int32_t> id;
  std::vector<std::string> names;
  std::vector<MappedField> fields;

  friend bool operator==(const MappedField&, const MappedField&) = default;
};

// No name stands for two fields of one level, no id for two of the whole mapping.
//
// EXAMPLE  [{id 1, names [id, record_id]}, {id 2, names [loc], fields [{id 3, names [lat]}]}]
//          file: record_id long, loc {lat double, long double}, x int  →  1, 2 {3, absent}, absent
struct NameMapping {
  std::vector<MappedField> fields;

  friend bool operator==(const NameMapping&, const NameMapping&) = default;
};

}  // namespace delenda
