// Equality deletes of tables that Spark wrote become vectors: the rows stay, and the vectors hold what Spark says.
#include "delenda/ops/convert_deletes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "delenda/ops/delete_rows.h"
#include "delenda/ops/equality_converter.h"
#include "delenda/ops/update_rows.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/read/delete_loader.h"
#include "unit/ops/table_copy.h"

namespace delenda::ops {
namespace {

using delenda::testing::ReadJsonLines;
using delenda::testing::Sorted;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Json;
using testing::TableCopy;

// Deleted positions by data file, of vectors alone; no other delete may be left.
std::map<std::string, std::vector<uint64_t>> VectorsOf(TableCopy& table) {
  const auto plan = plan::PlanScan(table.Metadata(), *table.io(), {}, table.executor(), {});
  EXPECT_TRUE(plan) << plan.error().ToString();
  std::map<std::string, std::vector<uint64_t>> positions;
  std::vector<read::DeleteLoader::Need> needs;
  for (const auto& task : plan->tasks) {
    EXPECT_THAT(task.equality_deletes, IsEmpty());
    EXPECT_THAT(task.position_deletes, IsEmpty());
    if (task.dv) needs.push_back({.file = &task.file, .dv = task.dv, .position_deletes = {}});
  }
  const auto loader = read::DeleteLoader::Make(*plan, needs, table.io(), true, {});
  EXPECT_TRUE(loader) << loader.error().ToString();
  for (const auto& need : needs) positions[need.file->path] = (*loader)->Load(need).value().ToVector();
  return positions;
}

// Of the files that are still live: one of which every row was deleted is dropped.
std::map<std::string, std::vector<uint64_t>> ExpectedVectors(const std::string& name, TableCopy& table) {
  const auto plan = plan::PlanScan(table.Metadata(), *table.io(), {}, table.executor(), {});
  std::set<std::string> live;
  for (const auto& task : plan->tasks) live.insert(task.file.path);
  std::map<std::string, std::vector<uint64_t>> positions;
  for (const Json& line : ReadJsonLines(name, "deleted-positions.jsonl")) {
    auto deleted = line["deleted"].get<std::vector<uint64_t>>();
    if (!deleted.empty() && live.contains(line["path"].get<std::string>()))
      positions[line["path"].get<std::string>()] = std::move(deleted);
  }
  return positions;
}

std::vector<ContentFile> LiveEqualityDeletes(TableCopy& table) {
  auto files = table.Session().LiveDeletes("main").value();
  std::erase_if(files, [](const ContentFile& file) { return file.content != FileContent::kEqualityDeletes; });
  return files;
}

class ConvertFixture : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Spark, ConvertFixture, ::testing::Values("eq_v3", "eq_v3_global", "upsert_v3"));

TEST_P(ConvertFixture, RowsStayAndVectorsHoldWhatSparkDeletes) {
  TableCopy table(GetParam());
  auto session = table.Session();
  const auto pending = LiveEqualityDeletes(table).size();
  ASSERT_GT(pending, 0U);
  const auto files_before = table.Files();
  const auto planned = ConvertDeletes(session, {.dry_run = true});
  ASSERT_TRUE(planned) << planned.error().ToString();
  EXPECT_EQ(table.Files(), files_before);
  const auto change = ConvertDeletes(session, {});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->delete_files_converted, pending);
  EXPECT_EQ(planned->delete_files_converted, pending);
  EXPECT_EQ(planned->rows_converted, change->rows_converted);
  EXPECT_EQ(planned->files_changed, change->files_changed);
  EXPECT_EQ(change->rows_deleted, 0U);
  EXPECT_THAT(LiveEqualityDeletes(table), IsEmpty());
  EXPECT_EQ(Sorted(table.Rows()), Sorted(ReadJsonLines(GetParam(), "current.jsonl")));
  EXPECT_EQ(VectorsOf(table), ExpectedVectors(GetParam(), table));
  EXPECT_EQ(table.Summary("total-equality-deletes"), "0");
  const auto metadata = table.Metadata();
  EXPECT_EQ(metadata.FindSnapshot(*change->snapshot_id)->operation, "replace");

  const auto again = ConvertDeletes(session, {});
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_FALSE(again->snapshot_id);
}

TEST_P(ConvertFixture, EachVectorIsReportedWithTheOneThatItReplaces) {
  TableCopy table(GetParam());
  const auto session = table.Session();
  const ScanKeyPositionResolver resolver;
  const auto result = EqualityDeleteConverter(session, "main", resolver).Convert(LiveEqualityDeletes(table));
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(result->base_snapshot_id, session.head("main"));
  const auto live = table.Session().LiveDeletes("main").value();
  std::set<std::string> rewritten;
  for (const auto& vector : result->rewritten_vectors) rewritten.insert(*vector.referenced_data_file);
  uint64_t rows = 0;
  for (const auto& file : result->vectors) {
    EXPECT_TRUE(file.deleted.ContainsAll(file.before));
    EXPECT_GT(file.deleted.cardinality(), file.before.cardinality());
    rows += file.deleted.cardinality() - file.before.cardinality();
    const bool has_vector = std::ranges::any_of(live, [&](const ContentFile& vector) {
      return vector.IsDeletionVector() && vector.referenced_data_file == file.file.path;
    });
    EXPECT_EQ(has_vector, rewritten.contains(file.file.path));
    EXPECT_EQ(has_vector, !file.before.empty());
  }
  EXPECT_EQ(rows, result->rows);
  EXPECT_EQ(result->converted_deletes.size(), LiveEqualityDeletes(table).size());
}

// Files that are not committed yet delete from all data that is: as one of the highest sequence number.
TEST(EqualityDeleteConverter, TakesFilesThatAreNotCommitted) {
  TableCopy table("eq_v3_global");
  const auto session = table.Session();
  auto files = LiveEqualityDeletes(table);
  const ScanKeyPositionResolver resolver;
  const EqualityDeleteConverter converter(session, "main", resolver);
  const auto committed = converter.Convert(files).value();
  for (auto& file : files) file.data_sequence_number = kUncommitted;
  const auto result = converter.Convert(files);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(result->converted_deletes, IsEmpty());
  EXPECT_GT(result->rows, committed.rows) << "rows that were written again after the delete";
  EXPECT_NE(result->conflict_filter->op, Op::kFalse);
}

TEST(EqualityDeleteConverter, RefusesWhatIsNoEqualityDelete) {
  TableCopy table("eq_v3");
  const auto session = table.Session();
  const ScanKeyPositionResolver resolver;
  const EqualityDeleteConverter converter(session, "main", resolver);
  const auto refused = converter.Convert(session.LiveDeletes("main").value());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_TRUE(converter.Convert({}).value().vectors.empty());
  const auto empty = EqualityDeleteConverter(session, "nothing-here", resolver).Convert(LiveEqualityDeletes(table));
  ASSERT_TRUE(empty) << empty.error().ToString();
  EXPECT_FALSE(empty->base_snapshot_id);
  EXPECT_TRUE(empty->vectors.empty());
}

TEST(ConvertDeletes, NeedsFormatVersion3) {
  TableCopy table("eq_int");
  auto session = table.Session();
  const auto refused = ConvertDeletes(session, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("format version 3"));
}

// A resolver of the caller's own is asked for each group once, and what it says is committed.
class RecordingResolver final : public KeyPositionResolver {
 public:
  Result<std::vector<KeyPositions>> Resolve(const commit::TableSession& session, const KeyQuery& query) const override {
    queries.push_back(query);
    return scan_.Resolve(session, query);
  }
  mutable std::vector<KeyQuery> queries;

 private:
  ScanKeyPositionResolver scan_;
};

TEST(ConvertDeletes, AsksTheResolverOncePerGroup) {
  TableCopy table("upsert_v3");
  auto session = table.Session();
  std::set<std::string> partitions;
  for (const auto& file : LiveEqualityDeletes(table))
    partitions.insert(DatumToText(TypeKind::kString, file.partition->values[0]));
  RecordingResolver resolver;
  const auto head = session.head("main");
  const auto change = ConvertDeletes(session, {.resolver = &resolver});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(resolver.queries.size(), partitions.size()) << "the files of one partition are one group";
  for (const auto& query : resolver.queries) {
    EXPECT_EQ(query.base_snapshot_id, head);
    EXPECT_TRUE(query.partition);
    EXPECT_EQ(query.sequence_numbers->size(), static_cast<size_t>(query.keys->size()));
  }
  EXPECT_EQ(VectorsOf(table), ExpectedVectors("upsert_v3", table));
}

// Position delete files of tables that were upgraded: of one data file, and of several.
TEST(ConvertDeletes, TurnsPositionDeletesIntoVectorsOnRequest) {
  int tables = 0;
  for (const std::string& name : delenda::testing::ReadableIcebergTables()) {
    const auto io = delenda::testing::FixtureIO();
    const auto loaded = iceberg::LoadTable(*io, delenda::testing::FixtureTable(name));
    if (!loaded || loaded->metadata.format_version != 3) continue;
    TableCopy table(name);
    auto session = table.Session();
    const auto live = session.LiveDeletes("main").value();
    const auto is_file = [](const ContentFile& file) {
      return file.content == FileContent::kPositionDeletes && !file.IsDeletionVector();
    };
    if (!std::ranges::any_of(live, is_file)) continue;
    ++tables;
    SCOPED_TRACE(name);
    const auto planned = ConvertDeletes(session, {.position_deletes = true, .dry_run = true});
    ASSERT_TRUE(planned) << planned.error().ToString();
    const auto change = ConvertDeletes(session, {.position_deletes = true});
    ASSERT_TRUE(change) << change.error().ToString();
    EXPECT_EQ(change->delete_files_converted, planned->delete_files_converted);
    EXPECT_EQ(change->rows_converted, planned->rows_converted);
    EXPECT_FALSE(std::ranges::any_of(table.Session().LiveDeletes("main").value(), is_file));
    EXPECT_EQ(Sorted(table.Rows()), Sorted(ReadJsonLines(name, "current.jsonl")));
    EXPECT_EQ(VectorsOf(table), ExpectedVectors(name, table));
  }
  EXPECT_GE(tables, 2);
}

// Others delete and update rows between the look and the commit: both changes hold.
TEST(ConvertDeletes, MergesWithWhatOthersDeletedMeanwhile) {
  TableCopy table("eq_v3");
  auto session = table.Session();
  auto other = table.Session();
  class Meddling final : public KeyPositionResolver {
   public:
    explicit Meddling(commit::TableSession& session) : session_(session) {}
    Result<std::vector<KeyPositions>> Resolve(const commit::TableSession& session,
                                              const KeyQuery& query) const override {
      auto found = scan_.Resolve(session, query);
      if (!done_) {
        done_ = true;
        EXPECT_TRUE(DeleteRows(session_, {.where = "id IN (7, 31)"}));
        EXPECT_TRUE(UpdateRows(session_, {.where = "id = 8", .set = {{"v", "'changed'"}}}));
      }
      return found;
    }

   private:
    commit::TableSession& session_;
    ScanKeyPositionResolver scan_;
    mutable bool done_ = false;
  };
  const Meddling resolver(other);
  const auto change = ConvertDeletes(session, {.resolver = &resolver});
  ASSERT_TRUE(change) << change.error().ToString();
  auto rows = ReadJsonLines("eq_v3", "current.jsonl");
  std::erase_if(rows, [](const Json& row) { return row["id"] == 7 || row["id"] == 31; });
  for (Json& row : rows) {
    if (row["id"] == 8) row["v"] = "changed";
  }
  EXPECT_EQ(Sorted(table.Rows()), Sorted(rows));
  EXPECT_THAT(LiveEqualityDeletes(table), IsEmpty());
}

}  // namespace
}  // namespace delenda::ops
