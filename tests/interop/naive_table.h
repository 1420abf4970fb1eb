// Rows of a table as the peer wrote them, and a filter over them that shares nothing with the engine: SQL's three
// values, on JSON.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace delenda::testing {

using Json = nlohmann::json;
__extension__ typedef __int128 Wide;

// A value that can be compared: NULL, a whole number (integers doubled, so that n.5 lies between two; decimals
// unscaled), a real number, or text whose order by bytes is the order of the values (strings, ISO dates and times,
// hexadecimal bytes).
struct Cell {
  enum class Kind : uint8_t { kNull, kExact, kReal, kText };
  Kind kind = Kind::kNull;
  Wide exact = 0;
  double real = 0;
  std::string text = {};

  bool null() const { return kind == Kind::kNull; }
};

// -1, 0, 1. NaN equals NaN and is above all else; -0.0 equals 0.0.
inline int Compare(const Cell& a, const Cell& b) {
  if (a.kind == Cell::Kind::kText) return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
  if (a.kind == Cell::Kind::kExact) return a.exact < b.exact ? -1 : a.exact > b.exact ? 1 : 0;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) - std::isnan(b.real);
  return a.real < b.real ? -1 : a.real > b.real ? 1 : 0;
}

enum class Logic : uint8_t { kNo, kYes, kUnknown };
inline Logic Not(Logic value) {
  return value == Logic::kUnknown ? value : value == Logic::kYes ? Logic::kNo : Logic::kYes;
}
inline Logic And(Logic a, Logic b) {
  if (a == Logic::kNo || b == Logic::kNo) return Logic::kNo;
  return a == Logic::kYes && b == Logic::kYes ? Logic::kYes : Logic::kUnknown;
}
inline Logic Or(Logic a, Logic b) { return Not(And(Not(a), Not(b))); }
inline Logic Truth(bool value) { return value ? Logic::kYes : Logic::kNo; }

// A field that a filter can name: a primitive one, also inside structs, or a whole struct, list or map (IS NULL only).
struct NaiveColumn {
  std::string name;  // as a filter writes it: "st"."a"
  std::vector<std::string> path;
  std::string type;  // "long", "decimal(9, 2)", ...; empty: not primitive
  int scale = 0;
};

inline std::string QuotedName(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

inline void AddColumns(const Json& fields, const std::string& prefix, const std::vector<std::string>& path,
                       std::vector<NaiveColumn>& into) {
  for (const Json& field : fields) {
    NaiveColumn column;
    column.path = path;
    column.path.push_back(field.at("name"));
    column.name = prefix + QuotedName(field.at("name"));
    const Json& type = field.at("type");
    if (type.is_string()) {
      column.type = type;
      if (column.type.starts_with("decimal")) column.scale = std::atoi(column.type.c_str() + column.type.find(',') + 1);
      // Of these only the text that the peer makes is known.
      if (column.type == "variant" || column.type == "unknown") column.type.clear();
    }
    into.push_back(column);
    if (type.is_object() && type.at("type") == "struct")
      AddColumns(type.at("fields"), column.name + ".", column.path, into);
  }
}

inline bool IsWhole(const std::string& type) { return type == "int" || type == "long"; }
inline bool IsReal(const std::string& type) { return type == "float" || type == "double"; }

inline double RealOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value;
  if (text == "NaN") return std::nan("");
  return text == "Infinity" ? HUGE_VAL : -HUGE_VAL;
}

// "-12.50" → -1250
inline Wide UnscaledOf(std::string_view text) {
  Wide value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') value = value * 10 + (c - '0');
  }
  return text.starts_with('-') ? -value : value;
}

inline Cell CellOf(const Json& value, const NaiveColumn& column) {
  if (value.is_null()) return {};
  if (column.type.empty()) return {.kind = Cell::Kind::kText};  // there is something
  if (IsWhole(column.type)) return {.kind = Cell::Kind::kExact, .exact = Wide{value.get<int64_t>()} * 2};
  if (column.type == "boolean") return {.kind = Cell::Kind::kExact, .exact = value.get<bool>() ? 1 : 0};
  if (column.type.starts_with("decimal"))
    return {.kind = Cell::Kind::kExact, .exact = UnscaledOf(value.get<std::string>())};
  if (IsReal(column.type)) {
    const double real = RealOf(value);
    return {.kind = Cell::Kind::kReal,
            .real = column.type == "float" ? static_cast<double>(static_cast<float>(real)) : real};
  }
  return {.kind = Cell::Kind::kText, .text = value.get<std::string>()};
}

// The cell of `column` in a row; NULL below a struct that is NULL.
inline Cell CellIn(const Json& row, const NaiveColumn& column) {
  const Json* at = &row;
  for (const auto& name : column.path) {
    if (at->is_null()) return {};
    at = &at->at(name);
  }
  return CellOf(*at, column);
}

// One text for equal values: real numbers as the nearest value of their type, members sorted.
inline void Canonicalise(Json& value, const Json& type) {
  if (value.is_null()) return;
  if (type.is_string()) {
    if (!value.is_number()) return;
    if (type == "float") value = static_cast<double>(static_cast<float>(value.get<double>()));
    if (type == "double") value = value.get<double>();
    return;
  }
  if (type.at("type") == "struct") {
    for (const Json& field : type.at("fields")) {
      const auto member = value.find(field.at("name"));
      if (member != value.end()) Canonicalise(*member, field.at("type"));
    }
  } else if (type.at("type") == "list") {
    for (Json& element : value) Canonicalise(element, type.at("element"));
  } else {
    for (Json& pair : value) {
      Canonicalise(pair.at(0), type.at("key"));
      Canonicalise(pair.at(1), type.at("value"));
    }
  }
}

// The schema that the metadata file calls `schema_id`, or its current one.
inline Json SchemaIn(const std::string& metadata_path, std::optional<int> schema_id = std::nullopt) {
  std::ifstream in(metadata_path);
  const Json metadata = Json::parse(in);
  const int wanted = schema_id.value_or(metadata.at("current-schema-id").get<int>());
  for (const Json& schema : metadata.at("schemas")) {
    if (schema.at("schema-id") == wanted) return schema;
  }
  return {};
}

// The members of a JSON object's text, name and value as they stand: {"a": 1, "b": [2]} → "\"a\": 1", "\"b\": [2]".
inline std::vector<std::string> MemberTexts(std::string_view line) {
  std::vector<std::string> members;
  int depth = 0;
  bool quoted = false;
  size_t begin = 1;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if ((c == ',' && depth == 1) || (c == '}' && depth == 0)) {
      while (begin < i && line[begin] == ' ') ++begin;
      if (i > begin) members.emplace_back(line.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return members;
}

}  // namespace delenda::testing
