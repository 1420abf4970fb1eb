// Filters on rows turned into filters on partition values.
#include <limits>
#include <optional>

#include "delenda/model/partition.h"
#include "delenda/model/transform_values.h"

namespace delenda {

namespace {

// Projects one leaf onto one partition field.
class LeafProjection {
 public:
  LeafProjection(const Expr& leaf, const PartitionField& field, const Type& source, const Type& result)
      : leaf_(leaf),
        transform_(field.transform),
        source_(source),
        column_{.field_id = field.field_id, .type = result, .name = field.name, .path = {field.field_id}} {}

  ExprRef Project() const {
    using Kind = Transform::Kind;
    const Kind kind = transform_.kind();
    // void is NULL for every row and an unknown transform may give anything: neither says which rows are there.
    if (kind == Kind::kVoid || kind == Kind::kUnknown || !TransformTakes(kind, source_)) return Expr::True();
    if (leaf_.op == Op::kIsNull || leaf_.op == Op::kNotNull) return Make(leaf_.op, {});
    if (!LiteralsKeepMeaning(leaf_.column.type, source_)) return Expr::True();
    if (kind == Kind::kIdentity) return Make(leaf_.op, leaf_.values);
    if (leaf_.values.empty()) return Expr::True();
    if (kind == Kind::kBucket) return ProjectBucket();
    if (kind == Kind::kTruncate && std::holds_alternative<std::string>(leaf_.values.front())) return ProjectPrefix();
    if (kind == Kind::kTruncate) return ProjectTruncated();
    return ProjectCalendar();
  }

 private:
  ExprRef Make(Op op, std::vector<Datum> values) const { return Expr::Leaf(op, column_, std::move(values)); }

  // The transform of each literal; empty when one cannot be transformed (a literal of another type).
  std::optional<std::vector<Datum>> Transformed() const {
    std::vector<Datum> values;
    values.reserve(leaf_.values.size());
    for (const Datum& value : leaf_.values) {
      auto transformed = transform_.Apply(source_, value);
      if (!transformed) return std::nullopt;
      values.push_back(std::move(*transformed));
    }
    return values;
  }

  ExprRef ProjectBucket() const {
    if (leaf_.op != Op::kEqual && leaf_.op != Op::kIn) return Expr::True();
    auto values = Transformed();
    return values ? Make(leaf_.op, std::move(*values)) : Expr::True();
  }

  // truncate on a string or binary column.
  ExprRef ProjectPrefix() const {
    const auto width = static_cast<size_t>(transform_.parameter());
    const auto length_of = [&](const Datum& value) {
      const auto* text = std::get_if<std::string>(&value);
      return text == nullptr ? width : TruncationLength(source_, *text);
    };
    auto values = Transformed();
    if (!values) return Expr::True();
    const Datum& literal = leaf_.values.front();
    const size_t length = length_of(literal);
    switch (leaf_.op) {
      case Op::kEqual:
      case Op::kIn: return Make(leaf_.op, std::move(*values));
      case Op::kLess:
        // A partition value is never above its rows: below a short literal, it is below it too.
        return length <= width ? Make(Op::kLess, {literal}) : Make(Op::kLessEqual, std::move(*values));
      case Op::kLessEqual: return Make(Op::kLessEqual, std::move(*values));
      case Op::kGreater:
      case Op::kGreaterEqual: return Make(Op::kGreaterEqual, std::move(*values));
      case Op::kStartsWith: return Make(length < width ? Op::kStartsWith : Op::kEqual, std::move(*values));
      case Op::kNotStartsWith: return length <= width ? Make(Op::kNotStartsWith, {literal}) : Expr::True();
      case Op::kNotEqual:
      case Op::kNotIn: {
        // Only partitions of values shorter than the width hold one value.
        std::vector<Datum> excluded;
        for (const Datum& value : leaf_.values) {
          if (length_of(value) < width) excluded.push_back(value);
        }
        return excluded.empty() ? Expr::True() : Make(Op::kNotIn, std::move(excluded));
      }
      default: return Expr::True();
    }
  }

  // The literal, one step lower or higher for < and >: x < 20 is x <= 19, and 19 may lie in an earlier partition
  // than 20.
  Datum ClosedLiteral() const {
    const Datum& literal = leaf_.values.front();
    const int step = leaf_.op == Op::kLess ? -1 : leaf_.op == Op::kGreater ? 1 : 0;
    if (const auto* unscaled = std::get_if<Int128>(&literal)) return Datum(*unscaled + step);  // within ±10^38
    const auto* value = std::get_if<int64_t>(&literal);
    if (value == nullptr) return literal;
    const bool at_end = (step < 0 && *value == std::numeric_limits<int64_t>::min()) ||
                        (step > 0 && *value == std::numeric_limits<int64_t>::max());
    return at_end ? literal : Datum(*value + step);
  }

  // truncate on int, long or decimal.
  ExprRef ProjectTruncated() const {
    const int32_t width = transform_.parameter();
    if (TruncateOverflows(source_, width)) return Expr::True();
    if (leaf_.op == Op::kEqual || leaf_.op == Op::kIn) {
      auto values = Transformed();
      if (!values) return Expr::True();
      for (const Datum& literal : leaf_.values) {
        const auto* value = std::get_if<int64_t>(&literal);
        const auto other = value == nullptr ? std::nullopt : TruncatedWhenInt(source_, *value, width);
        if (other) values->emplace_back(*other);
      }
      return Make(Op::kIn, std::move(*values));
    }
    const bool downwards = leaf_.op == Op::kLess || leaf_.op == Op::kLessEqual;
    const bool upwards = leaf_.op == Op::kGreater || leaf_.op == Op::kGreaterEqual;
    if (!downwards && !upwards) return Expr::True();
    const Datum closed = ClosedLiteral();
    if (const auto* unscaled = std::get_if<Int128>(&closed)) {
      return Make(downwards ? Op::kLessEqual : Op::kGreaterEqual, {Datum(TruncatedExact(*unscaled, width))});
    }
    const auto* value = std::get_if<int64_t>(&closed);
    if (value == nullptr) return Expr::True();
    const Int128 exact = TruncatedExact(*value, width);
    // The lowest values of the type wrap to one partition at the top: rows like LONG_MIN, which "<" must not lose.
    const auto wrapped = WrappedPartition(source_, width);
    const int64_t least =
        source_.kind() == TypeKind::kInt ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
    if (exact < least) {
      if (!wrapped || upwards) return Expr::True();
      return Make(Op::kEqual, {Datum(*wrapped)});
    }
    const Datum bound(static_cast<int64_t>(exact));
    if (upwards) return Make(Op::kGreaterEqual, {bound});
    std::vector<ExprRef> partitions = {Make(Op::kLessEqual, {bound})};
    if (wrapped) partitions.push_back(Make(Op::kEqual, {Datum(*wrapped)}));
    if (const auto wrapped_int = WrappedIntPartition(source_, width))
      partitions.push_back(Make(Op::kEqual, {Datum(*wrapped_int)}));
    return Expr::Or(std::move(partitions));
  }

  // year, month, day, hour.
  ExprRef ProjectCalendar() const {
    const bool widen = MayBeOneTooHigh(transform_.kind(), source_);
    // What an old writer may have stored for this value, beside the right one.
    const auto too_high = [&](const Datum& stored) -> std::optional<Datum> {
      const auto* value = std::get_if<int64_t>(&stored);
      if (!widen || value == nullptr || *value >= 0) return std::nullopt;
      return Datum(*value + 1);
    };
    switch (leaf_.op) {
      case Op::kEqual:
      case Op::kIn: {
        auto values = Transformed();
        if (!values) return Expr::True();
        std::vector<Datum> all = *values;
        for (const Datum& value : *values) {
          if (auto other = too_high(value)) all.push_back(std::move(*other));
        }
        return Make(Op::kIn, std::move(all));
      }
      case Op::kLess:
      case Op::kLessEqual: {
        auto bound = transform_.Apply(source_, ClosedLiteral());
        if (!bound) return Expr::True();
        if (auto other = too_high(*bound)) return Make(Op::kLessEqual, {std::move(*other)});
        return Make(Op::kLessEqual, {std::move(*bound)});
      }
      case Op::kGreater:
      case Op::kGreaterEqual: {
        auto bound = transform_.Apply(source_, ClosedLiteral());
        return bound ? Make(Op::kGreaterEqual, {std::move(*bound)}) : Expr::True();
      }
      default: return Expr::True();
    }
  }

  const Expr& leaf_;
  const Transform& transform_;
  const Type& source_;
  BoundColumn column_;
};

}  // namespace

ExprRef ProjectInclusive(const Expr& expr, const BoundSpec& spec) {
  switch (expr.op) {
    case Op::kTrue:
    case Op::kNot: return Expr::True();  // kNot is in no bound expression
    case Op::kFalse: return Expr::False();
    case Op::kAnd:
    case Op::kOr: {
      std::vector<ExprRef> children;
      children.reserve(expr.children.size());
      for (const ExprRef& child : expr.children) children.push_back(ProjectInclusive(*child, spec));
      return expr.op == Op::kAnd ? Expr::And(std::move(children)) : Expr::Or(std::move(children));
    }
    default: break;
  }
  // Several fields may come from one column: each must allow the row.
  std::vector<ExprRef> projections;
  for (size_t i = 0; i < spec.spec.fields.size(); ++i) {
    const PartitionField& field = spec.spec.fields[i];
    if (field.source_id != expr.column.field_id) continue;
    projections.push_back(LeafProjection(expr, field, spec.source_types[i], spec.result_types[i]).Project());
  }
  return Expr::And(std::move(projections));
}

}  // namespace delenda
