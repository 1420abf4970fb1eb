#include "delenda/model/type.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace delenda {

namespace {

struct PlainName {
  std::string_view name;
  TypeKind kind;
};

constexpr std::array kPlainNames = {
    PlainName{"boolean", TypeKind::kBoolean},
    PlainName{"int", TypeKind::kInt},
    PlainName{"long", TypeKind::kLong},
    PlainName{"float", TypeKind::kFloat},
    PlainName{"double", TypeKind::kDouble},
    PlainName{"date", TypeKind::kDate},
    PlainName{"time", TypeKind::kTime},
    PlainName{"timestamp", TypeKind::kTimestamp},
    PlainName{"timestamptz", TypeKind::kTimestampTz},
    PlainName{"timestamp_ns", TypeKind::kTimestampNs},
    PlainName{"timestamptz_ns", TypeKind::kTimestampTzNs},
    PlainName{"string", TypeKind::kString},
    PlainName{"uuid", TypeKind::kUuid},
    PlainName{"binary", TypeKind::kBinary},
    PlainName{"unknown", TypeKind::kUnknown},
    PlainName{"variant", TypeKind::kVariant},
    PlainName{"geometry", TypeKind::kGeometry},
    PlainName{"geography", TypeKind::kGeography},
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// The text between `open` and `close` behind `name`, or empty when the text has another form.
std::optional<std::string_view> Parameters(std::string_view text, std::string_view name, char open, char close) {
  if (!text.starts_with(name)) return std::nullopt;
  std::string_view rest = Trim(text.substr(name.size()));
  if (rest.size() < 2 || rest.front() != open || rest.back() != close) return std::nullopt;
  return Trim(rest.substr(1, rest.size() - 2));
}

std::optional<int> SmallNumber(std::string_view text) {
  text = Trim(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Type Type::Decimal(int precision, int scale) {
  Type type(TypeKind::kDecimal);
  type.first_ = precision;
  type.second_ = scale;
  return type;
}

Type Type::Fixed(int length) {
  Type type(TypeKind::kFixed);
  type.first_ = length;
  return type;
}

Type Type::Struct(std::vector<Field> fields) {
  Type type(TypeKind::kStruct);
  type.fields_ = std::make_shared<const std::vector<Field>>(std::move(fields));
  return type;
}

Type Type::List(Field element) {
  element.name = "element";
  Type type(TypeKind::kList);
  type.fields_ = std::make_shared<const std::vector<Field>>(std::vector<Field>{std::move(element)});
  return type;
}

Type Type::Map(Field key, Field value) {
  key.name = "key";
  value.name = "value";
  Type type(TypeKind::kMap);
  type.fields_ = std::make_shared<const std::vector<Field>>(std::vector<Field>{std::move(key), std::move(value)});
  return type;
}

Type Type::Geo(TypeKind kind, std::string parameters) {
  Type type(kind);
  if (!parameters.empty()) type.parameters_ = std::make_shared<const std::string>(std::move(parameters));
  return type;
}

Result<Type> Type::Parse(std::string_view text) {
  const std::string lower = LowerAscii(Trim(text));
  for (const PlainName& plain : kPlainNames) {
    if (plain.name == lower) return Type(plain.kind);
  }
  if (auto inside = Parameters(lower, "decimal", '(', ')')) {
    const size_t comma = inside->find(',');
    const auto precision = SmallNumber(inside->substr(0, comma));
    const auto scale = comma == std::string_view::npos ? std::optional<int>(0) : SmallNumber(inside->substr(comma + 1));
    if (!precision || !scale || *precision < 1 || *precision > 38 || *scale > *precision) {
      return Corrupt(
          "type '{}': expected decimal(precision, scale) with 1 <= precision <= 38 and 0 <= scale <= precision", text);
    }
    return Decimal(*precision, *scale);
  }
  if (auto inside = Parameters(lower, "fixed", '[', ']')) {
    const auto length = SmallNumber(*inside);
    if (!length) return Corrupt("type '{}': expected fixed[length]", text);
    return Fixed(*length);
  }
  // CRS names keep their case.
  for (const auto& [name, kind] :
       {PlainName{"geometry", TypeKind::kGeometry}, PlainName{"geography", TypeKind::kGeography}}) {
    if (Parameters(lower, name, '(', ')')) {
      const std::string_view trimmed = Trim(text);
      return Geo(kind, std::string(*Parameters(trimmed.substr(name.size()), "", '(', ')')));
    }
  }
  return NotSupported("column type '{}' is not known to this version", text);
}

const std::vector<Field>& Type::fields() const {
  static const std::vector<Field> kNone;
  return fields_ ? *fields_ : kNone;
}

std::string Type::ToString() const {
  std::string text;
  switch (kind_) {
    case TypeKind::kDecimal: return fmt::format("decimal({}, {})", first_, second_);
    case TypeKind::kFixed: return fmt::format("fixed[{}]", first_);
    case TypeKind::kStruct:
      for (const Field& field : fields()) {
        text += fmt::format("{}{}: {}: {} {}", text.empty() ? "" : ", ", field.id, field.name,
                            field.required ? "required" : "optional", field.type.ToString());
      }
      return fmt::format("struct<{}>", text);
    case TypeKind::kList: return fmt::format("list<{}>", fields().empty() ? "?" : fields()[0].type.ToString());
    case TypeKind::kMap:
      if (fields().size() != 2) return "map<?>";
      return fmt::format("map<{}, {}>", fields()[0].type.ToString(), fields()[1].type.ToString());
    default: break;
  }
  for (const PlainName& plain : kPlainNames) {
    if (plain.kind != kind_) continue;
    return parameters_ ? fmt::format("{}({})", plain.name, *parameters_) : std::string(plain.name);
  }
  return "unknown";
}

bool Type::operator==(const Type& other) const {
  if (kind_ != other.kind_ || first_ != other.first_ || second_ != other.second_) return false;
  const std::string_view mine = parameters_ ? *parameters_ : std::string_view();
  const std::string_view others = other.parameters_ ? *other.parameters_ : std::string_view();
  if (mine != others) return false;
  if (fields_ == other.fields_) return true;
  return std::equal(fields().begin(), fields().end(), other.fields().begin(), other.fields().end(),
                    [](const Field& a, const Field& b) {
                      return a.id == b.id && a.name == b.name && a.required == b.required && a.type == b.type;
                    });
}

bool CanPromote(const Type& from, const Type& to) {
  if (from == to || from.kind() == TypeKind::kUnknown) return true;
  switch (from.kind()) {
    case TypeKind::kInt: return to.kind() == TypeKind::kLong;
    case TypeKind::kFloat: return to.kind() == TypeKind::kDouble;
    case TypeKind::kDate: return to.kind() == TypeKind::kTimestamp || to.kind() == TypeKind::kTimestampNs;
    case TypeKind::kDecimal:
      return to.kind() == TypeKind::kDecimal && to.scale() == from.scale() && to.precision() >= from.precision();
    default: return false;
  }
}

}  // namespace delenda
