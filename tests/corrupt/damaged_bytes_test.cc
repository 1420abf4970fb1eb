// Every file of a table's current snapshot cut short, with flipped bytes, missing or forbidden: a scan gives an error
// of a sensible kind and never fewer or more rows that pass for all of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "corrupt/table_scan.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/io/faulting_file_io.h"
#include "delenda/io/file_io.h"
#include "support/fixtures.h"

namespace delenda {
namespace {

using testing::ScanHow;
using testing::ScanOutcome;
using testing::ScanThrough;
using testing::Stage;

template <typename Effect>
io::Fault FaultOn(std::string path, Effect effect) {
  io::Fault fault;
  fault.effect = std::move(effect);
  fault.path_contains = std::move(path);
  return fault;
}

uint64_t NumberFrom(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::mt19937_64 SeededRandom() {
  const uint64_t seed = NumberFrom("DELENDA_SEED", std::random_device()());
  fmt::print("DELENDA_SEED={}\n", seed);
  return std::mt19937_64(seed);
}

enum class FileKind : uint8_t { kHint, kMetadata, kAvro, kPuffin, kParquet };

struct SnapshotFile {
  std::string path;
  FileKind kind = FileKind::kParquet;
  uint64_t size = 0;
  // kPuffin: the bytes that the scan needs, framing included.
  std::vector<std::pair<uint64_t, uint64_t>> blobs = {};
  // A data file whose deletion vector holds every row: a scan need not open it.
  bool all_deleted = false;
};

// A table in memory, with the files of its current snapshot and its rows.
class DamagedTable : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    location_ = "/warehouse/" + GetParam();
    memory_ = io::MakeMemoryFileIO();
    const std::filesystem::path root = testing::FixtureTable(GetParam());
    const auto local = io::MakeLocalFileIO();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      const auto bytes = io::ReadWholeFile(*local, entry.path().string());
      ASSERT_TRUE(bytes.has_value());
      auto out = memory_->Create(location_ + "/" + std::filesystem::relative(entry.path(), root).string());
      ASSERT_TRUE(out.has_value() && (*out)->Write(*bytes).has_value() && (*out)->Close().has_value());
    }
    faults_ = std::make_shared<io::FaultingFileIO>(memory_);
    FindFiles();
    expected_ = testing::RowsOfFile(testing::FixtureTable(GetParam()) + ".expected/current.jsonl");
    const ScanOutcome whole = ScanThrough(faults_, location_);
    ASSERT_TRUE(whole.ok()) << whole.Text();
    ASSERT_EQ(whole.rows, expected_);
  }

  void AddFile(const std::string& path, FileKind kind) {
    const auto info = memory_->Stat(path);
    ASSERT_TRUE(info.has_value()) << path;
    files_.push_back({.path = path, .kind = kind, .size = info->size});
  }

  void FindFiles() {
    const auto table = iceberg::LoadTable(*memory_, location_);
    ASSERT_TRUE(table.has_value());
    AddFile(location_ + "/metadata/version-hint.text", FileKind::kHint);
    AddFile(table->metadata_path, FileKind::kMetadata);
    const auto selected = iceberg::SelectSnapshot(table->metadata, {});
    ASSERT_TRUE(selected.has_value());
    AddFile(selected->snapshot->manifest_list, FileKind::kAvro);
    avro::SchemaCache schemas;
    const auto manifests = iceberg::ReadManifests(*memory_, *selected->snapshot, schemas);
    ASSERT_TRUE(manifests.has_value());
    for (const auto& manifest : *manifests) {
      if (manifest.added_files.value_or(1) + manifest.existing_files.value_or(1) > 0)
        AddFile(manifest.path, FileKind::kAvro);
    }
    Executor executor(1);
    const auto plan = plan::PlanScan(table->metadata, *memory_, {}, executor, {});
    ASSERT_TRUE(plan.has_value());
    for (const auto& task : plan->tasks) {
      AddFile(task.file.path, FileKind::kParquet);
      files_.back().all_deleted = task.dv && plan->deletes[*task.dv].record_count == task.file.record_count;
    }
    for (const auto& deletes : plan->deletes) {
      const auto known = std::ranges::find(files_, deletes.path, &SnapshotFile::path);
      if (known == files_.end()) AddFile(deletes.path, deletes.content_offset ? FileKind::kPuffin : FileKind::kParquet);
      if (!deletes.content_offset) continue;
      std::ranges::find(files_, deletes.path, &SnapshotFile::path)
          ->blobs.emplace_back(*deletes.content_offset, *deletes.content_offset + *deletes.content_size);
    }
  }

  ScanOutcome ScanWith(io::Fault fault, const ScanHow& how = {}) {
    faults_->Clear();
    faults_->Add(std::move(fault));
    return ScanThrough(faults_, location_, how);
  }

  // What must hold of every failure, wherever it comes from.
  void CheckFailure(const ScanOutcome& got) {
    EXPECT_TRUE(got.error_stays) << got.Text();
    EXPECT_NE(got.error->kind(), ErrorKind::kInternal) << got.Text();
    EXPECT_FALSE(got.error->context().empty() && got.error->message().find('/') == std::string::npos)
        << "names no place: " << got.Text();
    EXPECT_TRUE(std::ranges::includes(expected_, got.rows))
        << "rows before the error that are not in the table: " << got.Text();
  }

  std::string location_;
  std::shared_ptr<io::FileIO> memory_;
  std::shared_ptr<io::FaultingFileIO> faults_;
  std::vector<SnapshotFile> files_;
  std::vector<std::string> expected_;
};

std::vector<uint64_t> Lengths(uint64_t size, std::mt19937_64& random) {
  std::set<uint64_t> lengths;
  for (uint64_t i = 0; i < std::min<uint64_t>(size, 24); ++i) lengths.insert({i, size - 1 - i});
  for (int i = 0; i < 40; ++i) lengths.insert(random() % size);
  return {lengths.begin(), lengths.end()};
}

TEST_P(DamagedTable, IsRefusedWhenAnyFileIsCut) {
  std::mt19937_64 random = SeededRandom();
  for (const auto& file : files_) {
    for (const uint64_t length : Lengths(file.size, random)) {
      SCOPED_TRACE(file.path + " cut to " + std::to_string(length) + " of " + std::to_string(file.size));
      for (const bool verify : {false, true}) {
        if (verify && file.kind != FileKind::kPuffin) continue;
        const ScanOutcome got = ScanWith(FaultOn(file.path, io::TruncateTo{length}), {.verify_footers = verify});
        // A scan without footers may succeed when no byte that it needs is gone.
        const bool may_succeed = file.kind == FileKind::kHint || file.all_deleted ||
                                 (file.kind == FileKind::kPuffin && !verify &&
                                  std::ranges::all_of(file.blobs, [&](auto blob) { return blob.second <= length; }));
        if (got.ok()) {
          EXPECT_TRUE(may_succeed) << got.Text();
          EXPECT_EQ(got.rows, expected_);
          continue;
        }
        CheckFailure(got);
        if (file.kind != FileKind::kHint) {
          EXPECT_EQ(got.error->kind(), ErrorKind::kCorrupt) << got.Text();
        }
      }
    }
  }
}

// The same with files that really are shorter, so that what their own size says is short as well.
TEST_P(DamagedTable, IsRefusedWhenAnyFileIsShorter) {
  std::mt19937_64 random = SeededRandom();
  for (const auto& file : files_) {
    if (file.kind == FileKind::kHint) continue;
    const auto whole = io::ReadWholeFile(*memory_, file.path);
    ASSERT_TRUE(whole.has_value());
    for (const uint64_t length : Lengths(file.size, random)) {
      SCOPED_TRACE(file.path + " has " + std::to_string(length) + " of " + std::to_string(file.size) + " bytes");
      ASSERT_TRUE(memory_->Delete(file.path).has_value());
      auto out = memory_->Create(file.path);
      ASSERT_TRUE(out.has_value() && (*out)->Write(ByteView(*whole).first(length)).has_value() &&
                  (*out)->Close().has_value());
      const ScanOutcome got = ScanThrough(memory_, location_, {.verify_footers = true});
      if (got.ok()) {
        EXPECT_TRUE(file.all_deleted);
        EXPECT_EQ(got.rows, expected_);
        continue;
      }
      CheckFailure(got);
      EXPECT_EQ(got.error->kind(), ErrorKind::kCorrupt) << got.Text();
    }
    ASSERT_TRUE(memory_->Delete(file.path).has_value());
    auto out = memory_->Create(file.path);
    ASSERT_TRUE(out.has_value() && (*out)->Write(*whole).has_value() && (*out)->Close().has_value());
  }
}

TEST_P(DamagedTable, SurvivesFlippedBytes) {
  std::mt19937_64 random = SeededRandom();
  const int flips = static_cast<int>(NumberFrom("DELENDA_RUNS", 60));  // a file
  uint64_t refused = 0, same = 0;
  std::map<FileKind, uint64_t> other;
  for (const auto& file : files_) {
    for (int i = 0; i < flips; ++i) {
      const uint64_t offset = random() % file.size;
      const auto mask = static_cast<uint8_t>(i % 3 == 0 ? 1 + random() % 255 : 1 << (random() % 8));
      SCOPED_TRACE(file.path + ": byte " + std::to_string(offset) + " xor " + std::to_string(mask));
      const ScanOutcome got = ScanWith(FaultOn(file.path, io::FlipByte{.offset = offset, .mask = mask}));
      if (!got.ok()) {
        ++refused;
        EXPECT_TRUE(got.error_stays) << got.Text();
        EXPECT_THAT(got.error->kind(),
                    ::testing::AnyOf(ErrorKind::kCorrupt, ErrorKind::kNotFound, ErrorKind::kNotSupported))
            << got.Text();
        continue;
      }
      (got.rows == expected_ ? same : other[file.kind]) += 1;
      // Blobs have a CRC and a length: no flip in one goes unnoticed.
      const bool in_blob =
          std::ranges::any_of(file.blobs, [&](auto blob) { return offset >= blob.first && offset < blob.second; });
      EXPECT_FALSE(in_blob) << got.Text();
      if (file.kind == FileKind::kPuffin) {
        EXPECT_EQ(got.rows, expected_);
      }
    }
  }
  // Metadata, manifests and Parquet pages without checksums have none: their flips may change rows.
  fmt::print("{} refused, {} without effect, other rows: metadata {}, manifests {}, Parquet {}\n", refused, same,
             other[FileKind::kMetadata], other[FileKind::kAvro], other[FileKind::kParquet]);
}

TEST_P(DamagedTable, IsRefusedWhenEveryByteOfABlobIsFlippedInTurn) {
  for (const auto& file : files_) {
    for (const auto& [begin, end] : file.blobs) {
      for (uint64_t offset = begin; offset < end; ++offset) {
        for (const int mask : {0x01, 0x80, 0xff}) {
          const ScanOutcome got =
              ScanWith(FaultOn(file.path, io::FlipByte{.offset = offset, .mask = static_cast<uint8_t>(mask)}));
          ASSERT_FALSE(got.ok()) << file.path << " byte " << offset << " xor " << mask;
          EXPECT_EQ(got.error->kind(), ErrorKind::kCorrupt) << got.Text();
          EXPECT_THAT(got.Text(), ::testing::HasSubstr(file.path));
          CheckFailure(got);
        }
      }
    }
  }
}

TEST_P(DamagedTable, IsRefusedWhenAnyFileIsMissingOrForbidden) {
  for (const auto& file : files_) {
    for (const ErrorKind kind : {ErrorKind::kNotFound, ErrorKind::kPermissionDenied, ErrorKind::kIo}) {
      for (const size_t threads : {1, 3}) {
        SCOPED_TRACE(file.path + " " + std::string(ErrorKindName(kind)));
        const ScanOutcome got =
            ScanWith(FaultOn(file.path, io::FailWith{.kind = kind, .message = "injected failure of " + file.path}),
                     {.threads = threads});
        if (file.kind == FileKind::kHint && kind == ErrorKind::kNotFound) {
          EXPECT_EQ(got.rows, expected_);  // the folder is listed instead
          continue;
        }
        if (file.all_deleted && got.ok()) {
          EXPECT_EQ(got.rows, expected_);
          continue;
        }
        ASSERT_FALSE(got.ok()) << got.Text();
        EXPECT_EQ(got.error->kind(), kind) << got.Text();
        EXPECT_THAT(got.Text(), ::testing::HasSubstr(file.path));
        CheckFailure(got);
      }
    }
  }
}

// Also metadata that the hint names: what is left is an older state and must not pass for the current one.
TEST_P(DamagedTable, IsRefusedWhenAnyFileIsGone) {
  for (const auto& file : files_) {
    if (file.kind == FileKind::kHint) continue;
    const auto whole = io::ReadWholeFile(*memory_, file.path);
    ASSERT_TRUE(whole.has_value() && memory_->Delete(file.path).has_value());
    const ScanOutcome got = ScanThrough(memory_, location_);
    EXPECT_TRUE(!got.ok() || file.all_deleted) << file.path << ": " << got.Text();
    if (!got.ok()) CheckFailure(got);
    auto out = memory_->Create(file.path);
    ASSERT_TRUE(out.has_value() && (*out)->Write(*whole).has_value() && (*out)->Close().has_value());
  }
}

TEST_P(DamagedTable, GivesTheErrorOfEachOperationThatFails) {
  for (const size_t threads : {1, 3}) {
    faults_->Clear();
    const uint64_t before = faults_->operations();
    ASSERT_TRUE(ScanThrough(faults_, location_, {.threads = threads}).ok());
    const uint64_t operations = faults_->operations() - before;
    ASSERT_GT(operations, files_.size());
    for (const ErrorKind kind : {ErrorKind::kIo, ErrorKind::kPermissionDenied}) {
      for (uint64_t i = 0; i < operations; ++i) {
        SCOPED_TRACE("operation " + std::to_string(i) + " of " + std::to_string(operations) + ", threads " +
                     std::to_string(threads));
        io::Fault fault = FaultOn("", io::FailWith{.kind = kind});
        fault.skip = i;
        fault.times = 1;
        const ScanOutcome got = ScanWith(std::move(fault), {.threads = threads});
        ASSERT_FALSE(got.ok()) << got.Text();
        EXPECT_EQ(got.error->kind(), kind) << got.Text();
        EXPECT_TRUE(got.error_stays);
        EXPECT_TRUE(std::ranges::includes(expected_, got.rows));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Small, DamagedTable, ::testing::Values("branches_tags", "cl_dv_removed", "mor_mixed_file"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace delenda
