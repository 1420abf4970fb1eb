// Random filters: a text for the engine and a meaning of their own.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <random>

#include "interop/naive_table.h"

namespace delenda::testing {

using NaiveRow = std::vector<Cell>;  // by column

struct RandomFilter {
  std::string text;
  std::function<Logic(const NaiveRow&)> matches;
};

// Draws filters over the columns and rows of a table: literals are values of the table, neighbours of such and others.
class FilterSource {
 public:
  FilterSource(const std::vector<NaiveColumn>& columns, const std::vector<NaiveRow>& rows, std::mt19937_64& random)
      : columns_(columns), rows_(rows), random_(random) {}

  RandomFilter Next(int depth = 3) {
    const uint64_t dice = Below(10);
    if (depth == 0 || dice < 4) return Leaf();
    if (dice < 6) {
      const auto inner = Next(depth - 1);
      return {"NOT (" + inner.text + ")", [inner](const NaiveRow& row) { return Not(inner.matches(row)); }};
    }
    const auto left = Next(depth - 1), right = Next(depth - 1);
    const bool both = dice < 8;
    return {"(" + left.text + (both ? ") AND (" : ") OR (") + right.text + ")", [=](const NaiveRow& row) {
              return both ? And(left.matches(row), right.matches(row)) : Or(left.matches(row), right.matches(row));
            }};
  }

 private:
  struct Literal {
    std::string text;
    Cell cell;
  };

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }

  RandomFilter Leaf() {
    const size_t at = Below(columns_.size());
    const NaiveColumn& column = columns_[at];
    const std::string& name = column.name;
    const bool negated = Chance(40);
    const std::string negation = negated ? " NOT" : "";
    const auto finish = [&](std::string text, std::function<Logic(const Cell&)> meaning) {
      return RandomFilter{std::move(text), [at, negated, meaning = std::move(meaning)](const NaiveRow& row) {
                            return negated ? Not(meaning(row[at])) : meaning(row[at]);
                          }};
    };
    // For operators that are unknown on NULL.
    const auto strict = [&](std::string text, std::function<bool(const Cell&)> meaning) {
      return finish(std::move(text), [meaning = std::move(meaning)](const Cell& cell) {
        return cell.null() ? Logic::kUnknown : Truth(meaning(cell));
      });
    };
    if (column.type.empty() || Chance(10)) {
      return finish(name + " IS" + negation + " NULL", [](const Cell& cell) { return Truth(cell.null()); });
    }
    if (IsReal(column.type) && Chance(20)) {
      return finish(name + " IS" + negation + " NAN",
                    [](const Cell& cell) { return Truth(!cell.null() && std::isnan(cell.real)); });
    }
    if (column.type == "boolean" && Chance(30)) {
      return strict(negated ? "NOT " + name : name, [](const Cell& cell) { return cell.exact == 1; });
    }
    if (column.type == "string" && Chance(30)) {
      const std::string prefix = Prefix(at);
      const bool like = Chance(50) && prefix.find_first_of("%_\\") == std::string::npos;
      return strict(name + negation + (like ? " LIKE " + Quoted(prefix + "%") : " STARTS WITH " + Quoted(prefix)),
                    [prefix](const Cell& cell) { return cell.text.starts_with(prefix); });
    }
    switch (Below(4)) {
      case 0: {
        std::vector<Cell> values;
        bool has_null = false;
        std::string text;
        for (uint64_t i = 0, count = 1 + Below(6); i < count; ++i) {
          text += text.empty() ? "" : ", ";
          if (Chance(4)) {
            has_null = true;
            text += "NULL";
            continue;
          }
          const Literal literal = Pick(at);
          values.push_back(literal.cell);
          text += literal.text;
        }
        return finish(name + negation + " IN (" + text + ")", [values, has_null](const Cell& cell) {
          if (cell.null()) return Logic::kUnknown;
          for (const Cell& value : values) {
            if (Compare(cell, value) == 0) return Logic::kYes;
          }
          return has_null ? Logic::kUnknown : Logic::kNo;
        });
      }
      case 1: {
        const Literal low = Pick(at), high = Pick(at);
        return strict(name + negation + " BETWEEN " + low.text + " AND " + high.text,
                      [low = low.cell, high = high.cell](const Cell& cell) {
                        return Compare(cell, low) >= 0 && Compare(cell, high) <= 0;
                      });
      }
      default: return Comparison(at);
    }
  }

  RandomFilter Comparison(size_t at) {
    static constexpr const char* kSigns[] = {"=", "!=", "<", "<=", ">", ">=", "<>", "=="};
    static constexpr const char* kTurned[] = {"=", "!=", ">", ">=", "<", "<=", "<>", "=="};
    const size_t sign = Below(8);
    const std::string& name = columns_[at].name;
    if (Chance(2)) return {name + " " + kSigns[sign] + " NULL", [](const NaiveRow&) { return Logic::kUnknown; }};
    const Literal literal = Pick(at);
    std::string text =
        Chance(20) ? literal.text + " " + kTurned[sign] + " " + name : name + " " + kSigns[sign] + " " + literal.text;
    return {std::move(text), [at, sign, value = literal.cell](const NaiveRow& row) {
              if (row[at].null()) return Logic::kUnknown;
              const int order = Compare(row[at], value);
              switch (sign) {
                case 0:
                case 7: return Truth(order == 0);
                case 1:
                case 6: return Truth(order != 0);
                case 2: return Truth(order < 0);
                case 3: return Truth(order <= 0);
                case 4: return Truth(order > 0);
                default: return Truth(order >= 0);
              }
            }};
  }

  // A value of the column in some row; NULL if none was found quickly.
  Cell Some(size_t at) {
    for (int i = 0; i < 20 && !rows_.empty(); ++i) {
      const Cell& cell = rows_[Below(rows_.size())][at];
      if (!cell.null()) return cell;
    }
    return {};
  }

  static std::string Quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    return quoted + "'";
  }

  static void CutLastCharacter(std::string& text) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
  }

  std::string Prefix(size_t at) {
    std::string text = Some(at).text;
    for (uint64_t cuts = Below(text.size() + 2); cuts > 0; --cuts) CutLastCharacter(text);
    return Chance(10) ? text + "q" : text;
  }

  Literal Pick(size_t at) {
    const NaiveColumn& column = columns_[at];
    const Cell some = Some(at);
    if (IsWhole(column.type)) return WholeLiteral(some, column.type == "int");
    if (column.type == "boolean") {
      const bool value = Chance(50);
      return {value ? "TRUE" : "FALSE", {.kind = Cell::Kind::kExact, .exact = value ? 1 : 0}};
    }
    if (column.type.starts_with("decimal")) return DecimalLiteral(some, column.scale);
    if (IsReal(column.type)) return RealLiteral(some, column.type == "float");
    return TextLiteral(some.text, column.type);
  }

  Literal WholeLiteral(const Cell& some, bool is_int) {
    auto value = static_cast<int64_t>(some.exact / 2);
    if (Chance(30)) value += static_cast<int64_t>(Below(5)) - 2;
    if (Chance(10)) value = static_cast<int64_t>(Below(10000)) - 5000;
    if (Chance(3)) value = is_int ? INT32_MAX : INT64_MAX;
    if (Chance(3)) value = is_int ? INT32_MIN : INT64_MIN;
    if (Chance(5) && value > 0 && value < 1'000'000'000) {
      return {std::to_string(value) + ".5", {.kind = Cell::Kind::kExact, .exact = Wide{value} * 2 + 1}};
    }
    return {std::to_string(value), {.kind = Cell::Kind::kExact, .exact = Wide{value} * 2}};
  }

  Literal DecimalLiteral(const Cell& some, int scale) {
    Wide value = some.exact;
    if (Chance(30)) value += static_cast<int64_t>(Below(5)) - 2;
    if (Chance(10)) value = static_cast<int64_t>(Below(1'000'000)) - 500'000;
    std::string digits;
    for (Wide rest = value < 0 ? -value : value; rest > 0 || digits.size() <= static_cast<size_t>(scale); rest /= 10)
      digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    if (scale > 0) digits.insert(digits.size() - static_cast<size_t>(scale), ".");
    return {(value < 0 ? "-" : "") + digits, {.kind = Cell::Kind::kExact, .exact = value}};
  }

  Literal RealLiteral(const Cell& some, bool is_float) {
    double value = some.real;
    const double direction = Chance(50) ? HUGE_VAL : -HUGE_VAL;
    if (Chance(30)) {
      value = is_float ? static_cast<double>(std::nextafter(static_cast<float>(value), static_cast<float>(direction)))
                       : std::nextafter(value, direction);
    }
    if (Chance(10)) value = static_cast<double>(Below(2000)) / 8 - 100;
    if (Chance(4)) value = 0.0;
    if (Chance(4)) value = -0.0;
    if (Chance(3)) value = direction;
    if (Chance(3)) value = std::nan("");
    std::string text = is_float ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    if (std::isnan(value)) text = "'NaN'";
    if (std::isinf(value)) text = value < 0 ? "'-Infinity'" : "'Infinity'";
    return {std::move(text), {.kind = Cell::Kind::kReal, .real = value}};
  }

  Literal TextLiteral(std::string value, const std::string& type) {
    const bool change = Chance(35);
    std::string written;
    if (type == "string") {
      if (change && Chance(50))
        CutLastCharacter(value);
      else if (change)
        value += Chance(50) ? "a" : "\xf4\x8f\xbf\xbf";
      if (Chance(3)) value.clear();
      written = Quoted(value);
    } else if (type == "date") {
      if (value.empty()) value = "2024-02-29";
      if (change) value = NextDay(value, Chance(50) ? 1 : -1);
      written = (Chance(50) ? "DATE " : "") + Quoted(value);
    } else if (type.starts_with("timestamp")) {
      const bool zoned = type.starts_with("timestamptz");
      if (value.empty()) value = zoned ? "2024-02-29T01:02:03.000004Z" : "2024-02-29T01:02:03.000004";
      if (change) Bump(value, value.size() - (zoned ? 2 : 1), '9');
      written = (Chance(50) ? "TIMESTAMP " : "") + Quoted(value);
    } else if (type == "uuid") {
      if (value.empty()) value = "00000000-0000-0000-0000-000000000000";
      if (change) Bump(value, Chance(50) ? 0 : value.size() - 1, 'f');
      written = Quoted(value);
    } else {
      if (value.empty() && type.starts_with("fixed"))
        value.assign(2 * static_cast<size_t>(std::atoi(type.c_str() + 6)), '0');
      if (change && !value.empty()) Bump(value, Chance(50) ? 0 : value.size() - 1, 'f');
      if (change && type == "binary" && Chance(50)) value += "00";
      written = "X" + Quoted(value);
    }
    return {std::move(written), {.kind = Cell::Kind::kText, .text = std::move(value)}};
  }

  // Another digit at `at`, the next one or the one before.
  static void Bump(std::string& text, size_t at, char last) {
    char& c = text[at];
    c = c == '9' && last == 'f' ? 'a' : c == last ? static_cast<char>(c - 1) : static_cast<char>(c + 1);
  }

  static std::string NextDay(const std::string& date, int days) {
    using namespace std::chrono;
    if (date.size() != 10) return date;
    const year_month_day day{year{std::atoi(date.substr(0, 4).c_str())},
                             month{static_cast<unsigned>(std::atoi(date.substr(5, 2).c_str()))},
                             std::chrono::day{static_cast<unsigned>(std::atoi(date.substr(8).c_str()))}};
    const year_month_day next{sys_days{day} + std::chrono::days{days}};
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(next.year()), static_cast<unsigned>(next.month()),
                       static_cast<unsigned>(next.day()));
  }

  const std::vector<NaiveColumn>& columns_;
  const std::vector<NaiveRow>& rows_;
  std::mt19937_64& random_;
};

}  // namespace delenda::testing
