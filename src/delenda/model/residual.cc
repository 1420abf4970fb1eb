// What is left of a filter inside one partition.
#include <algorithm>
#include <optional>

#include "delenda/model/partition.h"
#include "delenda/model/transform_values.h"

namespace delenda {

namespace {

// Does the leaf hold for all (true), for none (false), or for some (empty) of the values from `range.lowest` to
// `range.highest`?
std::optional<bool> DecideByRange(const Expr& leaf, const SourceRange& range) {
  const auto lowest = [&](const Datum& value) { return CompareDatum(range.lowest, value); };
  const auto highest = [&](const Datum& value) { return CompareDatum(range.highest, value); };
  const auto outside = [&](const Datum& value) { return lowest(value) > 0 || highest(value) < 0; };
  const Datum& value = leaf.values.front();
  const auto decide = [](bool all, bool none) -> std::optional<bool> {
    if (all) return true;
    if (none) return false;
    return std::nullopt;
  };
  switch (leaf.op) {
    case Op::kLess: return decide(highest(value) < 0, lowest(value) >= 0);
    case Op::kLessEqual: return decide(highest(value) <= 0, lowest(value) > 0);
    case Op::kGreater: return decide(lowest(value) > 0, highest(value) <= 0);
    case Op::kGreaterEqual: return decide(lowest(value) >= 0, highest(value) < 0);
    case Op::kEqual: return decide(lowest(value) == 0 && highest(value) == 0, outside(value));
    case Op::kNotEqual: return decide(outside(value), lowest(value) == 0 && highest(value) == 0);
    case Op::kIn: return decide(false, std::all_of(leaf.values.begin(), leaf.values.end(), outside));
    case Op::kNotIn: return decide(std::all_of(leaf.values.begin(), leaf.values.end(), outside), false);
    default: return std::nullopt;
  }
}

// The same for all values that start with `prefix` (the prefix itself among them).
std::optional<bool> DecideByPrefix(const Expr& leaf, const std::string& prefix) {
  const auto text_of = [](const Datum& value) { return std::get_if<std::string>(&value); };
  const auto possible = [&](const Datum& value) {
    return text_of(value) == nullptr || text_of(value)->starts_with(prefix);
  };
  const std::string* value = text_of(leaf.values.front());
  if (value == nullptr) return std::nullopt;
  const bool inside = value->starts_with(prefix);  // else the prefix alone decides the order
  switch (leaf.op) {
    case Op::kLess:
      if (!inside) return prefix < *value;
      return *value == prefix ? std::optional(false) : std::nullopt;
    case Op::kGreaterEqual:
      if (!inside) return prefix > *value;
      return *value == prefix ? std::optional(true) : std::nullopt;
    case Op::kLessEqual: return inside ? std::nullopt : std::optional(prefix < *value);
    case Op::kGreater: return inside ? std::nullopt : std::optional(prefix > *value);
    case Op::kEqual:
    case Op::kIn:
      return std::none_of(leaf.values.begin(), leaf.values.end(), possible) ? std::optional(false) : std::nullopt;
    case Op::kNotEqual:
    case Op::kNotIn:
      return std::none_of(leaf.values.begin(), leaf.values.end(), possible) ? std::optional(true) : std::nullopt;
    case Op::kStartsWith:
    case Op::kNotStartsWith: {
      const bool wanted = leaf.op == Op::kStartsWith;
      if (prefix.starts_with(*value)) return wanted;
      if (!inside) return !wanted;
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::optional<bool> DecideByBucket(const Expr& leaf, const Transform& transform, const Type& source,
                                   const Datum& stored) {
  const bool positive = leaf.op == Op::kEqual || leaf.op == Op::kIn;
  const bool negative = leaf.op == Op::kNotEqual || leaf.op == Op::kNotIn;
  if (!positive && !negative) return std::nullopt;
  for (const Datum& value : leaf.values) {
    const auto bucket = transform.Apply(source, value);
    if (!bucket || SamePartitionValue(*bucket, stored)) return std::nullopt;
  }
  return negative;
}

// Does the leaf select every row of a partition with the value `stored` (true), none (false), or is it open (empty)?
std::optional<bool> Decide(const Expr& leaf, const Transform& transform, const Type& source, const Datum& stored) {
  using Kind = Transform::Kind;
  const Kind kind = transform.kind();
  if (kind == Kind::kVoid || kind == Kind::kUnknown || !TransformTakes(kind, source)) return std::nullopt;
  if (leaf.op == Op::kIsNull) return IsNull(stored);
  if (leaf.op == Op::kNotNull) return !IsNull(stored);
  // The column is NULL in every row. Unknown does not select, and a bound filter has no NOT that could turn it round.
  if (IsNull(stored)) return leaf.op == Op::kNotNan;
  if (!LiteralsKeepMeaning(leaf.column.type, source)) return std::nullopt;
  if (kind == Kind::kIdentity) return EvaluateLeaf(leaf, stored) == Truth::kTrue;
  if (leaf.values.empty()) return std::nullopt;
  if (kind == Kind::kBucket) return DecideByBucket(leaf, transform, source, stored);
  if (const auto* prefix = std::get_if<std::string>(&stored)) {
    if (kind != Kind::kTruncate) return std::nullopt;
    // A value shorter than the width was not cut: it is the value of every row.
    if (TruncationLength(source, *prefix) < static_cast<size_t>(transform.parameter())) {
      return EvaluateLeaf(leaf, stored) == Truth::kTrue;
    }
    return DecideByPrefix(leaf, *prefix);
  }
  if (kind == Kind::kTruncate && TruncateOverflows(source, transform.parameter())) return std::nullopt;
  const auto range = SourceRangeOf(transform, source, stored);
  return range ? DecideByRange(leaf, *range) : std::nullopt;
}

}  // namespace

ExprRef ResidualFor(const Expr& expr, const BoundSpec& spec, const PartitionTuple& tuple) {
  switch (expr.op) {
    case Op::kTrue: return Expr::True();
    case Op::kFalse: return Expr::False();
    case Op::kAnd:
    case Op::kOr: {
      std::vector<ExprRef> children;
      children.reserve(expr.children.size());
      for (const ExprRef& child : expr.children) children.push_back(ResidualFor(*child, spec, tuple));
      return expr.op == Op::kAnd ? Expr::And(std::move(children)) : Expr::Or(std::move(children));
    }
    case Op::kNot: return std::make_shared<const Expr>(expr);  // in no bound expression: kept as it is
    default: break;
  }
  const size_t count = std::min(spec.spec.fields.size(), tuple.values.size());
  for (size_t i = 0; i < count; ++i) {
    const PartitionField& field = spec.spec.fields[i];
    if (field.source_id != expr.column.field_id) continue;
    const auto decided = Decide(expr, field.transform, spec.source_types[i], tuple.values[i]);
    if (decided) return *decided ? Expr::True() : Expr::False();
  }
  return std::make_shared<const Expr>(expr);
}

}  // namespace delenda
