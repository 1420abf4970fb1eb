// A table that operations change while they are disturbed, beside a plain map of its rows.
#pragma once

#include <arrow/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/catalog/catalog.h"
#include "delenda/commit/table_session.h"
#include "delenda/iceberg/metadata_writer.h"
#include "delenda/iceberg/new_table.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/faulting_file_io.h"
#include "delenda/model/column_text.h"
#include "delenda/model/partition_text.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/read/scan_stream.h"
#include "delenda/table.h"

namespace delenda::testing {

struct ModelRow {
  std::optional<std::string> region;
  int64_t v = 0;

  bool operator==(const ModelRow&) const = default;
};
using ModelRows = std::map<int64_t, ModelRow>;  // by id

enum class CatalogKind : uint8_t { kFolder, kSql };

struct TableKind {
  CatalogKind catalog = CatalogKind::kFolder;
  bool is_partitioned = false;
  bool born_as_2 = false;
};

// Storage that runs something when it is asked the n-th time.
class InterruptedFileIO final : public io::FaultingFileIO {
 public:
  InterruptedFileIO(std::shared_ptr<io::FileIO> inner, uint64_t at, std::function<void()> meanwhile)
      : FaultingFileIO(std::move(inner)), left_(static_cast<int64_t>(at)), meanwhile_(std::move(meanwhile)) {}

  using FaultingFileIO::Open;
  Result<std::unique_ptr<io::InputFile>> Open(std::string_view path, std::optional<uint64_t> known_size) override {
    Count();
    return FaultingFileIO::Open(path, known_size);
  }
  Result<io::FileInfo> Stat(std::string_view path) override {
    Count();
    return FaultingFileIO::Stat(path);
  }
  Result<std::unique_ptr<io::OutputFile>> Create(std::string_view path) override {
    Count();
    return FaultingFileIO::Create(path);
  }

 private:
  void Count() {
    if (left_.fetch_sub(1) == 0) meanwhile_();
  }

  std::atomic<int64_t> left_;
  std::function<void()> meanwhile_;
};

// A commit point whose first answer is lost: `published`: after it has done its work.
class LosingCommitPoint final : public catalog::CommitPoint {
 public:
  LosingCommitPoint(std::unique_ptr<catalog::CommitPoint> inner, bool published, std::function<void()> then)
      : inner_(std::move(inner)), published_(published), then_(std::move(then)) {}

  Result<std::string> Current() override { return inner_->Current(); }
  Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
    if (!then_) return inner_->Publish(base, text, gzip);
    if (published_) static_cast<void>(inner_->Publish(base, text, gzip));
    std::exchange(then_, nullptr)();
    return CommitStateUnknown("the answer was lost");
  }

 private:
  std::unique_ptr<catalog::CommitPoint> inner_;
  bool published_;
  std::function<void()> then_;
};

class ChangedTable {
 public:
  ChangedTable(TableKind kind, std::map<std::string, std::string> properties) : kind_(kind) {
    static std::atomic<int> count = 0;
    folder_ = Root() / fmt::format("delenda-model-{}-{}", ::getpid(), count.fetch_add(1));
    std::filesystem::create_directories(folder_);
    iceberg::NewTable table;
    table.schema = *ParseColumns("id long NOT NULL, region string, v long");
    if (kind.is_partitioned) table.spec = *ParsePartitioning("region, bucket(2, id)", table.schema);
    table.format_version = kind.born_as_2 ? 2 : 3;
    table.properties = std::move(properties);
    const auto catalog = Catalog(io_);
    table.location = *catalog->DefaultLocation(name_);
    const auto metadata = iceberg::MakeNewTable(table);
    EXPECT_TRUE(metadata) << metadata.error().ToString();
    const auto created = catalog->CreateTable(name_, table.location, *iceberg::TableMetadataToJson(*metadata), false);
    EXPECT_TRUE(created) << created.error().ToString();
  }
  ChangedTable(const ChangedTable&) = delete;
  ChangedTable& operator=(const ChangedTable&) = delete;
  ~ChangedTable() { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<catalog::CommitPoint>> Point(std::shared_ptr<io::FileIO> io) const {
    return Catalog(std::move(io))->Open(name_);
  }

  std::string MetadataFile() const {
    const auto point = Catalog(io_)->Open(name_);
    EXPECT_TRUE(point) << point.error().ToString();
    const auto current = (*point)->Current();
    EXPECT_TRUE(current) << current.error().ToString();
    return current.value_or("");
  }
  iceberg::TableMetadata Metadata() const {
    const auto loaded = iceberg::LoadTable(*io_, MetadataFile());
    EXPECT_TRUE(loaded) << loaded.error().ToString();
    return loaded ? loaded->metadata : iceberg::TableMetadata();
  }

  struct Read {
    ModelRows rows;
    std::map<int64_t, std::optional<int64_t>> row_ids;  // by id
  };
  // As any reader sees it. Ids that come twice are a failure.
  Read Rows() const {
    Read read;
    Executor executor(1);
    const bool has_row_ids = Metadata().format_version >= 3;
    plan::ScanRequest request{.select = {"id", "region", "v"}, .select_all = false};
    if (has_row_ids) request.select.push_back("_row_id");
    auto plan = plan::PlanScan(Metadata(), *io_, request, executor, {});
    EXPECT_TRUE(plan) << plan.error().ToString();
    if (!plan) return read;
    const auto stream = read::OpenScan(std::make_shared<plan::ScanPlan>(*std::move(plan)), io_, {.threads = 1});
    EXPECT_TRUE(stream) << stream.error().ToString();
    while (stream) {
      const auto batch = (*stream)->Next();
      EXPECT_TRUE(batch) << batch.error().ToString();
      if (!batch || *batch == nullptr) break;
      const auto& ids = static_cast<const arrow::Int64Array&>(*(*batch)->column(0));
      const auto& regions = static_cast<const arrow::StringArray&>(*(*batch)->column(1));
      const auto& values = static_cast<const arrow::Int64Array&>(*(*batch)->column(2));
      for (int64_t i = 0; i < (*batch)->num_rows(); ++i) {
        const int64_t id = ids.Value(i);
        ModelRow row{.region = std::nullopt, .v = values.Value(i)};
        if (regions.IsValid(i)) row.region = regions.GetString(i);
        EXPECT_TRUE(read.rows.emplace(id, row).second) << "two rows have id " << id;
        if (!has_row_ids) continue;
        const auto& row_ids = static_cast<const arrow::Int64Array&>(*(*batch)->column(3));
        read.row_ids[id] = row_ids.IsValid(i) ? std::optional(row_ids.Value(i)) : std::nullopt;
      }
    }
    return read;
  }

  // Every rule of the format, in all snapshots and files, but one that may be broken.
  void Verify(std::string_view but = {}) const {
    const auto table = Table::Open(MetadataFile());
    ASSERT_TRUE(table) << table.error().ToString();
    const auto report = table->Verify({.at = {}, .all_snapshots = true, .deep = true});
    ASSERT_TRUE(report) << report.error().ToString();
    for (const auto& finding : report->findings) {
      if (finding.check == but) continue;
      ADD_FAILURE() << finding.check << " " << finding.place << ": " << finding.what;
    }
  }

  // A file with rows to bring in, outside of the table. Its name ends with .jsonl.
  std::string Put(const std::vector<std::pair<int64_t, ModelRow>>& rows) const {
    std::string text;
    for (const auto& [id, row] : rows) {
      text += fmt::format(R"({{"id": {}, "region": {}, "v": {}}})", id,
                          row.region ? fmt::format("\"{}\"", *row.region) : "null", row.v) +
              "\n";
    }
    const std::string path = folder_ / fmt::format("rows-{}.jsonl", files_++);
    EXPECT_TRUE(io::WriteWholeFile(*io_, path, AsBytes(text)));
    return path;
  }

  const std::shared_ptr<io::FileIO>& io() const { return io_; }

 private:
  // In memory where there is such a folder: files are made durable again and again, which is not what is tested.
  static std::filesystem::path Root() {
    return ::access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
  }

  std::unique_ptr<catalog::Catalog> Catalog(std::shared_ptr<io::FileIO> io) const {
    if (kind_.catalog == CatalogKind::kFolder) return catalog::MakeFolderCatalog(folder_ / "w", std::move(io));
    return catalog::MakeSqlCatalog({.database_path = folder_ / "c.db", .catalog_name = "c", .warehouse = folder_ / "w"},
                                   std::move(io));
  }

  TableKind kind_;
  std::filesystem::path folder_;
  catalog::TableName name_{.catalog = "c", .names = {"db"}, .table = "t"};
  std::shared_ptr<io::FileIO> io_ = io::MakeLocalFileIO();
  mutable std::atomic<int> files_ = 0;
};

}  // namespace delenda::testing
