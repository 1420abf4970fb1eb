// Names become fields and literals become values. NOT is pushed down to the leaves first, since a folded leaf no longer
// tells false from unknown.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "delenda/model/exact_number.h"
#include "delenda/model/expression.h"
#include "delenda/model/parsed_expression.h"

namespace delenda {

namespace {

constexpr size_t kColumnsListed = 40;

Op Negated(Op op) {
  switch (op) {
    case Op::kIsNull: return Op::kNotNull;
    case Op::kNotNull: return Op::kIsNull;
    case Op::kIsNan: return Op::kNotNan;
    case Op::kNotNan: return Op::kIsNan;
    case Op::kLess: return Op::kGreaterEqual;
    case Op::kLessEqual: return Op::kGreater;
    case Op::kGreater: return Op::kLessEqual;
    case Op::kGreaterEqual: return Op::kLess;
    case Op::kEqual: return Op::kNotEqual;
    case Op::kNotEqual: return Op::kEqual;
    case Op::kIn: return Op::kNotIn;
    case Op::kNotIn: return Op::kIn;
    case Op::kStartsWith: return Op::kNotStartsWith;
    case Op::kNotStartsWith: return Op::kStartsWith;
    case Op::kTrue: return Op::kFalse;
    case Op::kFalse: return Op::kTrue;
    case Op::kAnd: return Op::kOr;
    case Op::kOr: return Op::kAnd;
    case Op::kNot: return Op::kNot;
  }
  return op;
}

// Levenshtein distance, ignoring ASCII case.
size_t EditDistance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

void CollectNames(const std::vector<Field>& fields, const std::string& prefix, std::vector<std::string>* names) {
  for (const Field& field : fields) {
    const std::string full = prefix.empty() ? field.name : prefix + "." + field.name;
    names->push_back(full);
    if (field.type.kind() == TypeKind::kStruct) CollectNames(field.type.fields(), full, names);
  }
}

std::unexpected<Error> NoSuchColumn(std::string_view name, size_t at, const Schema& schema) {
  std::vector<std::string> names;
  CollectNames(schema.fields(), "", &names);
  constexpr size_t kLongestCompared = 200;
  std::string near;
  size_t best = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& known : names) {
    if (name.size() > kLongestCompared || known.size() > kLongestCompared) continue;
    const size_t distance = EditDistance(name, known);
    if (distance < best) {
      best = distance;
      near = known;
    }
  }
  std::string listed;
  for (size_t i = 0; i < std::min(names.size(), kColumnsListed); ++i) listed += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kColumnsListed) listed += fmt::format(" and {} more", names.size() - kColumnsListed);
  const std::string_view shown = name.substr(0, kLongestCompared);
  if (near.empty()) return NotFound("filter, at byte {}: no column '{}'; columns are {}", at, shown, listed);
  return NotFound("filter, at byte {}: no column '{}'; did you mean '{}'? Columns are {}", at, shown, near, listed);
}

// A literal among the values of the column's type: one of them, or a gap between two neighbours. A neighbour that is
// missing lies outside the type.
struct Placed {
  std::optional<Datum> value;
  std::optional<Datum> below;  // gap: the greatest value under the literal
  std::optional<Datum> above;  // gap: the least value over the literal
};

Placed PlaceAmongIntegers(const ExactNumber& number, const Type& type) {
  Int128 lowest = std::numeric_limits<int64_t>::min();
  Int128 highest = std::numeric_limits<int64_t>::max();
  if (type.kind() == TypeKind::kInt) {
    lowest = std::numeric_limits<int32_t>::min();
    highest = std::numeric_limits<int32_t>::max();
  } else if (type.kind() == TypeKind::kDecimal) {
    highest = HighestUnscaled(type.precision());
    lowest = -highest;
  }
  const auto datum = [&](Int128 value) {
    return type.kind() == TypeKind::kDecimal ? Datum(value) : Datum(static_cast<int64_t>(value));
  };
  const int scale = type.kind() == TypeKind::kDecimal ? type.scale() : 0;
  const IntegerPlace place = PlaceInteger(number, scale, lowest, highest);
  Placed placed;
  if (place.side == IntegerPlace::Side::kBelow) {
    placed.above = datum(lowest);
  } else if (place.side == IntegerPlace::Side::kAbove) {
    placed.below = datum(highest);
  } else if (place.exact) {
    placed.value = datum(place.floor);
  } else {
    if (place.floor >= lowest) placed.below = datum(place.floor);
    if (place.floor < highest) placed.above = datum(place.floor + 1);
  }
  return placed;
}

// The gap between 0 and the least number, or between the greatest number and infinity.
template <typename T>
Placed BeyondFloats(bool negative, bool large) {
  const T inner = large ? std::numeric_limits<T>::max() : T{0};
  const T outer = large ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::denorm_min();
  Placed placed;
  placed.below = negative ? Datum(static_cast<T>(-outer)) : Datum(inner);
  placed.above = negative ? Datum(static_cast<T>(T{0} - inner)) : Datum(outer);  // 0 - 0 is 0, not -0.0
  return placed;
}

// Numbers are read as double, as SQL engines do, and then compared by value: on a float column 0.1 lies between two
// floats and equals none.
Placed PlaceAmongFloats(std::string_view text, const ExactNumber& number, const Type& type) {
  const bool single = type.kind() == TypeKind::kFloat;
  if (number.digits.empty()) return {.value = single ? Datum(0.0F) : Datum(0.0), .below = {}, .above = {}};
  const std::string_view body = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error == std::errc::result_out_of_range || value == 0.0 || std::isinf(value)) {
    const bool large = static_cast<int64_t>(number.digits.size()) + number.exponent > 0;
    return single ? BeyondFloats<float>(number.negative, large) : BeyondFloats<double>(number.negative, large);
  }
  if (!single) return {.value = Datum(value), .below = {}, .above = {}};
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
    return BeyondFloats<float>(number.negative, true);
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value) return {.value = Datum(nearest), .below = {}, .above = {}};
  const bool over = static_cast<double>(nearest) > value;
  const float other =
      std::nextafter(nearest, over ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity());
  // Adding 0 turns a -0.0 into 0.0.
  return {
      .value = {}, .below = Datum((over ? other : nearest) + 0.0F), .above = Datum((over ? nearest : other) + 0.0F)};
}

std::string_view LiteralKindName(ParsedLiteral::Kind kind) {
  switch (kind) {
    case ParsedLiteral::Kind::kNumber: return "a number";
    case ParsedLiteral::Kind::kText: return "a text";
    case ParsedLiteral::Kind::kBoolean: return "a boolean";
    case ParsedLiteral::Kind::kNull: return "NULL";
    case ParsedLiteral::Kind::kDate: return "a date";
    case ParsedLiteral::Kind::kTimestamp: return "a timestamp";
    case ParsedLiteral::Kind::kHex: return "a binary literal";
  }
  return "a literal";
}

bool Accepts(const Type& type, ParsedLiteral::Kind literal) {
  const TypeKind kind = type.kind();
  const bool number =
      kind == TypeKind::kInt || kind == TypeKind::kLong || kind == TypeKind::kDecimal || type.is_float();
  switch (literal) {
    case ParsedLiteral::Kind::kNumber: return number;
    case ParsedLiteral::Kind::kText: return true;
    case ParsedLiteral::Kind::kBoolean: return kind == TypeKind::kBoolean;
    case ParsedLiteral::Kind::kNull: return true;
    case ParsedLiteral::Kind::kDate: return kind == TypeKind::kDate || type.is_timestamp();
    case ParsedLiteral::Kind::kTimestamp: return kind == TypeKind::kDate || type.is_timestamp();
    case ParsedLiteral::Kind::kHex: return kind == TypeKind::kBinary || kind == TypeKind::kFixed;
  }
  return false;
}

// Not for NULL.
Result<Placed> PlaceLiteral(const ParsedLiteral& literal, const BoundColumn& column) {
  const Type& type = column.type;
  if (!Accepts(type, literal.kind)) {
    return InvalidArgument("filter, at byte {}: column '{}' is of type {} and cannot be compared with {}", literal.at,
                           column.name, type.ToString(), LiteralKindName(literal.kind));
  }
  if (literal.kind == ParsedLiteral::Kind::kNumber) {
    const auto number = ExactNumber::Parse(literal.text);
    if (!number) return InvalidArgument("filter, at byte {}: expected a number, found '{}'", literal.at, literal.text);
    return type.is_float() ? PlaceAmongFloats(literal.text, *number, type) : PlaceAmongIntegers(*number, type);
  }
  // A text for a numeric column is the number that it spells, unless it is NaN or an infinity.
  const bool integral =
      type.kind() == TypeKind::kInt || type.kind() == TypeKind::kLong || type.kind() == TypeKind::kDecimal;
  if (literal.kind == ParsedLiteral::Kind::kText && integral) {
    if (const auto number = ExactNumber::Parse(literal.text)) return PlaceAmongIntegers(*number, type);
  }
  auto value = DatumFromText(type, literal.text);
  if (!value) {
    return InvalidArgument("filter, at byte {}: column '{}': {}", literal.at, column.name, value.error().message());
  }
  // -0.0 equals 0.0: one spelling for equal expressions.
  if (*value == Datum(0.0)) value = Datum(0.0);
  if (*value == Datum(0.0F)) value = Datum(0.0F);
  return Placed{.value = std::move(*value), .below = {}, .above = {}};
}

ExprRef FoldComparison(Op op, const BoundColumn& column, Placed placed) {
  if (placed.value) return Expr::Leaf(op, column, {std::move(*placed.value)});
  const auto all_but_null = [&] { return Expr::Leaf(Op::kNotNull, column, {}); };
  switch (op) {
    case Op::kLess:
    case Op::kLessEqual:
      if (!placed.below) return Expr::False();
      // Everything is below a literal over the type's range; floats have infinity and NaN above it and always name a
      // neighbour.
      if (!placed.above) return all_but_null();
      return Expr::Leaf(Op::kLessEqual, column, {std::move(*placed.below)});
    case Op::kGreater:
    case Op::kGreaterEqual:
      if (!placed.above) return Expr::False();
      if (!placed.below) return all_but_null();
      return Expr::Leaf(Op::kGreaterEqual, column, {std::move(*placed.above)});
    case Op::kNotEqual: return all_but_null();
    default: return Expr::False();  // kEqual
  }
}

class FilterBinder {
 public:
  explicit FilterBinder(const Schema& schema) : schema_(schema) {}

  Result<ExprRef> Bind(const ParsedExpr& parsed, bool negate) const {
    switch (parsed.op) {
      case Op::kNot: return Bind(*parsed.children.front(), !negate);
      case Op::kTrue:
      case Op::kFalse: return (parsed.op == Op::kTrue) != negate ? Expr::True() : Expr::False();
      case Op::kAnd:
      case Op::kOr: {
        std::vector<ExprRef> children;
        children.reserve(parsed.children.size());
        for (const auto& child : parsed.children) children.push_back(DELENDA_TRY(Bind(*child, negate)));
        return (parsed.op == Op::kAnd) != negate ? Expr::And(std::move(children)) : Expr::Or(std::move(children));
      }
      default: return BindLeaf(parsed, negate ? Negated(parsed.op) : parsed.op);
    }
  }

 private:
  Result<ExprRef> BindLeaf(const ParsedExpr& parsed, Op op) const {
    const Schema::Path path = schema_.FindByName(parsed.name);
    if (path.empty()) return NoSuchColumn(parsed.name, parsed.at, schema_);
    BoundColumn column{.field_id = path.back()->id, .type = path.back()->type, .name = FullName(path), .path = {}};
    if (!HasOneValueARow(path)) {
      return NotSupported("filter, at byte {}: column '{}' lies inside a list or map, which a filter cannot look into",
                          parsed.at, column.name);
    }
    for (const Field* field : path) column.path.push_back(field->id);
    if (op == Op::kIsNull || op == Op::kNotNull) return Expr::Leaf(op, std::move(column), {});
    const TypeKind kind = column.type.kind();
    const bool comparable = !column.type.is_nested() && kind != TypeKind::kVariant && kind != TypeKind::kGeometry &&
                            kind != TypeKind::kGeography;
    if (!comparable) {
      return NotSupported("filter, at byte {}: column '{}' is of type {}: only IS [NOT] NULL is supported on it",
                          parsed.at, column.name, column.type.ToString());
    }
    if (op == Op::kIsNan || op == Op::kNotNan) {
      if (!column.type.is_float()) {
        return InvalidArgument("filter, at byte {}: column '{}' is of type {}: IS NAN needs float or double", parsed.at,
                               column.name, column.type.ToString());
      }
      return Expr::Leaf(op, std::move(column), {});
    }
    if (kind == TypeKind::kUnknown) return Expr::False();  // NULL in every row
    if (op == Op::kStartsWith || op == Op::kNotStartsWith || parsed.texts_only) {
      if (kind != TypeKind::kString) {
        return InvalidArgument("filter, at byte {}: column '{}' is of type {}: LIKE and STARTS WITH need string",
                               parsed.at, column.name, column.type.ToString());
      }
      if (op == Op::kStartsWith || op == Op::kNotStartsWith)
        return BindPrefix(parsed.literals.front(), op, std::move(column));
    }
    if (op == Op::kIn || op == Op::kNotIn) return BindList(parsed, op, std::move(column));
    const ParsedLiteral& literal = parsed.literals.front();
    if (literal.kind == ParsedLiteral::Kind::kNull) return Expr::False();  // unknown selects nothing
    return FoldComparison(op, column, DELENDA_TRY(PlaceLiteral(literal, column)));
  }

  static Result<ExprRef> BindPrefix(const ParsedLiteral& literal, Op op, BoundColumn column) {
    // Every text starts with the empty text.
    if (literal.text.empty())
      return op == Op::kStartsWith ? Expr::Leaf(Op::kNotNull, std::move(column), {}) : Expr::False();
    return Expr::Leaf(op, std::move(column), {Datum(literal.text)});
  }

  static Result<ExprRef> BindList(const ParsedExpr& parsed, Op op, BoundColumn column) {
    std::vector<Datum> values;
    bool has_null = false;
    for (const ParsedLiteral& literal : parsed.literals) {
      if (literal.kind == ParsedLiteral::Kind::kNull) {
        has_null = true;
        continue;
      }
      Placed placed = DELENDA_TRY(PlaceLiteral(literal, column));
      if (placed.value) values.push_back(std::move(*placed.value));  // no value of the column equals any other literal
    }
    // "x NOT IN (1, NULL)" is false or unknown, never true.
    if (op == Op::kNotIn && has_null) return Expr::False();
    return Expr::Leaf(op, std::move(column), std::move(values));
  }

  const Schema& schema_;
};

}  // namespace

Result<ExprRef> BindExpression(const ParsedExpr& parsed, const Schema& schema) {
  return FilterBinder(schema).Bind(parsed, false);
}

Result<ExprRef> BindText(std::string_view text, const Schema& schema) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Expr::True();
  const auto parsed = DELENDA_TRY(ParseExpression(text));
  return BindExpression(*parsed, schema);
}

}  // namespace delenda
