#include "delenda/version.h"

namespace delenda {

std::string_view Version() { return DELENDA_VERSION; }

}  // namespace delenda
