#include "delenda/model/expression_lexer.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "delenda/model/quoted_text.h"

namespace delenda {

namespace {

bool IsLexDigit(char c) { return c >= '0' && c <= '9'; }
// Letters of every script: bytes above 0x7f belong to a character of valid UTF-8, which the parser has checked.
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool IsWordPart(char c) { return IsWordStart(c) || IsLexDigit(c) || c == '$'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

bool FilterToken::Is(std::string_view upper) const {
  if (kind != Kind::kName || !is_word) return false;
  return std::equal(text.begin(), text.end(), upper.begin(), upper.end(),
                    [](char a, char b) { return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b; });
}

std::string FilterToken::Describe() const {
  const std::string shown = text.size() > 40 ? text.substr(0, 40) + "..." : text;
  switch (kind) {
    case Kind::kEnd: return "the end";
    case Kind::kText: return fmt::format("text '{}'", shown);
    case Kind::kHex: return fmt::format("X'{}'", shown);
    default: return fmt::format("'{}'", shown);
  }
}

Result<std::string> FilterLexer::ReadQuoted(char quote, std::string_view what) {
  const size_t start = at_;
  if (auto content = TakeQuoted(text_, at_)) return *std::move(content);
  return InvalidArgument("filter, at byte {}: expected the closing {} of {}, found the end", start, quote, what);
}

Result<FilterToken> FilterLexer::ReadName(size_t start) {
  FilterToken token{.kind = FilterToken::Kind::kName, .text = {}, .is_word = true, .at = start};
  while (true) {
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '`')) {
      token.is_word = false;
      token.text += DELENDA_TRY(ReadQuoted(text_[at_], "a name"));
    } else if (at_ < text_.size() && IsWordStart(text_[at_])) {
      const size_t word = at_;
      while (at_ < text_.size() && IsWordPart(text_[at_])) ++at_;
      token.text += text_.substr(word, at_ - word);
    } else {
      return InvalidArgument("filter, at byte {}: expected a name behind '.'", at_);
    }
    if (at_ >= text_.size() || text_[at_] != '.') return token;
    token.is_word = false;
    token.text.push_back('.');
    ++at_;
  }
}

Result<FilterToken> FilterLexer::Next() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  const size_t start = at_;
  FilterToken token{.kind = FilterToken::Kind::kEnd, .text = {}, .is_word = false, .at = start};
  if (at_ == text_.size()) return token;
  const char c = text_[at_];
  const char following = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if ((c == 'x' || c == 'X') && following == '\'') {
    ++at_;
    token.kind = FilterToken::Kind::kHex;
    token.text = DELENDA_TRY(ReadQuoted('\'', "a binary literal"));
    return token;
  }
  if (IsWordStart(c) || c == '"' || c == '`') return ReadName(start);
  if (c == '\'') {
    token.kind = FilterToken::Kind::kText;
    token.text = DELENDA_TRY(ReadQuoted('\'', "a text"));
    return token;
  }
  const bool is_signed = signs_ == Signs::kFilter && (c == '-' || c == '+');
  if (IsLexDigit(c) || c == '.' || (is_signed && (IsLexDigit(following) || following == '.'))) {
    token.kind = FilterToken::Kind::kNumber;
    if (is_signed) ++at_;
    bool exponent = false;
    while (at_ < text_.size()) {
      const char digit = text_[at_];
      const bool sign_of_exponent = (digit == '-' || digit == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!exponent && (digit == 'e' || digit == 'E')) {
        exponent = true;
      } else if (!IsLexDigit(digit) && digit != '.' && !sign_of_exponent) {
        break;
      }
      ++at_;
    }
    if (at_ < text_.size() && IsWordPart(text_[at_])) {
      return InvalidArgument(
          "filter, at byte {}: expected a number, found a letter in it (quote a name that begins with a digit)", at_);
    }
    token.text = std::string(text_.substr(start, at_ - start));
    return token;
  }
  // Those of arithmetic come last.
  constexpr std::array<std::string_view, 16> kSigns = {"<=", ">=", "<>", "!=", "==", "<", ">", "=",
                                                       "(",  ")",  ",",  "||", "+",  "-", "*", "/"};
  constexpr size_t kArithmeticSigns = 5;
  const auto known = std::span(kSigns).first(kSigns.size() - (signs_ == Signs::kFilter ? kArithmeticSigns : 0));
  for (const std::string_view sign : known) {
    if (!text_.substr(at_).starts_with(sign)) continue;
    at_ += sign.size();
    token.kind = FilterToken::Kind::kSign;
    token.text = std::string(sign);
    return token;
  }
  const auto byte = static_cast<unsigned>(static_cast<unsigned char>(c));
  if (byte < 0x20 || byte == 0x7f)
    return InvalidArgument("filter, at byte {}: unexpected control character 0x{:02x}", start, byte);
  return InvalidArgument("filter, at byte {}: unexpected character '{}'", start, c);
}

}  // namespace delenda
