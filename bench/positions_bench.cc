// PositionSet and the deletion vector codec.
//
// Codec/<shape>/<op>/<who>: 1,000,000 positions each: rand (of 10 million), clus (runs of 1,000 among 10 million),
// sparse (of 1,000 million). Who: delenda, or the same work done with bare 32-bit CRoaring calls in the same program:
// `raw` with the CRC, `raw_checked` with CRoaring's validator besides (what decoding bytes from outside needs),
// `raw_to_bytes` with a vector for the bytes, which is cleared first, `raw_no_crc`.
// `--blobs=DIR` reads w7_rand.dv, w7_clus.dv and w7_sparse.dv (Iceberg blobs) instead of making such vectors. Compare
// with --benchmark_enable_random_interleaving=true --benchmark_repetitions=9.
//
// The others: argument 0: of 1,000 rows, how many are deleted; argument 1: shape (0 random, 1 clusters of 100).
#include <benchmark/benchmark.h>
#include <roaring/roaring.h>

#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
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

// One vector of the codec benchmarks, all of whose positions have the high half 0.
struct Workload {
  std::string name;
  Bytes blob;
  std::vector<uint64_t> positions;
};

// `count` positions below `limit`, in runs of `run`.
std::vector<uint64_t> Draw(uint64_t count, uint64_t limit, uint64_t run) {
  std::mt19937_64 random(7);
  const uint64_t runs = limit / run;
  std::vector<uint64_t> positions;
  // Each run is taken with the chance that makes the number come out right in the end.
  uint64_t wanted = count / run;
  for (uint64_t at = 0; at < runs && wanted > 0; ++at) {
    if (random() % (runs - at) >= wanted) continue;
    --wanted;
    for (uint64_t i = 0; i < run; ++i) positions.push_back(at * run + i);
  }
  return positions;
}

Workload MakeWorkload(const std::string& name, const std::string& folder, uint64_t limit, uint64_t run) {
  Workload out{.name = name, .blob = {}, .positions = {}};
  if (folder.empty()) {
    out.positions = Draw(1'000'000, limit, run);
    out.blob = dv::EncodeIcebergBlob(PositionSet::FromPositions(out.positions).value()).value();
  } else {
    std::ifstream file(folder + "/w7_" + name + ".dv", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    out.blob.assign(AsBytes(text).begin(), AsBytes(text).end());
    out.positions = dv::DecodeIcebergBlob(out.blob, std::nullopt).value().ToVector();
  }
  return out;
}

// The 32-bit bitmap within a blob that has one bucket: behind length, magic, bucket count and key.
constexpr size_t kBitmapOffset = 4 + 4 + 8 + 4;
constexpr size_t kCrcBytes = 4;

enum class Raw { kNoCrc, kCrc, kChecked };

struct FreeBitmap {
  void operator()(roaring_bitmap_t* bitmap) const { roaring_bitmap_free(bitmap); }
};
using RawBitmap = std::unique_ptr<roaring_bitmap_t, FreeBitmap>;

RawBitmap RawDecode(const Bytes& blob, Raw raw) {
  if (raw != Raw::kNoCrc) benchmark::DoNotOptimize(Crc32(ByteView(blob).subspan(4, blob.size() - 4 - kCrcBytes)));
  RawBitmap bitmap(roaring_bitmap_portable_deserialize_safe(reinterpret_cast<const char*>(blob.data()) + kBitmapOffset,
                                                            blob.size() - kBitmapOffset - kCrcBytes));
  const char* reason = nullptr;
  if (raw == Raw::kChecked) benchmark::DoNotOptimize(roaring_bitmap_internal_validate(bitmap.get(), &reason));
  return bitmap;
}

uint64_t RawVisit(const roaring_bitmap_t* bitmap) {
  uint64_t sum = 0;
  roaring_uint32_iterator_t at;
  roaring_iterator_init(bitmap, &at);
  std::array<uint32_t, 1024> lows;
  while (const uint32_t count = roaring_uint32_iterator_read(&at, lows.data(), lows.size())) {
    for (uint32_t i = 0; i < count; ++i) sum += lows[i];
  }
  return sum;
}

// The bitmap's bytes, in memory that is not cleared before (as that of a vector is).
std::unique_ptr<std::byte[]> RawEncode(const roaring_bitmap_t* bitmap, Raw raw) {
  const size_t size = roaring_bitmap_portable_size_in_bytes(bitmap);
  auto out = std::make_unique_for_overwrite<std::byte[]>(size);
  roaring_bitmap_portable_serialize(bitmap, reinterpret_cast<char*>(out.get()));
  if (raw != Raw::kNoCrc) benchmark::DoNotOptimize(Crc32({out.get(), size}));
  return out;
}
// The same in the type that the engine's encoder returns.
Bytes RawEncodeToBytes(const roaring_bitmap_t* bitmap) {
  Bytes out(roaring_bitmap_portable_size_in_bytes(bitmap));
  roaring_bitmap_portable_serialize(bitmap, reinterpret_cast<char*>(out.data()));
  benchmark::DoNotOptimize(Crc32(out));
  return out;
}

RawBitmap RawBuild(const std::vector<uint64_t>& positions) {
  std::vector<uint32_t> lows(positions.size());
  for (size_t i = 0; i < lows.size(); ++i) lows[i] = static_cast<uint32_t>(positions[i]);
  RawBitmap bitmap(roaring_bitmap_of_ptr(lows.size(), lows.data()));
  roaring_bitmap_run_optimize(bitmap.get());
  return bitmap;
}

uint64_t RawFillMasks(const roaring_bitmap_t* bitmap, uint64_t rows, std::vector<uint8_t>& mask) {
  uint64_t members = 0;
  roaring_uint32_iterator_t at;
  roaring_iterator_init(bitmap, &at);
  for (uint64_t begin = 0; begin < rows; begin += kBatch) {
    std::fill(mask.begin(), mask.end(), uint8_t{0xff});
    for (; at.has_value && at.current_value < begin + kBatch; roaring_uint32_iterator_advance(&at)) {
      const uint64_t bit = at.current_value - begin;
      mask[bit / 8] &= static_cast<uint8_t>(~(1U << (bit % 8)));
      ++members;
    }
    benchmark::DoNotOptimize(mask.data());
  }
  return members;
}

uint64_t FillMasks(const PositionSet& set, uint64_t rows, std::vector<uint8_t>& mask) {
  uint64_t members = 0;
  for (uint64_t begin = 0; begin < rows; begin += kBatch) {
    members += set.FillMask(begin, kBatch, mask.data(), MaskBits::kNonMembers);
    benchmark::DoNotOptimize(mask.data());
  }
  return members;
}

// Registers `work`, which handles `items` items a call.
template <typename Work>
void AddCodec(const std::string& name, uint64_t items, Work work) {
  benchmark::RegisterBenchmark(("Codec/" + name).c_str(), [items, work](benchmark::State& state) {
    for (auto _ : state) {
      auto made = work();
      benchmark::DoNotOptimize(made);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(items));
  })->Unit(benchmark::kMicrosecond);
}

void AddWorkload(const Workload& input) {
  const uint64_t count = input.positions.size();
  const auto set = std::make_shared<const PositionSet>(PositionSet::FromPositions(input.positions).value());
  const std::shared_ptr<const roaring_bitmap_t> bitmap = RawBuild(input.positions);

  AddCodec(input.name + "/decode/delenda", count,
           [&input, count] { return dv::DecodeIcebergBlob(input.blob, count).value(); });
  AddCodec(input.name + "/decode/raw", count, [&input] { return RawDecode(input.blob, Raw::kCrc); });
  AddCodec(input.name + "/decode/raw_checked", count, [&input] { return RawDecode(input.blob, Raw::kChecked); });
  AddCodec(input.name + "/decode/raw_no_crc", count, [&input] { return RawDecode(input.blob, Raw::kNoCrc); });

  AddCodec(input.name + "/decode_iter/delenda", count, [&input, count] {
    uint64_t sum = 0;
    dv::DecodeIcebergBlob(input.blob, count).value().ForEach([&sum](uint64_t position) { sum += position; });
    return sum;
  });
  AddCodec(input.name + "/decode_iter/raw", count,
           [&input] { return RawVisit(RawDecode(input.blob, Raw::kCrc).get()); });

  AddCodec(input.name + "/build_encode/delenda", count,
           [&input] { return dv::EncodeIcebergBlob(PositionSet::FromPositions(input.positions).value()).value(); });
  AddCodec(input.name + "/build_encode/raw", count,
           [&input] { return RawEncode(RawBuild(input.positions).get(), Raw::kCrc); });

  AddCodec(input.name + "/encode/delenda", count, [set] { return dv::EncodeIcebergBlob(*set).value(); });
  AddCodec(input.name + "/encode/raw", count, [bitmap] { return RawEncode(bitmap.get(), Raw::kCrc); });
  AddCodec(input.name + "/encode/raw_to_bytes", count, [bitmap] { return RawEncodeToBytes(bitmap.get()); });
  AddCodec(input.name + "/encode/raw_no_crc", count, [bitmap] { return RawEncode(bitmap.get(), Raw::kNoCrc); });

  // Items are rows here, not positions.
  const uint64_t rows = (*set->Max() / kBatch + 1) * kBatch;
  const auto mask = std::make_shared<std::vector<uint8_t>>(kBatch / 8);
  AddCodec(input.name + "/fill_mask/delenda", rows, [set, mask, rows] { return FillMasks(*set, rows, *mask); });
  AddCodec(input.name + "/fill_mask/raw", rows,
           [bitmap, mask, rows] { return RawFillMasks(bitmap.get(), rows, *mask); });
}

}  // namespace
}  // namespace delenda

int main(int argc, char** argv) {
  constexpr std::string_view kFlag = "--blobs=";
  std::string folder;
  std::vector<char*> arguments;
  for (char* argument : std::span(argv, static_cast<size_t>(argc))) {
    if (std::string_view(argument).starts_with(kFlag)) {
      folder = std::string_view(argument).substr(kFlag.size());
    } else {
      arguments.push_back(argument);
    }
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  const std::array workloads = {delenda::MakeWorkload("rand", folder, 10'000'000, 1),
                                delenda::MakeWorkload("clus", folder, 10'000'000, 1'000),
                                delenda::MakeWorkload("sparse", folder, 1'000'000'000, 1)};
  for (const auto& workload : workloads) delenda::AddWorkload(workload);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
