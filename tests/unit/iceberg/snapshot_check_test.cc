// Rules of manifests, manifest lists and summaries: a snapshot is written by this project's writers, one thing in it is
// changed, and the check of that rule finds it.
#include "delenda/iceberg/snapshot_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delenda/iceberg/file_counts.h"
#include "delenda/iceberg/manifest_list_writer.h"
#include "delenda/iceberg/manifest_writer.h"

namespace delenda::iceberg {
namespace {

constexpr int64_t kThisSnapshot = 77;
constexpr int64_t kEarlierSnapshot = 55;
constexpr int64_t kThisSequence = 5;

void Store(io::FileIO& io, const std::string& path, ByteView bytes) {
  auto file = io.Create(path);
  ASSERT_TRUE(file) << file.error().ToString();
  ASSERT_TRUE((*file)->Write(bytes));
  ASSERT_TRUE((*file)->Close());
}

ContentFile DataFile(const std::string& path, Datum partition) {
  ContentFile file;
  file.path = path;
  file.partition = std::make_shared<const PartitionTuple>(PartitionTuple{{std::move(partition)}});
  file.record_count = 10;
  file.file_size = 1000;
  return file;
}

ContentFile VectorOf(const ContentFile& data) {
  ContentFile file = data;
  file.content = FileContent::kPositionDeletes;
  file.format = FileFormat::kPuffin;
  file.path = "/t/v.puffin";
  file.record_count = 3;
  file.referenced_data_file = data.path;
  file.content_offset = 4;
  file.content_size = 40;
  return file;
}

// Snapshot 77 (sequence number 5) of a table partitioned by p = identity(text):
//   data manifest     ADDED a (p = x), b (p = y); EXISTING c (NULL; sequence number 3, row ids from 0); DELETED d (p =
//   z) delete manifest   ADDED vector of a
class Snapshot77 {
 public:
  Snapshot77() {
    Field id, text;
    id.id = 1;
    id.name = "id";
    id.type = TypeKind::kLong;
    text.id = 2;
    text.name = "text";
    text.type = TypeKind::kString;
    const Schema schema = Schema::Make(0, {id, text}).value();
    metadata.format_version = 3;
    metadata.schemas = {schema};
    metadata.specs = {{.spec_id = 0, .fields = {{.source_id = 2, .field_id = 1000, .name = "p", .transform = {}}}}};
    specs = BindSpecs(metadata, schema);

    auto data = ManifestWriter::Make(schema, specs.at(0), {.snapshot_id = kThisSnapshot, .path = "/t/m0.avro"}).value();
    EXPECT_TRUE(data.Add(DataFile("/t/a", std::string("x"))));
    EXPECT_TRUE(data.Add(DataFile("/t/b", std::string("y"))));
    ContentFile kept = DataFile("/t/c", Datum());
    kept.data_sequence_number = kept.file_sequence_number = 3;
    kept.first_row_id = 0;
    EXPECT_TRUE(data.Keep(kept, kEarlierSnapshot));
    ContentFile removed = DataFile("/t/d", std::string("z"));
    removed.data_sequence_number = removed.file_sequence_number = 2;
    EXPECT_TRUE(data.Remove(removed));
    auto deletes =
        ManifestWriter::Make(schema, specs.at(0),
                             {.content = ManifestContent::kDeletes, .snapshot_id = kThisSnapshot, .path = "/t/m1.avro"})
            .value();
    EXPECT_TRUE(deletes.Add(VectorOf(DataFile("/t/a", std::string("x")))));
    for (auto* writer : {&data, &deletes}) {
      auto written = std::move(*writer).Finish().value();
      Store(*io, written.file.path, written.bytes);
      manifests.push_back(written.file);
    }
    snapshot.snapshot_id = kThisSnapshot;
    snapshot.sequence_number = kThisSequence;
    snapshot.manifest_list = "/t/snap.avro";
    snapshot.first_row_id = 100;
    snapshot.added_rows = 30;
    snapshot.summary = {
        {"total-data-files", "3"},       {"total-delete-files", "1"},     {"total-records", "30"},
        {"total-position-deletes", "3"}, {"total-equality-deletes", "0"}, {"total-files-size", "3040"},
        {"added-data-files", "2"},       {"added-delete-files", "1"},     {"added-dvs", "1"},
        {"added-records", "20"},         {"added-position-deletes", "3"}, {"added-files-size", "2040"},
        {"deleted-data-files", "1"},     {"deleted-records", "10"},       {"removed-files-size", "1000"}};
    metadata.next_row_id = 130;
  }

  Result<SnapshotContents> Check() {
    auto list = DELENDA_TRY(WriteManifestList(
        manifests, {.snapshot_id = kThisSnapshot, .sequence_number = kThisSequence, .first_row_id = 100}));
    Store(*io, snapshot.manifest_list, list.bytes);
    avro::SchemaCache schemas;
    Executor executor(1);
    const Hooks hooks;
    return CheckSnapshot(
        {.metadata = metadata, .specs = specs, .io = *io, .schemas = schemas, .executor = executor, .hooks = hooks},
        snapshot);
  }

  std::shared_ptr<io::FileIO> io = io::MakeMemoryFileIO();
  TableMetadata metadata;
  std::map<int32_t, BoundSpec> specs;
  std::vector<ManifestFile> manifests;  // data, deletes
  Snapshot snapshot;
};

struct BrokenSnapshot {
  const char* name;
  std::function<void(Snapshot77&)> make;
  std::vector<const Check*> checks;
  std::string place, what;
};

void PrintTo(const BrokenSnapshot& broken, std::ostream* out) { *out << broken.name; }

class SnapshotRule : public ::testing::TestWithParam<BrokenSnapshot> {};

const BrokenSnapshot kBrokenSnapshots[] = {
    {"Whole", [](Snapshot77&) {}, {}, "", ""},
    {"TheListExists",
     [](Snapshot77& s) {
       s.snapshot.manifest_list = "/t/snap2.avro";
       s.manifests.clear();
     },
     {&checks::kManifestList},
     "/t/snap2.avro",
     "no manifest"},
    {"ManifestsExist",
     [](Snapshot77& s) { s.manifests[1].path = "/t/gone.avro"; },
     {&checks::kFileMissing},
     "/t/gone.avro",
     "no such file"},
    {"ManifestsAreWhole", [](Snapshot77& s) { *s.manifests[0].length -= 1; }, {&checks::kManifest}, "/t/m0.avro", ""},
    {"ManifestsHaveASpecOfTheTable",
     [](Snapshot77& s) { s.manifests[1].spec_id = 4; },
     {&checks::kManifest},
     "/t/m1.avro",
     "partition spec 4"},
    {"TheListCountsFiles",
     [](Snapshot77& s) { s.manifests[0].added_files = 1, s.manifests[0].existing_files = 2; },
     {&checks::kManifestCounts, &checks::kManifestCounts},
     "/t/m0.avro",
     "says 2 existing files, it holds 1"},
    {"TheListCountsAddedRows",
     [](Snapshot77& s) { s.manifests[1].added_rows = 4; },
     {&checks::kManifestCounts},
     "/t/m1.avro",
     "says 4 added rows, it holds 3"},
    {"TheListCountsDeletedRows",
     [](Snapshot77& s) { s.manifests[0].deleted_rows = 0; },
     {&checks::kManifestCounts},
     "/t/m0.avro",
     "deleted rows"},
    {"NoFileIsOlderThanTheListSays",
     [](Snapshot77& s) { s.manifests[0].min_sequence_number = 4; },
     {&checks::kManifestSequence},
     "/t/m0.avro",
     "below 4, a file has 3"},
    {"NoManifestIsNewerThanItsSnapshot",
     [](Snapshot77& s) { s.snapshot.sequence_number = 4; },
     {&checks::kManifestSequence, &checks::kManifestSequence},
     "/t/m0.avro",
     "number 5, the snapshot 4"},
    {"NoFileIsNewerThanItsManifest",
     [](Snapshot77& s) {
       s.manifests[0].sequence_number = s.manifests[0].min_sequence_number = 2;
       s.manifests[0].first_row_id = 100;
     },
     {&checks::kManifestSequence},
     "/t/c",
     "above its manifest's 2"},
    {"SummariesHoldNull",
     [](Snapshot77& s) { s.manifests[0].partitions[0].contains_null = false; },
     {&checks::kPartitionSummary},
     "/t/m0.avro",
     "no value is NULL"},
    {"SummariesHoldTheLowestValue",
     [](Snapshot77& s) { s.manifests[0].partitions[0].lower = "xx"; },
     {&checks::kPartitionSummary},
     "/t/m0.avro",
     "a file has x, outside the bounds"},
    {"SummariesHoldTheHighestValue",
     [](Snapshot77& s) { s.manifests[0].partitions[0].upper = "xx"; },
     {&checks::kPartitionSummary},
     "/t/m0.avro",
     "a file has y, outside the bounds"},
    {"SummariesNeedNotBeTight", [](Snapshot77& s) { s.manifests[0].partitions[0].lower = "a"; }, {}, "", ""},
    {"SummariesWithoutBoundsMeanNull",
     [](Snapshot77& s) { s.manifests[1].partitions[0].lower = s.manifests[1].partitions[0].upper = std::nullopt; },
     {&checks::kPartitionSummary},
     "/t/m1.avro",
     "as if all values were NULL"},
    {"ThereIsASummaryForEachField",
     [](Snapshot77& s) { s.manifests[1].partitions.push_back(s.manifests[1].partitions[0]); },
     {&checks::kPartitionSummary},
     "/t/m1.avro",
     "2 field summaries"},
    {"RowIdsOfFilesAreBelowTheNextOne",
     [](Snapshot77& s) { s.metadata.next_row_id = 119; },
     {&checks::kRowIdNext},
     "/t/m0.avro",
     "below 120, the table's next-row-id is 119"},
    {"DataManifestsHaveAFirstRowId",
     [](Snapshot77& s) {
       s.snapshot.manifest_list = "";
       s.snapshot.manifests = {"/t/m0.avro"};
       s.snapshot.summary.clear();
       s.metadata.specs.clear();
     },
     {&checks::kManifestSequence, &checks::kRowIdManifest},
     "/t/c",
     "above"},
    {"ASnapshotGivesNoMoreRowIdsThanItSays",
     [](Snapshot77& s) { s.snapshot.added_rows = 29; },
     {&checks::kRowIdSnapshot},
     "snapshot 77",
     "below 130"},
    {"ManifestsDoNotShareRowIds",
     [](Snapshot77& s) {
       s.manifests.push_back(s.manifests[0]);
       s.manifests[2].first_row_id = 129;
       s.manifests[2].path = "/t/m2.avro";
       s.manifests[2].added_rows = 1;
       s.manifests[2].existing_rows = 0;
       s.snapshot.added_rows = 30;
     },
     {&checks::kFileMissing, &checks::kRowIdSnapshot},
     "/t/m2.avro",
     ""},
    {"SummaryCountsDataFiles",
     [](Snapshot77& s) { s.snapshot.summary["total-data-files"] = "4"; },
     {&checks::kSummaryTotals},
     "snapshot 77",
     "total-data-files is 4, the manifests hold 3"},
    {"SummaryCountsNumbers",
     [](Snapshot77& s) { s.snapshot.summary["total-records"] = "30x"; },
     {&checks::kSummaryTotals},
     "snapshot 77",
     "total-records is 30x"},
    {"SummaryMayLackTotals", [](Snapshot77& s) { s.snapshot.summary.erase("total-records"); }, {}, "", ""},
    {"SummaryCountsDeletionVectorsAsDeleteFiles",
     [](Snapshot77& s) { s.snapshot.summary["total-delete-files"] = "0"; },
     {&checks::kSummaryTotals},
     "snapshot 77",
     "total-delete-files is 0, the manifests hold 1"},
    {"SummaryCountsBytesOfVectorsNotOfTheirFile",
     [](Snapshot77& s) { s.snapshot.summary["total-files-size"] = "4000"; },
     {&checks::kSummaryTotals},
     "snapshot 77",
     "the manifests hold 3040"},
    {"SummaryCountsWhatWasAdded",
     [](Snapshot77& s) { s.snapshot.summary["added-records"] = "30"; },
     {&checks::kSummaryChanges},
     "snapshot 77",
     "added-records is 30, the manifests hold 20"},
    {"ACounterThatIsLeftOutIsZero",
     [](Snapshot77& s) { s.snapshot.summary.erase("deleted-data-files"); },
     {&checks::kSummaryChanges},
     "snapshot 77",
     "deleted-data-files is 0, the manifests hold 1"},
    {"OldWritersDoNotCountVectors", [](Snapshot77& s) { s.snapshot.summary.erase("added-dvs"); }, {}, "", ""},
    {"ASummaryMaySayNothing", [](Snapshot77& s) { s.snapshot.summary.clear(); }, {}, "", ""},
};

TEST_P(SnapshotRule, IsHeld) {
  Snapshot77 state;
  GetParam().make(state);
  const auto checked = state.Check();
  ASSERT_TRUE(checked) << checked.error().ToString();
  std::vector<const Check*> found;
  std::string text;
  for (const auto& finding : checked->findings) {
    found.push_back(finding.check);
    text += std::string(finding.check->id) + " " + finding.place + ": " + finding.what + "\n";
    EXPECT_EQ(finding.snapshot_id, kThisSnapshot);
  }
  ASSERT_EQ(found, GetParam().checks) << text;
  if (found.empty()) return;
  EXPECT_EQ(checked->findings.front().place, GetParam().place) << text;
  EXPECT_THAT(checked->findings.front().what, ::testing::HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(All, SnapshotRule, ::testing::ValuesIn(kBrokenSnapshots),
                         [](const auto& tested) { return tested.param.name; });

TEST(SnapshotCheck, GivesTheLiveFiles) {
  Snapshot77 state;
  const auto checked = state.Check();
  ASSERT_TRUE(checked) << checked.error().ToString();
  std::vector<std::string> data;
  for (const auto& file : checked->data) data.push_back(file.path);
  EXPECT_THAT(data, ::testing::ElementsAre("/t/a", "/t/b", "/t/c"));
  ASSERT_EQ(checked->deletes.size(), 1U);
  EXPECT_EQ(checked->scopes.size(), 1U);
  EXPECT_TRUE(checked->all_data && checked->all_deletes);
}

TEST(SnapshotCheck, SaysWhichHalfCouldNotBeRead) {
  Snapshot77 state;
  state.manifests[1].path = "/t/gone.avro";
  const auto checked = state.Check();
  ASSERT_TRUE(checked) << checked.error().ToString();
  EXPECT_TRUE(checked->all_data);
  EXPECT_FALSE(checked->all_deletes);
  EXPECT_EQ(checked->data.size(), 3U);
}

// spec, "Sequence Number Inheritance": only ADDED entries may inherit.
TEST(SnapshotCheck, EntriesThatAreNotAddedStateBothSequenceNumbers) {
  constexpr const char* kSchema = R"({"type": "record", "name": "manifest_entry", "fields": [
    {"name": "status", "type": "int", "field-id": 0},
    {"name": "snapshot_id", "type": ["null", "long"], "field-id": 1},
    {"name": "sequence_number", "type": ["null", "long"], "field-id": 3},
    {"name": "file_sequence_number", "type": ["null", "long"], "field-id": 4},
    {"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [
      {"name": "file_path", "type": "string", "field-id": 100},
      {"name": "file_format", "type": "string", "field-id": 101},
      {"name": "partition", "field-id": 102, "type": {"type": "record", "name": "r102", "fields": [
        {"name": "p", "type": ["null", "string"], "field-id": 1000}]}},
      {"name": "record_count", "type": "long", "field-id": 103},
      {"name": "file_size_in_bytes", "type": "long", "field-id": 104}]}}]})";
  Snapshot77 state;
  auto writer = avro::Writer::Make(kSchema, {}, {}).value();
  for (const bool states_it : {true, false}) {
    avro::Encoder& out = writer.row();
    out.Int(0);
    out.Branch(1), out.Int(kEarlierSnapshot);
    out.Branch(1), out.Int(3);
    if (states_it) {
      out.Branch(1), out.Int(3);
    } else {
      out.Null();
    }
    out.Text(states_it ? "/t/whole" : "/t/broken");
    out.Text("PARQUET");
    out.Null();
    out.Int(10);
    out.Int(1000);
    ASSERT_TRUE(writer.EndRow());
  }
  const Bytes bytes = std::move(writer).Finish().value();
  Store(*state.io, "/t/m3.avro", bytes);
  ManifestFile& manifest = state.manifests[0];
  manifest.path = "/t/m3.avro";
  manifest.length = bytes.size();
  manifest.added_files = manifest.deleted_files = manifest.added_rows = manifest.deleted_rows = 0;
  manifest.existing_files = 2;
  manifest.existing_rows = 20;
  state.snapshot.summary.clear();
  const auto checked = state.Check();
  ASSERT_TRUE(checked) << checked.error().ToString();
  ASSERT_EQ(checked->findings.size(), 1U) << checked->findings.back().what;
  EXPECT_EQ(checked->findings[0].check, &checks::kEntrySequence);
  EXPECT_EQ(checked->findings[0].place, "/t/broken");
}

TEST(SnapshotCheck, VectorsOfTheParentThatAreGoneOrReplaced) {
  Snapshot77 state;
  ASSERT_TRUE(state.Check());
  avro::SchemaCache schemas;
  Executor executor(1);
  const Hooks hooks;
  const SnapshotSource source{.metadata = state.metadata,
                              .specs = state.specs,
                              .io = *state.io,
                              .schemas = schemas,
                              .executor = executor,
                              .hooks = hooks};
  const auto replaced = ReadReplacedVectors(source, state.snapshot, {});
  ASSERT_TRUE(replaced) << replaced.error().ToString();
  ASSERT_EQ(replaced->size(), 1U);
  EXPECT_EQ(replaced->front().referenced_data_file, "/t/a");
  // A manifest that the child has too holds the same vectors there.
  const auto kept = ReadReplacedVectors(source, state.snapshot, state.manifests);
  ASSERT_TRUE(kept) << kept.error().ToString();
  EXPECT_TRUE(kept->empty());
}

TEST(FileCounts, SumsStopAtTheLargestNumber) {
  ContentFile file = DataFile("/t/a", Datum());
  file.record_count = std::numeric_limits<int64_t>::max();
  FileCounts counts;
  counts.Add(file);
  counts.Add(file);
  EXPECT_EQ(counts.records, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(counts.data_files, 2);
}

}  // namespace
}  // namespace delenda::iceberg
