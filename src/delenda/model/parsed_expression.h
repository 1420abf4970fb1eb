// The tree of a parsed filter, before names and literals are bound to a schema. Only parser and binder see it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/model/expression.h"

namespace delenda {

struct ParsedLiteral {
  enum class Kind : uint8_t { kNumber, kText, kBoolean, kNull, kDate, kTimestamp, kHex };
  Kind kind = Kind::kNull;
  std::string text;  // numbers as they were written, texts without quotes; "true" / "false"
  size_t at = 0;     // byte position, for messages
};

class ParsedExpr {
 public:
  // kAnd, kOr, kNot: `children`. Leaves: `name` and `literals`, which keep the operators as written (BETWEEN and LIKE
  // are taken apart by the parser).
  Op op = Op::kTrue;
  std::vector<std::shared_ptr<const ParsedExpr>> children;
  std::string name;
  std::vector<ParsedLiteral> literals;
  bool texts_only = false;  // LIKE: defined on string columns only, also where it means equality
  size_t at = 0;
};

// Does a name need quotes to be read back as a name?
bool IsReservedWord(std::string_view word);

}  // namespace delenda
