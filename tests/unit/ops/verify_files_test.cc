// What opening files finds: Parquet footers against manifests, vectors, and vectors that lost positions.
#include "delenda/ops/verify_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/puffin/puffin_writer.h"
#include "delenda/io/counting_file_io.h"
#include "delenda/model/datum.h"
#include "unit/formats_parquet/parquet_writer.h"

namespace delenda::ops {
namespace {

using testing::IdField;
using testing::PutFile;

std::vector<std::string> TextsOf(const Result<Findings>& findings) {
  if (!findings) return {"error: " + findings.error().ToString()};
  std::vector<std::string> texts;
  for (const auto& finding : *findings)
    texts.push_back(std::string(finding.check->id) + " " + finding.place + ": " + finding.what);
  return texts;
}

std::string Bound(const Type& type, const Datum& datum) {
  return std::string(AsText(DatumToBound(type, datum).value()));
}

Field Column(int32_t id, std::string name, Type type) {
  Field field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  return field;
}

// A file of two columns in three row groups: id 0 … 9, name with a NULL.
struct FileOnDisk {
  FileOnDisk() {
    std::vector<std::optional<std::string>> names = {"b", "cc", std::nullopt, "a", "b", "zz", "b", "b", "b", "b"};
    const auto table =
        arrow::Table::Make(arrow::schema({IdField(1, "id", arrow::int64()), IdField(2, "name", arrow::utf8())}),
                           {testing::LongRange(0, 10), testing::Texts(names)});
    bytes = testing::ToParquet(table, {.rows_per_group = 4});
    file.path = "/t/a.parquet";
    file.partition = std::make_shared<const PartitionTuple>();
    file.record_count = 10;
    file.file_size = static_cast<int64_t>(bytes.size());
    metrics.value_counts = {{1, 10}, {2, 10}};
    metrics.null_counts = {{1, 0}, {2, 1}};
    metrics.lower_bounds = {{1, Bound(TypeKind::kLong, int64_t{0})}, {2, "a"}};
    metrics.upper_bounds = {{1, Bound(TypeKind::kLong, int64_t{9})}, {2, "zz"}};
    fields = {Column(1, "id", TypeKind::kLong), Column(2, "name", TypeKind::kString)};
  }

  Result<Findings> Verify() {
    const auto io = io::MakeMemoryFileIO();
    PutFile(*io, "/t/a.parquet", bytes);
    file.metrics = std::make_shared<const FileMetrics>(metrics);
    Executor executor(1);
    const Hooks hooks;
    return VerifyFiles({.io = *io, .executor = executor, .hooks = hooks}, {&file}, Schema::Make(0, fields).value(), {});
  }

  Bytes bytes;
  ContentFile file;
  FileMetrics metrics;
  std::vector<Field> fields;
};

struct BrokenFile {
  const char* name;
  std::function<void(FileOnDisk&)> make;
  std::vector<const char*> texts;
};

void PrintTo(const BrokenFile& broken, std::ostream* out) { *out << broken.name; }

class FileRule : public ::testing::TestWithParam<BrokenFile> {};

const BrokenFile kBrokenFiles[] = {
    {"Whole", [](FileOnDisk&) {}, {}},
    {"TheFileExists", [](FileOnDisk& f) { f.file.path = "/t/gone.parquet"; }, {"file-missing"}},
    {"TheManifestKnowsItsSize", [](FileOnDisk& f) { f.file.file_size -= 1; }, {"file-size /t/a.parquet: has"}},
    {"TheManifestKnowsItsRows",
     [](FileOnDisk& f) { f.file.record_count = 11; },
     {"file-row-count /t/a.parquet: has 10 rows, the manifest says 11"}},
    {"ItIsAParquetFile", [](FileOnDisk& f) { f.bytes.back() = std::byte{0}; }, {"file-footer"}},
    {"OtherFormatsAreNotLookedAt",
     [](FileOnDisk& f) { f.file.format = FileFormat::kOrc; },
     {"file-unchecked /t/a.parquet: is a file of format orc"}},
    {"RequiredColumnsAreThere",
     [](FileOnDisk& f) {
       f.fields.push_back(Column(3, "extra", TypeKind::kLong));
       f.fields.back().required = true;
     },
     {"file-schema"}},
    {"OptionalColumnsMayBeMissing", [](FileOnDisk& f) { f.fields.push_back(Column(3, "extra", TypeKind::kLong)); }, {}},
    {"ColumnsHaveATypeThatFits",
     [](FileOnDisk& f) { f.fields[1] = Column(2, "name", TypeKind::kLong); },
     {"file-schema", "metrics-bounds", "metrics-bounds"}},
    {"ValuesAreCounted",
     [](FileOnDisk& f) { f.metrics.value_counts[1] = 9; },
     {"metrics-counts /t/a.parquet: column id: the manifest counts 9 values"}},
    {"NullsAreCounted",
     [](FileOnDisk& f) { f.metrics.null_counts[2] = 0; },
     {"metrics-counts /t/a.parquet: column name: the manifest counts 0 NULL values, the file 1"}},
    {"CountsMayBeLeftOut", [](FileOnDisk& f) { f.metrics = {}; }, {}},
    {"NoValueIsBelowTheLowerBound",
     [](FileOnDisk& f) { f.metrics.lower_bounds[1] = Bound(TypeKind::kLong, int64_t{1}); },
     {"metrics-bounds /t/a.parquet: column id: the lower bound of the manifest is 1, the file holds 0"}},
    {"NoValueIsAboveTheUpperBound",
     [](FileOnDisk& f) { f.metrics.upper_bounds[2] = "zy"; },
     {"metrics-bounds /t/a.parquet: column name: the upper bound of the manifest is zy, the file holds zz"}},
    {"BoundsNeedNotBeTight",
     [](FileOnDisk& f) { f.metrics.lower_bounds[2] = "", f.metrics.upper_bounds[2] = "{"; },
     {}},
    {"BoundsAreValues",
     [](FileOnDisk& f) { f.metrics.upper_bounds[1] = "x"; },
     {"metrics-bounds /t/a.parquet: column id: the upper bound of the manifest is no long"}},
};

TEST_P(FileRule, IsHeld) {
  FileOnDisk file;
  GetParam().make(file);
  const auto texts = TextsOf(file.Verify());
  ASSERT_EQ(texts.size(), GetParam().texts.size()) << ::testing::PrintToString(texts);
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_THAT(texts[i], ::testing::StartsWith(GetParam().texts[i]));
}

INSTANTIATE_TEST_SUITE_P(All, FileRule, ::testing::ValuesIn(kBrokenFiles),
                         [](const auto& tested) { return tested.param.name; });

// Vectors of data files "/t/0", "/t/1" … of 100 rows, in one Puffin file.
struct Vectors {
  explicit Vectors(const std::vector<std::vector<uint64_t>>& positions, const std::string& path = "/t/v.puffin") {
    puffin::PuffinWriter writer;
    for (size_t i = 0; i < positions.size(); ++i) {
      ContentFile& file = data.emplace_back();
      file.path = "/t/" + std::to_string(i);
      file.record_count = 100;
      const PositionSet set = PositionSet::FromPositions(positions[i]).value();
      const auto place =
          writer.AddDeletionVector(dv::EncodeIcebergBlob(set).value(), file.path, set.cardinality()).value();
      ContentFile& vector = vectors.emplace_back();
      vector.content = FileContent::kPositionDeletes;
      vector.format = FileFormat::kPuffin;
      vector.path = path;
      vector.record_count = static_cast<int64_t>(set.cardinality());
      vector.referenced_data_file = file.path;
      vector.content_offset = static_cast<int64_t>(place.offset);
      vector.content_size = static_cast<int64_t>(place.length);
      targets.emplace_back(i);
    }
    bytes = std::move(writer).Finish().value();
    for (auto& vector : vectors) vector.file_size = static_cast<int64_t>(bytes.size());
  }

  std::vector<ContentFile> data, vectors;
  std::vector<std::optional<size_t>> targets;
  Bytes bytes;
};

TEST(VerifyVectors, EachRuleOfAVector) {
  struct Case {
    std::function<void(Vectors&)> make;
    std::vector<const char*> texts;
  };
  const Case cases[] = {
      {[](Vectors&) {}, {}},
      {[](Vectors& v) { v.vectors[0].record_count = 3; },
       {"puffin-footer /t/v.puffin: the deletion vector at 4 of /t/0: the footer's cardinality is 2, the manifest's 3",
        "dv-cardinality /t/v.puffin: the deletion vector at 4 of /t/0 holds 2 positions, the manifest says 3"}},
      {[](Vectors& v) { v.data[1].record_count = 99; },
       {"dv-position /t/v.puffin: the deletion vector at 48 of /t/1 holds position 99, the data file has 99 rows"}},
      {[](Vectors& v) { v.vectors[0].referenced_data_file = "/t/9"; },
       {"puffin-footer /t/v.puffin: the deletion vector at 4 of /t/9: the footer says that it is for /t/0"}},
      {[](Vectors& v) {
         v.vectors[1].content_offset = *v.vectors[1].content_offset + 1, v.vectors[1].content_size = 10;
       },
       {"puffin-footer", "dv-bytes"}},
      {[](Vectors& v) { v.bytes[20] ^= std::byte{1}; }, {"dv-bytes"}},
      {[](Vectors& v) { v.bytes.back() = std::byte{0}; }, {"puffin-footer"}},
      {[](Vectors& v) { v.vectors[0].file_size = v.vectors[1].file_size = 5000; }, {"file-size"}},
      // No data file: nothing to compare positions with.
      {[](Vectors& v) { v.targets[1].reset(), v.data[1].record_count = 5; }, {}},
  };
  for (const auto& c : cases) {
    Vectors vectors({{3, 9}, {1, 50, 99}});
    c.make(vectors);
    const auto io = std::make_shared<io::CountingFileIO>(io::MakeMemoryFileIO());
    PutFile(*io, "/t/v.puffin", vectors.bytes);
    Executor executor(1);
    const Hooks hooks;
    std::set<std::string> done;
    const VerifyContext context{.io = *io, .executor = executor, .hooks = hooks};
    const auto before = io->Snapshot();
    const auto texts = TextsOf(VerifyVectors(context, vectors.data, vectors.vectors, vectors.targets, done));
    ASSERT_EQ(texts.size(), c.texts.size()) << ::testing::PrintToString(texts);
    for (size_t i = 0; i < texts.size(); ++i) EXPECT_THAT(texts[i], ::testing::StartsWith(c.texts[i]));
    // One file: its size, its footer, and the blobs in one request.
    EXPECT_LE(io->Snapshot().reads - before.reads, 2U);
    EXPECT_EQ(io->Snapshot().opens - before.opens, 1U);
    // Not once more for another snapshot.
    EXPECT_TRUE(TextsOf(VerifyVectors(context, vectors.data, vectors.vectors, vectors.targets, done)).empty());
  }
}

TEST(VerifyVectors, AMissingFileIsAFinding) {
  const Vectors vectors({std::vector<uint64_t>{3}}, "/t/v.puffin");
  const auto io = io::MakeMemoryFileIO();
  Executor executor(1);
  const Hooks hooks;
  std::set<std::string> done;
  EXPECT_THAT(TextsOf(VerifyVectors({.io = *io, .executor = executor, .hooks = hooks}, vectors.data, vectors.vectors,
                                    vectors.targets, done)),
              ::testing::ElementsAre(::testing::StartsWith("file-missing /t/v.puffin")));
}

// Invariant: a new vector contains the one that it replaces.
TEST(VerifyReplacedVectors, LostPositionsAreAWarning) {
  Vectors before({{3, 9}, {1}, {5, 6}, {7}}, "/t/old.puffin");
  Vectors now({{3, 9, 11}, {1}, {6}, {7}}, "/t/new.puffin");
  const auto io = io::MakeMemoryFileIO();
  PutFile(*io, "/t/old.puffin", before.bytes);
  PutFile(*io, "/t/new.puffin", now.bytes);
  now.vectors.pop_back();  // of /t/3: none at all now
  Executor executor(1);
  const Hooks hooks;
  const VerifyContext context{.io = *io, .executor = executor, .hooks = hooks};
  EXPECT_THAT(
      TextsOf(VerifyReplacedVectors(context, now.data, now.vectors, before.vectors)),
      ::testing::ElementsAre(::testing::StartsWith("dv-lost-bits /t/2: 1 deleted row of the parent snapshot is no"),
                             ::testing::StartsWith("dv-lost-bits /t/3: 1 deleted row")));
  // A data file that is gone takes its vector along, and a vector that stays is not read.
  now.data.pop_back();
  now.vectors[2] = before.vectors[2];
  EXPECT_TRUE(TextsOf(VerifyReplacedVectors(context, now.data, now.vectors, before.vectors)).empty());

  ASSERT_TRUE(io->Delete("/t/old.puffin"));
  EXPECT_THAT(TextsOf(VerifyReplacedVectors(context, now.data, now.vectors, {before.vectors[0]})),
              ::testing::ElementsAre(::testing::StartsWith("dv-replaced-unread /t/old.puffin")));
}

}  // namespace
}  // namespace delenda::ops
