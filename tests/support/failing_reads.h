// What must hold for everything that reads a table: a read that fails is never taken for a shorter answer.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "delenda/io/faulting_file_io.h"
#include "support/fixtures.h"

namespace delenda::testing {

// `load` reads fixtures through the FileIO and gives a Result. Fails each of its operations in turn, more than
// `at_least` of them.
template <typename Load>
void ExpectEveryFailingReadIsAnError(uint64_t at_least, const Load& load) {
  const auto faulty = std::make_shared<io::FaultingFileIO>(io::MakeLocalFileIO());
  const auto io = MapWarehouse(faulty);
  ASSERT_TRUE(load(io));
  const uint64_t operations = faulty->operations();
  ASSERT_GT(operations, at_least);
  for (uint64_t skip = 0; skip < operations; ++skip) {
    faulty->Clear();
    faulty->Add({.effect = io::FailWith{.kind = ErrorKind::kIo},
                 .operation = std::nullopt,
                 .path_contains = "",
                 .skip = skip,
                 .times = 1});
    const auto loaded = load(io);
    ASSERT_FALSE(loaded) << "operation " << skip;
    EXPECT_EQ(loaded.error().kind(), ErrorKind::kIo) << loaded.error().ToString();
  }
}

}  // namespace delenda::testing
