// Plans of tables whose manifests have many blocks: what is read, in which order, and which error is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "delenda/iceberg/manifest_list_writer.h"
#include "delenda/iceberg/manifest_writer.h"
#include "delenda/io/counting_file_io.h"
#include "delenda/plan/scan_planner.h"

namespace delenda::plan {
namespace {

using ::testing::HasSubstr;

// A version 3 table in memory: data manifests of 600 files each, half of them with a deletion vector, in blocks of
// about ten files.
class LargePlan : public ::testing::Test {
 protected:
  static constexpr int kManifests = 3;
  static constexpr int kFiles = 600;

  LargePlan() : schema_(*Schema::Make(0, {{.id = 1, .name = "id", .type = TypeKind::kInt}})) {
    PartitionSpec spec;
    spec.fields.push_back(
        {.source_id = 1, .field_id = 1000, .name = "id", .transform = *Transform::Parse("bucket[4]")});
    metadata_.format_version = 3;
    metadata_.schemas = {schema_};
    metadata_.specs = {spec};
    const BoundSpec bound = BoundSpec::Make(spec, schema_);
    for (int manifest = 0; manifest < kManifests; ++manifest) {
      auto data = Writer(bound, iceberg::ManifestContent::kData, fmt::format("/t/data-{}.avro", manifest));
      auto deletes = Writer(bound, iceberg::ManifestContent::kDeletes, fmt::format("/t/deletes-{}.avro", manifest));
      for (int i = 0; i < kFiles; ++i) Add(manifest, i, data, deletes);
      for (auto* writer : {&data, &deletes}) {
        auto written = std::move(*writer).Finish();
        EXPECT_TRUE(written) << written.error().ToString();
        files_[written->file.path] = std::move(written->bytes);
        manifests_.push_back(written->file);
      }
    }
    WriteList();
    metadata_.current_snapshot_id = 7;
    iceberg::Snapshot& snapshot = metadata_.snapshots.emplace_back();
    snapshot.snapshot_id = 7;
    snapshot.sequence_number = 5;
    snapshot.manifest_list = "/t/list.avro";
    metadata_.refs["main"] = {.snapshot_id = 7};
  }

  void WriteList() {
    auto list = iceberg::WriteManifestList(manifests_, {.snapshot_id = 7, .sequence_number = 5, .first_row_id = 1000});
    ASSERT_TRUE(list) << list.error().ToString();
    files_["/t/list.avro"] = std::move(list->bytes);
  }

  iceberg::ManifestWriter Writer(const BoundSpec& spec, iceberg::ManifestContent content, const std::string& path) {
    auto writer = iceberg::ManifestWriter::Make(
        schema_, spec,
        {.content = content, .snapshot_id = 7, .path = path, .avro = {.codec = codec_, .block_bytes = 1'000}});
    EXPECT_TRUE(writer) << writer.error().ToString();
    return *std::move(writer);
  }

  void Add(int manifest, int i, iceberg::ManifestWriter& data, iceberg::ManifestWriter& deletes) {
    ContentFile file;
    file.path = fmt::format("/t/data/{}-{:04}-{}.parquet", manifest, i, random_());
    file.partition = std::make_shared<const PartitionTuple>(PartitionTuple{{Datum(int64_t{i / 7 % 4})}});
    file.record_count = 1 + static_cast<int64_t>(random_() % 1000);
    file.file_size = 1000;
    auto metrics = std::make_shared<FileMetrics>();
    metrics->value_counts[1] = file.record_count;
    metrics->null_counts[1] = 0;
    for (const auto& [bound, value] : {std::pair(&metrics->lower_bounds, i), std::pair(&metrics->upper_bounds, i + 1)})
      (*bound)[1] = std::string({static_cast<char>(value & 0xff), static_cast<char>(value >> 8), 0, 0});
    file.metrics = metrics;
    EXPECT_TRUE(data.Add(file));
    if (i % 2 == 0) {
      ContentFile dv;
      dv.content = FileContent::kPositionDeletes;
      dv.format = FileFormat::kPuffin;
      dv.path = fmt::format("/t/data/{}.puffin", manifest);
      dv.partition = file.partition;
      dv.record_count = 1;
      dv.file_size = 100'000;
      dv.referenced_data_file = file.path;
      dv.content_offset = 4 + 40 * i;
      dv.content_size = 40;
      EXPECT_TRUE(deletes.Add(dv));
    }
    written_.push_back(std::move(file));
  }

  struct Planned {
    Result<ScanPlan> plan;
    io::IoCounts counts;
  };
  Planned Plan(size_t threads, const ScanRequest& request = {}) const {
    auto memory = io::MakeMemoryFileIO();
    for (const auto& [path, bytes] : files_) {
      auto out = memory->Create(path);
      EXPECT_TRUE(out && (*out)->Write(bytes) && (*out)->Close());
    }
    io::CountingFileIO io(memory);
    Executor executor(threads);
    auto plan = PlanScan(metadata_, io, request, executor, {});
    return {std::move(plan), io.Snapshot()};
  }

  // Spoils the sync marker behind a block, or the last byte of its data.
  void Break(const std::string& path, size_t block, bool marker) {
    auto reader = avro::Reader::Open(ByteView(files_[path]), nullptr);
    ASSERT_TRUE(reader);
    const auto blocks = reader->FindBlocks().blocks;
    ASSERT_GT(blocks.size(), block + 5);
    files_[path][blocks[block].end - (marker ? 1 : 17)] ^= std::byte{0xff};
  }

  avro::Codec codec_ = avro::Codec::kNull;
  Schema schema_;
  iceberg::TableMetadata metadata_;
  std::vector<iceberg::ManifestFile> manifests_;
  std::map<std::string, Bytes> files_;
  std::vector<ContentFile> written_;
  std::mt19937_64 random_{42};
};

TEST_F(LargePlan, HasTheFilesInTheOrderOfTheManifestsOnAnyNumberOfThreads) {
  for (const size_t threads : {1, 2, 3, 8}) {
    SCOPED_TRACE(threads);
    const auto [plan, counts] = Plan(threads);
    ASSERT_TRUE(plan) << plan.error().ToString();
    ASSERT_EQ(plan->tasks.size(), written_.size());
    // spec, "First Row ID Inheritance": ids go on from file to file through a manifest, and from one to the next.
    int64_t row_id = 1000;
    size_t dvs = 0;
    for (size_t i = 0; i < written_.size(); ++i) {
      const FileTask& task = plan->tasks[i];
      ASSERT_EQ(task.file.path, written_[i].path);
      ASSERT_EQ(*task.file.partition, *written_[i].partition);
      ASSERT_EQ(task.file.record_count, written_[i].record_count);
      ASSERT_EQ(task.file.data_sequence_number, 5);
      ASSERT_EQ(task.file.first_row_id, row_id);
      row_id += task.file.record_count;
      ASSERT_EQ(task.dv.has_value(), i % 2 == 0);
      if (!task.dv) continue;
      ASSERT_EQ(*task.dv, dvs++);
      ASSERT_EQ(plan->deletes[*task.dv].referenced_data_file, task.file.path);
      ASSERT_EQ(plan->deletes[*task.dv].content_offset, 4 + 40 * static_cast<int64_t>(i % kFiles));
    }
    EXPECT_EQ(plan->deletes.size(), dvs);
    EXPECT_EQ(plan->metrics.data_files_live, written_.size());
    EXPECT_EQ(plan->metrics.delete_files_live, dvs);
    // The list and each manifest, each by one request.
    EXPECT_EQ(counts.opens, 1U + 2 * kManifests);
    EXPECT_EQ(counts.reads, 1U + 2 * kManifests);
  }
}

TEST_F(LargePlan, PrunesByBoundsAndMarksThePrunedFilesOfDeletes) {
  for (const size_t threads : {1, 4}) {
    const auto [plan, counts] = Plan(threads, {.where = "id >= 100 AND id <= 101"});
    ASSERT_TRUE(plan) << plan.error().ToString();
    // Bounds [i, i + 1]: the files 99, 100 and 101 of each manifest. (Buckets say nothing about ranges.)
    std::vector<std::string> paths, planned;
    for (size_t manifest = 0; manifest < kManifests; ++manifest) {
      for (size_t i = 99; i <= 101; ++i) paths.push_back(written_[manifest * kFiles + i].path);
    }
    for (const auto& task : plan->tasks) planned.push_back(task.file.path);
    EXPECT_EQ(planned, paths);
    // The vectors of the pruned files are no orphans, and those that are not used have left.
    size_t attached = 0;
    for (const auto& task : plan->tasks) attached += task.dv ? 1 : 0;
    EXPECT_EQ(attached, size_t{kManifests});
    EXPECT_EQ(plan->deletes.size(), attached);
    EXPECT_EQ(plan->metrics.data_files_pruned, written_.size() - paths.size());
  }
}

TEST_F(LargePlan, TellsTheFirstErrorInTheOrderOfManifestsAndBlocks) {
  struct Case {
    std::vector<std::tuple<std::string, size_t, bool>> broken;
    const char* told;
  };
  const auto whole = files_;
  for (const auto& [broken, told] : {
           Case{{{"/t/data-0.avro", 15, true}, {"/t/data-1.avro", 2, true}}, "/t/data-0.avro"},
           Case{{{"/t/data-2.avro", 1, true}, {"/t/data-1.avro", 19, true}}, "/t/data-1.avro"},
           Case{{{"/t/data-0.avro", 3, true}, {"/t/deletes-2.avro", 9, true}}, "/t/deletes-2.avro"},
           // A broken marker ends the list of blocks, but a block before it comes first.
           Case{{{"/t/data-1.avro", 18, true}, {"/t/data-1.avro", 4, false}}, "/t/data-1.avro"},
       }) {
    files_ = whole;
    for (const auto& [path, block, marker] : broken) Break(path, block, marker);
    std::set<std::string> messages;
    for (const size_t threads : {1, 2, 5, 8, 8, 8}) {
      const auto [plan, counts] = Plan(threads);
      ASSERT_FALSE(plan);
      EXPECT_EQ(plan.error().kind(), ErrorKind::kCorrupt);
      messages.insert(plan.error().ToString());
    }
    ASSERT_EQ(messages.size(), 1U) << *messages.begin() << "\n" << *messages.rbegin();
    EXPECT_THAT(*messages.begin(), HasSubstr(told));
  }
}

TEST_F(LargePlan, AManifestThatLostABlockIsAnErrorThatCountsTheRest) {
  auto reader = avro::Reader::Open(ByteView(files_["/t/data-1.avro"]), nullptr);
  ASSERT_TRUE(reader);
  const auto blocks = reader->FindBlocks().blocks;
  Bytes& bytes = files_["/t/data-1.avro"];
  const auto rest = bytes.begin() + static_cast<ptrdiff_t>(blocks[10].end);
  const Bytes behind(rest, bytes.end());
  bytes.resize(blocks[10].offset);
  bytes.insert(bytes.end(), behind.begin(), behind.end());
  for (auto& manifest : manifests_) {
    if (manifest.path == "/t/data-1.avro") manifest.length = bytes.size();
  }
  WriteList();
  for (const size_t threads : {1, 4}) {
    const auto [plan, counts] = Plan(threads);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind(), ErrorKind::kCorrupt);
    EXPECT_THAT(plan.error().ToString(), HasSubstr(fmt::format("manifest holds {} entries, the manifest list says 600",
                                                               kFiles - blocks[10].rows)));
  }
}

TEST_F(LargePlan, AManifestThatStandsInTheListTwiceIsRefused) {
  auto list = avro::Reader::Open(ByteView(files_["/t/list.avro"]), nullptr);
  ASSERT_TRUE(list);
  const auto blocks = list->FindBlocks().blocks;
  ASSERT_EQ(blocks.size(), 1U);
  Bytes& bytes = files_["/t/list.avro"];
  const Bytes again(bytes.begin() + static_cast<ptrdiff_t>(blocks[0].offset), bytes.end());
  bytes.insert(bytes.end(), again.begin(), again.end());
  for (const size_t threads : {1, 4}) {
    const auto [plan, counts] = Plan(threads);
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().ToString(), HasSubstr("two deletion vectors for"));
  }
}

}  // namespace
}  // namespace delenda::plan
