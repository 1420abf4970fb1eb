#include "delenda/model/quoted_text.h"

namespace delenda {

std::optional<std::string> TakeQuoted(std::string_view text, size_t& at) {
  const char quote = text[at++];
  std::string content;
  for (; at < text.size(); ++at) {
    if (text[at] != quote) {
      content.push_back(text[at]);
    } else if (at + 1 < text.size() && text[at + 1] == quote) {
      content.push_back(quote);
      ++at;
    } else {
      ++at;
      return content;
    }
  }
  return std::nullopt;
}

}  // namespace delenda
