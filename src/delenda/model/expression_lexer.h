// Words and signs of the filter language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "delenda/base/result.h"

namespace delenda {

struct FilterToken {
  enum class Kind : uint8_t { kEnd, kName, kNumber, kText, kHex, kSign };
  Kind kind = Kind::kEnd;
  std::string
      text;  // a dotted name, a number as written, a text without quotes, hexadecimal digits, a sign such as "<="
  bool is_word = false;  // kName: one bare word, so it may be a keyword
  size_t at = 0;

  // A keyword, in any case. `upper` is in upper case.
  bool Is(std::string_view upper) const;
  bool IsSign(std::string_view sign) const { return kind == Kind::kSign && text == sign; }
  // For "found ...".
  std::string Describe() const;
};

// Splits a text into tokens, one at a time.
class FilterLexer {
 public:
  enum class Signs : uint8_t { kFilter, kArithmetic };
  // kArithmetic: + - * / || are signs too, and a number has no sign of its own ("a -1" is a difference).
  explicit FilterLexer(std::string_view text, Signs signs = Signs::kFilter) : text_(text), signs_(signs) {}
  Result<FilterToken> Next();

 private:
  Result<std::string> ReadQuoted(char quote, std::string_view what);
  Result<FilterToken> ReadName(size_t start);

  std::string_view text_;
  Signs signs_;
  size_t at_ = 0;
};

}  // namespace delenda
