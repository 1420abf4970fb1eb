#include "delenda/formats/avro/schema.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

namespace delenda::avro {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr size_t kMaxTypes = 100'000;
constexpr std::array<std::string_view, 14> kKindNames = {"null",   "boolean", "int",    "long",  "float",
                                                         "double", "bytes",   "string", "fixed", "enum",
                                                         "record", "array",   "map",    "union"};

std::optional<Kind> PrimitiveKind(std::string_view name) {
  for (size_t i = 0; i <= static_cast<size_t>(Kind::kString); ++i) {
    if (kKindNames[i] == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

// The text of a member; empty if it is missing.
Result<std::string> TextMember(const Json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end()) return std::string();
  if (!found->is_string()) return Corrupt("Avro schema: \"{}\" is not a string", key);
  return found->get<std::string>();
}

Result<int32_t> IntMember(const Json& object, const char* key, int32_t fallback) {
  auto found = object.find(key);
  if (found == object.end()) return fallback;
  if (!found->is_number_integer()) return Corrupt("Avro schema: \"{}\" is not an integer", key);
  // Unsigned values above the signed range come out negative, and are refused with the others.
  const auto value = found->get<int64_t>();
  if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
    return Corrupt("Avro schema: \"{}\" is {}, expected 0 to 2147483647", key, value);
  }
  return static_cast<int32_t>(value);
}

}  // namespace

std::string_view KindName(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

const Type& Type::WithoutNull() const {
  if (kind != Kind::kUnion || branches.size() != 2) return *this;
  const bool first = branches[0]->kind == Kind::kNull;
  const bool second = branches[1]->kind == Kind::kNull;
  if (first == second) return *this;
  return first ? *branches[1] : *branches[0];
}

const Field* Type::FindField(int32_t id) const {
  if (id == kNoId) return nullptr;
  auto found = std::ranges::find(fields, id, &Field::id);
  return found == fields.end() ? nullptr : &*found;
}

class SchemaParser {
 public:
  Result<std::shared_ptr<const Schema>> Parse(std::string_view json) {
    const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
    if (document.is_discarded()) return Corrupt("Avro schema is not JSON ({} bytes)", json.size());
    schema_ = std::shared_ptr<Schema>(new Schema());
    schema_->root_ = DELENDA_TRY(ParseType(document, "", 0));
    return std::shared_ptr<const Schema>(std::move(schema_));
  }

 private:
  Result<Type*> NewType(Kind kind) {
    // A schema of references to references is small in the file, but what hangs on every type is not.
    if (schema_->types_.size() >= kMaxTypes) return NotSupported("Avro schema of more than {} types", kMaxTypes);
    schema_->types_.push_back(std::make_unique<Type>());
    schema_->types_.back()->kind = kind;
    return schema_->types_.back().get();
  }

  // Depth counts through references as well: "b" inside "a" and "c" of "b"s is as deep as if written out, and whoever
  // walks the types recursively relies on the bound. References to a record that is still open count as nothing.
  Result<const Type*> ParseType(const Json& json, const std::string& space, int depth) {
    if (depth > kMaxDepth) return NotSupported("Avro schema is nested deeper than {} types", kMaxDepth);
    const Type* type = DELENDA_TRY(ParseNode(json, space, depth));
    int height = type->element != nullptr ? height_[type->element] : 0;
    for (const Type* branch : type->branches) height = std::max(height, height_[branch]);
    for (const Field& field : type->fields) height = std::max(height, height_[field.type]);
    if (++height > kMaxDepth) return NotSupported("Avro schema is nested deeper than {} types", kMaxDepth);
    height_[type] = height;
    return type;
  }

  Result<const Type*> ParseNode(const Json& json, const std::string& space, int depth) {
    if (json.is_string()) return ParseName(json.get_ref<const std::string&>(), space);
    if (json.is_array()) return ParseUnion(json, space, depth);
    if (!json.is_object()) return Corrupt("Avro schema: expected a type, found {}", json.type_name());
    auto type = json.find("type");
    if (type == json.end()) return Corrupt("Avro schema: a type lacks \"type\"");
    if (!type->is_string()) return ParseType(*type, space, depth + 1);
    const std::string& kind = type->get_ref<const std::string&>();
    if (kind == "record" || kind == "error") return ParseRecord(json, space, depth);
    if (kind == "enum") return ParseEnum(json, space);
    if (kind == "fixed") return ParseFixed(json, space);
    if (kind == "array") return ParseArray(json, space, depth);
    if (kind == "map") return ParseMap(json, space, depth);
    if (auto primitive = PrimitiveKind(kind)) {
      Type* made = DELENDA_TRY(NewType(*primitive));
      DELENDA_TRY(ReadLogical(json, *made));
      return made;
    }
    return ParseName(kind, space);
  }

  Result<const Type*> ParseName(const std::string& name, const std::string& space) {
    if (auto primitive = PrimitiveKind(name)) {
      const Type*& shared = primitives_[static_cast<size_t>(*primitive)];
      if (shared == nullptr) shared = DELENDA_TRY(NewType(*primitive));
      return shared;
    }
    auto found = named_.find(FullName(name, space));
    if (found == named_.end()) found = named_.find(name);
    if (found == named_.end()) return Corrupt("Avro schema: type \"{}\" is not defined before its use", name);
    // Some writers give two records one name. That harms only if it is referred to: one of the two would be read with
    // the other's layout.
    if (found->second == nullptr) return Corrupt("Avro schema: type \"{}\" is defined twice and referred to", name);
    return found->second;
  }

  Result<const Type*> ParseUnion(const Json& json, const std::string& space, int depth) {
    Type* made = DELENDA_TRY(NewType(Kind::kUnion));
    for (const Json& branch : json) {
      const Type* type = DELENDA_TRY(ParseType(branch, space, depth + 1));
      if (type->kind == Kind::kUnion) return Corrupt("Avro schema: a union directly inside a union");
      made->branches.push_back(type);
    }
    return made;
  }

  Result<const Type*> ParseRecord(const Json& json, const std::string& space, int depth) {
    Type* made = DELENDA_TRY(NewType(Kind::kRecord));
    const std::string inner = DELENDA_TRY(Define(json, space, *made));
    auto fields = json.find("fields");
    if (fields == json.end() || !fields->is_array()) {
      return Corrupt("Avro schema: record \"{}\" has no array \"fields\"", made->name);
    }
    for (const Json& field : *fields) {
      if (!field.is_object()) return Corrupt("Avro schema: a field of record \"{}\" is not an object", made->name);
      auto type = field.find("type");
      if (type == field.end()) return Corrupt("Avro schema: a field of record \"{}\" has no type", made->name);
      Field parsed;
      parsed.name = DELENDA_TRY(TextMember(field, "name"));
      parsed.id = DELENDA_TRY(IntMember(field, "field-id", kNoId));
      parsed.type = DELENDA_TRY(ParseType(*type, inner, depth + 1));
      made->fields.push_back(std::move(parsed));
    }
    return made;
  }

  Result<const Type*> ParseEnum(const Json& json, const std::string& space) {
    Type* made = DELENDA_TRY(NewType(Kind::kEnum));
    DELENDA_TRY(Define(json, space, *made));
    auto symbols = json.find("symbols");
    if (symbols == json.end() || !symbols->is_array()) {
      return Corrupt("Avro schema: enum \"{}\" has no array \"symbols\"", made->name);
    }
    for (const Json& symbol : *symbols) {
      if (!symbol.is_string()) return Corrupt("Avro schema: a symbol of enum \"{}\" is not a string", made->name);
      made->symbols.push_back(symbol.get<std::string>());
    }
    return made;
  }

  Result<const Type*> ParseFixed(const Json& json, const std::string& space) {
    Type* made = DELENDA_TRY(NewType(Kind::kFixed));
    DELENDA_TRY(Define(json, space, *made));
    const int32_t size = DELENDA_TRY(IntMember(json, "size", -1));
    if (size < 0) return Corrupt("Avro schema: fixed \"{}\" has no size", made->name);
    made->fixed_size = static_cast<uint64_t>(size);
    DELENDA_TRY(ReadLogical(json, *made));
    return made;
  }

  Result<const Type*> ParseArray(const Json& json, const std::string& space, int depth) {
    auto items = json.find("items");
    if (items == json.end()) return Corrupt("Avro schema: an array has no \"items\"");
    Type* made = DELENDA_TRY(NewType(Kind::kArray));
    DELENDA_TRY(ReadLogical(json, *made));
    made->element_id = DELENDA_TRY(IntMember(json, "element-id", kNoId));
    made->element = DELENDA_TRY(ParseType(*items, space, depth + 1));
    return made;
  }

  Result<const Type*> ParseMap(const Json& json, const std::string& space, int depth) {
    auto values = json.find("values");
    if (values == json.end()) return Corrupt("Avro schema: a map has no \"values\"");
    Type* made = DELENDA_TRY(NewType(Kind::kMap));
    made->key_id = DELENDA_TRY(IntMember(json, "key-id", kNoId));
    made->element_id = DELENDA_TRY(IntMember(json, "value-id", kNoId));
    made->element = DELENDA_TRY(ParseType(*values, space, depth + 1));
    return made;
  }

  Result<void> ReadLogical(const Json& json, Type& type) {
    // An unknown or ill-formed logical type is to be ignored by the specification: the value is then the plain one.
    if (auto logical = json.find("logicalType"); logical != json.end() && logical->is_string()) {
      type.logical = logical->get<std::string>();
    }
    if (type.logical == "decimal") {
      type.precision = DELENDA_TRY(IntMember(json, "precision", 0));
      type.scale = DELENDA_TRY(IntMember(json, "scale", 0));
    }
    if (auto utc = json.find("adjust-to-utc"); utc != json.end() && utc->is_boolean()) {
      type.adjust_to_utc = utc->get<bool>();
    }
    return {};
  }

  static std::string FullName(const std::string& name, const std::string& space) {
    return space.empty() || name.find('.') != std::string::npos ? name : space + "." + name;
  }

  // Enters the type under its name; gives the namespace of what is inside it.
  Result<std::string> Define(const Json& json, const std::string& outer, Type& type) {
    const std::string name = DELENDA_TRY(TextMember(json, "name"));
    const std::string space = json.contains("namespace") ? DELENDA_TRY(TextMember(json, "namespace")) : outer;
    type.name = FullName(name, space);
    auto [entry, is_new] = named_.try_emplace(type.name, &type);
    if (!is_new) entry->second = nullptr;
    const size_t dot = type.name.rfind('.');
    return dot == std::string::npos ? std::string() : type.name.substr(0, dot);
  }

  std::shared_ptr<Schema> schema_;
  std::map<std::string, const Type*> named_;  // nullptr: defined twice
  std::array<const Type*, 8> primitives_{};
  std::unordered_map<const Type*, int> height_;
};

Result<std::shared_ptr<const Schema>> Schema::Parse(std::string_view json) { return SchemaParser().Parse(json); }

}  // namespace delenda::avro
