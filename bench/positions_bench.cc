// PositionSet and the deletion vector codec: decode and encode, masks,
// runs, ranks. Argument 0: of 1,000 rows, how many are deleted; argument 1: shape (0 random, 1 clusters of 100).
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/positions/position_set.h"

namespace delenda {
namespace {

constexpr uint64_t kRows = 16'000'000;
constexpr uint64_t kBatch = 65'536;

PositionSet MakeSet(const benchmark::State& state) {
  std::mt19937_64 random(42);
  const uint64_t unit = state.range(1) == 0 ? 1 : 100;
  std::vector<uint64_t> positions;
  for (uint64_t row = 0; row < kRows; row += unit) {
    if (random() % 1'000 >= static_cast<uint64_t>(state.range(0))) continue;
    for (uint64_t i = 0; i < unit; ++i) positions.push_back(row + i);
  }
  return PositionSet::FromPositions(positions).value();
}

void Shapes(benchmark::internal::Benchmark* bench) {
  for (const int64_t shape : {0, 1}) {
    for (const int64_t share : {1, 10, 100, 300, 500, 900}) bench->Args({share, shape});
  }
}

void FillMask(benchmark::State& state) {
  const PositionSet set = MakeSet(state);
  std::vector<uint8_t> mask(kBatch / 8);
  const uint64_t shift = 12'345;  // batches do not begin at container borders
  for (auto _ : state) {
    for (uint64_t begin = shift; begin + kBatch <= kRows; begin += kBatch) {
      benchmark::DoNotOptimize(set.FillMask(begin, kBatch, mask.data(), MaskBits::kNonMembers));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>((kRows - shift) / kBatch * kBatch));
}
BENCHMARK(FillMask)->Apply(Shapes)->Unit(benchmark::kMicrosecond);

void ForEachRun(benchmark::State& state) {
  const PositionSet set = MakeSet(state);
  for (auto _ : state) {
    uint64_t sum = 0;
    set.ForEachRun([&](PositionRun run) { sum += run.size(); });
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(set.cardinality()));
}
BENCHMARK(ForEachRun)->Apply(Shapes)->Unit(benchmark::kMicrosecond);

void DecodeIcebergBlob(benchmark::State& state) {
  const Bytes blob = dv::EncodeIcebergBlob(MakeSet(state)).value();
  int64_t cardinality = 0;
  for (auto _ : state) {
    const auto set = dv::DecodeIcebergBlob(blob, std::nullopt);
    cardinality = static_cast<int64_t>(set->cardinality());
  }
  state.SetItemsProcessed(state.iterations() * cardinality);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(blob.size()));
}
BENCHMARK(DecodeIcebergBlob)->Apply(Shapes)->Unit(benchmark::kMicrosecond);

void EncodeIcebergBlob(benchmark::State& state) {
  const PositionSet set = MakeSet(state);
  for (auto _ : state) benchmark::DoNotOptimize(dv::EncodeIcebergBlob(set));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(set.cardinality()));
}
BENCHMARK(EncodeIcebergBlob)->Apply(Shapes)->Unit(benchmark::kMicrosecond);

void FromPositions(benchmark::State& state) {
  const std::vector<uint64_t> positions = MakeSet(state).ToVector();
  for (auto _ : state) benchmark::DoNotOptimize(PositionSet::FromPositions(positions));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(positions.size()));
}
BENCHMARK(FromPositions)->Apply(Shapes)->Unit(benchmark::kMicrosecond);

void RankMany(benchmark::State& state) {
  const PositionSet set = MakeSet(state);
  std::vector<uint64_t> asked;
  for (uint64_t row = 0; row < kRows; row += 97) asked.push_back(row);
  for (auto _ : state) benchmark::DoNotOptimize(set.RankMany(asked));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(asked.size()));
}
BENCHMARK(RankMany)->Apply(Shapes)->Unit(benchmark::kMicrosecond);

void Union(benchmark::State& state) {
  const PositionSet a = MakeSet(state);
  const PositionSet b = PositionSet::FromRange(kRows / 4, kRows / 2).value();
  for (auto _ : state) benchmark::DoNotOptimize(a.Union(b));
}
BENCHMARK(Union)->Apply(Shapes)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace delenda
