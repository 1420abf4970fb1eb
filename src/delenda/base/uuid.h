// Names that nobody else has.
#pragma once

#include <cstdint>
#include <string>

namespace delenda {

// A random UUID (RFC 9562, version 4): "93ab8f0b-1995-4b98-b0d8-9111de82e551". From the system's source of randomness,
// so that processes which start at one moment, or forks, never share one.
std::string RandomUuid();

// A random number of 63 bits, never 0: for snapshot ids, which Iceberg wants to be positive.
int64_t RandomId();

}  // namespace delenda
