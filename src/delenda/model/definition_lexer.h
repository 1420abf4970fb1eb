// Words and signs of the texts that define tables: columns, partitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "delenda/base/result.h"

namespace delenda {

struct DefinitionToken {
  enum class Kind : uint8_t { kEnd, kWord, kQuoted, kNumber, kText, kSign };
  Kind kind = Kind::kEnd;
  std::string text;  // of quoted names and texts: without the quotes
  size_t at = 0;

  bool Is(std::string_view upper) const;  // a word, in any case; `upper` is in upper case
  bool IsSign(char sign) const { return kind == Kind::kSign && text[0] == sign; }
  bool IsName() const { return kind == Kind::kWord || kind == Kind::kQuoted; }
  // For "found ...".
  std::string Describe() const;
};

// Reads tokens one at a time; `peek` is the next one. Words have letters of every script, digits, '_' and '$'; names
// with other characters are quoted: "odd name" or `odd name`, a doubled quote stands for one. Texts: 'text'. Signs are
// < > ( ) [ ] , : . and each is a token of its own.
class DefinitionLexer {
 public:
  // `what`: begins the messages, "columns, at byte 7: expected a type, found ','".
  static Result<DefinitionLexer> Make(std::string_view text, std::string_view what);

  const DefinitionToken& peek() const { return next_; }
  Result<DefinitionToken> Take();
  // Takes the next token if it is this sign, or this word.
  Result<bool> TakeSign(char sign);
  Result<bool> TakeWord(std::string_view upper);
  Result<void> Expect(char sign);
  Result<void> ExpectWord(std::string_view upper);
  Result<std::string> TakeName(std::string_view expected);
  Result<int32_t> TakeNumber(std::string_view expected);
  std::unexpected<Error> Unexpected(std::string_view expected) const;

 private:
  DefinitionLexer(std::string_view text, std::string_view what) : text_(text), what_(what) {}
  Result<DefinitionToken> Read();
  Result<std::string> ReadQuoted();

  std::string_view text_;
  std::string_view what_;
  size_t at_ = 0;
  DefinitionToken next_;
};

}  // namespace delenda
