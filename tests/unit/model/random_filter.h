// Random rows and filters, with the naive meaning of each filter beside its text.
#pragma once

#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "delenda/model/calendar.h"
#include "delenda/model/expression.h"

namespace delenda {

// One value per column of RandomSchema(), by position.
using RandomRow = std::vector<Datum>;

inline const Schema& RandomSchema() {
  static const Schema kSchema = Schema::Make(0,
                                             {
                                                 {.id = 1, .name = "i", .type = TypeKind::kInt},
                                                 {.id = 2, .name = "l", .type = TypeKind::kLong},
                                                 {.id = 3, .name = "f", .type = TypeKind::kFloat},
                                                 {.id = 4, .name = "d", .type = TypeKind::kDouble},
                                                 {.id = 5, .name = "dec", .type = Type::Decimal(9, 2)},
                                                 {.id = 6, .name = "wide", .type = Type::Decimal(30, 5)},
                                                 {.id = 7, .name = "dt", .type = TypeKind::kDate},
                                                 {.id = 8, .name = "ts", .type = TypeKind::kTimestamp},
                                                 {.id = 9, .name = "ns", .type = TypeKind::kTimestampTzNs},
                                                 {.id = 10, .name = "s", .type = TypeKind::kString},
                                                 {.id = 11, .name = "b", .type = TypeKind::kBinary},
                                                 {.id = 12, .name = "flag", .type = TypeKind::kBoolean},
                                                 {.id = 13, .name = "t", .type = TypeKind::kTime},
                                                 {.id = 14, .name = "x y", .type = Type::Fixed(2)},
                                             })
                                    .value();
  return kSchema;
}

class RandomModel {
 public:
  explicit RandomModel(uint64_t seed) : random_(seed) {}

  int64_t Between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool Chance(int percent) { return Between(1, 100) <= percent; }
  template <typename T>
  const T& Pick(const std::vector<T>& of) {
    return of[static_cast<size_t>(Between(0, static_cast<int64_t>(of.size()) - 1))];
  }

  Datum Value(const Type& type) {
    switch (type.kind()) {
      case TypeKind::kInt:
        return Datum(Integer(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
      case TypeKind::kLong:
        return Datum(Integer(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
      case TypeKind::kFloat: return Datum(static_cast<float>(Pick(Floats())));
      case TypeKind::kDouble: return Datum(Pick(Floats()));
      case TypeKind::kDecimal: {
        const int64_t limit = type.precision() == 9 ? 999'999'999 : std::numeric_limits<int64_t>::max();
        const Int128 unscaled = Integer(-limit, limit);
        return Datum(type.precision() > 18 && Chance(20) ? unscaled * 10'000'000'000 : unscaled);
      }
      case TypeKind::kDate: return Datum(Between(-800, 800));
      case TypeKind::kTimestamp: return Datum(Calendar(kMicrosPerHour));
      case TypeKind::kTimestampTzNs: return Datum(Calendar(kNanosPerHour));
      case TypeKind::kTime: return Datum(Between(0, kMicrosPerDay - 1));
      case TypeKind::kBoolean: return Datum(Chance(50));
      case TypeKind::kFixed:
        return Datum(std::string{static_cast<char>(Between(-2, 2)), static_cast<char>(Between(-2, 2))});
      case TypeKind::kBinary: return Datum(Text({"\x01", "\xff", std::string(1, '\0'), "a"}));
      default: return Datum(Text({"a", "b", "ü", "日", "😀", "'", "%"}));
    }
  }

  RandomRow Row() {
    RandomRow row;
    for (const Field& field : RandomSchema().fields()) row.push_back(Chance(15) ? Datum() : Value(field.type));
    return row;
  }

 private:
  int64_t Integer(int64_t least, int64_t most) {
    if (Chance(5)) return least + Between(0, 12);
    if (Chance(5)) return most - Between(0, 12);
    return Chance(80) ? Between(-30, 30) : Between(least, most);
  }
  int64_t Calendar(int64_t units_per_hour) {
    const int64_t boundary = Chance(50) ? Between(-60, 60) : Between(-800, 800) * 24;
    return boundary * units_per_hour + (Chance(50) ? Between(-1, 1) : Between(0, units_per_hour - 1));
  }
  std::string Text(const std::vector<std::string>& alphabet) {
    std::string text;
    for (int64_t i = Between(0, 5); i > 0; --i) text += Chance(60) ? alphabet.front() : Pick(alphabet);
    return text;
  }
  static const std::vector<double>& Floats() {
    static const std::vector<double> kFloats = {0.0,
                                                -0.0,
                                                1.0,
                                                -1.0,
                                                0.5,
                                                0.1,
                                                2.25,
                                                1e30,
                                                -3.4e38,
                                                3.4028234663852886e38,
                                                1e-45,
                                                7,
                                                static_cast<double>(0.1F),
                                                std::numeric_limits<double>::infinity(),
                                                -std::numeric_limits<double>::infinity(),
                                                std::numeric_limits<double>::quiet_NaN()};
    return kFloats;
  }

  std::mt19937_64 random_;
};

// A filter as text, and what it means by plain reading: SQL's three values, exact arithmetic, no folding.
struct NaiveFilter {
  std::string text;
  std::function<Truth(const RandomRow&)> evaluate;
};

class RandomFilters {
 public:
  explicit RandomFilters(RandomModel* model) : model_(*model) {}

  NaiveFilter Any(int depth) {
    const int64_t shape = depth <= 0 ? 0 : model_.Between(0, 5);
    if (shape <= 1) return Leaf();
    if (shape == 2) return Not(Any(depth - 1));
    const bool conjunction = shape <= 4;
    NaiveFilter a = Any(depth - 1);
    NaiveFilter b = Any(depth - 1);
    return {fmt::format("({} {} {})", a.text, conjunction ? "AND" : "OR", b.text), [=](const RandomRow& row) {
              const Truth x = a.evaluate(row);
              const Truth y = b.evaluate(row);
              const Truth deciding = conjunction ? Truth::kFalse : Truth::kTrue;
              if (x == deciding || y == deciding) return deciding;
              if (x == Truth::kUnknown || y == Truth::kUnknown) return Truth::kUnknown;
              return conjunction ? Truth::kTrue : Truth::kFalse;
            }};
  }

  static NaiveFilter Not(const NaiveFilter& inner) {
    return {fmt::format("NOT ({})", inner.text), [=](const RandomRow& row) {
              const Truth truth = inner.evaluate(row);
              if (truth == Truth::kUnknown) return truth;
              return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
            }};
  }

 private:
  // The order of a non-null value and a literal; empty for the literal NULL.
  using Comparator = std::function<std::optional<int>(const Datum&)>;
  struct NaiveLiteral {
    std::string text;
    Comparator compare;
  };

  static int Sign(std::weak_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

  NaiveLiteral Literal(const Type& type) {
    if (model_.Chance(4)) return {"NULL", [](const Datum&) { return std::optional<int>(); }};
    const bool numeric =
        type.kind() == TypeKind::kInt || type.kind() == TypeKind::kLong || type.kind() == TypeKind::kDecimal;
    if (numeric) {
      // mantissa / 10^places against value / 10^scale, in 128 bits.
      const auto places = static_cast<int>(model_.Between(0, 4));
      Int128 mantissa = 0;
      const Datum near = model_.Value(type);
      const int scale = type.kind() == TypeKind::kDecimal ? type.scale() : 0;
      if (model_.Chance(60)) {
        mantissa = std::holds_alternative<int64_t>(near) ? Int128{std::get<int64_t>(near)} : std::get<Int128>(near);
        for (int i = scale; i < places; ++i) mantissa *= 10;
        for (int i = places; i < scale; ++i) mantissa /= 10;
        if (model_.Chance(40)) mantissa += model_.Between(-2, 2);
      } else {
        mantissa = model_.Between(-400'000, 400'000);
      }
      std::string digits = DatumToText(Type::Decimal(38, places), Datum(mantissa));
      if (model_.Chance(10)) digits = "'" + digits + "'";
      return {digits, [=](const Datum& value) {
                Int128 left =
                    std::holds_alternative<int64_t>(value) ? Int128{std::get<int64_t>(value)} : std::get<Int128>(value);
                Int128 right = mantissa;
                for (int i = 0; i < places; ++i) left *= 10;
                for (int i = 0; i < scale; ++i) right *= 10;
                return std::optional<int>(left < right ? -1 : left > right ? 1 : 0);
              }};
    }
    if (type.is_float() && model_.Chance(60)) {
      const std::string text = model_.Pick<std::string>({"0", "-0.0", "0.1", "1", "-1", "0.5", "0.10000000149011612",
                                                         "1e30", "3.4e38", "1e39", "-1e39", "1e-46", "-1e-46", "1e-40",
                                                         "2.25", "16777217", "7", "3.4028234663852886e38"});
      const double number = std::strtod(text.c_str(), nullptr);
      return {text, [=](const Datum& value) {
                const double other = std::holds_alternative<float>(value) ? static_cast<double>(std::get<float>(value))
                                                                          : std::get<double>(value);
                if (other != other) return std::optional<int>(1);
                return std::optional<int>(other < number ? -1 : other > number ? 1 : 0);
              }};
    }
    const Datum literal = model_.Value(type);
    const std::string plain = DatumToText(type, literal);
    std::string quoted = "'";
    for (const char c : plain) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    quoted += "'";
    if (type.kind() == TypeKind::kDate && model_.Chance(50)) quoted = "DATE " + quoted;
    if (type.kind() == TypeKind::kBinary && model_.Chance(50)) quoted = "X" + quoted;
    return {quoted, [=](const Datum& value) { return std::optional<int>(Sign(CompareDatum(value, literal))); }};
  }

  NaiveFilter Leaf() {
    const auto index = static_cast<size_t>(model_.Between(0, static_cast<int64_t>(RandomSchema().fields().size()) - 1));
    const Field& field = RandomSchema().fields()[index];
    const std::string name = field.name == "x y" ? "\"x y\"" : field.name;
    const int64_t shape = model_.Between(0, 11);
    const auto truth = [](bool value) { return value ? Truth::kTrue : Truth::kFalse; };
    if (shape == 0 || shape == 1) {
      const bool wanted = shape == 0;
      return {fmt::format("{} IS {}NULL", name, wanted ? "" : "NOT "),
              [=](const RandomRow& row) { return truth(IsNull(row[index]) == wanted); }};
    }
    if (shape == 2 && field.type.is_float())
      return {name + " IS NAN", [=](const RandomRow& row) { return truth(IsNan(row[index])); }};
    if ((shape == 2 || shape == 3) && field.type.kind() == TypeKind::kString) {
      const std::string prefix = model_.Pick<std::string>({"", "a", "aa", "aaa", "aaaa", "aü", "ü", "日", "ab", "aaü"});
      return {fmt::format("{} STARTS WITH '{}'", name, prefix), [=](const RandomRow& row) {
                if (IsNull(row[index])) return Truth::kUnknown;
                return truth(std::get<std::string>(row[index]).starts_with(prefix));
              }};
    }
    if (shape <= 5) {
      std::vector<NaiveLiteral> literals;
      std::string list;
      for (int64_t i = model_.Between(1, 4); i > 0; --i) {
        literals.push_back(Literal(field.type));
        list += (list.empty() ? "" : ", ") + literals.back().text;
      }
      const bool negated = model_.Chance(50);
      return {fmt::format("{}{} IN ({})", name, negated ? " NOT" : "", list), [=](const RandomRow& row) {
                if (IsNull(row[index])) return Truth::kUnknown;
                bool unknown = false;
                for (const NaiveLiteral& literal : literals) {
                  const auto order = literal.compare(row[index]);
                  if (order == 0) return truth(!negated);
                  unknown = unknown || !order;
                }
                return unknown ? Truth::kUnknown : truth(negated);
              }};
    }
    const NaiveLiteral literal = Literal(field.type);
    const std::string sign = model_.Pick<std::string>({"<", "<=", ">", ">=", "=", "!="});
    return {fmt::format("{} {} {}", name, sign, literal.text), [=](const RandomRow& row) {
              if (IsNull(row[index])) return Truth::kUnknown;
              const auto order = literal.compare(row[index]);
              if (!order) return Truth::kUnknown;
              if (sign == "<") return truth(*order < 0);
              if (sign == "<=") return truth(*order <= 0);
              if (sign == ">") return truth(*order > 0);
              if (sign == ">=") return truth(*order >= 0);
              return truth((*order == 0) == (sign == "="));
            }};
  }

  RandomModel& model_;
};

}  // namespace delenda
