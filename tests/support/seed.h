// The seed of random tests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace delenda::testing {

// Another one each run, printed; the environment's DELENDA_SEED repeats a run.
inline uint64_t Seed() {
  const char* fixed = std::getenv("DELENDA_SEED");
  const uint64_t seed = fixed != nullptr ? std::strtoull(fixed, nullptr, 10) : std::random_device()();
  std::printf("DELENDA_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace delenda::testing
