// The writer's schema of an Avro file, parsed from its JSON to a tree of types that carry Iceberg's ids.
// Avro 1.12 specification, "Schema Declaration"; Iceberg specification, "Appendix A: Avro".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"

namespace delenda::avro {

enum class Kind : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kRecord,
  kArray,
  kMap,
  kUnion,
};

// "null", "boolean", ...: as the schema spells it.
std::string_view KindName(Kind kind);

// "There is no id": manifests of format version 1 by old writers carry none.
inline constexpr int32_t kNoId = -1;

struct Type;

struct Field {
  std::string name;    // as written; it need not be a valid Avro name (partition fields hold spaces and the like)
  int32_t id = kNoId;  // "field-id"
  const Type* type = nullptr;
};

// One node of the schema. A named type that is used twice, or inside itself, is one node that several others point to.
struct Type {
  Kind kind = Kind::kNull;
  std::string name;                   // record, enum, fixed: the full name
  std::string logical;                // "logicalType": "date", "decimal", "uuid", "map", ... or empty
  int32_t precision = 0;              // decimal
  int32_t scale = 0;                  // decimal
  bool adjust_to_utc = false;         // timestamps: Iceberg's "adjust-to-utc"
  uint64_t fixed_size = 0;            // fixed: bytes
  std::vector<std::string> symbols;   // enum
  std::vector<Field> fields;          // record
  const Type* element = nullptr;      // array: items; map: values
  int32_t element_id = kNoId;         // array: "element-id"; map: "value-id"
  int32_t key_id = kNoId;             // map: "key-id"
  std::vector<const Type*> branches;  // union

  // An array of key-value records, which is how Iceberg writes maps whose keys are not strings.
  bool is_key_value_array() const { return kind == Kind::kArray && logical == "map"; }
  // For [null, T] and [T, null]: T. For every other type: the type itself.
  const Type& WithoutNull() const;
  bool is_nullable() const { return &WithoutNull() != this; }
  // The field with this id (nullptr: none).
  const Field* FindField(int32_t id) const;
};

// Owns the types. Addresses of types are stable and live as long as the schema.
class Schema {
 public:
  // `json`: the value of the file's "avro.schema". Corrupt if it is not a schema; NotSupported if it is nested deeper
  // than 64 types or holds more than 100,000 types (which no table needs, but a hostile file could hold).
  static Result<std::shared_ptr<const Schema>> Parse(std::string_view json);

  const Type& root() const { return *root_; }

 private:
  friend class SchemaParser;
  Schema() = default;

  std::vector<std::unique_ptr<Type>> types_;
  const Type* root_ = nullptr;
};

}  // namespace delenda::avro
