// Truth tables of the operators on values: what --where means for a row.
#include <algorithm>

#include "delenda/model/expression.h"

namespace delenda {

namespace {

Truth TruthOf(bool value) { return value ? Truth::kTrue : Truth::kFalse; }

bool HoldsFor(const Expr& leaf, const Datum& value) {
  const auto compared = [&] { return CompareDatum(value, leaf.values.front()); };
  const auto is_in = [&] {
    return std::binary_search(leaf.values.begin(), leaf.values.end(), value,
                              [](const Datum& a, const Datum& b) { return CompareDatum(a, b) < 0; });
  };
  const auto starts = [&] {
    const auto* text = std::get_if<std::string>(&value);
    const auto* prefix = std::get_if<std::string>(&leaf.values.front());
    return text != nullptr && prefix != nullptr && text->starts_with(*prefix);
  };
  switch (leaf.op) {
    case Op::kLess: return compared() < 0;
    case Op::kLessEqual: return compared() <= 0;
    case Op::kGreater: return compared() > 0;
    case Op::kGreaterEqual: return compared() >= 0;
    case Op::kEqual: return compared() == 0;
    case Op::kNotEqual: return compared() != 0;
    case Op::kIn: return is_in();
    case Op::kNotIn: return !is_in();
    case Op::kStartsWith: return starts();
    case Op::kNotStartsWith: return !starts();
    default: return false;
  }
}

}  // namespace

Truth EvaluateLeaf(const Expr& leaf, const Datum& value) {
  switch (leaf.op) {
    case Op::kTrue: return Truth::kTrue;
    case Op::kIsNull: return TruthOf(IsNull(value));
    case Op::kNotNull: return TruthOf(!IsNull(value));
    case Op::kIsNan: return TruthOf(IsNan(value));
    case Op::kNotNan: return TruthOf(!IsNan(value));
    case Op::kFalse:
    case Op::kAnd:
    case Op::kOr:
    case Op::kNot: return Truth::kFalse;  // no leaf
    default: break;
  }
  if (IsNull(value)) return Truth::kUnknown;
  if (leaf.values.empty()) return TruthOf(leaf.op == Op::kNotIn);
  return TruthOf(HoldsFor(leaf, value));
}

Truth EvaluateRow(const Expr& expr, const std::function<const Datum&(const BoundColumn&)>& value_of) {
  switch (expr.op) {
    case Op::kTrue: return Truth::kTrue;
    case Op::kFalse: return Truth::kFalse;
    case Op::kNot: {
      const Truth inner = EvaluateRow(*expr.children.front(), value_of);
      if (inner == Truth::kUnknown) return inner;
      return TruthOf(inner == Truth::kFalse);
    }
    case Op::kAnd:
    case Op::kOr: {
      // One deciding child decides; else unknown wins over the neutral value.
      const Truth deciding = expr.op == Op::kAnd ? Truth::kFalse : Truth::kTrue;
      bool unknown = false;
      for (const ExprRef& child : expr.children) {
        const Truth truth = EvaluateRow(*child, value_of);
        if (truth == deciding) return deciding;
        unknown = unknown || truth == Truth::kUnknown;
      }
      if (unknown) return Truth::kUnknown;
      return expr.op == Op::kAnd ? Truth::kTrue : Truth::kFalse;
    }
    default: return EvaluateLeaf(expr, value_of(expr.column));
  }
}

}  // namespace delenda
