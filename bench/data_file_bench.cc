// Writing data files beside Arrow's bare Parquet writer, which gets the same batches and settings.
#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <benchmark/benchmark.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/io/file_io.h"
#include "delenda/write/partition_groups.h"
#include "delenda/write/partitioned_writer.h"

namespace delenda::write {
namespace {

constexpr int64_t kBatchRows = 64 * 1024;
constexpr int64_t kRows = 16 * kBatchRows;

Schema TableSchema() {
  return *Schema::Make(0, {{.id = 1, .name = "id", .type = TypeKind::kLong, .required = true},
                           {.id = 2, .name = "amount", .type = TypeKind::kDouble},
                           {.id = 3, .name = "region", .type = TypeKind::kString},
                           {.id = 4, .name = "name", .type = TypeKind::kString},
                           {.id = 5, .name = "ts", .type = TypeKind::kTimestampTz}});
}

WriteTarget Target(const std::vector<PartitionField>& fields, Executor* executor) {
  WriteTarget target{
      .io = io::MakeMemoryFileIO(), .table_location = "/t", .schema = TableSchema(), .spec = {}, .staged = nullptr};
  target.spec = BoundSpec::Make({.spec_id = 0, .fields = fields}, target.schema);
  target.properties = *WriteProperties::Parse({}, target.schema);
  target.executor = executor;
  return target;
}

// Ids ascend, amounts are random, there are 40 regions; names and times are nearly unique.
const std::vector<std::shared_ptr<arrow::RecordBatch>>& Rows() {
  static const auto rows = [] {
    std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
    std::mt19937_64 random(7);
    const auto schema = *Target({}, nullptr).BatchSchema();
    for (int64_t first = 0; first < kRows; first += kBatchRows) {
      std::unique_ptr<arrow::RecordBatchBuilder> builder =
          *arrow::RecordBatchBuilder::Make(schema, arrow::default_memory_pool(), kBatchRows);
      for (int64_t i = first; i < first + kBatchRows; ++i) {
        const uint64_t r = random();
        (void)builder->GetFieldAs<arrow::Int64Builder>(0)->Append(i);
        (void)builder->GetFieldAs<arrow::DoubleBuilder>(1)->Append(static_cast<double>(r % 1'000'000) / 100);
        (void)builder->GetFieldAs<arrow::StringBuilder>(2)->Append("region-" + std::to_string(r % 40));
        (void)builder->GetFieldAs<arrow::StringBuilder>(3)->Append("customer " + std::to_string(r >> 34));
        (void)builder->GetFieldAs<arrow::TimestampBuilder>(4)->Append(1'700'000'000'000'000 +
                                                                      static_cast<int64_t>(r % 864'000'000'000));
      }
      batches.push_back(*builder->Flush());
    }
    return batches;
  }();
  return rows;
}

void BareArrow(benchmark::State& state) {
  const auto& rows = Rows();
  int64_t bytes = 0;
  for (auto _ : state) {
    const auto sink = *arrow::io::BufferOutputStream::Create();
    const auto properties = ::parquet::WriterProperties::Builder()
                                .compression(arrow::Compression::ZSTD)
                                ->enable_write_page_index()
                                ->build();
    ::parquet::ArrowWriterProperties::Builder arrow_properties;
    if (state.range(0) > 1) arrow_properties.set_use_threads(true);
    auto writer = *::parquet::arrow::FileWriter::Open(*rows[0]->schema(), arrow::default_memory_pool(), sink,
                                                      properties, arrow_properties.build());
    for (const auto& batch : rows) (void)writer->WriteRecordBatch(*batch);
    (void)writer->Close();
    bytes = (*sink->Finish())->size();
  }
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kRows);
}
BENCHMARK(BareArrow)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void Append(benchmark::State& state, const std::vector<PartitionField>& fields) {
  const auto& rows = Rows();
  Executor executor(static_cast<size_t>(state.range(0)));
  int64_t bytes = 0;
  for (auto _ : state) {
    auto writer = *PartitionedWriter::Make(Target(fields, &executor));
    for (const auto& batch : rows) {
      if (auto written = writer.Write(*batch); !written) state.SkipWithError(written.error().ToString().c_str());
    }
    bytes = 0;
    const auto files = *writer.Finish();
    for (const ContentFile& file : files) bytes += file.file_size;
  }
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kRows);
}

PartitionField By(int32_t source, const char* transform) {
  return {.source_id = source, .field_id = 1000 + source, .name = "p", .transform = *Transform::Parse(transform)};
}

#define DELENDA_APPEND_BENCH(name, ...)                                     \
  BENCHMARK_CAPTURE(Append, name, std::vector<PartitionField>{__VA_ARGS__}) \
      ->Arg(1)                                                              \
      ->Arg(2)                                                              \
      ->UseRealTime()                                                       \
      ->Unit(benchmark::kMillisecond)
DELENDA_APPEND_BENCH(unpartitioned);
DELENDA_APPEND_BENCH(bucket_16_id, By(1, "bucket[16]"));
DELENDA_APPEND_BENCH(region, By(3, "identity"));
DELENDA_APPEND_BENCH(day, By(5, "day"));

// Finding the partitions alone.
void Group(benchmark::State& state, const PartitionField& field) {
  const WriteTarget target = Target({field}, nullptr);
  for (auto _ : state) {
    for (const auto& batch : Rows()) benchmark::DoNotOptimize(GroupByPartition(target.spec, target.schema, *batch));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kRows);
}
BENCHMARK_CAPTURE(Group, bucket_id, By(1, "bucket[16]"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, truncate_id, By(1, "truncate[100000]"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, day_ts, By(5, "day"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, month_ts, By(5, "month"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, identity_region, By(3, "identity"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, bucket_name, By(4, "bucket[16]"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, truncate_name, By(4, "truncate[10]"))->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace delenda::write
