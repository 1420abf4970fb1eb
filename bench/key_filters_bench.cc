// Which of 2,000 data files are opened for 2,000 keys of which 10 % are scattered, and what it costs to find out: by
// sorted keys, by the filter that the table's budget allows, and by a filter of at most 100 ranges, whatever the table
// has. Argument 0: where the scattered keys lie, 0: in every tenth file, 1: anywhere; argument 1: 0: sorted keys, 1:
// the filter within the budget, 2: 100 ranges. Counter `files`: those to be opened; 202 hold keys.
//
// A filter opens all files from the first key's to the last one's but those within the gaps that it leaves out. 100
// ranges leave out the 99 widest of about 200 gaps: of equal ones 99 × 9 = 891 files, so that 1,109 are opened; random
// ones vary, and the wider half of them makes up most of the table.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "delenda/model/key_filters.h"
#include "delenda/model/pruning.h"

namespace delenda {
namespace {

constexpr int64_t kFiles = 2000;
constexpr int64_t kRowsPerFile = 5000;  // consecutive ids

std::vector<std::vector<Datum>> KeysOf(bool are_anywhere) {
  std::set<int64_t> ids;
  // Two files hold 900 keys each that follow one another; the last one is the table's last one.
  const std::set<int64_t> runs = {1005, kFiles - 1};
  for (const int64_t file : runs) {
    for (int64_t i = 0; i < 900; ++i) ids.insert(file * kRowsPerFile + 2500 + i);
  }
  std::set<int64_t> files = runs;
  std::mt19937_64 random(3);
  while (ids.size() < 2000) {
    const auto next = static_cast<int64_t>(files.size()) - 2;
    const int64_t file = are_anywhere ? static_cast<int64_t>(random() % kFiles) : next * 10;
    if (files.insert(file).second) ids.insert(file * kRowsPerFile + 2500);
  }
  std::vector<std::vector<Datum>> keys;
  for (const int64_t id : ids) keys.push_back({Datum(id)});
  return keys;
}

void BM_FilesOfKeys(benchmark::State& state) {
  const auto rows = KeysOf(state.range(0) == 1);
  const BoundColumn column{.field_id = 1, .type = TypeKind::kLong, .name = "id", .path = {1}};
  std::vector<Datum> values;
  for (const auto& row : rows) values.push_back(row[0]);
  const SortedKeys sorted({{column, SortedValues::Of(std::move(values))}});
  const size_t budget = state.range(1) == 1 ? KeyComparisonBudget(kFiles) : 200;
  const ExprRef filter = KeyFilter(sorted, rows.size(), budget, [&] { return rows; });
  int64_t opened = 0;
  for (auto _ : state) {
    opened = 0;
    for (int64_t file = 0; file < kFiles; ++file) {
      const StatsSource bounds = [&](const BoundColumn&) -> std::optional<ColumnStats> {
        return ColumnStats{.value_count = kRowsPerFile,
                           .null_count = 0,
                           .lower = Datum(file * kRowsPerFile),
                           .upper = Datum((file + 1) * kRowsPerFile - 1)};
      };
      opened += state.range(1) == 0 ? sorted.CouldHold(bounds) : CouldMatch(*filter, bounds);
    }
  }
  state.counters["files"] = static_cast<double>(opened);
  state.SetItemsProcessed(state.iterations() * kFiles);
}
BENCHMARK(BM_FilesOfKeys)
    ->ArgNames({"anywhere", "form"})
    ->ArgsProduct({{0, 1}, {0, 1, 2}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace delenda
