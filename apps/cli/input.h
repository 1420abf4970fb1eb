// Files that the user hands to the program.
#pragma once

#include <delenda/result.h>

#include <string>

namespace delenda::cli {

// The whole text of a file; "-" is standard input. At most 1 GiB.
Result<std::string> ReadText(const std::string& path);

}  // namespace delenda::cli
