// Which deletes cannot be applied, and which do nothing: rule by rule (Iceberg spec, "Scan Planning", "Deletion
// Vectors").
#include "delenda/plan/delete_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace delenda::plan {
namespace {

std::shared_ptr<const PartitionTuple> InPartition(const std::string& value) {
  return std::make_shared<const PartitionTuple>(PartitionTuple{{Datum(value)}});
}

// Two data files (sequence number 3, 100 rows) of one partition, a vector for each (4).
struct SnapshotState {
  std::vector<ContentFile> data, deletes;
  std::vector<std::optional<std::string>> scopes;
  bool all_data = true;
  int32_t version = 3;

  SnapshotState() {
    for (const auto* path : {"/t/a", "/t/b"}) {
      ContentFile file;
      file.path = path;
      file.partition = InPartition("x");
      file.record_count = 100;
      file.file_size = 1000;
      file.data_sequence_number = 3;
      data.push_back(file);
      ContentFile& vector = AddDeletes(FileContent::kPositionDeletes, "/t/v.puffin");
      vector.format = FileFormat::kPuffin;
      vector.referenced_data_file = path;
      vector.content_offset = 4 + 50 * static_cast<int64_t>(deletes.size() - 1);
      vector.content_size = 50;
    }
  }

  ContentFile& AddDeletes(FileContent content, const std::string& path, int64_t sequence = 4) {
    ContentFile& file = deletes.emplace_back();
    file.content = content;
    file.path = path;
    file.partition = InPartition("x");
    file.record_count = 7;
    file.file_size = 1000;
    file.data_sequence_number = sequence;
    if (content == FileContent::kEqualityDeletes) file.equality_ids = {1};
    scopes.emplace_back();
    return file;
  }
};

struct BrokenDeletes {
  const char* name;
  std::function<void(SnapshotState&)> make;
  std::vector<const Check*> checks;
  std::string what;
};

void PrintTo(const BrokenDeletes& broken, std::ostream* out) { *out << broken.name; }

class DeleteRule : public ::testing::TestWithParam<BrokenDeletes> {};

const BrokenDeletes kBrokenDeletes[] = {
    {"Whole", [](SnapshotState&) {}, {}, ""},
    {"AVectorNamesItsFile",
     [](SnapshotState& s) { s.deletes[1].referenced_data_file.reset(); },
     {&checks::kDvFields},
     "lacks referenced_data_file"},
    {"AVectorHasAnOffset",
     [](SnapshotState& s) { s.deletes[1].content_offset.reset(); },
     {&checks::kDvFields},
     "content_offset"},
    {"AVectorHasASize",
     [](SnapshotState& s) { s.deletes[1].content_size.reset(); },
     {&checks::kDvFields},
     "content_size"},
    {"AVectorLiesInItsFile",
     [](SnapshotState& s) { s.deletes[1].content_size = 947; },
     {&checks::kDvRange},
     "offset 54, 947 bytes"},
    {"AnOffsetIsNotNegative",
     [](SnapshotState& s) { s.deletes[0].content_offset = -1; },
     {&checks::kDvRange},
     "offset -1"},
    {"OneVectorForAFile",
     [](SnapshotState& s) { s.deletes[1].referenced_data_file = "/t/a"; },
     {&checks::kDvTwice},
     "two deletion vectors"},
    {"VectorsCameWithVersionThree",
     [](SnapshotState& s) { s.version = 2; },
     {&checks::kDvFormatVersion, &checks::kDvFormatVersion},
     "format version 2"},
    {"AVectorIsNotEmpty", [](SnapshotState& s) { s.deletes[0].record_count = 0; }, {&checks::kDvEmpty}, "no row"},
    {"AVectorHasNoMorePositionsThanRows",
     [](SnapshotState& s) { s.deletes[0].record_count = 101; },
     {&checks::kDvCardinality},
     "deletes 101 rows, the file has 100"},
    {"AllRowsMayBeDeleted", [](SnapshotState& s) { s.deletes[0].record_count = 100; }, {}, ""},
    {"AVectorsFileIsLive", [](SnapshotState& s) { s.data.pop_back(); }, {&checks::kDvUnmatched}, "not live"},
    {"MissingManifestsSayNothingOfVectors",
     [](SnapshotState& s) {
       s.data.pop_back();
       s.all_data = false;
     },
     {},
     ""},
    {"AVectorIsNotOlderThanItsFile",
     [](SnapshotState& s) { s.data[0].data_sequence_number = 5; },
     {&checks::kDvUnmatched},
     "newer or in another partition"},
    {"AVectorMayComeWithItsFile", [](SnapshotState& s) { s.data[0].data_sequence_number = 4; }, {}, ""},
    {"AVectorIsInItsFilesPartition",
     [](SnapshotState& s) { s.deletes[0].partition = InPartition("y"); },
     {&checks::kDvUnmatched},
     "another partition"},
    {"AVectorHasItsFilesSpec",
     [](SnapshotState& s) { s.deletes[0].spec_id = 1; },
     {&checks::kDvUnmatched},
     "another partition"},
    {"AnotherSpellingIsAWarning",
     [](SnapshotState& s) { s.deletes[0].referenced_data_file = "file:/t/a"; },
     {&checks::kDvPathSpelling},
     "/t/a"},
    {"AnotherSpellingMustMeanOneFile",
     [](SnapshotState& s) {
       s.data[1].path = "file:///t/a";
       s.deletes[1].referenced_data_file = "file:/t/a";
     },
     {&checks::kDvUnmatched},
     "can't be told"},
    {"AnotherSpellingIsNoSecondVector",
     [](SnapshotState& s) { s.deletes[1].referenced_data_file = "file:/t/a"; },
     {&checks::kDvPathSpelling, &checks::kDvTwice},
     "spells its path"},
    {"PositionDeletesBesideAVectorAreSuperseded",
     [](SnapshotState& s) { s.AddDeletes(FileContent::kPositionDeletes, "/t/p").referenced_data_file = "/t/a"; },
     {&checks::kDeletesSuperseded},
     "/t/a only"},
    {"SoAreThoseWhoseBoundsNameOneFile",
     [](SnapshotState& s) {
       s.AddDeletes(FileContent::kPositionDeletes, "/t/p");
       s.scopes.back() = "/t/b";
     },
     {&checks::kDeletesSuperseded},
     "/t/b only"},
    {"PositionDeletesOfAPartitionOfVectorsAreUnused",
     [](SnapshotState& s) { s.AddDeletes(FileContent::kPositionDeletes, "/t/p"); },
     {&checks::kDeletesUnused},
     "position deletes"},
    {"OneFileWithoutAVectorUsesThem",
     [](SnapshotState& s) {
       s.AddDeletes(FileContent::kPositionDeletes, "/t/p");
       s.deletes.erase(s.deletes.begin());
       s.scopes.pop_back();
     },
     {},
     ""},
    {"PositionDeletesOfAnotherPartitionAreUnused",
     [](SnapshotState& s) {
       s.deletes.clear();
       s.scopes.clear();
       s.AddDeletes(FileContent::kPositionDeletes, "/t/p").partition = InPartition("y");
     },
     {&checks::kDeletesUnused},
     "no data file"},
    {"EqualityDeletesHitOlderFiles",
     [](SnapshotState& s) { s.AddDeletes(FileContent::kEqualityDeletes, "/t/e", 4); },
     {},
     ""},
    {"EqualityDeletesOfTheSameCommitAreUnused",
     [](SnapshotState& s) { s.AddDeletes(FileContent::kEqualityDeletes, "/t/e", 3); },
     {&checks::kDeletesUnused},
     "equality deletes"},
    {"UnpartitionedEqualityDeletesHitEveryPartition",
     [](SnapshotState& s) {
       ContentFile& file = s.AddDeletes(FileContent::kEqualityDeletes, "/t/e", 4);
       file.spec_id = 1;
       file.partition = std::make_shared<const PartitionTuple>();
     },
     {},
     ""},
    {"EqualityDeletesNameTheirKeys",
     [](SnapshotState& s) { s.AddDeletes(FileContent::kEqualityDeletes, "/t/e").equality_ids.clear(); },
     {&checks::kEqualityIds},
     "no key fields"},
    {"EqualityDeletesNameAKeyOnce",
     [](SnapshotState& s) { s.AddDeletes(FileContent::kEqualityDeletes, "/t/e").equality_ids = {2, 1, 2}; },
     {&checks::kEqualityIds},
     "twice"},
};

TEST_P(DeleteRule, IsHeld) {
  SnapshotState state;
  GetParam().make(state);
  std::map<int32_t, BoundSpec> specs;
  specs[0].spec.fields = {{.source_id = 1, .field_id = 1000, .name = "p", .transform = {}}};
  specs[1].spec.spec_id = 1;
  const auto checked =
      CheckDeletes({.data = state.data, .deletes = state.deletes, .scopes = state.scopes, .all_data = state.all_data},
                   specs, state.version, 77);
  ASSERT_TRUE(checked) << checked.error().ToString();
  std::vector<const Check*> found;
  for (const auto& finding : checked->findings) {
    found.push_back(finding.check);
    EXPECT_EQ(finding.snapshot_id, 77);
    EXPECT_NE(finding.place, "");
  }
  ASSERT_EQ(found, GetParam().checks);
  if (found.empty()) return;
  EXPECT_THAT(checked->findings.front().what, ::testing::HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(All, DeleteRule, ::testing::ValuesIn(kBrokenDeletes),
                         [](const auto& tested) { return tested.param.name; });

// What reading a vector compares it with.
TEST(DeleteCheck, GivesTheDataFileOfEachVector) {
  SnapshotState state;
  std::swap(state.deletes[0].referenced_data_file, state.deletes[1].referenced_data_file);
  state.AddDeletes(FileContent::kEqualityDeletes, "/t/e");
  state.deletes[1].referenced_data_file = "file:///t/a";
  const auto checked = CheckDeletes({.data = state.data, .deletes = state.deletes, .scopes = state.scopes}, {}, 3, 77);
  ASSERT_TRUE(checked) << checked.error().ToString();
  EXPECT_THAT(checked->vector_target, ::testing::ElementsAre(1, 0, std::nullopt));
}

}  // namespace
}  // namespace delenda::plan
