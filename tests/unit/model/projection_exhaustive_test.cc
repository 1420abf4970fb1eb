// Every operator on every pair of boundary values, for every transform: the places where an off-by-one would lose rows.
#include <gtest/gtest.h>

#include <limits>

#include "delenda/model/calendar.h"
#include "delenda/model/partition.h"

namespace delenda {
namespace {

std::vector<Datum> BoundaryValues(const Type& type) {
  std::vector<Datum> values;
  const auto around = [&](std::initializer_list<int64_t> centres, int64_t unit) {
    for (const int64_t centre : centres) {
      for (const int64_t step : {-1, 0, 1}) values.emplace_back(centre * unit + step);
    }
  };
  switch (type.kind()) {
    case TypeKind::kInt:
    case TypeKind::kLong: {
      const bool is_int = type.kind() == TypeKind::kInt;
      const int64_t least = is_int ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
      const int64_t most = is_int ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
      for (int64_t i = 0; i < 12; ++i) {
        values.emplace_back(least + i);
        values.emplace_back(most - i);
      }
      for (int64_t i = -22; i <= 22; ++i) values.emplace_back(i);
      break;
    }
    case TypeKind::kDecimal:
      for (int i = -22; i <= 22; ++i) values.emplace_back(Int128{i});
      break;
    case TypeKind::kDate: around({-731, -365, -31, 0, 31, 59, 365, 366, 731}, 1); break;
    case TypeKind::kTimestamp:
      around({-366 * 24, -365 * 24, -31 * 24, -48, -24, -1, 0, 1, 24, 31 * 24, 365 * 24}, kMicrosPerHour);
      break;
    case TypeKind::kTimestampTzNs: around({-365 * 24, -31 * 24, -24, -1, 0, 1, 24, 365 * 24}, kNanosPerHour); break;
    default:
      for (const char* text : {"", "a", "ab", "aba", "abc", "abcd", "abd", "ü", "aü", "aüb", "b"})
        values.emplace_back(std::string(text));
  }
  return values;
}

bool IsOldWriterCase(const Transform& transform, const Type& type, const Datum& stored) {
  const Transform::Kind kind = transform.kind();
  const bool calendar = kind == Transform::Kind::kYear || kind == Transform::Kind::kMonth ||
                        kind == Transform::Kind::kHour ||
                        (kind == Transform::Kind::kDay && type.kind() != TypeKind::kDate);
  const auto* value = std::get_if<int64_t>(&stored);
  return calendar && value != nullptr && *value < 0;
}

void CheckRow(const Expr& leaf, const BoundSpec& spec, const Expr& projected, const Datum& row, const Datum& stored) {
  const bool selected = EvaluateLeaf(leaf, row) == Truth::kTrue;
  const auto stored_value = [&](const BoundColumn&) -> const Datum& { return stored; };
  const auto row_value = [&](const BoundColumn&) -> const Datum& { return row; };
  const bool in_partition = EvaluateRow(projected, stored_value) == Truth::kTrue;
  const ExprRef residual = ResidualFor(leaf, spec, {{stored}});
  const bool left = EvaluateRow(*residual, row_value) == Truth::kTrue;
  if ((in_partition || !selected) && left == selected) return;
  ADD_FAILURE() << spec.spec.fields[0].transform.ToString() << ": " << leaf.ToString() << ", row "
                << DatumToText(leaf.column.type, row) << " in " << PartitionText(spec, {{stored}}) << ", projected "
                << projected.ToString() << ", residual " << residual->ToString();
}

TEST(ExhaustiveProjection, NeverLosesARowAndTheResidualIsExact) {
  const std::vector<Op> ops = {Op::kLess,     Op::kLessEqual, Op::kGreater, Op::kGreaterEqual, Op::kEqual,
                               Op::kNotEqual, Op::kIn,        Op::kNotIn,   Op::kStartsWith,   Op::kNotStartsWith};
  const std::vector<std::string> transforms = {"identity",    "bucket[3]",    "truncate[1]",  "truncate[2]",
                                               "truncate[3]", "truncate[10]", "truncate[16]", "year",
                                               "month",       "day",          "hour",         "void"};
  for (const Type& type :
       {Type(TypeKind::kInt), Type(TypeKind::kLong), Type::Decimal(9, 2), Type(TypeKind::kDate),
        Type(TypeKind::kTimestamp), Type(TypeKind::kTimestampTzNs), Type(TypeKind::kString), Type(TypeKind::kBinary)}) {
    const Schema schema = Schema::Make(0, {{.id = 1, .name = "c", .type = type}}).value();
    const std::vector<Datum> values = BoundaryValues(type);
    for (const std::string& name : transforms) {
      const Transform transform = Transform::Parse(name).value();
      if (!transform.Apply(type, Datum())) continue;
      PartitionSpec plain;
      plain.fields.push_back({.source_id = 1, .field_id = 1000, .name = "p", .transform = transform});
      const BoundSpec spec = BoundSpec::Make(plain, schema);
      std::vector<Datum> stored;
      for (const Datum& value : values) stored.push_back(transform.Apply(type, value).value());
      for (const Op op : ops) {
        if ((op == Op::kStartsWith || op == Op::kNotStartsWith) && type.kind() != TypeKind::kString) continue;
        for (size_t i = 0; i < values.size(); ++i) {
          std::vector<Datum> literals = {values[i]};
          if (op == Op::kIn || op == Op::kNotIn) literals.push_back(values[(i * 7 + 3) % values.size()]);
          const ExprRef leaf = Expr::Leaf(op, {.field_id = 1, .type = type, .name = "c", .path = {1}}, literals);
          const ExprRef projected = ProjectInclusive(*leaf, spec);
          for (size_t j = 0; j < values.size(); ++j) {
            CheckRow(*leaf, spec, *projected, values[j], stored[j]);
            if (!IsOldWriterCase(transform, type, stored[j])) continue;
            CheckRow(*leaf, spec, *projected, values[j], Datum(std::get<int64_t>(stored[j]) + 1));
          }
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace delenda
