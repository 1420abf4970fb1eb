#include "delenda/base/uuid.h"

#include <fmt/format.h>

#include <random>

namespace delenda {
namespace {

uint64_t Random64() {
  // Each value is asked of the system: a generator seeded once would repeat itself after fork().
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

std::string RandomUuid() {
  const uint64_t high = (Random64() & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (Random64() & ~(uint64_t{3} << 62)) | uint64_t{2} << 62;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffff);
}

int64_t RandomId() {
  for (;;) {
    const auto id = static_cast<int64_t>(Random64() >> 1);
    if (id != 0) return id;
  }
}

}  // namespace delenda
