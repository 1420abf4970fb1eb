// Types, fields and schemas of tables, by field id (Iceberg spec, "Schemas and Data Types").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/datum.h"

namespace delenda {

enum class TypeKind : uint8_t {
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestampTz,
  kTimestampNs,
  kTimestampTzNs,
  kString,
  kUuid,
  kFixed,
  kBinary,
  kUnknown,
  kVariant,
  kGeometry,
  kGeography,
  kStruct,
  kList,
  kMap,
};

struct Field;

// A type. Primitive types are plain values; struct, list and map share their child fields, so that copies are cheap.
class Type {
 public:
  Type() = default;  // kUnknown
  // Of a kind without parameters.
  Type(TypeKind kind) : kind_(kind) {}  // NOLINT(google-explicit-constructor): TypeKind::kInt reads as the type it is
  static Type Decimal(int precision, int scale);
  static Type Fixed(int length);
  static Type Struct(std::vector<Field> fields);
  static Type List(Field element);
  static Type Map(Field key, Field value);
  // geometry(crs), geography(crs, algorithm): `parameters` is the text in the parentheses.
  static Type Geo(TypeKind kind, std::string parameters);

  // A primitive type from its text in metadata: "long", "decimal(9, 2)", "fixed[16]", "timestamptz_ns", ...
  // NotSupported for a name that the spec does not know.
  static Result<Type> Parse(std::string_view text);

  TypeKind kind() const { return kind_; }
  bool is_nested() const { return kind_ >= TypeKind::kStruct; }
  bool is_float() const { return kind_ == TypeKind::kFloat || kind_ == TypeKind::kDouble; }
  // With and without zone, of micro- and nanoseconds.
  bool is_timestamp() const { return kind_ >= TypeKind::kTimestamp && kind_ <= TypeKind::kTimestampTzNs; }
  // Instants, not wall-clock times.
  bool is_zoned() const { return kind_ == TypeKind::kTimestampTz || kind_ == TypeKind::kTimestampTzNs; }
  bool is_nanos() const { return kind_ == TypeKind::kTimestampNs || kind_ == TypeKind::kTimestampTzNs; }
  // Values are integers of up to 64 bits: int, long, and dates, times and timestamps as counts.
  bool is_integral() const {
    return kind_ == TypeKind::kInt || kind_ == TypeKind::kLong || kind_ == TypeKind::kDate ||
           kind_ == TypeKind::kTime || is_timestamp();
  }
  int precision() const { return first_; }                               // decimal
  int scale() const { return second_; }                                  // decimal
  int length() const { return kind_ == TypeKind::kUuid ? 16 : first_; }  // bytes of fixed and uuid
  // Struct: its fields. List: the element. Map: key, value. Else empty.
  const std::vector<Field>& fields() const;

  std::string ToString() const;
  // Equal kind and parameters, nested ones by field id, name, type and requiredness.
  bool operator==(const Type& other) const;

 private:
  TypeKind kind_ = TypeKind::kUnknown;
  int first_ = 0;
  int second_ = 0;
  std::shared_ptr<const std::vector<Field>> fields_;
  std::shared_ptr<const std::string> parameters_;
};

struct Field {
  int32_t id = 0;
  std::string name;
  Type type;
  bool required = false;
  std::optional<Datum> initial_default = std::nullopt;  // value of rows in files written before the column was added
  std::optional<Datum> write_default = std::nullopt;

  bool operator==(const Field&) const = default;
};

// May rows of a file whose column has type `from` be read as `to`? (spec, "Schema Evolution": int → long, float →
// double, decimal of wider precision and equal scale, date → timestamp / timestamp_ns, unknown → any.) Equal types:
// yes.
bool CanPromote(const Type& from, const Type& to);

// A schema: an id and top-level fields. Copies are cheap. Field names are unique per level (checked by Make).
class Schema {
 public:
  Schema() = default;
  // InvalidArgument for a field id or a (full) name that appears twice.
  static Result<Schema> Make(int32_t schema_id, std::vector<Field> fields, std::vector<int32_t> identifier_ids = {});

  int32_t id() const { return id_; }
  const std::vector<Field>& fields() const { return root_.fields(); }
  const std::vector<int32_t>& identifier_ids() const { return identifier_ids_; }

  // Where a field lies: the fields from the top level down to it (itself last).
  using Path = std::vector<const Field*>;
  // Empty path when there is no such field. Nested names join with '.', list elements are "element", map entries "key"
  // / "value".
  Path FindById(int32_t id) const;
  // Exact name first; else a name equal but for ASCII case, if there is just one.
  Path FindByName(std::string_view dotted_name) const;
  // "id, region, v": the top-level columns, for messages.
  std::string ColumnNames() const;

  // The top-level columns of these names, in this order (each exact, else case-insensitive). NotFound names the column
  // and those there are.
  Result<Schema> Select(const std::vector<std::string>& names) const;

 private:
  int32_t id_ = 0;
  Type root_ = Type(TypeKind::kStruct);
  std::vector<int32_t> identifier_ids_;
};

// Names like "a.b", for messages and --where.
std::string FullName(const Schema::Path& path);
// A row has one value of the field: no list or map lies above it.
bool HasOneValueARow(const Schema::Path& path);

}  // namespace delenda
