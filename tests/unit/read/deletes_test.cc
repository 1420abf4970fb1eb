// Deletes: which rows they take away, how often storage is asked for them, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delenda/read/count.h"
#include "unit/read/plan_builder.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlanBuilder IdTable() { return PlanBuilder({MakeField(1, "id", TypeKind::kLong, true)}); }

ReadOptions Serial() {
  ReadOptions options;
  options.threads = 1;
  return options;
}

ErrorKind KindOf(const Result<Batches>& result) { return result ? ErrorKind::kInternal : result.error().kind(); }

TEST(Deletes, TenVectorsInOneContainerAreOneOpenOneReadNoFooter) {
  PlanBuilder table = IdTable();
  std::vector<std::pair<size_t, std::vector<uint64_t>>> vectors;
  for (size_t i = 0; i < 10; ++i) {
    table.AddFile(fmt::format("/t/{}.parquet", i), IdFile(static_cast<int64_t>(100 * i), 100, 30), 100);
    vectors.push_back({i, {i, 99}});
  }
  table.AddVectors("/t/d.puffin", vectors);
  for (const size_t threads : {size_t{1}, size_t{4}}) {
    table.io()->Reset();
    ReadOptions options;
    options.threads = threads;
    const auto batches = table.Read(options);
    ASSERT_TRUE(batches) << batches.error().ToString();
    EXPECT_EQ(RowsIn(*batches), 980);
    EXPECT_EQ(table.io()->SnapshotOf("/t/d.puffin").opens, 1U);
    EXPECT_EQ(table.io()->SnapshotOf("/t/d.puffin").reads, 1U);
    EXPECT_EQ(table.io()->Snapshot().opens_without_size, 0U);
    EXPECT_EQ(table.io()->Snapshot().stats, 0U);
    for (size_t i = 0; i < 10; ++i) EXPECT_EQ(table.io()->SnapshotOf(fmt::format("/t/{}.parquet", i)).opens, 1U);
  }
}

TEST(Deletes, AFileInSeveralTasksIsOpenedOnceAndItsVectorReadOnce) {
  PlanBuilder table = IdTable();
  const Bytes bytes = IdFile(0, 400, 40);
  table.AddFile("/t/a.parquet", bytes, 400);
  table.AddVectors("/t/d.puffin", {{0, {0, 39, 40, 200, 399}}});
  const plan::FileTask with_vector = table.plan().tasks[0];
  table.plan().tasks.clear();
  for (uint64_t start = 0; start < bytes.size(); start += 700) {
    plan::FileTask task = with_vector;
    task.start = start;
    task.length = 700;
    table.plan().tasks.push_back(task);
  }
  ASSERT_GT(table.plan().tasks.size(), 3U);
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    table.io()->Reset();
    ReadOptions options;
    options.threads = threads;
    options.ordered = true;
    const auto batches = table.Read(options);
    ASSERT_TRUE(batches) << batches.error().ToString();
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < 400; ++i) {
      if (i != 0 && i != 39 && i != 40 && i != 200 && i != 399) expected.push_back(i);
    }
    EXPECT_EQ(Ids(*batches), expected);
    EXPECT_EQ(table.io()->SnapshotOf("/t/a.parquet").opens, 1U);
    EXPECT_EQ(table.io()->SnapshotOf("/t/d.puffin").opens, 1U);
    EXPECT_EQ(table.io()->SnapshotOf("/t/d.puffin").reads, 1U);
  }
}

TEST(Deletes, VectorsFarApartAreReadApart) {
  PlanBuilder table = IdTable();
  for (int i = 0; i < 3; ++i) table.AddFile(fmt::format("/t/{}.parquet", i), IdFile(0, 10, 10), 10);
  table.AddVectors("/t/d.puffin", {{0, {1}}, {1, {2}}, {2, {3}}}, 1 << 20);
  const auto batches = table.Read();
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_EQ(RowsIn(*batches), 27);
  EXPECT_EQ(table.io()->SnapshotOf("/t/d.puffin").opens, 1U);
  EXPECT_EQ(table.io()->SnapshotOf("/t/d.puffin").reads, 3U);
}

TEST(Deletes, RowGroupWhoseRowsAreAllDeletedIsNotFetched) {
  PlanBuilder table = IdTable();
  constexpr int64_t kGroup = 20'000;
  table.AddFile("/t/a.parquet", IdFile(0, 3 * kGroup, kGroup), 3 * kGroup);
  std::vector<uint64_t> middle;
  for (uint64_t p = kGroup; p < 2 * kGroup; ++p) middle.push_back(p);
  table.AddVectors("/t/d.puffin", {{0, middle}});
  const auto stream = OpenScan(table.shared_plan(), table.io(), Serial());
  ASSERT_TRUE(stream);
  int64_t rows = 0;
  while (const auto batch = (*stream)->Next().value()) rows += batch->num_rows();
  EXPECT_EQ(rows, 2 * kGroup);
  EXPECT_EQ((*stream)->metrics().row_groups_all_deleted, 1U);
  const io::IoCounts counts = table.io()->SnapshotOf("/t/a.parquet");
  EXPECT_EQ(counts.reads, 3U);  // footer, first and last row group; the last may lie in the footer's read in part only
  EXPECT_LT(counts.bytes_read, 2 * kGroup * 8 + 65536 + 2000);
}

TEST(Deletes, FileWhoseRowsAreAllDeletedIsNotOpened) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 5, 2), 5);
  table.AddFile("/t/b.parquet", IdFile(5, 5, 2), 5);
  table.AddVectors("/t/d.puffin", {{0, {0, 1, 2, 3, 4}}});
  const auto batches = table.Read(Serial());
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_THAT(Ids(*batches), ElementsAre(5, 6, 7, 8, 9));
  EXPECT_EQ(table.io()->SnapshotOf("/t/a.parquet").opens, 0U);
}

TEST(Deletes, VectorBeyondTheFileIsCorrupt) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 5, 2), 5);
  table.AddVectors("/t/d.puffin", {{0, {1, 5}}});
  const auto batches = table.Read();
  EXPECT_EQ(KindOf(batches), ErrorKind::kCorrupt);
  for (const char* part : {"/t/a.parquet", "/t/d.puffin", "5"})
    EXPECT_THAT(batches.error().ToString(), HasSubstr(part));
}

TEST(Deletes, VerifyFootersReadsThemAndRefusesABrokenOne) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 5, 2), 5);
  table.AddVectors("/t/d.puffin", {{0, {1}}});
  ASSERT_TRUE(table.Read()) << "the footer is not looked at";
  ReadOptions options;
  options.verify_footers = true;
  const auto batches = table.Read(options);
  EXPECT_EQ(KindOf(batches), ErrorKind::kCorrupt);
  EXPECT_THAT(batches.error().ToString(), HasSubstr("/t/d.puffin"));
}

TEST(Deletes, BrokenVectorEntriesAreRefusedBeforeAnythingIsOpened) {
  const std::vector<std::pair<std::string, std::function<void(ContentFile&)>>> cases = {
      {"lacks", [](ContentFile& v) { v.content_offset.reset(); }},
      {"lacks", [](ContentFile& v) { v.content_size.reset(); }},
      {"lacks", [](ContentFile& v) { v.referenced_data_file.reset(); }},
      {"is for /t/b.parquet", [](ContentFile& v) { v.referenced_data_file = "/t/b.parquet"; }},
      {"offset -1", [](ContentFile& v) { v.content_offset = -1; }},
      {"said to lie", [](ContentFile& v) { v.content_size = int64_t{1} << 62; }},
      {"said to hold", [](ContentFile& v) { v.record_count = -1; }},
      {"no deletion vector", [](ContentFile& v) { v.format = FileFormat::kParquet; }},
      {"no deletion vector", [](ContentFile& v) { v.content = FileContent::kEqualityDeletes; }},
  };
  for (const auto& [message, breakage] : cases) {
    PlanBuilder table = IdTable();
    table.AddFile("/t/a.parquet", IdFile(0, 5, 2), 5);
    table.AddVectors("/t/d.puffin", {{0, {1}}});
    breakage(table.plan().deletes[0]);
    const auto stream = OpenScan(table.shared_plan(), table.io(), {});
    ASSERT_FALSE(stream) << message;
    EXPECT_THAT(stream.error().ToString(), HasSubstr(message));
    EXPECT_EQ(table.io()->Snapshot().opens, 0U);
  }
}

TEST(Deletes, PositionFilesOfAnotherFormatAreRefused) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 5, 2), 5);
  table.AddPositionDeletes("/t/d.parquet", {{"/t/a.parquet", 1}}, {0});
  for (const FileFormat format : {FileFormat::kPuffin, FileFormat::kAvro, FileFormat::kOrc}) {
    table.plan().deletes[0].format = format;
    const auto stream = OpenScan(table.shared_plan(), table.io(), {});
    ASSERT_FALSE(stream);
    EXPECT_EQ(stream.error().kind(), ErrorKind::kNotSupported);
  }
  table.plan().deletes[0].format = FileFormat::kParquet;
  table.plan().tasks[0].equality_deletes = {0};
  EXPECT_EQ(OpenScan(table.shared_plan(), table.io(), {}).error().kind(), ErrorKind::kNotSupported);
}

TEST(Deletes, PositionFilesAreReadOnceWhateverTheOrderAndDuplicates) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 6, 2), 6);
  table.AddFile("/t/b.parquet", IdFile(100, 6, 2), 6);
  table.AddPositionDeletes("/t/d1.parquet",
                           {{"/t/b.parquet", 5},
                            {"/t/a.parquet", 3},
                            {"/t/b.parquet", 0},
                            {"/t/a.parquet", 3},
                            {"/t/gone.parquet", 1},
                            {"/t/a.parquet", 0},
                            {"/t/a.parquet", 500}},
                           {0, 1});
  table.AddPositionDeletes("/t/d2.parquet", {{"/t/a.parquet", 3}, {"/t/a.parquet", 5}}, {0});
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    table.io()->Reset();
    ReadOptions options;
    options.threads = threads;
    options.ordered = true;
    const auto batches = table.Read(options);
    ASSERT_TRUE(batches) << batches.error().ToString();
    EXPECT_THAT(Ids(*batches), ElementsAre(1, 2, 4, 101, 102, 103, 104));
    EXPECT_EQ(table.io()->SnapshotOf("/t/d1.parquet").opens, 1U);
    EXPECT_EQ(table.io()->SnapshotOf("/t/d1.parquet").reads, 1U);
  }
}

TEST(Deletes, NegativeOrNullPositionsAreCorrupt) {
  const std::vector<std::vector<PlanBuilder::DeleteRow>> cases = {{{"/t/a.parquet", 1}, {"/t/a.parquet", -1}},
                                                                  {{"/t/a.parquet", std::nullopt}},
                                                                  {{std::nullopt, 1}},
                                                                  {{"/t/other.parquet", -7}}};
  for (const auto& rows : cases) {
    PlanBuilder table = IdTable();
    table.AddFile("/t/a.parquet", IdFile(0, 6, 2), 6);
    table.AddPositionDeletes("/t/d.parquet", rows, {0});
    const auto batches = table.Read();
    EXPECT_EQ(KindOf(batches), ErrorKind::kCorrupt);
    EXPECT_THAT(batches.error().ToString(), HasSubstr("/t/d.parquet"));
  }
}

TEST(Deletes, OtherSpellingOfAPathAppliesOnlyWithoutAnExactMatchAndWarns) {
  for (const bool exact : {false, true}) {
    PlanBuilder table = IdTable();
    table.AddFile("/t/a.parquet", IdFile(0, 4, 2), 4);
    std::vector<PlanBuilder::DeleteRow> rows = {{"file:///t/a.parquet", 2}};
    if (exact) rows.push_back({"/t/a.parquet", 1});
    table.AddPositionDeletes("/t/d.parquet", rows, {0});
    std::vector<std::string> warnings;
    ReadOptions options = Serial();
    options.hooks.log = [&](LogLevel level, std::string_view text) {
      if (level == LogLevel::kWarning) warnings.emplace_back(text);
    };
    const auto batches = table.Read(options);
    ASSERT_TRUE(batches) << batches.error().ToString();
    if (exact) {
      EXPECT_THAT(Ids(*batches), ElementsAre(0, 2, 3));
      EXPECT_TRUE(warnings.empty());
    } else {
      EXPECT_THAT(Ids(*batches), ElementsAre(0, 1, 3));
      EXPECT_EQ(warnings.size(), 1U);
    }
  }
}

// Positions of a vector made for another file of that name would hit other rows.
TEST(Deletes, DataFileWithAnotherRowCountIsCorrupt) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 6, 2), 7);
  ASSERT_TRUE(table.Read()) << "without deletes the count is not needed";
  table.AddVectors("/t/d.puffin", {{0, {1}}});
  const auto batches = table.Read();
  EXPECT_EQ(KindOf(batches), ErrorKind::kCorrupt);
  EXPECT_THAT(batches.error().ToString(), HasSubstr("expected 7 rows"));
}

TEST(Count, VectorsAreCountedWithoutOpeningAnything) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 100, 30), 100);
  table.AddFile("/t/b.parquet", IdFile(0, 50, 30), 50);
  table.AddVectors("/t/d.puffin", {{0, {1, 5, 7}}});
  const auto count = CountRows(table.shared_plan(), table.io(), {});
  ASSERT_TRUE(count);
  EXPECT_EQ(count->rows, 147U);
  EXPECT_EQ(count->files_by_metadata, 2U);
  EXPECT_EQ(count->files_read, 0U);
  EXPECT_EQ(table.io()->Snapshot().requests() + table.io()->Snapshot().opens, 0U);
}

TEST(Count, PositionDeletesFiltersAndSplitsAreRead) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 100, 30), 100);
  const Bytes b = IdFile(0, 50, 30);
  table.AddFile("/t/b.parquet", b, 50).length = 10;
  table.AddFile("/t/c.parquet", IdFile(0, 40, 30), 40).residual = BindText("id >= 35", table.plan().schema).value();
  table.AddPositionDeletes("/t/d.parquet", {{"/t/a.parquet", 1}, {"/t/a.parquet", 1}, {"/t/a.parquet", 400}}, {0});
  const auto count = CountRows(table.shared_plan(), table.io(), {});
  ASSERT_TRUE(count) << count.error().ToString();
  EXPECT_EQ(count->rows, 99U + 30U + 5U);
  EXPECT_EQ(count->files_by_metadata, 0U);
  EXPECT_EQ(count->files_read, 3U);
}

TEST(Count, ImpossibleNumbersAreCorrupt) {
  PlanBuilder table = IdTable();
  table.AddFile("/t/a.parquet", IdFile(0, 10, 30), 10);
  table.AddVectors("/t/d.puffin", {{0, {1}}});
  table.plan().deletes[0].record_count = 11;
  EXPECT_EQ(CountRows(table.shared_plan(), table.io(), {}).error().kind(), ErrorKind::kCorrupt);
  table.plan().tasks[0].dv.reset();
  table.plan().tasks[0].file.record_count = -1;
  EXPECT_EQ(CountRows(table.shared_plan(), table.io(), {}).error().kind(), ErrorKind::kCorrupt);
  table.plan().tasks[0].file.record_count = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(CountRows(table.shared_plan(), table.io(), {})->rows, (uint64_t{1} << 63) - 1);
  table.plan().tasks.push_back(table.plan().tasks[0]);
  EXPECT_EQ(CountRows(table.shared_plan(), table.io(), {}).error().kind(), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace delenda::read
