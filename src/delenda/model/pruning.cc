#include "delenda/model/pruning.h"

#include <algorithm>

namespace delenda {

namespace {

// Values of these types may be cut short in bounds.
bool BoundsAreExactTypes(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kString:
    case TypeKind::kBinary:
    case TypeKind::kFixed: return false;
    default: return true;
  }
}

// The statistics of one leaf's column, with what is unusable left out.
struct LeafStats {
  bool is_float = false;
  bool no_rows = false;
  bool all_null = false;
  bool no_nulls = false;
  bool no_nans = true;     // known that no row is NaN
  bool only_nans = false;  // known that every non-null row is NaN
  const Datum* lower = nullptr;
  const Datum* upper = nullptr;

  LeafStats(const Type& type, const ColumnStats& stats) : is_float(type.is_float()) {
    const auto rows = stats.value_count;
    no_rows = rows && *rows == 0;
    no_nulls = stats.null_count && *stats.null_count == 0;
    all_null = rows && stats.null_count && *stats.null_count >= *rows;
    if (is_float) {
      no_nans = stats.nan_count && *stats.nan_count == 0;
      only_nans =
          rows && stats.nan_count && *stats.nan_count > 0 && *stats.nan_count >= *rows - stats.null_count.value_or(0);
    }
    // Old writers stored NaN as a bound: it says nothing about the other values.
    if (stats.lower && !IsNull(*stats.lower) && !IsNan(*stats.lower)) lower = &*stats.lower;
    if (stats.upper && !IsNull(*stats.upper) && !IsNan(*stats.upper)) upper = &*stats.upper;
  }

  // No value that is not NaN lies in the direction asked for.
  bool AllAtLeast(const Datum& value) const {
    return lower != nullptr && SameKind(*lower, value) && CompareDatum(*lower, value) >= 0;
  }
  bool AllAbove(const Datum& value) const {
    return lower != nullptr && SameKind(*lower, value) && CompareDatum(*lower, value) > 0;
  }
  bool AllAtMost(const Datum& value) const {
    return upper != nullptr && SameKind(*upper, value) && CompareDatum(*upper, value) <= 0;
  }
  bool AllBelow(const Datum& value) const {
    return upper != nullptr && SameKind(*upper, value) && CompareDatum(*upper, value) < 0;
  }

  // May a value equal `value`?
  bool CouldEqual(const Datum& value) const {
    if (IsNan(value)) return !no_nans;
    return !only_nans && !AllAbove(value) && !AllBelow(value);
  }

 private:
  // A bound of another kind than the literal (a column whose type changed) says nothing.
  static bool SameKind(const Datum& bound, const Datum& value) { return bound.index() == value.index(); }
};

bool CouldStartWith(const LeafStats& stats, const std::string& prefix) {
  if (stats.AllBelow(Datum(prefix))) return false;
  const auto* lower = stats.lower == nullptr ? nullptr : std::get_if<std::string>(stats.lower);
  // Everything is above the last text with this prefix.
  return lower == nullptr || std::string_view(*lower).substr(0, prefix.size()) <= prefix;
}

bool AllStartWith(const LeafStats& stats, const std::string& prefix) {
  if (stats.lower == nullptr || stats.upper == nullptr) return false;
  const auto* lower = std::get_if<std::string>(stats.lower);
  const auto* upper = std::get_if<std::string>(stats.upper);
  return lower != nullptr && upper != nullptr && lower->starts_with(prefix) && upper->starts_with(prefix);
}

bool LeafCouldMatch(const Expr& leaf, const ColumnStats& column_stats) {
  const LeafStats stats(leaf.column.type, column_stats);
  if (stats.no_rows) return false;
  switch (leaf.op) {
    case Op::kIsNull: return !stats.no_nulls;
    case Op::kNotNull: return !stats.all_null;
    case Op::kIsNan: return stats.is_float && !stats.no_nans && !stats.all_null;
    case Op::kNotNan: return !(stats.only_nans && stats.no_nulls);  // NULL is not NaN
    default: break;
  }
  if (stats.all_null) return false;
  if (leaf.values.empty()) return leaf.op != Op::kIn;
  const Datum& value = leaf.values.front();
  const bool literal_nan = IsNan(value);
  switch (leaf.op) {
    case Op::kLess:
      if (stats.only_nans) return false;  // nothing is above NaN
      return literal_nan || !stats.AllAtLeast(value);
    case Op::kLessEqual:
      if (literal_nan) return true;
      return !stats.only_nans && !stats.AllAbove(value);
    case Op::kGreater:
      if (literal_nan) return false;
      return !stats.no_nans || !stats.AllAtMost(value);
    case Op::kGreaterEqual:
      if (!stats.no_nans) return true;
      return !literal_nan && !stats.AllBelow(value);
    case Op::kEqual: return stats.CouldEqual(value);
    case Op::kIn:
      return std::any_of(leaf.values.begin(), leaf.values.end(),
                         [&](const Datum& one) { return stats.CouldEqual(one); });
    case Op::kNotEqual: {
      // Pruned only when every value is the literal. Not for texts: a bound cut short by a careless writer could look
      // equal.
      const bool single = BoundsAreExactTypes(leaf.column.type) && stats.no_nans && !literal_nan &&
                          stats.AllAtLeast(value) && stats.AllAtMost(value);
      return !single;
    }
    case Op::kNotIn: return true;
    case Op::kStartsWith: {
      const auto* prefix = std::get_if<std::string>(&value);
      return prefix == nullptr || CouldStartWith(stats, *prefix);
    }
    case Op::kNotStartsWith: {
      const auto* prefix = std::get_if<std::string>(&value);
      return prefix == nullptr || !AllStartWith(stats, *prefix);
    }
    default: return true;
  }
}

}  // namespace

std::optional<Datum> PruningBound(const Type& type, ByteView bytes) {
  auto value = DatumFromBound(type, bytes);
  if (!value || IsNan(*value)) return std::nullopt;
  return *std::move(value);
}

bool CouldMatch(const Expr& expr, const StatsSource& stats) {
  switch (expr.op) {
    case Op::kTrue: return true;
    case Op::kFalse: return false;
    case Op::kNot: return true;  // never in a bound expression; not knowing prunes nothing
    case Op::kAnd:
      return std::all_of(expr.children.begin(), expr.children.end(),
                         [&](const ExprRef& child) { return CouldMatch(*child, stats); });
    case Op::kOr:
      return std::any_of(expr.children.begin(), expr.children.end(),
                         [&](const ExprRef& child) { return CouldMatch(*child, stats); });
    default: {
      const auto column_stats = stats(expr.column);
      return !column_stats || LeafCouldMatch(expr, *column_stats);
    }
  }
}

}  // namespace delenda
