// The version of the library that a program runs with.
#pragma once

#include <string_view>

namespace delenda {

// "0.1.0": semantic versioning.
std::string_view Version();

}  // namespace delenda
