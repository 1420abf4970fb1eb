// Quoted texts and names, as filters and definitions of columns have them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace delenda {

// What stands between the quote at text[at] and its closing twin; a doubled quote stands for one. Afterwards `at` is
// behind the closing one, or at the end of the text if there is none: nothing.
//
// EXAMPLE  "'it''s' x", at 0  →  "it's", at 7
std::optional<std::string> TakeQuoted(std::string_view text, size_t& at);

}  // namespace delenda
