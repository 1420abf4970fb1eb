// The portable 64-bit roaring decoder, and every operation on what it accepts: the results must agree with each other.
// The input holds two vectors: its first two bytes (little-endian) say how long the first one is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "delenda/formats/positions/position_set.h"

namespace {

using delenda::Bytes;
using delenda::ByteView;
using delenda::MaskBits;
using delenda::PositionRun;
using delenda::PositionSet;

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckEncoding(const PositionSet& set) {
  const Bytes encoded = set.ToPortable();
  Require(encoded.size() == set.PortableSize());
  const auto again = PositionSet::FromPortable(encoded);
  Require(again.has_value() && *again == set && again->ToPortable() == encoded);
}

void CheckLookUps(const PositionSet& set) {
  uint64_t count = 0;
  uint64_t end = 0;
  int runs = 0;
  set.ForEachRun([&](PositionRun run) {
    Require(run.begin < run.end && (runs == 0 || run.begin > end));  // maximal: never touching
    if (runs++ < 300) {                                              // as costly as the set is large
      Require(set.Rank(run.begin) == count && set.Select(count) == run.begin);
      Require(set.ContainsRange(run.begin, run.end) && !set.Contains(run.end));
    }
    end = run.end;
    count += run.size();
  });
  Require(count == set.cardinality());
  if (set.empty()) return;
  Require(end == *set.Max() + 1);

  // A window around the middle member, filled in one go and looked up one by one.
  const uint64_t middle = *set.Select(count / 2);
  const uint64_t begin = middle < 500 ? 0 : middle - 500;
  constexpr uint64_t kCount = 1'003;
  std::vector<uint8_t> members(kCount / 8 + 1);
  std::vector<uint8_t> others(kCount / 8 + 1);
  const uint64_t found = set.FillMask(begin, kCount, members.data(), MaskBits::kMembers);
  Require(found == set.FillMask(begin, kCount, others.data(), MaskBits::kNonMembers));
  Require(found == set.CountInRange(begin, begin + kCount));
  for (uint64_t i = 0; i < kCount; ++i) {
    const bool in = (members[i / 8] >> (i % 8) & 1) != 0;
    Require(in == set.Contains(begin + i) && in == ((others[i / 8] >> (i % 8) & 1) == 0));
  }
  // A long mask, which goes other ways.
  std::vector<uint8_t> wide(25'000);
  Require(set.FillMask(begin, 200'000, wide.data(), MaskBits::kMembers) == set.CountInRange(begin, begin + 200'000));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const ByteView input = std::as_bytes(std::span(data + 2, size - 2));
  const size_t cut = std::min(input.size(), static_cast<size_t>(data[0] | data[1] << 8));
  const auto a = PositionSet::FromPortable(input.first(cut));
  const auto b = PositionSet::FromPortable(input.subspan(cut));
  if (a) {
    CheckEncoding(*a);
    CheckLookUps(*a);
  }
  if (!a || !b) return 0;
  const PositionSet both = a->Intersection(*b);
  const PositionSet all = a->Union(*b);
  const PositionSet only = a->Difference(*b);
  Require(all.cardinality() + both.cardinality() == a->cardinality() + b->cardinality());
  Require(only.cardinality() + both.cardinality() == a->cardinality());
  Require(only.Union(both) == *a && all == b->Union(*a) && !only.Intersects(*b));
  Require(all.ContainsAll(*a) && all.ContainsAll(*b) && a->ContainsAll(both));
  Require(a->Intersects(*b) == !both.empty() && a->ContainsAll(*b) == (both == *b));
  Require(all.Difference(*b) == only);
  CheckEncoding(all);
  CheckLookUps(only);
  return 0;
}
