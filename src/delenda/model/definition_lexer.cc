#include "delenda/model/definition_lexer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "delenda/base/bytes.h"
#include "delenda/model/quoted_text.h"

namespace delenda {
namespace {

bool IsDefinitionDigit(char c) { return c >= '0' && c <= '9'; }
bool IsDefinitionWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDefinitionDigit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsDefinitionSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

bool DefinitionToken::Is(std::string_view upper) const {
  return kind == Kind::kWord && std::ranges::equal(text, upper, [](char a, char b) {
           return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
         });
}

std::string DefinitionToken::Describe() const {
  const std::string shown = text.size() > 40 ? text.substr(0, 40) + "..." : text;
  return kind == Kind::kEnd    ? "the end"
         : kind == Kind::kText ? fmt::format("text '{}'", shown)
                               : fmt::format("'{}'", shown);
}

Result<DefinitionLexer> DefinitionLexer::Make(std::string_view text, std::string_view what) {
  if (!IsValidUtf8(text)) return InvalidArgument("{}: the text is no valid UTF-8", what);
  DefinitionLexer lexer(text, what);
  lexer.next_ = DELENDA_TRY(lexer.Read());
  return lexer;
}

std::unexpected<Error> DefinitionLexer::Unexpected(std::string_view expected) const {
  return InvalidArgument("{}, at byte {}: expected {}, found {}", what_, next_.at, expected, next_.Describe());
}

Result<std::string> DefinitionLexer::ReadQuoted() {
  const char quote = text_[at_];
  const size_t start = at_;
  if (auto content = TakeQuoted(text_, at_)) return *std::move(content);
  return InvalidArgument("{}, at byte {}: expected the closing {}, found the end", what_, start, quote);
}

Result<DefinitionToken> DefinitionLexer::Read() {
  while (at_ < text_.size() && IsDefinitionSpace(text_[at_])) ++at_;
  DefinitionToken token{.kind = DefinitionToken::Kind::kEnd, .text = {}, .at = at_};
  if (at_ == text_.size()) return token;
  const char c = text_[at_];
  if (c == '\'' || c == '"' || c == '`') {
    token.kind = c == '\'' ? DefinitionToken::Kind::kText : DefinitionToken::Kind::kQuoted;
    token.text = DELENDA_TRY(ReadQuoted());
    return token;
  }
  const bool is_signed = (c == '-' || c == '+') && at_ + 1 < text_.size() && IsDefinitionDigit(text_[at_ + 1]);
  if (is_signed || IsDefinitionWord(c)) {
    token.kind = is_signed || IsDefinitionDigit(c) ? DefinitionToken::Kind::kNumber : DefinitionToken::Kind::kWord;
    const size_t start = at_++;
    const auto goes_on = [&](char next) {
      return IsDefinitionWord(next) || (token.kind == DefinitionToken::Kind::kNumber && next == '.');
    };
    while (at_ < text_.size() && goes_on(text_[at_])) ++at_;
    token.text = std::string(text_.substr(start, at_ - start));
    return token;
  }
  if (std::string_view("<>()[],:.").find(c) == std::string_view::npos)
    return InvalidArgument("{}, at byte {}: unexpected character 0x{:02x}", what_, at_,
                           static_cast<unsigned>(static_cast<unsigned char>(c)));
  ++at_;
  token.kind = DefinitionToken::Kind::kSign;
  token.text = c;
  return token;
}

Result<DefinitionToken> DefinitionLexer::Take() { return std::exchange(next_, DELENDA_TRY(Read())); }

Result<bool> DefinitionLexer::TakeSign(char sign) {
  if (!next_.IsSign(sign)) return false;
  next_ = DELENDA_TRY(Read());
  return true;
}

Result<bool> DefinitionLexer::TakeWord(std::string_view upper) {
  if (!next_.Is(upper)) return false;
  next_ = DELENDA_TRY(Read());
  return true;
}

Result<void> DefinitionLexer::Expect(char sign) {
  if (DELENDA_TRY(TakeSign(sign))) return {};
  return Unexpected(fmt::format("'{}'", sign));
}

Result<void> DefinitionLexer::ExpectWord(std::string_view upper) {
  if (DELENDA_TRY(TakeWord(upper))) return {};
  return Unexpected(upper);
}

Result<std::string> DefinitionLexer::TakeName(std::string_view expected) {
  if (!next_.IsName() || next_.text.empty()) return Unexpected(expected);
  return DELENDA_TRY(Take())
  .text;
}

Result<int32_t> DefinitionLexer::TakeNumber(std::string_view expected) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(next_.text.data(), next_.text.data() + next_.text.size(), value);
  if (next_.kind != DefinitionToken::Kind::kNumber || error != std::errc() ||
      end != next_.text.data() + next_.text.size())
    return Unexpected(expected);
  DELENDA_TRY(Take());
  return value;
}

}  // namespace delenda
