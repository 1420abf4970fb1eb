#include "delenda/base/result.h"

#include <algorithm>
#include <array>

namespace delenda {

std::string_view ErrorKindName(ErrorKind kind) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "invalid argument",  "not found",         "already exists",  "not supported",
      "corrupt",           "validation failed", "commit conflict", "commit state unknown",
      "permission denied", "I/O error",         "cancelled",       "internal error"};
  return kNames[static_cast<size_t>(kind)];
}

std::string Redact(std::string_view text) {
  constexpr std::string_view kHidden = "***";
  constexpr std::string_view kEnd = " \t\n\"'<>;,)";
  std::string out;
  out.reserve(text.size());
  size_t at = 0;
  for (;;) {
    const size_t scheme = text.find("://", at);
    if (scheme == std::string_view::npos) break;
    const size_t authority = scheme + 3;
    out.append(text.substr(at, authority - at));
    const size_t end = std::min(text.find_first_of(kEnd, authority), text.size());
    std::string_view rest = text.substr(authority, end - authority);
    const size_t path = std::min(rest.find('/'), rest.size());
    // The last '@' counts: a password may itself hold one.
    if (const size_t user = rest.substr(0, path).rfind('@'); user != std::string_view::npos) {
      out.append(kHidden).push_back('@');
      rest.remove_prefix(user + 1);
    }
    const size_t query = rest.find('?');
    out.append(rest.substr(0, query));
    if (query != std::string_view::npos) out.append("?").append(kHidden);
    at = end;
  }
  out.append(text.substr(at));
  return out;
}

Error::Error(ErrorKind kind, std::string message) : kind_(kind), message_(Redact(message)) {}

Error& Error::Add(std::string_view key, std::string_view value) {
  const auto same = [&](const auto& pair) { return pair.first == key; };
  if (std::ranges::none_of(context_, same)) context_.emplace_back(key, Redact(value));
  return *this;
}

Error& Error::Add(std::string_view key, uint64_t value) { return Add(key, std::to_string(value)); }

std::string Error::ToString() const {
  std::string text = fmt::format("{}: {}", ErrorKindName(kind_), message_);
  for (size_t i = 0; i < context_.size(); ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? " (" : "; ", context_[i].first, context_[i].second);
  }
  if (!context_.empty()) text += ")";
  return text;
}

}  // namespace delenda
