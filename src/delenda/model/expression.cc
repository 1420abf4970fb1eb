// Building bound expressions and writing them as text.
#include "delenda/model/expression.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "delenda/model/parsed_expression.h"

namespace delenda {

namespace {

ExprRef Combined(Op op, std::vector<ExprRef> children) {
  const Op absorbing = op == Op::kAnd ? Op::kFalse : Op::kTrue;
  const Op neutral = op == Op::kAnd ? Op::kTrue : Op::kFalse;
  std::vector<ExprRef> flat;
  for (ExprRef& child : children) {
    if (child->op == absorbing) return child;
    if (child->op == neutral) continue;
    if (child->op == op) {
      flat.insert(flat.end(), child->children.begin(), child->children.end());
    } else {
      flat.push_back(std::move(child));
    }
  }
  if (flat.empty()) return neutral == Op::kTrue ? Expr::True() : Expr::False();
  if (flat.size() == 1) return flat.front();
  auto combined = std::make_shared<Expr>();
  combined->op = op;
  combined->children = std::move(flat);
  return combined;
}

std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    quoted.push_back(c);
    if (c == quote) quoted.push_back(c);
  }
  quoted.push_back(quote);
  return quoted;
}

// Bare when the parser reads it back as this name, else quoted whole: a quoted name may hold dots.
std::string NameText(std::string_view name) {
  const auto is_word = [](std::string_view word) {
    const auto starts = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !word.empty() && starts(word.front()) &&
           std::all_of(word.begin(), word.end(), [&](char c) { return starts(c) || (c >= '0' && c <= '9'); });
  };
  bool bare = !IsReservedWord(name);
  std::string_view rest = name;
  while (bare) {
    const size_t dot = rest.find('.');
    bare = is_word(rest.substr(0, dot));
    if (dot == std::string_view::npos) break;
    rest = rest.substr(dot + 1);
  }
  return bare ? std::string(name) : Quoted(name, '"');
}

std::string LiteralText(const Type& type, const Datum& value) {
  const std::string text = DatumToText(type, value);
  switch (type.kind()) {
    case TypeKind::kBoolean: return text == "true" ? "TRUE" : "FALSE";
    case TypeKind::kInt:
    case TypeKind::kLong:
    case TypeKind::kDecimal: return text;
    case TypeKind::kFloat:
      // As the double that it equals: numbers in a filter are doubles, and 0.1 would be read as no float at all.
      if (const auto* number = std::get_if<float>(&value); number != nullptr && std::isfinite(*number)) {
        return fmt::format("{}", static_cast<double>(*number));
      }
      return Quoted(text, '\'');
    case TypeKind::kDouble:
      if (const auto* number = std::get_if<double>(&value); number != nullptr && std::isfinite(*number)) return text;
      return Quoted(text, '\'');
    case TypeKind::kDate: return "DATE " + Quoted(text, '\'');
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: return "TIMESTAMP " + Quoted(text, '\'');
    case TypeKind::kFixed:
    case TypeKind::kBinary: return "X" + Quoted(text, '\'');
    default: return Quoted(text, '\'');
  }
}

std::string_view OperatorText(Op op) {
  switch (op) {
    case Op::kIsNull: return "IS NULL";
    case Op::kNotNull: return "IS NOT NULL";
    case Op::kIsNan: return "IS NAN";
    case Op::kNotNan: return "IS NOT NAN";
    case Op::kLess: return "<";
    case Op::kLessEqual: return "<=";
    case Op::kGreater: return ">";
    case Op::kGreaterEqual: return ">=";
    case Op::kEqual: return "=";
    case Op::kNotEqual: return "!=";
    case Op::kIn: return "IN";
    case Op::kNotIn: return "NOT IN";
    case Op::kStartsWith: return "STARTS WITH";
    case Op::kNotStartsWith: return "NOT STARTS WITH";
    default: return "?";
  }
}

void CollectColumns(const Expr& expr, std::set<int32_t>* ids) {
  if (expr.children.empty()) {
    if (!expr.column.path.empty()) ids->insert(expr.column.path.front());
    return;
  }
  for (const ExprRef& child : expr.children) CollectColumns(*child, ids);
}

}  // namespace

ExprRef Expr::True() {
  static const ExprRef kTrueExpr = std::make_shared<const Expr>();
  return kTrueExpr;
}

ExprRef Expr::False() {
  static const ExprRef kFalseExpr = [] {
    auto expr = std::make_shared<Expr>();
    expr->op = Op::kFalse;
    return expr;
  }();
  return kFalseExpr;
}

ExprRef Expr::And(std::vector<ExprRef> children) { return Combined(Op::kAnd, std::move(children)); }
ExprRef Expr::Or(std::vector<ExprRef> children) { return Combined(Op::kOr, std::move(children)); }

ExprRef Expr::Leaf(Op op, BoundColumn column, std::vector<Datum> values) {
  if (op == Op::kIn || op == Op::kNotIn) {
    std::erase_if(values, [](const Datum& value) { return IsNull(value); });
    std::sort(values.begin(), values.end(), [](const Datum& a, const Datum& b) { return CompareDatum(a, b) < 0; });
    values.erase(std::unique(values.begin(), values.end(),
                             [](const Datum& a, const Datum& b) { return CompareDatum(a, b) == 0; }),
                 values.end());
    if (values.empty() && op == Op::kIn) return False();
    if (values.empty()) op = Op::kNotNull;
    if (values.size() == 1) op = op == Op::kIn ? Op::kEqual : Op::kNotEqual;
  }
  auto leaf = std::make_shared<Expr>();
  leaf->op = op;
  leaf->column = std::move(column);
  leaf->values = std::move(values);
  return leaf;
}

std::string Expr::ToString() const {
  switch (op) {
    case Op::kTrue: return "TRUE";
    case Op::kFalse: return "FALSE";
    case Op::kNot: return fmt::format("NOT ({})", children.front()->ToString());
    case Op::kAnd:
    case Op::kOr: {
      std::string text;
      for (const ExprRef& child : children) {
        if (!text.empty()) text += op == Op::kAnd ? " AND " : " OR ";
        const bool nested = child->op == Op::kAnd || child->op == Op::kOr;
        text += nested ? fmt::format("({})", child->ToString()) : child->ToString();
      }
      return text;
    }
    case Op::kIn:
    case Op::kNotIn: {
      std::string list;
      for (const Datum& value : values) list += (list.empty() ? "" : ", ") + LiteralText(column.type, value);
      return fmt::format("{} {} ({})", NameText(column.name), OperatorText(op), list);
    }
    default: break;
  }
  if (values.empty()) return fmt::format("{} {}", NameText(column.name), OperatorText(op));
  return fmt::format("{} {} {}", NameText(column.name), OperatorText(op), LiteralText(column.type, values.front()));
}

std::vector<int32_t> Expr::LeafColumns() const {
  if (op == Op::kTrue || op == Op::kFalse) return {};
  if (children.empty()) return {column.field_id};
  std::set<int32_t> ids;
  for (const ExprRef& child : children) {
    for (const int32_t id : child->LeafColumns()) ids.insert(id);
  }
  return {ids.begin(), ids.end()};
}

std::vector<int32_t> Expr::TopLevelColumns() const {
  std::set<int32_t> ids;
  CollectColumns(*this, &ids);
  return {ids.begin(), ids.end()};
}

}  // namespace delenda
