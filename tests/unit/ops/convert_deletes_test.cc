// Equality deletes of tables that Spark wrote become vectors: the rows stay, and the vectors hold what Spark says.
#include "delenda/ops/convert_deletes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string_view>

#include "delenda/iceberg/metadata_writer.h"
#include "delenda/io/faulting_file_io.h"
#include "delenda/ops/append_rows.h"
#include "delenda/ops/delete_rows.h"
#include "delenda/ops/equality_converter.h"
#include "delenda/ops/update_rows.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/read/delete_loader.h"
#include "support/seed.h"
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

// The default, which remembers what it was asked.
class RecordingResolver final : public KeyPositionResolver {
 public:
  Result<std::vector<KeyPositions>> Resolve(const commit::TableSession& session,
                                            std::span<const KeyQuery> asked) const override {
    queries.insert(queries.end(), asked.begin(), asked.end());
    return scan_.Resolve(session, asked);
  }
  mutable std::vector<KeyQuery> queries;

 private:
  ScanKeyPositionResolver scan_;
};

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
  const auto files_now = table.Files();
  EXPECT_EQ(std::ranges::count_if(
                files_now,
                [&](const std::string& name) { return name.ends_with(".puffin") && !files_before.contains(name); }),
            1)
      << "all vectors of a conversion lie in one file";
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

TEST_P(ConvertFixture, NothingStaysInTheConverterBetweenCalls) {
  TableCopy table(GetParam());
  const auto session = table.Session();
  const ScanKeyPositionResolver resolver;
  const auto files = LiveEqualityDeletes(table);
  const auto described = [](const EqualityDeleteConverter& converter, const std::vector<ContentFile>& some) {
    const auto result = converter.Convert(some).value();
    EXPECT_EQ(result.converted_deletes.size(), some.size());
    std::string text = result.conflict_filter->ToString();
    for (const auto& vector : result.vectors) {
      text += "\n" + vector.file.path;
      for (const uint64_t position : vector.deleted.ToVector()) text += " " + std::to_string(position);
    }
    return text;
  };
  const EqualityDeleteConverter converter(session, "main", resolver);
  const std::string all = described(converter, files);
  const std::string first = described(converter, {files.front()});
  EXPECT_NE(all, first);
  EXPECT_EQ(first, described(EqualityDeleteConverter(session, "main", resolver), {files.front()}));
  EXPECT_EQ(described(converter, files), all);
}

// A key that is in several parts deletes with each of them what its own sequence number covers.
TEST_P(ConvertFixture, KeysBeyondTheMemoryAreLookedForInParts) {
  TableCopy table(GetParam());
  const auto session = table.Session();
  const auto files = LiveEqualityDeletes(table);
  RecordingResolver at_once, in_parts;
  const auto whole = EqualityDeleteConverter(session, "main", at_once).Convert(files).value();
  constexpr uint64_t kMemory = 4096;  // each file's keys are thought to take more than half of it
  const auto cut = EqualityDeleteConverter(session, "main", in_parts, false, kMemory).Convert(files);
  ASSERT_TRUE(cut) << cut.error().ToString();
  EXPECT_EQ(in_parts.queries.size(), files.size());
  EXPECT_LE(at_once.queries.size(), files.size());
  EXPECT_EQ(cut->rows, whole.rows);
  EXPECT_EQ(cut->converted_deletes.size(), files.size());
  ASSERT_EQ(cut->vectors.size(), whole.vectors.size());
  for (size_t i = 0; i < whole.vectors.size(); ++i) {
    EXPECT_EQ(cut->vectors[i].file.path, whole.vectors[i].file.path);
    EXPECT_TRUE(cut->vectors[i].deleted == whole.vectors[i].deleted);
  }
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

TEST(EqualityDeleteConverter, RefusesFilesThatAreNotParquetByName) {
  TableCopy table("eq_v3");
  const auto session = table.Session();
  auto files = LiveEqualityDeletes(table);
  files.back().format = FileFormat::kAvro;
  const ScanKeyPositionResolver resolver;
  const auto refused = EqualityDeleteConverter(session, "main", resolver).Convert(files);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("equality deletes in avro files can't be read"));
}

TEST(ConvertDeletes, RefusesABranchThatIsNotThere) {
  TableCopy table("eq_v3");
  auto session = table.Session();
  for (const bool position_deletes : {false, true}) {
    const auto refused = ConvertDeletes(session, {.branch = "audti", .position_deletes = position_deletes});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kNotFound);
    EXPECT_THAT(refused.error().ToString(), HasSubstr("'audti'"));
  }
}

TEST(ConvertDeletes, NeedsFormatVersion3) {
  TableCopy table("eq_int");
  auto session = table.Session();
  const auto refused = ConvertDeletes(session, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotSupported);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("format version 3"));
}

// Tables of format version 2, upgraded: keys of every type, nested, renamed, dropped, NULL; global and partitioned.
class ConvertUpgraded : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Spark, ConvertUpgraded,
                         ::testing::Values("eq_int", "eq_types", "eq_partitioned_global", "eq_dropped_key",
                                           "eq_nested_key", "eq_renamed", "eq_composite_null"));

TEST_P(ConvertUpgraded, RowsStay) {
  TableCopy table(GetParam());
  auto session = table.Session();
  ASSERT_TRUE(session.Upgrade(3, false));
  const auto before = Sorted(table.Rows());
  const auto pending = LiveEqualityDeletes(table).size();
  ASSERT_GT(pending, 0U);
  const auto change = ConvertDeletes(session, {.position_deletes = true});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_GE(change->delete_files_converted, pending);
  EXPECT_THAT(LiveEqualityDeletes(table), IsEmpty());
  EXPECT_EQ(Sorted(table.Rows()), before);
  // Java keeps rows of which a struct around the key is NULL; the specification says that their key is NULL.
  if (GetParam() != std::string_view("eq_nested_key")) {
    EXPECT_EQ(VectorsOf(table), ExpectedVectors(GetParam(), table));
  }
}

// What one commit left of the deletes is the next one's work: vectors are merged with those that are there.
TEST(ConvertDeletes, TheRestOfTheDeletesIsMergedLater) {
  TableCopy table("eq_v3_global");
  auto session = table.Session();
  const ScanKeyPositionResolver resolver;
  const auto files = LiveEqualityDeletes(table);
  ASSERT_GE(files.size(), 2U);
  size_t rewritten = 0;
  for (const ContentFile& file : files) {
    ASSERT_TRUE(session.Refresh());
    auto result = EqualityDeleteConverter(session, "main", resolver).Convert({file});
    ASSERT_TRUE(result) << result.error().ToString();
    rewritten += result->rewritten_vectors.size();
    commit::Intent intent;
    intent.operation = commit::Operation::kReplace;
    intent.base_snapshot_id = result->base_snapshot_id;
    intent.deletes = result->vectors;
    intent.removed_delete_files = result->converted_deletes;
    write::StagedFiles staged(session.io());
    const auto committed = session.Commit(intent, staged);
    ASSERT_TRUE(committed) << committed.error().ToString();
    ASSERT_TRUE(std::holds_alternative<commit::Committed>(*committed));
    EXPECT_EQ(Sorted(table.Rows()), Sorted(ReadJsonLines("eq_v3_global", "current.jsonl")));
  }
  EXPECT_GT(rewritten, 0U);
  EXPECT_EQ(VectorsOf(table), ExpectedVectors("eq_v3_global", table));
}

TEST(ConvertDeletes, ChangesItsBranchOnly) {
  TableCopy table("upsert_v3");
  auto session = table.Session();
  auto metadata = table.Metadata();
  metadata.refs["audit"] = {.snapshot_id = *metadata.current_snapshot_id, .is_branch = true};
  const auto point = catalog::MakeFolderCommitPoint(table.io(), table.location());
  ASSERT_TRUE(point->Publish(point->Current().value(), iceberg::TableMetadataToJson(metadata).value(), false));
  const auto change = ConvertDeletes(session, {.branch = "audit"});
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_TRUE(change->snapshot_id);
  const auto has_equality_deletes = [&](const std::string& branch) {
    const auto live = table.Session().LiveDeletes(branch).value();
    return std::ranges::any_of(live, [](const auto& file) { return file.content == FileContent::kEqualityDeletes; });
  };
  EXPECT_TRUE(has_equality_deletes("main"));
  EXPECT_FALSE(has_equality_deletes("audit"));
  EXPECT_EQ(Sorted(table.Rows({.snapshot = {.ref = "audit"}})), Sorted(table.Rows()));
}

// Each step of a conversion fails in turn: the rows stay, and the next conversion loses no delete.
TEST(ConvertDeletes, FailuresAtAnyStepLoseNoDelete) {
  TableCopy table("eq_v3_global");
  const auto rows = Sorted(table.Rows());
  Executor executor(1);
  for (uint64_t at = 0;; ++at) {
    const auto faulty = std::make_shared<io::FaultingFileIO>(table.io());
    faulty->Add({.effect = io::FailWith{}, .operation = std::nullopt, .path_contains = "", .skip = at, .times = 1});
    const auto change = [&]() -> Result<RowChange> {
      auto session = DELENDA_TRY(table.TrySession(faulty, executor));
      return ConvertDeletes(session, {});
    }();
    ASSERT_EQ(Sorted(table.Rows()), rows) << "operation " << at;
    if (LiveEqualityDeletes(table).empty()) break;  // done, whether the caller was told or not
    ASSERT_FALSE(change) << "operation " << at;
    ASSERT_LT(at, 500U);
  }
  EXPECT_EQ(VectorsOf(table), ExpectedVectors("eq_v3_global", table));
}

// A resolver of the caller's own is asked for each group once, and what it says is committed.
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

// One query at a time, planned by its keys, finds what all of them find together.
TEST(ScanKeyPositionResolver, FindsTheSameForQueriesTogetherAndAlone) {
  for (const char* name : {"upsert_v3", "eq_v3", "eq_v3_global"}) {
    TableCopy table(name);
    auto session = table.Session();
    RecordingResolver recorder;
    const auto together = EqualityDeleteConverter(session, "main", recorder).Convert(LiveEqualityDeletes(table));
    ASSERT_TRUE(together) << together.error().ToString();
    ASSERT_GT(recorder.queries.size(), 1U) << name;
    std::map<std::string, PositionSet> alone;
    const ScanKeyPositionResolver scan;
    for (const KeyQuery& query : recorder.queries) {
      const auto found_alone = scan.Resolve(session, std::span(&query, 1)).value();
      for (const auto& file : found_alone) {
        auto& found = alone[file.data_file.path];
        found = found.Union(file.found);
      }
    }
    ASSERT_EQ(alone.size(), together->vectors.size()) << name;
    for (const auto& file : together->vectors)
      EXPECT_TRUE(alone[file.file.path] == file.deleted.Difference(file.before)) << file.file.path;
  }
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
                                              std::span<const KeyQuery> queries) const override {
      auto found = scan_.Resolve(session, queries);
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

// Random deletes, updates and appends by others between each look and its commit, against a map of the rows.
TEST(ConvertDeletes, KeepsWhatOthersDoMeanwhile) {
  const uint64_t seed = delenda::testing::Seed();
  SCOPED_TRACE("DELENDA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 6; ++round) {
    TableCopy table("eq_v3");
    auto session = table.Session();
    auto other = table.Session();
    std::map<int64_t, std::string> model;
    for (const Json& row : ReadJsonLines("eq_v3", "current.jsonl"))
      model[row["id"].get<int64_t>()] = row["v"].get<std::string>();
    const auto meddle = [&] {
      auto any = std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
      const int64_t id = any->first;
      const std::string where = "id = " + std::to_string(id);
      switch (random() % 3) {
        case 0:
          EXPECT_TRUE(DeleteRows(other, {.where = where}));
          model.erase(any);
          break;
        case 1: {
          const std::string value = "u" + std::to_string(random() % 1000);
          EXPECT_TRUE(UpdateRows(other, {.where = where, .set = {{"v", "'" + value + "'"}}}));
          any->second = value;
          break;
        }
        default: {
          const auto added = static_cast<int64_t>(10000 + random() % 100000);
          if (model.contains(added)) break;
          const std::string value = "a" + std::to_string(added);
          const auto file = table.Put(std::to_string(added) + ".jsonl",
                                      fmt::format(R"({{"id": {}, "grp": "x", "v": "{}"}})", added, value));
          EXPECT_TRUE(AppendRows(other, *io::MakeLocalFileIO(), {.files = {file}}));
          model[added] = value;
        }
      }
    };
    class Meddling final : public KeyPositionResolver {
     public:
      explicit Meddling(std::function<void()> meddle) : meddle_(std::move(meddle)) {}
      Result<std::vector<KeyPositions>> Resolve(const commit::TableSession& at,
                                                std::span<const KeyQuery> queries) const override {
        auto found = scan_.Resolve(at, queries);
        meddle_();
        return found;
      }

     private:
      std::function<void()> meddle_;
      ScanKeyPositionResolver scan_;
    };
    const Meddling resolver(meddle);
    const auto change = ConvertDeletes(session, {.resolver = &resolver});
    ASSERT_TRUE(change) << change.error().ToString();
    EXPECT_THAT(LiveEqualityDeletes(table), IsEmpty());
    std::map<int64_t, std::string> rows;
    for (const Json& row : table.Rows()) {
      EXPECT_TRUE(rows.emplace(row["id"].get<int64_t>(), row["v"].get<std::string>()).second) << row.dump();
    }
    EXPECT_EQ(rows, model);
  }
}

}  // namespace
}  // namespace delenda::ops
