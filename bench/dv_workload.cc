// One deletion vector workload, timed inside one process: dv_workload OP BLOB_FILE, OP one of decode, decode_iter (and
// visit every position), build_encode (sorted positions to blob), encode. BLOB_FILE holds an Iceberg
// deletion-vector-v1 blob. Last line on stdout: {"rows": positions, "wall_s": median of 20 runs in seconds}.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/positions/position_set.h"

namespace delenda {
namespace {

constexpr size_t kRuns = 20;

double MedianSeconds(const std::function<uint64_t()>& run, uint64_t expected) {
  std::vector<double> seconds;
  for (size_t i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const uint64_t found = run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (found != expected) return -1;
    seconds.push_back(taken.count());
  }
  std::ranges::sort(seconds);
  return (seconds[kRuns / 2 - 1] + seconds[kRuns / 2]) / 2;
}

int Fail(std::string_view message) {
  fmt::print(stderr, "dv_workload: {}\n", message);
  return 2;
}

int Run(std::string_view op, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(fmt::format("cannot open {}", path));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const ByteView blob = AsBytes(text);
  const auto set = dv::DecodeIcebergBlob(blob, std::nullopt);
  if (!set) return Fail(set.error().message());
  const uint64_t rows = set->cardinality();
  const std::vector<uint64_t> positions = set->ToVector();
  uint64_t sum = 0;
  for (const uint64_t position : positions) sum += position;

  // Each run gives a number that is known, so that nothing can be left out.
  double wall = -1;
  if (op == "decode") {
    wall = MedianSeconds([&] { return dv::DecodeIcebergBlob(blob, rows).value().cardinality(); }, rows);
  } else if (op == "decode_iter") {
    const auto visit = [&] {
      uint64_t found = 0;
      dv::DecodeIcebergBlob(blob, rows).value().ForEach([&](uint64_t position) { found += position; });
      return found;
    };
    wall = MedianSeconds(visit, sum);
  } else if (op == "build_encode") {
    const auto build = [&] {
      return dv::EncodeIcebergBlob(PositionSet::FromPositions(positions).value()).value().size();
    };
    wall = MedianSeconds(build, blob.size());
  } else if (op == "encode") {
    wall = MedianSeconds([&] { return dv::EncodeIcebergBlob(*set).value().size(); }, blob.size());
  } else {
    return Fail(fmt::format("unknown operation {}: decode, decode_iter, build_encode or encode", op));
  }
  if (wall < 0) return Fail("wrong result");
  fmt::print("{{\"rows\": {}, \"wall_s\": {:.9f}}}\n", rows, wall);
  return 0;
}

}  // namespace
}  // namespace delenda

int main(int argc, char** argv) {
  if (argc != 3) return delenda::Fail("two arguments expected: OP BLOB_FILE");
  return delenda::Run(argv[1], argv[2]);
}
