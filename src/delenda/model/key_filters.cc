#include "delenda/model/key_filters.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "delenda/model/exact_number.h"
#include "delenda/model/transform_values.h"

namespace delenda {
namespace {

constexpr size_t kChunkKeys = 200;

// `parts`, OR NULL and NaN where there are such keys.
ExprRef OrNullAndNan(std::vector<ExprRef> parts, const SortedValues& of, const BoundColumn& column) {
  if (of.has_null()) parts.push_back(Expr::Leaf(Op::kIsNull, column, {}));
  if (of.has_nan()) parts.push_back(Expr::Leaf(Op::kIsNan, column, {}));
  return Expr::Or(std::move(parts));
}

ExprRef ChunkFilter(const std::vector<SortedKeys::Column>& columns, std::span<const std::vector<Datum>> keys) {
  std::vector<ExprRef> all;
  for (size_t i = 0; i < columns.size(); ++i) {
    const BoundColumn& column = columns[i].column;
    std::vector<Datum> values;
    for (const auto& key : keys) values.push_back(key[i]);
    const SortedValues of = SortedValues::Of(values);
    std::erase_if(values, [](const Datum& value) { return IsNull(value) || IsNan(value); });
    std::vector<ExprRef> parts;
    if (!values.empty()) parts.push_back(Expr::Leaf(Op::kIn, column, std::move(values)));
    all.push_back(OrNullAndNan(std::move(parts), of, column));
  }
  return Expr::And(std::move(all));
}

// The distances between neighbours of a column's values.
class Gaps {
 public:
  explicit Gaps(const SortedValues& values) : values_(values) {
    const Datum low = values.At(0), high = values.At(values.size() - 1);
    if (!std::holds_alternative<std::string>(low)) return;
    // What all texts begin with says nothing about their distance.
    const std::string_view first = std::get<std::string>(low), last = std::get<std::string>(high);
    while (prefix_ < std::min(first.size(), last.size()) && first[prefix_] == last[prefix_]) ++prefix_;
  }

  // Between values `at` and `at` + 1; 0: nothing lies between them.
  long double operator()(size_t at) const {
    const Datum a = values_.At(at), b = values_.At(at + 1);
    if (const auto* low = std::get_if<int64_t>(&a))
      return static_cast<long double>(static_cast<UInt128>(std::get<int64_t>(b)) - static_cast<UInt128>(*low) - 1);
    if (const auto* low = std::get_if<Int128>(&a))
      return static_cast<long double>(static_cast<UInt128>(std::get<Int128>(b)) - static_cast<UInt128>(*low) - 1);
    if (const auto* low = std::get_if<float>(&a)) return static_cast<long double>(std::get<float>(b)) - *low;
    if (const auto* low = std::get_if<double>(&a)) return static_cast<long double>(std::get<double>(b)) - *low;
    if (const auto* low = std::get_if<std::string>(&a))
      return static_cast<long double>(Number(std::get<std::string>(b)) - Number(*low)) + 1;
    return 0;  // false, true
  }

 private:
  // The bytes behind the common beginning as a number.
  UInt128 Number(std::string_view text) const {
    UInt128 number = 0;
    for (size_t i = prefix_; i < prefix_ + 15; ++i)
      number = number << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
    return number;
  }

  const SortedValues& values_;
  size_t prefix_ = 0;
};

ExprRef RangeFilter(const SortedKeys::Column& key, size_t most) {
  const SortedValues& values = key.values;
  std::vector<ExprRef> parts;
  if (values.size() > 0) {
    const Gaps gaps(values);
    std::vector<std::pair<long double, size_t>> splits;  // width, the value that it follows
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      if (const long double width = gaps(i); width > 0) splits.emplace_back(width, i);
    }
    if (splits.size() >= most) {
      std::ranges::nth_element(splits, splits.begin() + static_cast<std::ptrdiff_t>(most - 1), std::greater<>());
      splits.resize(most - 1);
    }
    std::ranges::sort(splits, {}, [](const auto& split) { return split.second; });
    splits.emplace_back(0, values.size() - 1);
    size_t first = 0;
    for (const auto& [width, last] : splits) {
      Datum low = values.At(first), high = values.At(last);
      parts.push_back(first == last ? Expr::Leaf(Op::kEqual, key.column, {std::move(low)})
                                    : Expr::And({Expr::Leaf(Op::kGreaterEqual, key.column, {std::move(low)}),
                                                 Expr::Leaf(Op::kLessEqual, key.column, {std::move(high)})}));
      first = last + 1;
    }
  }
  return OrNullAndNan(std::move(parts), values, key.column);
}

ExprRef Pin(const BoundColumn& column, const Transform& transform, const Datum& value) {
  using Kind = Transform::Kind;
  const Kind kind = transform.kind();
  if (kind == Kind::kVoid || kind == Kind::kUnknown || !TransformTakes(kind, column.type)) return Expr::True();
  if (IsNull(value)) return Expr::Leaf(Op::kIsNull, column, {});
  if (IsNan(value)) return Expr::Leaf(Op::kIsNan, column, {});
  if (kind == Kind::kIdentity) return Expr::Leaf(Op::kEqual, column, {value});
  if (kind == Kind::kTruncate && std::holds_alternative<std::string>(value)) {
    // Shorter than the width, it is the whole value.
    const bool whole =
        TruncationLength(column.type, std::get<std::string>(value)) < static_cast<size_t>(transform.parameter());
    return Expr::Leaf(whole ? Op::kEqual : Op::kStartsWith, column, {value});
  }
  if (kind == Kind::kTruncate && TruncateOverflows(column.type, transform.parameter())) return Expr::True();
  if (const auto range = SourceRangeOf(transform, column.type, value))
    return Expr::And(
        {Expr::Leaf(Op::kGreaterEqual, column, {range->lowest}), Expr::Leaf(Op::kLessEqual, column, {range->highest})});
  return Expr::Leaf(Op::kNotNull, column, {});
}

}  // namespace

size_t KeyComparisonBudget(std::optional<int64_t> data_files) {
  constexpr int64_t kWholeTable = 200'000'000, kLeast = 200, kMost = 1000;
  if (!data_files || *data_files < 0) return kLeast;
  return static_cast<size_t>(std::clamp(kWholeTable / std::max<int64_t>(*data_files, 1), kLeast, kMost));
}

ExprRef KeyFilter(const SortedKeys& keys, size_t count, size_t budget,
                  const std::function<std::vector<std::vector<Datum>>()>& rows) {
  if (count == 0) return Expr::False();
  if (count > budget / keys.columns().size())
    return RangeFilter(keys.columns().front(), std::max<size_t>(budget / 2, 1));
  auto all = rows();
  // Neighbours in one chunk, since what a chunk allows is each of its values in any combination. (NULL comes first.)
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return std::ranges::lexicographical_compare(
        a, b, [](const Datum& left, const Datum& right) { return CompareDatum(left, right) < 0; });
  });
  std::vector<ExprRef> chunks;
  for (size_t begin = 0; begin < all.size(); begin += kChunkKeys)
    chunks.push_back(
        ChunkFilter(keys.columns(), std::span(all).subspan(begin, std::min(kChunkKeys, all.size() - begin))));
  return Expr::Or(std::move(chunks));
}

ExprRef PartitionPin(const BoundSpec& spec, const PartitionTuple& tuple, const Schema& schema) {
  std::vector<ExprRef> pins;
  for (size_t i = 0; i < spec.spec.fields.size() && i < tuple.values.size(); ++i) {
    const PartitionField& field = spec.spec.fields[i];
    const Schema::Path path = schema.FindById(field.source_id);
    if (path.empty() || !(path.back()->type == spec.source_types[i])) continue;
    BoundColumn column{.field_id = field.source_id, .type = path.back()->type, .name = FullName(path), .path = {}};
    for (const Field* step : path) column.path.push_back(step->id);
    pins.push_back(Pin(column, field.transform, tuple.values[i]));
  }
  return Expr::And(std::move(pins));
}

}  // namespace delenda
