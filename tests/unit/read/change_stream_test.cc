// Changes: which rows the tasks of a change plan stand for, and what reading them touches.
#include "delenda/read/change_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "delenda/formats/parquet/parquet_file.h"
#include "support/seed.h"
#include "unit/read/plan_builder.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = plan::ChangeTask::Kind;

plan::DeleteState Dv(uint32_t index) { return {.dv = index, .position_deletes = {}, .equality_deletes = {}}; }

// Files and deletes by a PlanBuilder, tasks of changes by hand.
class Changes {
 public:
  explicit Changes(std::vector<Field> fields) : builder_(std::move(fields)) {}

  size_t AddFile(const std::string& path, const Bytes& bytes, int64_t rows) {
    builder_.AddFile(path, bytes, rows);
    return builder_.plan().tasks.size() - 1;
  }
  // Each vector in a Puffin file of its own.
  uint32_t AddVector(size_t file, const std::vector<uint64_t>& positions) {
    builder_.AddVectors(fmt::format("/t/v{}.puffin", builder_.plan().deletes.size()), {{file, positions}});
    return static_cast<uint32_t>(builder_.plan().deletes.size() - 1);
  }
  uint32_t AddPositions(size_t file, const std::vector<uint64_t>& positions) {
    std::vector<PlanBuilder::DeleteRow> rows;
    for (const uint64_t p : positions)
      rows.emplace_back(builder_.plan().tasks[file].file.path, static_cast<int64_t>(p));
    builder_.AddPositionDeletes(fmt::format("/t/p{}.parquet", builder_.plan().deletes.size()), rows, {});
    return static_cast<uint32_t>(builder_.plan().deletes.size() - 1);
  }
  // Equality deletes on column k (field 2) of the whole table.
  uint32_t AddEquality(const std::vector<std::optional<int64_t>>& keys, int64_t sequence) {
    const auto table = arrow::Table::Make(arrow::schema({IdField(2, "k", arrow::int64())}), {Longs(keys)});
    const Bytes bytes = ToParquet(table);
    ContentFile& file = builder_.plan().deletes.emplace_back();
    file.content = FileContent::kEqualityDeletes;
    file.path = fmt::format("/t/e{}.parquet", builder_.plan().deletes.size());
    file.file_size = static_cast<int64_t>(bytes.size());
    file.record_count = static_cast<int64_t>(keys.size());
    file.data_sequence_number = sequence;
    file.equality_ids = {2};
    PutFile(*builder_.memory(), file.path, bytes);
    return static_cast<uint32_t>(builder_.plan().deletes.size() - 1);
  }
  ContentFile& file(size_t at) { return builder_.plan().tasks[at].file; }

  void Add(Kind kind, uint64_t ordinal, size_t file, plan::DeleteState before, plan::DeleteState after) {
    tasks_.push_back({.kind = kind,
                      .change_ordinal = ordinal,
                      .commit_snapshot_id = static_cast<int64_t>(ordinal) + 100,
                      .commit_timestamp_ms = static_cast<int64_t>(ordinal) + 5000,
                      .file = builder_.plan().tasks[file].file,
                      .before = std::move(before),
                      .after = std::move(after),
                      .residual = builder_.plan().filter});
  }
  // Before tasks are added.
  void Where(const std::string& text) { builder_.plan().filter = BindText(text, builder_.plan().schema).value(); }

  plan::ChangePlan Plan() {
    const plan::ScanPlan& scan = builder_.plan();
    plan::ChangePlan plan;
    plan.schema = scan.schema;
    plan.columns = scan.columns;
    plan.filter = scan.filter;
    plan.deletes = scan.deletes;
    plan.tasks = tasks_;
    PartitionSpec unpartitioned;
    plan.specs.emplace(0, BoundSpec::Make(unpartitioned, plan.schema));
    if (const Schema::Path path = plan.schema.FindById(2); !path.empty())
      plan.key_fields.emplace(2, plan::KeyField{.column = *path.front(), .path = {2}, .type = path.back()->type});
    return plan;
  }
  Result<Batches> Read(ReadOptions options = {}) {
    metrics = {};
    const plan::ChangePlan plan = Plan();
    auto stream = DELENDA_TRY(OpenChanges(plan, plan.tasks, plan.columns, builder_.io(), std::move(options)));
    Batches batches;
    while (auto batch = DELENDA_TRY(stream->Next())) {
      EXPECT_TRUE(batch->ValidateFull().ok()) << batch->ValidateFull().ToString();
      EXPECT_TRUE(batch->schema()->Equals(*stream->schema()));
      batches.push_back(std::move(batch));
    }
    metrics = stream->metrics();
    return batches;
  }
  PlanBuilder& builder() { return builder_; }

  ReadMetrics metrics;

 private:
  PlanBuilder builder_;
  std::vector<plan::ChangeTask> tasks_;
};

// "id type ordinal" of each row.
std::vector<std::string> Lines(const Batches& batches) {
  std::vector<std::string> texts;
  for (const Json& row : ToJson(batches)) {
    texts.push_back(fmt::format("{} {} {}", row["id"].get<int64_t>(), row["_change_type"].get<std::string>(),
                                row["_change_ordinal"].get<int>()));
  }
  return texts;
}

Changes IdChanges() { return Changes({MakeField(1, "id", TypeKind::kLong, true)}); }

TEST(ChangeStream, EachKindOfTaskGivesItsRows) {
  Changes table = IdChanges();
  const size_t a = table.AddFile("/t/a.parquet", IdFile(0, 6, 2), 6);
  const size_t b = table.AddFile("/t/b.parquet", IdFile(10, 4, 2), 4);
  const uint32_t v1 = table.AddVector(a, {3});
  const uint32_t v2 = table.AddVector(a, {4, 5});
  const uint32_t own = table.AddVector(b, {0});
  table.Add(Kind::kAddedRows, 0, b, {}, Dv(own));
  table.Add(Kind::kDeletedRows, 1, a, {}, Dv(v1));
  table.Add(Kind::kDeletedRows, 2, a, Dv(v1), Dv(v2));
  table.Add(Kind::kRestoredRows, 2, a, Dv(v1), Dv(v2));
  table.Add(Kind::kDeletedDataFile, 3, b, Dv(own), {});
  table.Add(Kind::kRestoredRows, 4, a, Dv(v2), {});
  for (const size_t threads : {size_t{1}, size_t{4}}) {
    const auto batches = table.Read({.threads = threads});
    ASSERT_TRUE(batches) << batches.error().ToString();
    EXPECT_THAT(Lines(*batches),
                ElementsAre("11 INSERT 0", "12 INSERT 0", "13 INSERT 0", "3 DELETE 1", "4 DELETE 2", "5 DELETE 2",
                            "3 INSERT 2", "11 DELETE 3", "12 DELETE 3", "13 DELETE 3", "4 INSERT 4", "5 INSERT 4"));
  }
}

TEST(ChangeStream, ColumnsAreNamedTypedAndNumberedAsIcebergHasThem) {
  Changes table = IdChanges();
  table.builder().AddPositionColumn();
  const size_t a = table.AddFile("/t/a.parquet", IdFile(0, 6, 2), 6);
  table.Add(Kind::kDeletedRows, 7, a, {}, Dv(table.AddVector(a, {3})));
  const auto batches = table.Read();
  ASSERT_TRUE(batches) << batches.error().ToString();
  ASSERT_EQ(RowsIn(*batches), 1);
  const arrow::Schema& schema = *batches->front()->schema();
  EXPECT_THAT(schema.field_names(),
              ElementsAre("id", "_pos", "_change_type", "_change_ordinal", "_commit_snapshot_id", "_commit_timestamp"));
  EXPECT_TRUE(schema.field(2)->type()->Equals(arrow::utf8()));
  EXPECT_TRUE(schema.field(3)->type()->Equals(arrow::int32()));
  EXPECT_TRUE(schema.field(4)->type()->Equals(arrow::int64()));
  EXPECT_TRUE(schema.field(5)->type()->Equals(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")));
  const std::optional<int32_t> ids[] = {2147483543, 2147483542, 2147483541, std::nullopt};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(delenda::parquet::FieldIdOf(*schema.field(i + 2)), ids[i]);
    EXPECT_FALSE(schema.field(i + 2)->nullable());
  }
  EXPECT_EQ(ToJson(*batches)[0].dump(),
            R"({"id":3,"_pos":3,"_change_type":"DELETE","_change_ordinal":7,"_commit_snapshot_id":107,)"
            R"("_commit_timestamp":"1970-01-01T00:00:05.007000Z"})");
}

TEST(ChangeStream, OnlyRowGroupsWithChangedRowsAreRead) {
  Changes table = IdChanges();
  constexpr int64_t kGroup = 20'000;
  const size_t a = table.AddFile("/t/a.parquet", IdFile(0, 4 * kGroup, kGroup), 4 * kGroup);
  const uint32_t v1 = table.AddVector(a, {1, 2, 20'001});
  const uint32_t v2 = table.AddVector(a, {1, 2, 20'001, 20'002});
  table.Add(Kind::kDeletedRows, 0, a, Dv(v1), Dv(v2));
  const auto batches = table.Read({.threads = 1});
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_THAT(Lines(*batches), ElementsAre("20002 DELETE 0"));
  EXPECT_EQ(table.metrics.row_groups, 4U);
  EXPECT_EQ(table.metrics.row_groups_unchanged, 3U);
  const io::IoCounts counts = table.builder().io()->SnapshotOf("/t/a.parquet");
  EXPECT_EQ(counts.reads, 2U);  // the footer, and the row group
  EXPECT_LT(counts.bytes_read, kGroup * 8 + 65536 + 2000);
}

TEST(ChangeStream, FilesWithoutChangedRowsAreNotOpened) {
  Changes table = IdChanges();
  const size_t a = table.AddFile("/t/a.parquet", IdFile(0, 4, 2), 4);
  const uint32_t v1 = table.AddVector(a, {1});
  const uint32_t same = table.AddVector(a, {1});
  const uint32_t all = table.AddVector(a, {0, 1, 2, 3});
  table.Add(Kind::kDeletedRows, 0, a, Dv(v1), Dv(same));
  table.Add(Kind::kRestoredRows, 0, a, Dv(v1), Dv(same));
  table.Add(Kind::kAddedRows, 1, a, {}, Dv(all));
  table.Add(Kind::kDeletedRows, 2, a, Dv(all), Dv(v1));
  const auto batches = table.Read();
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_EQ(RowsIn(*batches), 0);
  EXPECT_EQ(table.builder().io()->SnapshotOf("/t/a.parquet").opens, 0U);
}

TEST(ChangeStream, AVectorUsedInSeveralSnapshotsIsReadOnce) {
  Changes table = IdChanges();
  const size_t a = table.AddFile("/t/a.parquet", IdFile(0, 100, 50), 100);
  std::vector<uint64_t> positions;
  plan::DeleteState before;
  for (uint64_t i = 0; i < 10; ++i) {
    positions.push_back(7 * i);
    const plan::DeleteState after = Dv(table.AddVector(a, positions));
    table.Add(Kind::kDeletedRows, i, a, before, after);
    table.Add(Kind::kRestoredRows, i, a, before, after);
    before = after;
  }
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    table.builder().io()->Reset();
    const auto batches = table.Read({.threads = threads});
    ASSERT_TRUE(batches) << batches.error().ToString();
    EXPECT_EQ(RowsIn(*batches), 10);
    for (int i = 0; i < 10; ++i) {
      const auto counts = table.builder().io()->SnapshotOf(fmt::format("/t/v{}.puffin", i));
      EXPECT_EQ(counts.opens, 1U);
      EXPECT_EQ(counts.reads, 1U);
    }
  }
}

TEST(ChangeStream, ARowGroupThatManySnapshotsChangedIsReadOnce) {
  Changes table = IdChanges();
  constexpr int64_t kGroup = 20'000;
  const size_t a = table.AddFile("/t/a.parquet", IdFile(0, 2 * kGroup, kGroup), 2 * kGroup);
  std::vector<uint64_t> positions;
  std::vector<std::string> expected;
  plan::DeleteState before;
  for (uint64_t i = 0; i < 20; ++i) {
    positions.push_back(7 * i);
    const plan::DeleteState after = Dv(table.AddVector(a, positions));
    table.Add(Kind::kDeletedRows, i, a, before, after);
    table.Add(Kind::kRestoredRows, i, a, before, after);
    expected.push_back(fmt::format("{} DELETE {}", 7 * i, i));
    before = after;
  }
  const uint64_t size = table.builder().io()->Stat("/t/a.parquet")->size;
  for (const uint64_t budget : {uint64_t{1} << 20, uint64_t{0}}) {
    table.builder().io()->Reset();
    const auto batches = table.Read({.threads = 1, .lookahead_memory = budget});
    ASSERT_TRUE(batches) << batches.error().ToString();
    EXPECT_EQ(Lines(*batches), expected);
    const io::IoCounts counts = table.builder().io()->SnapshotOf("/t/a.parquet");
    EXPECT_EQ(counts.opens, 1U);
    // The footer, and one of the two row groups: once, or for each snapshot.
    if (budget != 0)
      EXPECT_LT(counts.bytes_read, size);
    else
      EXPECT_GT(counts.bytes_read, 5 * size);
  }
}

TEST(ChangeStream, AColumnWithTheNameOfOneOfChangesIsRefused) {
  Changes table({MakeField(1, "_change_type", TypeKind::kLong, true)});
  const auto batches = table.Read();
  ASSERT_FALSE(batches);
  EXPECT_EQ(batches.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(batches.error().ToString(), HasSubstr("_change_type"));
}

TEST(ChangeStream, AVectorOfAnotherFileIsCorrupt) {
  Changes table = IdChanges();
  const size_t a = table.AddFile("/t/a.parquet", IdFile(0, 4, 2), 4);
  const size_t b = table.AddFile("/t/b.parquet", IdFile(0, 4, 2), 4);
  table.Add(Kind::kDeletedRows, 0, a, {}, Dv(table.AddVector(b, {1})));
  const auto batches = table.Read();
  ASSERT_FALSE(batches);
  EXPECT_EQ(batches.error().kind(), ErrorKind::kCorrupt);
}

// Random histories of all kinds of deletes, against sets of rows.
class HistoryModel {
 public:
  explicit HistoryModel(std::mt19937_64& random)
      : table_({MakeField(1, "id", TypeKind::kLong, true), MakeField(2, "k", TypeKind::kLong)}), random_(random) {}

  void Run(int snapshots) {
    const bool filtered = Below(3) == 0;
    if (filtered) table_.Where("k > 3 OR k IS NULL");
    for (int s = 0; s < snapshots; ++s) Snapshot(static_cast<uint64_t>(s), filtered);
    // However much is read along: all, some, nothing.
    const uint64_t budgets[] = {uint64_t{64} << 20, 20'000, 0};
    for (const size_t threads : {size_t{1}, size_t{4}}) {
      const auto batches = table_.Read({.threads = threads, .lookahead_memory = budgets[Below(3)], .batch_rows = 7});
      ASSERT_TRUE(batches) << batches.error().ToString();
      ASSERT_EQ(Lines(*batches), expected_);
    }
  }

 private:
  struct DataFile {
    size_t index = 0;
    std::vector<std::optional<int64_t>> keys;
    int64_t sequence = 0;
    plan::DeleteState state;
    std::vector<uint64_t> by_position;  // what the state's vector or position deletes name
  };
  struct Equality {
    uint32_t index = 0;
    std::set<std::optional<int64_t>> keys;
    int64_t sequence = 0;
  };

  uint64_t Below(uint64_t n) { return random_() % n; }

  std::set<uint64_t> Deleted(const DataFile& file, const plan::DeleteState& state,
                             const std::vector<uint64_t>& by_position) const {
    std::set<uint64_t> deleted(by_position.begin(), by_position.end());
    for (const uint32_t index : state.equality_deletes) {
      for (uint64_t p = 0; p < file.keys.size(); ++p) {
        if (equality_.at(index).keys.contains(file.keys[p])) deleted.insert(p);
      }
    }
    return deleted;
  }

  void AddFile(uint64_t ordinal) {
    DataFile file;
    std::vector<std::optional<int64_t>> ids;
    for (uint64_t p = 0, rows = 1 + Below(30); p < rows; ++p) {
      ids.push_back(static_cast<int64_t>(1000 * next_file_ + p));
      file.keys.push_back(Below(8) == 0 ? std::nullopt : std::optional(static_cast<int64_t>(Below(12))));
    }
    const auto data =
        arrow::Table::Make(arrow::schema({IdField(1, "id", arrow::int64(), false), IdField(2, "k", arrow::int64())}),
                           {Longs(ids), Longs(file.keys)});
    file.index = table_.AddFile(fmt::format("/t/{}.parquet", next_file_),
                                ToParquet(data, {.rows_per_group = static_cast<int64_t>(1 + Below(12))}),
                                static_cast<int64_t>(ids.size()));
    ++next_file_;
    file.sequence = static_cast<int64_t>(ordinal);
    table_.file(file.index).data_sequence_number = file.sequence;
    added_.push_back(std::move(file));
  }

  void ChangePositions(DataFile& file) {
    std::vector<uint64_t> positions;
    for (uint64_t p = 0; p < file.keys.size(); ++p) {
      const bool was = std::ranges::find(file.by_position, p) != file.by_position.end();
      if (Below(4) == 0 ? !was : was) positions.push_back(p);
    }
    file.state.dv.reset();
    file.state.position_deletes.clear();
    file.by_position = positions;
    if (positions.empty()) return;
    if (Below(2) == 0) {
      file.state.dv = table_.AddVector(file.index, positions);
    } else {
      const auto half = positions.begin() + static_cast<std::ptrdiff_t>(Below(positions.size() + 1));
      for (const std::vector<uint64_t>& part :
           {std::vector(positions.begin(), half), std::vector(half, positions.end())}) {
        if (!part.empty()) file.state.position_deletes.push_back(table_.AddPositions(file.index, part));
      }
    }
  }

  void Expect(const DataFile& file, const std::set<uint64_t>& rows, const char* type, uint64_t ordinal, bool filtered) {
    for (const uint64_t p : rows) {
      if (filtered && file.keys[p] && *file.keys[p] <= 3) continue;
      expected_.push_back(fmt::format("{} {} {}", IdOf(file, p), type, ordinal));
    }
  }
  // File numbers are indexes: see AddFile.
  static uint64_t IdOf(const DataFile& file, uint64_t p) { return 1000 * file.index + p; }

  static std::set<uint64_t> Minus(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
    std::set<uint64_t> result;
    std::ranges::set_difference(a, b, std::inserter(result, result.end()));
    return result;
  }
  static std::set<uint64_t> AllOf(const DataFile& file) {
    std::set<uint64_t> all;
    for (uint64_t p = 0; p < file.keys.size(); ++p) all.insert(p);
    return all;
  }

  void Snapshot(uint64_t ordinal, bool filtered) {
    // Equality deletes come and go for the whole table.
    if (Below(2) == 0) {
      Equality deletes;
      for (uint64_t i = 0, count = 1 + Below(3); i < count; ++i)
        deletes.keys.insert(Below(6) == 0 ? std::nullopt : std::optional(static_cast<int64_t>(Below(12))));
      deletes.sequence = static_cast<int64_t>(ordinal);
      deletes.index = table_.AddEquality({deletes.keys.begin(), deletes.keys.end()}, deletes.sequence);
      live_equality_.push_back(deletes.index);
      equality_[deletes.index] = deletes;
    }
    if (!live_equality_.empty() && Below(4) == 0)
      live_equality_.erase(live_equality_.begin() + static_cast<std::ptrdiff_t>(Below(live_equality_.size())));
    for (uint64_t i = 0, count = Below(3); i < count; ++i) AddFile(ordinal);

    struct Rows {
      Kind kind;
      DataFile file;
      plan::DeleteState before, after;
      std::set<uint64_t> rows;
    };
    std::vector<Rows> deletes, inserts;
    for (auto at = live_.begin(); at != live_.end();) {
      DataFile& file = *at;
      const plan::DeleteState before = file.state;
      const std::set<uint64_t> was = Deleted(file, before, file.by_position);
      if (Below(6) == 0) {
        deletes.push_back({Kind::kDeletedDataFile, file, before, {}, Minus(AllOf(file), was)});
        at = live_.erase(at);
        continue;
      }
      if (Below(3) == 0) ChangePositions(file);
      Attach(file);
      const std::set<uint64_t> is = Deleted(file, file.state, file.by_position);
      deletes.push_back({Kind::kDeletedRows, file, before, file.state, Minus(is, was)});
      inserts.push_back({Kind::kRestoredRows, file, before, file.state, Minus(was, is)});
      ++at;
    }
    for (DataFile& file : added_) {
      if (Below(2) == 0) ChangePositions(file);
      Attach(file);
      inserts.push_back(
          {Kind::kAddedRows, file, {}, file.state, Minus(AllOf(file), Deleted(file, file.state, file.by_position))});
      live_.push_back(file);
    }
    added_.clear();
    for (const auto* part : {&deletes, &inserts}) {
      for (const Rows& rows : *part) {
        table_.Add(rows.kind, ordinal, rows.file.index, rows.before, rows.after);
        Expect(rows.file, rows.rows, part == &deletes ? "DELETE" : "INSERT", ordinal, filtered);
      }
    }
  }

  // As the planner does it: equality deletes that are newer than the file.
  void Attach(DataFile& file) {
    file.state.equality_deletes.clear();
    for (const uint32_t index : live_equality_) {
      if (equality_.at(index).sequence > file.sequence) file.state.equality_deletes.push_back(index);
    }
  }

  Changes table_;
  std::mt19937_64& random_;
  uint64_t next_file_ = 0;
  std::vector<DataFile> live_, added_;
  std::map<uint32_t, Equality> equality_;
  std::vector<uint32_t> live_equality_;
  std::vector<std::string> expected_;
};

TEST(ChangeStream, RandomHistoriesEqualSetsOfRows) {
  const uint64_t seed = delenda::testing::Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    HistoryModel(random).Run(8);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace delenda::read
