// Pairing of change rows: one snapshot that deletes 500,000 rows and inserts them again. Argument 0: of 100 rows, how
// many were updated; argument 1: the memory budget in MiB. Items are rows of the source.
#include <arrow/api.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "delenda/read/change_pairing.h"

namespace delenda {
namespace {

constexpr int64_t kRows = 500'000;
constexpr int64_t kBatchRows = 64 * 1024;

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

std::shared_ptr<arrow::Schema> Schema() {
  using arrow::field;
  return arrow::schema({field("id", arrow::int64()), field("name", arrow::utf8()), field("price", arrow::float64()),
                        field("day", arrow::date32()), field("note", arrow::utf8()),
                        field("_change_type", arrow::utf8()), field("_change_ordinal", arrow::int32()),
                        field("_commit_snapshot_id", arrow::int64()), field("_row_id", arrow::int64()),
                        field("_last_updated_sequence_number", arrow::int64())});
}

Batches MakeRewrite(int64_t updated_of_100, bool lineage) {
  Batches batches;
  for (const bool insert : {false, true}) {
    for (int64_t begin = 0; begin < kRows; begin += kBatchRows) {
      auto builder = arrow::RecordBatchBuilder::Make(Schema(), arrow::default_memory_pool()).ValueOrDie();
      for (int64_t row = begin; row < std::min(kRows, begin + kBatchRows); ++row) {
        const bool updated = insert && row * 7919 % 100 < updated_of_100;
        bool good = builder->GetFieldAs<arrow::Int64Builder>(0)->Append(row).ok();
        good = good && builder->GetFieldAs<arrow::StringBuilder>(1)->Append(fmt::format("customer {}", row)).ok();
        good = good && builder->GetFieldAs<arrow::DoubleBuilder>(2)->Append(updated ? -1.0 : 0.5).ok();
        good = good && builder->GetFieldAs<arrow::Date32Builder>(3)->Append(static_cast<int32_t>(row % 1000)).ok();
        good = good && builder->GetFieldAs<arrow::StringBuilder>(4)->Append("a note of some length").ok();
        good = good && builder->GetFieldAs<arrow::StringBuilder>(5)->Append(insert ? "INSERT" : "DELETE").ok();
        good = good && builder->GetFieldAs<arrow::Int32Builder>(6)->Append(0).ok();
        good = good && builder->GetFieldAs<arrow::Int64Builder>(7)->Append(1).ok();
        auto* row_ids = builder->GetFieldAs<arrow::Int64Builder>(8);
        auto* last_updated = builder->GetFieldAs<arrow::Int64Builder>(9);
        good = good && (lineage ? row_ids->Append(row) : row_ids->AppendNull()).ok();
        good = good && (lineage ? last_updated->Append(updated ? 2 : 1) : last_updated->AppendNull()).ok();
        if (!good) return {};
      }
      batches.push_back(builder->Flush().ValueOrDie());
    }
  }
  return batches;
}

class Replay final : public read::BatchSource {
 public:
  explicit Replay(const Batches& batches) : batches_(&batches) {}
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    return next_ < batches_->size() ? (*batches_)[next_++] : nullptr;
  }

 private:
  const Batches* batches_;
  size_t next_ = 0;
};

void Run(benchmark::State& state, const Batches& batches, read::PairingOptions options) {
  options.user_columns = 5;
  if (state.range(1) > 0) options.memory_budget = static_cast<uint64_t>(state.range(1)) << 20;
  uint64_t spilled = 0;
  for (auto _ : state) {
    auto stream = read::PairChanges(std::make_unique<Replay>(batches), Schema(), options);
    if (!stream) return state.SkipWithError(stream.error().ToString().c_str());
    while (true) {
      const auto batch = (*stream)->Next();
      if (!batch) return state.SkipWithError(batch.error().ToString().c_str());
      if (*batch == nullptr) break;
      benchmark::DoNotOptimize((*batch)->num_rows());
    }
    spilled = (*stream)->metrics().spilled_bytes;
  }
  state.SetItemsProcessed(state.iterations() * 2 * kRows);
  state.counters["spilled"] = static_cast<double>(spilled);
}

void ByLineage(benchmark::State& state) { Run(state, MakeRewrite(state.range(0), true), {}); }
BENCHMARK(ByLineage)->ArgsProduct({{0, 10, 100}, {1024, 256, 16}})->Unit(benchmark::kMillisecond);

void ByValueAndKey(benchmark::State& state) {
  Run(state, MakeRewrite(state.range(0), false), {.updates = read::Updates::kKey, .key_columns = {"id"}});
}
BENCHMARK(ByValueAndKey)->ArgsProduct({{0, 10, 100}, {1024, 256, 16}})->Unit(benchmark::kMillisecond);

void Net(benchmark::State& state) {
  Run(state, MakeRewrite(state.range(0), true), {.carry_overs = read::CarryOvers::kKeep, .net = true});
}
BENCHMARK(Net)->ArgsProduct({{0, 100}, {1024, 16}})->Unit(benchmark::kMillisecond);

// Only one kind of rows in each snapshot: nothing waits.
void PassThrough(benchmark::State& state) {
  Run(state, MakeRewrite(0, true), {.carry_overs = read::CarryOvers::kKeep, .updates = read::Updates::kNone});
}
BENCHMARK(PassThrough)->Args({0, 256})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace delenda
