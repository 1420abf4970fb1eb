// Row lineage: ids that two live rows share, that are not given out yet, that are missing (Iceberg spec, "Row
// Lineage").
#include "delenda/ops/verify_row_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/read/plan_builder.h"

namespace delenda::ops {
namespace {

using testing::IdField;
using testing::Longs;
using testing::PlanBuilder;

// a: 10 rows with row ids from 0 on, none stored. b: 3 rows that store ids of their own.
class Lineage {
 public:
  explicit Lineage(const std::vector<std::optional<int64_t>>& stored) {
    builder_.AddFile("/t/a", testing::IdFile(0, 10, 4), 10).file.first_row_id = 0;
    const auto table = arrow::Table::Make(
        arrow::schema({IdField(1, "id", arrow::int64()), IdField(2147483540, "_row_id", arrow::int64())}),
        {testing::LongRange(0, static_cast<int64_t>(stored.size())), Longs(stored)});
    builder_.AddFile("/t/b", testing::ToParquet(table), static_cast<int64_t>(stored.size())).file.first_row_id = 10;
    for (auto& task : builder_.plan().tasks) {
      task.file.data_sequence_number = 4;
      task.file.partition = std::make_shared<const PartitionTuple>();
    }
    using enum plan::OutputColumn::Kind;
    builder_.plan().columns = {
        {kRowId, testing::MakeField(2147483540, "_row_id", TypeKind::kLong)},
        {kLastUpdated, testing::MakeField(2147483539, "_last_updated_sequence_number", TypeKind::kLong)},
        {kFilePath, testing::MakeField(2147483646, "_file", TypeKind::kString, true)},
        {kPosition, testing::MakeField(2147483645, "_pos", TypeKind::kLong, true)}};
  }

  std::vector<std::string> Verify(RowIdBounds bounds = {.next_row_id = 100, .sequence_number = 4}) {
    std::vector<std::string> texts;
    for (const size_t threads : {3, 1}) {
      const auto findings = VerifyRowIds(builder_.shared_plan(), builder_.io(), bounds, threads, {});
      EXPECT_TRUE(findings) << findings.error().ToString();
      if (!findings) return {"error"};
      texts.clear();
      for (const auto& finding : *findings)
        texts.push_back(std::string(finding.check->id) + " " + finding.place + ": " + finding.what);
    }
    return texts;
  }

  PlanBuilder& builder() { return builder_; }

 private:
  PlanBuilder builder_{{testing::MakeField(1, "id", TypeKind::kLong)}};
};

TEST(VerifyRowIds, DerivedAndStoredIdsAreDistinct) {
  EXPECT_THAT(Lineage({std::nullopt, 50, std::nullopt}).Verify(), ::testing::IsEmpty());
}

TEST(VerifyRowIds, AnUpdatedRowTakesItsIdAlong) {
  Lineage lineage({3, std::nullopt, std::nullopt});
  lineage.builder().AddVectors("/t/v", {{0, {3}}});
  EXPECT_THAT(lineage.Verify(), ::testing::IsEmpty()) << "the old copy is deleted";
}

TEST(VerifyRowIds, TwoLiveRowsWithOneIdAreNamed) {
  Lineage lineage({4, std::nullopt, 50});
  lineage.builder().AddVectors("/t/v", {{0, {3}}});
  EXPECT_THAT(lineage.Verify(),
              ::testing::ElementsAre("row-id-twice /t/a: row id 4 is that of 2 rows: at 4, and at 0 of /t/b"));
}

TEST(VerifyRowIds, OneFileMayHoldTheDuplicate) {
  EXPECT_THAT(
      Lineage({50, 50, std::nullopt}).Verify(),
      ::testing::ElementsAre("row-id-twice /t/b: row id 50 is that of 2 rows: at 0, and at 1 of the same file"));
}

TEST(VerifyRowIds, RangesOfFilesMustNotOverlap) {
  Lineage lineage({std::nullopt, std::nullopt, std::nullopt});
  lineage.builder().plan().tasks[1].file.first_row_id = 9;
  EXPECT_THAT(lineage.Verify(),
              ::testing::ElementsAre("row-id-twice /t/a: row id 9 is that of 2 rows: at 9, and at 0 of /t/b"));
}

TEST(VerifyRowIds, NoIdIsAtOrAboveTheNextOne) {
  EXPECT_THAT(Lineage({99, 100, -1}).Verify(),
              ::testing::ElementsAre(::testing::AllOf(::testing::StartsWith("row-id-range /t/b: the row at 1"),
                                                      ::testing::HasSubstr("(2 such rows)"))));
}

TEST(VerifyRowIds, MissingIdsAreAWarning) {
  Lineage lineage({std::nullopt, std::nullopt, std::nullopt});
  lineage.builder().plan().tasks[1].file.first_row_id.reset();
  EXPECT_THAT(lineage.Verify(), ::testing::ElementsAre(::testing::StartsWith("row-id-missing /t/b: 3 rows")));
}

TEST(VerifyRowIds, NoRowWasUpdatedByALaterSnapshot) {
  EXPECT_THAT(Lineage({50, 51, 52}).Verify({.next_row_id = 100, .sequence_number = 3}),
              ::testing::ElementsAre(::testing::HasSubstr("sequence number 4, the snapshot has 3 (13 such rows)")));
}

TEST(VerifyRowIds, BrokenFilesAreAnError) {
  Lineage lineage({50, 51, 52});
  --lineage.builder().plan().tasks[0].file.file_size;
  const auto findings = VerifyRowIds(lineage.builder().shared_plan(), lineage.builder().io(), {}, 1, {});
  ASSERT_FALSE(findings);
  EXPECT_EQ(findings.error().kind(), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace delenda::ops
