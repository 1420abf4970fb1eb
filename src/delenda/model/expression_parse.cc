// From text to tree: a recursive descent with a bound on its depth.
#include <algorithm>
#include <array>
#include <optional>

#include "delenda/base/bytes.h"
#include "delenda/model/exact_number.h"
#include "delenda/model/expression.h"
#include "delenda/model/expression_lexer.h"
#include "delenda/model/parsed_expression.h"

namespace delenda {

namespace {

using ParsedRef = std::shared_ptr<const ParsedExpr>;
using Token = FilterToken;

constexpr int kMaxDepth = 200;
constexpr size_t kMaxTextBytes = size_t{1} << 20;

constexpr std::array<std::string_view, 10> kReserved = {"AND",  "OR",      "NOT",  "IN",   "IS",
                                                        "LIKE", "BETWEEN", "NULL", "TRUE", "FALSE"};

std::optional<Op> ComparisonOf(const Token& token) {
  if (token.IsSign("=") || token.IsSign("==")) return Op::kEqual;
  if (token.IsSign("!=") || token.IsSign("<>")) return Op::kNotEqual;
  if (token.IsSign("<")) return Op::kLess;
  if (token.IsSign("<=")) return Op::kLessEqual;
  if (token.IsSign(">")) return Op::kGreater;
  if (token.IsSign(">=")) return Op::kGreaterEqual;
  return std::nullopt;
}

// "5 < id" is "id > 5".
Op TurnedRound(Op op) {
  switch (op) {
    case Op::kLess: return Op::kGreater;
    case Op::kLessEqual: return Op::kGreaterEqual;
    case Op::kGreater: return Op::kLess;
    case Op::kGreaterEqual: return Op::kLessEqual;
    default: return op;
  }
}

ParsedRef MakeNode(Op op, std::vector<ParsedRef> children, size_t at) {
  auto node = std::make_shared<ParsedExpr>();
  node->op = op;
  node->children = std::move(children);
  node->at = at;
  return node;
}

ParsedRef MakeLeaf(Op op, const Token& name, std::vector<ParsedLiteral> literals) {
  auto node = std::make_shared<ParsedExpr>();
  node->op = op;
  node->name = name.text;
  node->literals = std::move(literals);
  node->at = name.at;
  return node;
}

class FilterParser {
 public:
  explicit FilterParser(std::string_view text) : lexer_(text) {}

  Result<ParsedRef> Parse() {
    DELENDA_TRY(Advance());
    ParsedRef expr = DELENDA_TRY(ParseOr(0));
    if (token_.kind != Token::Kind::kEnd) return Expected("AND, OR or the end");
    return expr;
  }

 private:
  Result<void> Advance() {
    token_ = DELENDA_TRY(lexer_.Next());
    return {};
  }

  std::unexpected<Error> Expected(std::string_view what) const {
    return InvalidArgument("filter, at byte {}: expected {}, found {}", token_.at, what, token_.Describe());
  }

  Result<ParsedRef> ParseOr(int depth) { return ParseChain(Op::kOr, "OR", depth); }

  // Chains are flat, however long: only parentheses and NOT go deeper.
  Result<ParsedRef> ParseChain(Op op, std::string_view word, int depth) {
    const size_t at = token_.at;
    std::vector<ParsedRef> parts;
    while (true) {
      parts.push_back(op == Op::kOr ? DELENDA_TRY(ParseChain(Op::kAnd, "AND", depth)) : DELENDA_TRY(ParseUnary(depth)));
      if (!token_.Is(word)) break;
      DELENDA_TRY(Advance());
    }
    if (parts.size() == 1) return parts.front();
    return MakeNode(op, std::move(parts), at);
  }

  Result<ParsedRef> ParseUnary(int depth) {
    if (depth >= kMaxDepth) {
      return InvalidArgument("filter, at byte {}: nested deeper than {} levels", token_.at, kMaxDepth);
    }
    const size_t at = token_.at;
    if (token_.Is("NOT")) {
      DELENDA_TRY(Advance());
      ParsedRef inner = DELENDA_TRY(ParseUnary(depth + 1));
      return MakeNode(Op::kNot, {std::move(inner)}, at);
    }
    if (token_.IsSign("(")) {
      DELENDA_TRY(Advance());
      ParsedRef inner = DELENDA_TRY(ParseOr(depth + 1));
      if (!token_.IsSign(")")) return Expected("AND, OR or ')'");
      DELENDA_TRY(Advance());
      return inner;
    }
    return ParsePredicate();
  }

  Result<ParsedRef> ParsePredicate() {
    Token name = token_;
    const bool literal_word = token_.Is("TRUE") || token_.Is("FALSE") || token_.Is("NULL");
    if (token_.kind == Token::Kind::kName && !literal_word) {
      if (token_.is_word && IsReservedWord(token_.text))
        return Expected("a column, a literal, NOT or '(' (quote a column of this name)");
      DELENDA_TRY(Advance());
      const bool typed = (name.Is("DATE") || name.Is("TIMESTAMP")) && token_.kind == Token::Kind::kText;
      if (!typed) return ParseAfterName(name);
      ParsedLiteral literal = DELENDA_TRY(TypedLiteral(name));
      return ParseAfterLiteral(std::move(literal), false);
    }
    const bool constant = token_.Is("TRUE") || token_.Is("FALSE");
    if (token_.kind == Token::Kind::kEnd || token_.kind == Token::Kind::kSign)
      return Expected("a column, a literal, NOT or '('");
    ParsedLiteral literal = DELENDA_TRY(ParseLiteral());
    return ParseAfterLiteral(std::move(literal), constant);
  }

  // literal <op> name; TRUE and FALSE may also stand alone.
  Result<ParsedRef> ParseAfterLiteral(ParsedLiteral literal, bool may_stand_alone) {
    const auto op = ComparisonOf(token_);
    if (!op) {
      if (may_stand_alone) return MakeNode(literal.text == "true" ? Op::kTrue : Op::kFalse, {}, literal.at);
      return Expected("a comparison such as '<'");
    }
    DELENDA_TRY(Advance());
    const Token name = token_;
    if (name.kind != Token::Kind::kName || (name.is_word && IsReservedWord(name.text))) return Expected("a column");
    DELENDA_TRY(Advance());
    return MakeLeaf(TurnedRound(*op), name, {std::move(literal)});
  }

  Result<ParsedRef> ParseAfterName(const Token& name) {
    if (const auto op = ComparisonOf(token_)) {
      DELENDA_TRY(Advance());
      ParsedLiteral literal = DELENDA_TRY(ParseLiteral());
      return MakeLeaf(*op, name, {std::move(literal)});
    }
    if (token_.Is("IS")) return ParseIs(name);
    const bool negated = token_.Is("NOT");
    if (negated) DELENDA_TRY(Advance());
    if (token_.Is("IN")) return ParseIn(name, negated);
    if (token_.Is("BETWEEN")) return ParseBetween(name, negated);
    if (token_.Is("LIKE")) return ParseLike(name, negated);
    if (token_.Is("STARTS")) return ParseStartsWith(name, negated);
    if (negated) return Expected("IN, BETWEEN, LIKE or STARTS WITH");
    // A boolean column alone.
    return MakeLeaf(Op::kEqual, name,
                    {ParsedLiteral{.kind = ParsedLiteral::Kind::kBoolean, .text = "true", .at = name.at}});
  }

  Result<ParsedRef> ParseIs(const Token& name) {
    DELENDA_TRY(Advance());
    const bool negated = token_.Is("NOT");
    if (negated) DELENDA_TRY(Advance());
    Op op = Op::kTrue;
    if (token_.Is("NULL")) {
      op = negated ? Op::kNotNull : Op::kIsNull;
    } else if (token_.Is("NAN")) {
      op = negated ? Op::kNotNan : Op::kIsNan;
    } else {
      return Expected(negated ? "NULL or NAN" : "NULL, NAN or NOT");
    }
    DELENDA_TRY(Advance());
    return MakeLeaf(op, name, {});
  }

  Result<ParsedRef> ParseIn(const Token& name, bool negated) {
    DELENDA_TRY(Advance());
    if (!token_.IsSign("(")) return Expected("'('");
    std::vector<ParsedLiteral> literals;
    do {
      DELENDA_TRY(Advance());
      literals.push_back(DELENDA_TRY(ParseLiteral()));
    } while (token_.IsSign(","));
    if (!token_.IsSign(")")) return Expected("',' or ')'");
    DELENDA_TRY(Advance());
    return MakeLeaf(negated ? Op::kNotIn : Op::kIn, name, std::move(literals));
  }

  Result<ParsedRef> ParseBetween(const Token& name, bool negated) {
    DELENDA_TRY(Advance());
    ParsedLiteral low = DELENDA_TRY(ParseLiteral());
    if (!token_.Is("AND")) return Expected("AND");
    DELENDA_TRY(Advance());
    ParsedLiteral high = DELENDA_TRY(ParseLiteral());
    ParsedRef both = MakeNode(
        Op::kAnd,
        {MakeLeaf(Op::kGreaterEqual, name, {std::move(low)}), MakeLeaf(Op::kLessEqual, name, {std::move(high)})},
        name.at);
    return negated ? MakeNode(Op::kNot, {std::move(both)}, name.at) : both;
  }

  Result<ParsedRef> ParseStartsWith(const Token& name, bool negated) {
    DELENDA_TRY(Advance());
    if (!token_.Is("WITH")) return Expected("WITH");
    DELENDA_TRY(Advance());
    if (token_.kind != Token::Kind::kText) return Expected("a text in single quotes");
    ParsedLiteral prefix = DELENDA_TRY(ParseLiteral());
    return MakeLeaf(negated ? Op::kNotStartsWith : Op::kStartsWith, name, {std::move(prefix)});
  }

  Result<ParsedRef> ParseLike(const Token& name, bool negated) {
    DELENDA_TRY(Advance());
    if (token_.kind != Token::Kind::kText) return Expected("a text in single quotes");
    const std::string pattern = token_.text;
    const size_t at = token_.at;
    std::string plain;
    bool open_end = false;
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '%') {
        open_end = true;
      } else if (open_end || pattern[i] == '_') {
        return NotSupported(
            "filter, at byte {}: LIKE '{}': only 'text' and 'prefix%' are supported (write \\% and \\_ for the signs "
            "themselves)",
            at, pattern);
      } else if (pattern[i] == '\\') {
        const bool escapes =
            i + 1 < pattern.size() && (pattern[i + 1] == '%' || pattern[i + 1] == '_' || pattern[i + 1] == '\\');
        if (!escapes)
          return InvalidArgument("filter, at byte {}: LIKE '{}': expected %, _ or \\ behind \\", at, pattern);
        plain.push_back(pattern[++i]);
      } else {
        plain.push_back(pattern[i]);
      }
    }
    DELENDA_TRY(Advance());
    ParsedLiteral literal{.kind = ParsedLiteral::Kind::kText, .text = std::move(plain), .at = at};
    // A pattern without signs is STARTS WITH's neighbour, equality of texts.
    const Op positive = open_end ? Op::kStartsWith : Op::kEqual;
    const Op negative = open_end ? Op::kNotStartsWith : Op::kNotEqual;
    auto node = std::make_shared<ParsedExpr>();
    node->op = negated ? negative : positive;
    node->name = name.text;
    node->literals = {std::move(literal)};
    node->at = name.at;
    node->texts_only = true;
    return node;
  }

  // DATE 'x' or TIMESTAMP 'x', whose word was taken.
  Result<ParsedLiteral> TypedLiteral(const Token& word) {
    ParsedLiteral literal{.kind = word.Is("DATE") ? ParsedLiteral::Kind::kDate : ParsedLiteral::Kind::kTimestamp,
                          .text = token_.text,
                          .at = word.at};
    DELENDA_TRY(Advance());
    return literal;
  }

  Result<ParsedLiteral> ParseLiteral() {
    ParsedLiteral literal{.kind = ParsedLiteral::Kind::kNull, .text = token_.text, .at = token_.at};
    switch (token_.kind) {
      case Token::Kind::kText: literal.kind = ParsedLiteral::Kind::kText; break;
      case Token::Kind::kHex: literal.kind = ParsedLiteral::Kind::kHex; break;
      case Token::Kind::kNumber:
        literal.kind = ParsedLiteral::Kind::kNumber;
        if (!ExactNumber::Parse(token_.text)) return Expected("a number");
        break;
      case Token::Kind::kName: {
        if (token_.Is("TRUE") || token_.Is("FALSE")) {
          literal.kind = ParsedLiteral::Kind::kBoolean;
          literal.text = token_.Is("TRUE") ? "true" : "false";
          break;
        }
        if (token_.Is("NULL")) break;
        const Token word = token_;
        if (!word.Is("DATE") && !word.Is("TIMESTAMP")) return Expected("a literal (texts stand in single quotes)");
        DELENDA_TRY(Advance());
        if (token_.kind != Token::Kind::kText) return Expected("a text in single quotes");
        return TypedLiteral(word);
      }
      default: return Expected("a literal");
    }
    DELENDA_TRY(Advance());
    return literal;
  }

  FilterLexer lexer_;
  Token token_;
};

}  // namespace

bool IsReservedWord(std::string_view word) {
  const FilterToken token{.kind = FilterToken::Kind::kName, .text = std::string(word), .is_word = true, .at = 0};
  return std::any_of(kReserved.begin(), kReserved.end(), [&](std::string_view reserved) { return token.Is(reserved); });
}

Result<std::shared_ptr<const ParsedExpr>> ParseExpression(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return InvalidArgument("filter: {} bytes are longer than the limit of {}", text.size(), kMaxTextBytes);
  }
  if (!IsValidUtf8(text)) return InvalidArgument("filter: the text is not valid UTF-8");
  return FilterParser(text).Parse();
}

namespace {

void CollectNamed(const ParsedExpr& parsed, std::vector<std::string>& names) {
  for (const auto& child : parsed.children) CollectNamed(*child, names);
  if (parsed.children.empty() && !parsed.name.empty() && std::ranges::find(names, parsed.name) == names.end())
    names.push_back(parsed.name);
}

}  // namespace

std::vector<std::string> ColumnNames(const ParsedExpr& parsed) {
  std::vector<std::string> names;
  CollectNamed(parsed, names);
  return names;
}

}  // namespace delenda
