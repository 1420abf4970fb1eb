// Filters: a SQL-like text form, bound to a schema; one set of operators for pruning and for rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/datum.h"
#include "delenda/model/type.h"

namespace delenda {

enum class Op : uint8_t {
  kTrue,
  kFalse,
  kAnd,
  kOr,
  kNot,
  kIsNull,
  kNotNull,
  kIsNan,
  kNotNan,  // two-valued: never unknown; IS NAN of NULL is false
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kIn,
  kNotIn,
  kStartsWith,
  kNotStartsWith,  // unknown when the column is NULL
};

// What a leaf looks at. `path` are the field ids from the top-level column down to the field (nested in structs only).
struct BoundColumn {
  int32_t field_id = 0;
  Type type;
  std::string name;  // full name, for messages and ToString
  std::vector<int32_t> path;
};

class Expr;
using ExprRef = std::shared_ptr<const Expr>;

// A bound, immutable expression. `values` of a comparison: one; of kIn / kNotIn: sorted, distinct, without NULL.
// Bind() pushes kNot down to the leaves, so that no bound expression holds kNot.
class Expr {
 public:
  Op op = Op::kTrue;
  std::vector<ExprRef> children;  // kAnd, kOr: two or more
  BoundColumn column;             // leaves
  std::vector<Datum> values;

  static ExprRef True();
  static ExprRef False();
  // Folded: True and False are absorbed, nested ANDs (ORs) flattened.
  static ExprRef And(std::vector<ExprRef> children);
  static ExprRef Or(std::vector<ExprRef> children);
  static ExprRef Leaf(Op op, BoundColumn column, std::vector<Datum> values);

  // The text form that Parse reads; equal texts for equal expressions.
  std::string ToString() const;
  // Ids of all top-level columns that the expression looks at, ascending.
  std::vector<int32_t> TopLevelColumns() const;
  // Ids of the fields that the leaves look at, nested ones too, ascending.
  std::vector<int32_t> LeafColumns() const;
};

// A parsed, not yet bound filter. Grammar (keywords in any case; names bare, or quoted "like this" or `like this`,
// nested by dots):
//   expr      := and ( OR and )*            and := unary ( AND unary )*        unary := NOT unary | '(' expr ')' |
//   predicate | TRUE | FALSE predicate := name ( '=' | '==' | '!=' | '<>' | '<' | '<=' | '>' | '>=' ) literal
//              | literal <op> name          (turned round)
//              | name [NOT] IN '(' literal, ... ')'  | name [NOT] BETWEEN literal AND literal
//              | name IS [NOT] NULL | name IS [NOT] NAN
//              | name [NOT] LIKE 'prefix%'  | name [NOT] STARTS WITH 'prefix'
//              | name                       (a boolean column)
//   literal   := number | 'text' ('' is one quote) | TRUE | FALSE | NULL | DATE 'x' | TIMESTAMP 'x' | X'hex'
// A comparison with NULL is unknown, so it selects nothing, as in SQL; NOT IN with a NULL likewise.
class ParsedExpr;

// InvalidArgument with the byte position and what was expected. Nesting deeper than 200, or text longer than 1 MiB, is
// refused (stack overflow otherwise).
Result<std::shared_ptr<const ParsedExpr>> ParseExpression(std::string_view text);

// The columns that a filter names, as it names them (without quotes), each once.
std::vector<std::string> ColumnNames(const ParsedExpr& parsed);

// Names become field ids, literals become values of the column's type. A literal outside the type's range folds to the
// answer that holds for all values (id < 10^30 is true for every non-null id → NOT NULL); a fraction against an integer
// column keeps the order (id < 1.5 → id <= 1). NotFound for an unknown column (names near it in the message);
// InvalidArgument for a literal that is no value of the type; NotSupported for a column of type struct, list, map,
// variant or geometry other than IS [NOT] NULL.
Result<ExprRef> BindExpression(const ParsedExpr& parsed, const Schema& schema);

// Parse and bind in one. Empty text: True.
Result<ExprRef> BindText(std::string_view text, const Schema& schema);

// The three values of SQL's logic.
enum class Truth : uint8_t { kFalse, kTrue, kUnknown };

// The value of a row, given the value of each leaf's column.
Truth EvaluateRow(const Expr& expr, const std::function<const Datum&(const BoundColumn&)>& value_of);
// One leaf on one value: the truth table of every operator in one place.
Truth EvaluateLeaf(const Expr& leaf, const Datum& value);

}  // namespace delenda
