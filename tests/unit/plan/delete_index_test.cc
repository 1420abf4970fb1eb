// Which deletes apply to which data file: Iceberg spec, "Scan Planning", and the path rules.
#include "delenda/plan/delete_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "delenda/io/location.h"

namespace delenda::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<const PartitionTuple> Tuple(std::vector<Datum> values) {
  return std::make_shared<const PartitionTuple>(PartitionTuple{std::move(values)});
}

const auto kNoPartition = Tuple({});

ContentFile Dv(const std::string& referenced, int64_t sequence,
               std::shared_ptr<const PartitionTuple> partition = kNoPartition, int32_t spec = 0) {
  ContentFile file;
  file.content = FileContent::kPositionDeletes;
  file.format = FileFormat::kPuffin;
  file.path = "d.puffin";
  file.spec_id = spec;
  file.partition = std::move(partition);
  file.file_size = 1000;
  file.data_sequence_number = sequence;
  file.referenced_data_file = referenced;
  file.content_offset = 4;
  file.content_size = 40;
  return file;
}

ContentFile PositionDeletes(const std::string& path, int64_t sequence,
                            std::shared_ptr<const PartitionTuple> partition = kNoPartition, int32_t spec = 0) {
  ContentFile file = Dv("", sequence, std::move(partition), spec);
  file.format = FileFormat::kParquet;
  file.path = path;
  file.referenced_data_file.reset();
  file.content_offset.reset();
  file.content_size.reset();
  return file;
}

DataFileKey Data(std::string_view path, int64_t sequence,
                 const std::shared_ptr<const PartitionTuple>& partition = kNoPartition, int32_t spec = 0) {
  return {.path = path, .spec_id = spec, .partition = partition.get(), .data_sequence_number = sequence};
}

DeleteIndex MakeIndex(std::vector<std::pair<ContentFile, std::optional<std::string>>> deletes) {
  auto index = DeleteIndex::Make(std::move(deletes));
  EXPECT_TRUE(index) << index.error().ToString();
  return *std::move(index);
}

TEST(DeleteIndex, DvAppliesToItsFileOnlyFromItsSequenceNumberOn) {
  const auto index = MakeIndex({{Dv("/t/a", 5), {}}});
  EXPECT_EQ(index.Find(Data("/t/a", 4)).dv, 0U);
  EXPECT_EQ(index.Find(Data("/t/a", 5)).dv, 0U) << "written in the same commit";
  EXPECT_EQ(index.Find(Data("/t/a", 6)).dv, std::nullopt) << "the path was written again later";
  EXPECT_THAT(index.Find(Data("/t/a", 6)).named, ElementsAre(0));
  EXPECT_EQ(index.Find(Data("/t/b", 4)).dv, std::nullopt);
  EXPECT_THAT(index.Find(Data("/t/b", 4)).named, IsEmpty());
}

TEST(DeleteIndex, DvNeedsTheSameSpecAndPartition) {
  const auto x = Tuple({Datum(std::string("x"))});
  const auto y = Tuple({Datum(std::string("y"))});
  const auto also_x = Tuple({Datum(std::string("x"))});
  const auto index = MakeIndex({{Dv("/t/a", 5, x, 1), {}}});
  EXPECT_EQ(index.Find(Data("/t/a", 1, also_x, 1)).dv, 0U);
  EXPECT_EQ(index.Find(Data("/t/a", 1, y, 1)).dv, std::nullopt);
  EXPECT_EQ(index.Find(Data("/t/a", 1, x, 0)).dv, std::nullopt);
}

TEST(DeleteIndex, PartitionsCompareTyped) {
  const double nan_a = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    Datum left, right;
    bool same;
  };
  for (const auto& [left, right, same] :
       {Case{Datum(), Datum(), true}, Case{Datum(), Datum(int64_t{0}), false}, Case{Datum(nan_a), Datum(-nan_a), true},
        Case{Datum(0.0), Datum(-0.0), false}, Case{Datum(std::string()), Datum(), false}}) {
    const auto index = MakeIndex({{PositionDeletes("p", 5, Tuple({left})), {}}});
    EXPECT_EQ(index.Find(Data("/t/a", 1, Tuple({right}))).positions.size(), same ? 1U : 0U);
  }
}

TEST(DeleteIndex, PositionDeletesOfThePartitionApplyUnlessTheFileIsNewer) {
  const auto index = MakeIndex({{PositionDeletes("p3", 3), {}}, {PositionDeletes("p7", 7), {}}});
  EXPECT_THAT(index.Find(Data("/t/a", 2)).positions, ElementsAre(0, 1));
  EXPECT_THAT(index.Find(Data("/t/a", 3)).positions, ElementsAre(0, 1));
  EXPECT_THAT(index.Find(Data("/t/a", 4)).positions, ElementsAre(1));
  EXPECT_THAT(index.Find(Data("/t/a", 8)).positions, IsEmpty());
}

TEST(DeleteIndex, FileScopedPositionDeletesApplyToTheirFileOnly) {
  auto referenced = PositionDeletes("p2", 5);
  referenced.referenced_data_file = "/t/b";
  const auto index = MakeIndex({{PositionDeletes("p1", 5), "/t/a"}, {referenced, {}}});
  EXPECT_THAT(index.Find(Data("/t/a", 1)).positions, ElementsAre(0));
  EXPECT_THAT(index.Find(Data("/t/b", 1)).positions, ElementsAre(1));
  EXPECT_THAT(index.Find(Data("/t/c", 1)).positions, IsEmpty());
}

TEST(DeleteIndex, DvReplacesPositionDeletesOnlyWhereItApplies) {
  const auto index = MakeIndex({{PositionDeletes("p", 9), {}}, {Dv("/t/a", 5), {}}});
  EXPECT_THAT(index.Find(Data("/t/a", 1)).positions, IsEmpty());
  EXPECT_THAT(index.Find(Data("/t/b", 1)).positions, ElementsAre(0));
  // A DV that does not apply must not hide position deletes that do.
  EXPECT_THAT(index.Find(Data("/t/a", 6)).positions, ElementsAre(0));
}

TEST(DeleteIndex, OtherSpellingsOfAPathAreAliasesNotMatches) {
  struct Case {
    const char *deleted, *data;
    bool alias;
  };
  for (const auto& [deleted, data, alias] : {
           Case{"s3a://b/x", "s3://b/x", true},
           Case{"s3n://b/x", "s3a://b/x", true},
           Case{"file:/w/x", "/w/x", true},
           Case{"file:///w/x", "file:/w/x", true},
           Case{"s3://b/x%20y", "s3://b/x y", false},
           Case{"s3://b//x", "s3://b/x", false},
           Case{"gs://b/x", "s3://b/x", false},
           Case{"s3://B/x", "s3://b/x", false},
       }) {
    const auto index = MakeIndex({{Dv(deleted, 5), {}}});
    const auto match = index.Find(Data(data, 1));
    EXPECT_EQ(match.dv, std::nullopt) << deleted << " " << data;
    EXPECT_EQ(match.aliases.size(), alias ? 1U : 0U) << deleted << " " << data;
  }
}

TEST(DeleteIndex, AnExactMatchDoesNotHideAnAliasOfAnotherDelete) {
  const auto index = MakeIndex({{Dv("s3://b/x", 5), {}}, {Dv("s3a://b/x", 5), {}}});
  const auto match = index.Find(Data("s3://b/x", 1));
  EXPECT_EQ(match.dv, 0U);
  EXPECT_THAT(match.aliases, ElementsAre(1));
}

TEST(DeleteIndex, RefusesTwoDvsForOneFileAndIncompleteOnes) {
  auto without_file = Dv("/t/a", 1);
  without_file.referenced_data_file.reset();
  auto without_offset = Dv("/t/a", 1);
  without_offset.content_offset.reset();
  auto without_size = Dv("/t/a", 1);
  without_size.content_size.reset();
  auto outside = Dv("/t/a", 1);
  outside.content_offset = 990;
  auto overflowing = Dv("/t/a", 1);
  overflowing.content_offset = INT64_MAX;
  overflowing.content_size = INT64_MAX;
  auto negative = Dv("/t/a", 1);
  negative.content_offset = -4;
  struct Case {
    std::vector<std::pair<ContentFile, std::optional<std::string>>> deletes;
    const char* text;
  };
  for (const auto& [deletes, text] : {
           Case{{{Dv("/t/a", 1), {}}, {Dv("/t/a", 2), {}}}, "two deletion vectors for /t/a"},
           Case{{{without_file, {}}}, "names no data file"},
           Case{{{without_offset, {}}}, "lacks content_offset"},
           Case{{{without_size, {}}}, "lacks content_offset or content_size"},
           Case{{{outside, {}}}, "outside"},
           Case{{{overflowing, {}}}, "outside"},
           Case{{{negative, {}}}, "outside"},
       }) {
    const auto index = DeleteIndex::Make(deletes);
    ASSERT_FALSE(index) << text;
    EXPECT_EQ(index.error().kind(), ErrorKind::kCorrupt);
    EXPECT_THAT(index.error().ToString(), HasSubstr(text));
  }
}

ContentFile EqualityDeletes(const std::string& path, int64_t sequence,
                            std::shared_ptr<const PartitionTuple> partition = kNoPartition, int32_t spec = 0) {
  ContentFile file = PositionDeletes(path, sequence, std::move(partition), spec);
  file.content = FileContent::kEqualityDeletes;
  file.equality_ids = {1};
  return file;
}

TEST(DeleteIndex, EqualityDeletesApplyToOlderFilesOnly) {
  const auto index = MakeIndex({{EqualityDeletes("e3", 3), {}}, {EqualityDeletes("e7", 7), {}}});
  EXPECT_THAT(index.Find(Data("/t/a", 2)).equality, ElementsAre(0, 1));
  EXPECT_THAT(index.Find(Data("/t/a", 3)).equality, ElementsAre(1)) << "never to rows of the same commit";
  EXPECT_THAT(index.Find(Data("/t/a", 7)).equality, IsEmpty());
}

TEST(DeleteIndex, EqualityDeletesOfAnUnpartitionedSpecApplyToEverySpec) {
  const auto x = Tuple({Datum(std::string("x"))});
  const auto y = Tuple({Datum(std::string("y"))});
  auto index = DeleteIndex::Make(
      {{EqualityDeletes("global", 5, kNoPartition, 0), {}}, {EqualityDeletes("of x", 5, x, 1), {}}}, {0});
  ASSERT_TRUE(index);
  EXPECT_THAT(index->Find(Data("/t/a", 1, x, 1)).equality, ElementsAre(0, 1));
  EXPECT_THAT(index->Find(Data("/t/a", 1, y, 1)).equality, ElementsAre(0));
  EXPECT_THAT(index->Find(Data("/t/a", 1, x, 2)).equality, ElementsAre(0)) << "the same tuple under another spec";
}

TEST(DeleteIndex, EqualityDeletesApplyBesideADvAndPositionDeletes) {
  const auto with_dv = MakeIndex({{EqualityDeletes("e", 5), {}}, {Dv("/t/a", 5), {}}});
  EXPECT_EQ(with_dv.Find(Data("/t/a", 1)).dv, 1U);
  EXPECT_THAT(with_dv.Find(Data("/t/a", 1)).equality, ElementsAre(0));
  const auto with_positions = MakeIndex({{EqualityDeletes("e", 5), {}}, {PositionDeletes("p", 5), {}}});
  EXPECT_THAT(with_positions.Find(Data("/t/a", 1)).positions, ElementsAre(1));
  EXPECT_THAT(with_positions.Find(Data("/t/a", 1)).equality, ElementsAre(0));
}

TEST(DeleteIndex, RefusesEqualityDeletesWithoutKeys) {
  auto none = EqualityDeletes("e", 5);
  none.equality_ids = {};
  auto twice = EqualityDeletes("e", 5);
  twice.equality_ids = {2, 1, 2};
  EXPECT_THAT(DeleteIndex::Make({{none, {}}}).error().ToString(), HasSubstr("names no key fields"));
  EXPECT_THAT(DeleteIndex::Make({{twice, {}}}).error().ToString(), HasSubstr("twice"));
}

// The rules as the specification and design have them, one delete at a time.
TEST(DeleteIndex, AgreesWithANaiveModel) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t bound) { return random() % bound; };
  const auto path = [&] {
    constexpr const char* kPrefixes[] = {"/b/f", "file:/b/f", "file:///b/f", "s3://b/f", "s3a://b/f", "s3n://b/f"};
    return kPrefixes[below(6)] + std::to_string(below(12));
  };
  const std::vector<std::shared_ptr<const PartitionTuple>> tuples = {
      Tuple({Datum(int64_t{1})}), Tuple({Datum(int64_t{1})}), Tuple({Datum(int64_t{2})}), Tuple({Datum()})};
  for (int round = 0; round < 300; ++round) {
    std::vector<DeleteEntry> entries;
    std::set<std::string> with_dv;
    for (uint64_t i = below(40); i > 0; --i) {
      const auto sequence = static_cast<int64_t>(below(4));
      const auto& tuple = tuples[below(4)];
      const auto spec = static_cast<int32_t>(below(2));
      std::string named = path();
      switch (below(3)) {
        case 0:
          if (with_dv.insert(named).second) entries.emplace_back(Dv(named, sequence, tuple, spec), std::nullopt);
          break;
        case 1: entries.emplace_back(PositionDeletes("p", sequence, tuple, spec), std::move(named)); break;
        default: entries.emplace_back(PositionDeletes("p", sequence, tuple, spec), std::nullopt); break;
      }
    }
    const auto index = MakeIndex(entries);
    for (int i = 0; i < 40; ++i) {
      const std::string file = path();
      const auto& tuple = tuples[below(4)];
      const auto sequence = static_cast<int64_t>(below(4));
      const auto spec = static_cast<int32_t>(below(2));
      std::optional<uint32_t> dv;
      std::set<uint32_t> positions, named, aliases;
      for (uint32_t at = 0; at < entries.size(); ++at) {
        const auto& [deletes, scope] = entries[at];
        const bool applies =
            deletes.spec_id == spec && *deletes.partition == *tuple && sequence <= deletes.data_sequence_number;
        const auto& names = deletes.IsDeletionVector() ? deletes.referenced_data_file : scope;
        if (!names) {
          if (applies) positions.insert(at);
        } else if (*names == file) {
          if (applies && deletes.IsDeletionVector())
            dv = at;
          else
            named.insert(at);
          if (applies && !deletes.IsDeletionVector()) positions.insert(at);
        } else if (io::CanonicalLocation(*names) == io::CanonicalLocation(file)) {
          aliases.insert(at);
        }
      }
      if (dv) positions.clear();
      const auto match = index.Find(Data(file, sequence, tuple, spec));
      const auto as_set = [](const std::vector<uint32_t>& list) { return std::set(list.begin(), list.end()); };
      ASSERT_EQ(match.dv, dv) << file;
      ASSERT_EQ(as_set(match.positions), positions) << file;
      ASSERT_EQ(as_set(match.named), named) << file;
      ASSERT_EQ(as_set(match.aliases), aliases) << file;
      ASSERT_EQ(match.positions.size(), positions.size());
      ASSERT_EQ(match.aliases.size(), aliases.size());
    }
  }
}

TEST(CheckSupported, IsTheOneMatrixOfContentAndFormat) {
  using enum FileContent;
  using enum FileFormat;
  for (const FileContent content : {kData, kPositionDeletes, kEqualityDeletes}) {
    for (const FileFormat format : {kParquet, kAvro, kOrc, kPuffin, kOther}) {
      ContentFile file;
      file.content = content;
      file.format = format;
      file.path = "/t/the-file";
      const bool supported = format == kParquet || (format == kPuffin && content == kPositionDeletes);
      const auto checked = CheckSupported(file);
      EXPECT_EQ(checked.has_value(), supported) << FileContentName(content) << " " << FileFormatName(format);
      if (checked) continue;
      EXPECT_EQ(checked.error().kind(), ErrorKind::kNotSupported);
      EXPECT_THAT(checked.error().message(), HasSubstr("/t/the-file"));
    }
  }
}

}  // namespace
}  // namespace delenda::plan
