// Commits that turn equality deletes into vectors, against what others committed since they looked: equality deletes
// and compaction as other engines write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delenda/commit/snapshot_metadata.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/iceberg/manifest_list_writer.h"
#include "delenda/iceberg/manifest_writer.h"
#include "unit/commit/memory_table.h"

namespace delenda::commit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MemoryTable;
using testing::Set;

class ConversionTable : public MemoryTable {
 public:
  using MemoryTable::MemoryTable;

  // Like a writer of equality deletes, or compaction: adds one file, with a sequence number of its own if it says so,
  // and removes data files.
  void CommitFile(Operation operation, const ContentFile& file, std::optional<int64_t> sequence_number = {},
                  const std::vector<std::string>& removed = {}) {
    const auto metadata = Metadata();
    const auto& parent = *metadata.FindSnapshot(*metadata.current_snapshot_id);
    avro::SchemaCache schemas;
    const auto specs = iceberg::BindSpecs(metadata, metadata.CurrentSchema());
    NewSnapshot snapshot;
    snapshot.snapshot_id = 7000 + metadata.last_sequence_number;
    snapshot.operation = operation;
    auto manifests = iceberg::ReadManifests(*io_, parent, schemas).value();
    const auto write = [&](iceberg::ManifestContent content, const std::string& name, const auto& fill) {
      const std::string path = std::string(kLocation) + "/metadata/" + name + std::to_string(snapshot.snapshot_id);
      auto writer = iceberg::ManifestWriter::Make(
                        metadata.CurrentSchema(), specs.at(0),
                        {.format_version = 3, .content = content, .snapshot_id = snapshot.snapshot_id, .path = path})
                        .value();
      fill(writer);
      const auto written = std::move(writer).Finish().value();
      EXPECT_TRUE(io::WriteWholeFile(*io_, path, written.bytes));
      manifests.push_back(written.file);
    };
    const bool is_data = file.content == FileContent::kData;
    write(is_data ? iceberg::ManifestContent::kData : iceberg::ManifestContent::kDeletes, "added",
          [&](iceberg::ManifestWriter& writer) { EXPECT_TRUE(writer.Add(file, sequence_number)); });
    if (!removed.empty()) {
      // All other data manifests hold just these files.
      std::erase_if(manifests, [&](const iceberg::ManifestFile& manifest) {
        return manifest.content == iceberg::ManifestContent::kData &&
               manifest.added_snapshot_id != snapshot.snapshot_id;
      });
      const auto state = State();
      write(iceberg::ManifestContent::kData, "removed", [&](iceberg::ManifestWriter& writer) {
        for (const auto& name : removed) EXPECT_TRUE(writer.Remove(state.at(DataFile(name, 0).path).first));
      });
    }
    const auto list =
        iceberg::WriteManifestList(std::move(manifests), {.snapshot_id = snapshot.snapshot_id,
                                                          .parent_snapshot_id = parent.snapshot_id,
                                                          .sequence_number = metadata.last_sequence_number + 1,
                                                          .first_row_id = *metadata.next_row_id})
            .value();
    snapshot.next_row_id = list.next_row_id;
    snapshot.manifest_list = std::string(kLocation) + "/metadata/list" + std::to_string(snapshot.snapshot_id);
    EXPECT_TRUE(io::WriteWholeFile(*io_, snapshot.manifest_list, list.bytes));
    const auto base = iceberg::LoadTable(*io_, kLocation).value();
    const auto next = WithSnapshot(base, "main", snapshot).value();
    EXPECT_TRUE(point_->Publish(base.metadata_path, iceberg::TableMetadataToJson(next).value(), false));
  }

  static ContentFile EqualityDeletes(const std::string& name) {
    ContentFile file = DataFile(name, 2);
    file.content = FileContent::kEqualityDeletes;
    file.equality_ids = {1};
    return file;
  }

  // a.parquet (10 rows, sequence number 1) and equality deletes of it (sequence number 2), in which rows 3 and 5 match.
  Intent Pending() {
    Append("a.parquet", 10);
    CommitFile(Operation::kDelete, EqualityDeletes("e.parquet"));
    ContentFile deletes = EqualityDeletes("e.parquet");
    deletes.data_sequence_number = 2;
    Intent intent = Delete({{"a.parquet", {3, 5}}});
    intent.operation = Operation::kReplace;
    intent.removed_delete_files = {deletes};
    return intent;
  }

  bool HasEqualityDeletes() const {
    Executor executor(1);
    const auto plan = plan::PlanScan(Metadata(), *io_, {}, executor, {});
    return std::ranges::any_of(plan->tasks, [](const auto& task) { return !task.equality_deletes.empty(); });
  }
};

TEST(Conversion, RemovesTheDeletesAndAddsTheVectorInOneSnapshot) {
  ConversionTable table;
  const Intent intent = table.Pending();
  EXPECT_TRUE(table.HasEqualityDeletes());
  const auto committed = table.Commit(intent);
  EXPECT_EQ(committed.new_vectors, 1U);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3, 5));
  EXPECT_FALSE(table.HasEqualityDeletes());
  const auto metadata = table.Metadata();
  EXPECT_EQ(metadata.FindSnapshot(*committed.snapshot_id)->operation, "replace");
  EXPECT_EQ(metadata.FindSnapshot(*committed.snapshot_id)->summary.at("removed-equality-delete-files"), "1");
}

// Compaction adds a file of partition eu with an old sequence number: to it apply deletes of that partition, and those
// of unpartitioned specs.
TEST(Conversion, LooksAgainAtFilesInPartitionsThatItsDeletesReach) {
  const auto in = [](const char* region) {
    return std::make_shared<const PartitionTuple>(PartitionTuple{{Datum(std::string(region))}});
  };
  struct Case {
    int32_t spec_id;
    std::shared_ptr<const PartitionTuple> partition;
    bool looks_again;
  };
  for (const Case& one :
       {Case{0, in("eu"), true}, Case{0, in("us"), false}, Case{1, std::make_shared<const PartitionTuple>(), true}}) {
    PartitionSpec by_region;
    by_region.fields = {
        {.source_id = 2, .field_id = 1000, .name = "region", .transform = Transform::Parse("identity").value()}};
    ConversionTable table(io::MakeMemoryFileIO(), {}, 3, by_region);
    auto base = iceberg::LoadTable(*table.io_, ConversionTable::kLocation).value();
    base.metadata.specs.push_back({.spec_id = 1, .fields = {}});
    ASSERT_TRUE(table.point_->Publish(base.metadata_path, iceberg::TableMetadataToJson(base.metadata).value(), false));
    Intent append;
    append.added_files = {ConversionTable::DataFile("a.parquet", 10)};
    append.added_files[0].partition = in("eu");
    table.Commit(append);
    ContentFile deletes = ConversionTable::EqualityDeletes("e.parquet");
    deletes.data_sequence_number = 2;
    deletes.spec_id = one.spec_id;
    deletes.partition = one.partition;
    Intent conversion;
    conversion.operation = Operation::kReplace;
    conversion.base_snapshot_id = table.Head();
    conversion.removed_delete_files = {deletes};
    ContentFile compacted = ConversionTable::DataFile("c.parquet", 10);
    compacted.partition = in("eu");
    table.CommitFile(Operation::kReplace, compacted, 1, {"a.parquet"});
    EXPECT_EQ(!table.LooksAgain(conversion).empty(), one.looks_again) << one.spec_id;
  }
}

TEST(NewDeletes, OfNewFilesAreInTheSameSnapshot) {
  ConversionTable table;
  table.Append("a.parquet", 10);
  Intent intent = table.Delete({{"a.parquet", {3}}});
  intent.operation = Operation::kOverwrite;
  intent.added_files = {MemoryTable::DataFile("b.parquet", 4)};
  intent.deletes_of_added = {{.file = intent.added_files[0], .before = {}, .deleted = Set({1, 2})}};
  const auto committed = table.Commit(intent);
  EXPECT_EQ(committed.new_vectors, 2U);
  EXPECT_EQ(committed.deleted_rows, 1U);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3));
  EXPECT_THAT(table.Deleted("b.parquet"), ElementsAre(1, 2));
  const auto metadata = table.Metadata();
  EXPECT_EQ(metadata.FindSnapshot(*committed.snapshot_id)->summary.at("added-dvs"), "2");
}

// Rows and equality deletes of what they replace: whatever others have committed, they need not be evaluated again.
TEST(NewDeletes, EqualityDeletesFitEveryState) {
  ConversionTable table;
  table.Append("a.parquet", 10);
  Intent intent;
  intent.operation = Operation::kOverwrite;
  intent.base_snapshot_id = table.Head();
  intent.added_files = {MemoryTable::DataFile("b.parquet", 4)};
  intent.added_delete_files = {ConversionTable::EqualityDeletes("e.parquet")};
  table.CommitFile(Operation::kDelete, ConversionTable::EqualityDeletes("other.parquet"));
  table.Append("c.parquet", 5);
  const auto committed = table.Commit(intent);
  Executor executor(1);
  const auto plan = plan::PlanScan(table.Metadata(), *table.io_, {}, executor, {});
  for (const auto& task : plan->tasks) {
    const size_t deletes = task.file.path.ends_with("a.parquet") ? 2 : task.file.path.ends_with("c.parquet") ? 1 : 0;
    EXPECT_EQ(task.equality_deletes.size(), deletes) << task.file.path;
  }
  const auto metadata = table.Metadata();
  EXPECT_EQ(metadata.FindSnapshot(*committed.snapshot_id)->summary.at("added-equality-deletes"), "2");
  EXPECT_FALSE(MemoryTable(io::MakeMemoryFileIO(), {}, 2).Try(intent));
}

TEST(Conversion, OfDeletesThatSomebodyElseConvertedChangesNothing) {
  ConversionTable table;
  const Intent intent = table.Pending();
  table.Commit(intent);
  EXPECT_FALSE(table.Commit(intent).snapshot_id);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3, 5));
}

TEST(Conversion, MergesWithDeletesAndUpdatesOfTheSameRows) {
  ConversionTable table;
  const Intent intent = table.Pending();
  table.Commit(table.Update({{"a.parquet", {5, 6}}}, "copies.parquet"));
  table.Commit(intent);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3, 5, 6));
  EXPECT_FALSE(table.HasEqualityDeletes());
}

TEST(Conversion, IsNotDisturbedByDataWithNewerSequenceNumbersNorByNewDeletes) {
  ConversionTable table;
  const Intent intent = table.Pending();
  table.Append("b.parquet", 10);
  table.CommitFile(Operation::kDelete, ConversionTable::EqualityDeletes("later.parquet"));
  table.Commit(intent);
  EXPECT_THAT(table.Deleted("a.parquet"), ElementsAre(3, 5));
  EXPECT_TRUE(table.HasEqualityDeletes()) << "those that came later stay";
}

// The rows of a.parquet went on to c.parquet, to which the deletes still apply. Without them, and without vectors for
// it, rows 3 and 5 would come back.
TEST(Conversion, LooksAgainWhenCompactionKeptAnOlderSequenceNumber) {
  struct Case {
    const char* name;
    std::optional<int64_t> sequence_number;
    Operation operation;
    bool looks_again;
  };
  for (const Case& one : {Case{"of its input", 1, Operation::kReplace, true},
                          Case{"of its input, not called replace", 1, Operation::kOverwrite, true},
                          Case{"of the deletes", 2, Operation::kReplace, false},
                          Case{"of its own", std::nullopt, Operation::kReplace, false}}) {
    SCOPED_TRACE(one.name);
    ConversionTable table;
    const Intent intent = table.Pending();
    table.CommitFile(one.operation, ConversionTable::DataFile("c.parquet", 10), one.sequence_number, {"a.parquet"});
    const std::string reason = table.LooksAgain(intent);
    if (one.looks_again) {
      EXPECT_THAT(reason, HasSubstr("c.parquet, to which /w/t/data/e.parquet applies, was added"));
      EXPECT_TRUE(table.HasEqualityDeletes());
    } else {
      EXPECT_EQ(reason, "");
      EXPECT_FALSE(table.HasEqualityDeletes());
      EXPECT_THAT(table.Deleted("c.parquet"), IsEmpty());
    }
  }
}

TEST(Conversion, NeedNotLookAtFilesThatCannotHoldAKey) {
  ConversionTable table;
  Intent intent = table.Pending();
  intent.conflict_filter = BindText("id IN (7, 9)", table.Metadata().CurrentSchema()).value();
  ContentFile compacted = ConversionTable::DataFile("c.parquet", 10);
  const auto bound = [](int64_t value) {
    return std::string(AsText(DatumToBound(TypeKind::kLong, Datum(value)).value()));
  };
  FileMetrics metrics;
  metrics.lower_bounds = {{1, bound(10)}};
  metrics.upper_bounds = {{1, bound(20)}};
  compacted.metrics = std::make_shared<const FileMetrics>(metrics);
  table.CommitFile(Operation::kReplace, compacted, 1, {"a.parquet"});
  EXPECT_EQ(table.LooksAgain(intent), "");
  EXPECT_FALSE(table.HasEqualityDeletes());
}

// Row 1 was deleted twice when the conversion looked: by the vector, so it was not looked for, and by the deletes that
// the conversion takes away.
TEST(Conversion, LooksAgainWhenAVectorLostRows) {
  ConversionTable table;
  table.Append("a.parquet", 10);
  table.Commit(table.Delete({{"a.parquet", {1}}}));
  table.CommitFile(Operation::kDelete, ConversionTable::EqualityDeletes("e.parquet"));
  ContentFile deletes = ConversionTable::EqualityDeletes("e.parquet");
  deletes.data_sequence_number = 3;
  Intent intent = table.Delete({{"a.parquet", {3}}});
  intent.operation = Operation::kReplace;
  intent.removed_delete_files = {deletes};
  Intent undelete = table.Delete({{"a.parquet", {}}});
  undelete.operation = Operation::kOverwrite;
  undelete.deletes[0].deleted = PositionSet();
  table.Commit(undelete);
  EXPECT_EQ(table.LooksAgain(intent), "deleted rows were brought back");
}

}  // namespace
}  // namespace delenda::commit
