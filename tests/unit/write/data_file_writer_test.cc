// Data files of one or many partitions: rolling, names, bounded open files, order of rows, what is left after failures.
#include "delenda/write/data_file_writer.h"

#include <gtest/gtest.h>

#include <set>

#include "delenda/io/faulting_file_io.h"
#include "unit/write/write_fixture.h"

namespace delenda::write {
namespace {

using testing::Batch;
using testing::BatchOf;
using testing::ColumnText;
using testing::PartitionBy;
using testing::SchemaOf;
using testing::TargetOf;
using testing::WriteAll;

Schema IdAndRegion() {
  return SchemaOf({{.id = 1, .name = "id", .type = TypeKind::kLong, .required = true},
                   {.id = 2, .name = "region", .type = TypeKind::kString}});
}

Batch Numbers(const WriteTarget& target, int64_t first, int64_t count) {
  arrow::Int64Builder ids;
  arrow::StringBuilder regions;
  for (int64_t i = first; i < first + count; ++i) {
    EXPECT_TRUE(ids.Append(i).ok());
    EXPECT_TRUE(regions.Append(fmt::format("region {}", i * 7919 % 10007)).ok());
  }
  return arrow::RecordBatch::Make(*target.BatchSchema(), count, {*ids.Finish(), *regions.Finish()});
}

TEST(DataFileWriter, RollsAtTheTargetSizeAndKeepsTheOrderOfRows) {
  const WriteTarget target = TargetOf(IdAndRegion(), {}, {{"write.target-file-size-bytes", "40000"}});
  const auto files = WriteAll(target, {Numbers(target, 0, 10'000), Numbers(target, 10'000, 10'000)});
  ASSERT_TRUE(files) << files.error().ToString();
  ASSERT_GT(files->size(), 2U);
  int64_t next = 0;
  std::set<std::string> paths;
  for (const ContentFile& file : *files) {
    EXPECT_TRUE(paths.insert(file.path).second);
    EXPECT_LT(file.file_size, 120'000);
    const auto rows = testing::RowsOfFile(*target.io, file);
    EXPECT_EQ(rows->num_rows(), file.record_count);
    for (const auto& chunk : rows->column(0)->chunks()) {
      for (int64_t i = 0; i < chunk->length(); ++i) {
        ASSERT_EQ(static_cast<const arrow::Int64Array&>(*chunk).Value(i), next++);
      }
    }
  }
  EXPECT_EQ(next, 20'000);
  EXPECT_EQ(target.staged->paths().size(), files->size());
}

TEST(DataFileWriter, RowGroupsEndAtTheirBytesOrRowsAndSplitOffsetsNameThem) {
  for (const char* property : {"write.parquet.row-group-size-bytes", "write.parquet.row-group-limit"}) {
    SCOPED_TRACE(property);
    const WriteTarget target = TargetOf(IdAndRegion(), {}, {{property, "3000"}});
    const auto files = WriteAll(target, {Numbers(target, 0, 9'000)});
    ASSERT_TRUE(files) << files.error().ToString();
    ASSERT_EQ(files->size(), 1U);
    const auto parquet = testing::OpenWritten(*target.io, files->front());
    ASSERT_GE(parquet->row_groups().size(), 3U);
    std::vector<int64_t> offsets;
    for (const parquet::RowGroup& group : parquet->row_groups()) {
      EXPECT_GT(group.num_rows, 0);
      offsets.push_back(static_cast<int64_t>(group.first_byte));
    }
    EXPECT_EQ(files->front().split_offsets, offsets);
    EXPECT_EQ(offsets.front(), 4);
  }
}

TEST(DataFileWriter, NoRowsNoFile) {
  const WriteTarget target = TargetOf(IdAndRegion());
  const auto files = WriteAll(target, {BatchOf(*target.BatchSchema(), {"[]", "[]"})});
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->empty());
  EXPECT_TRUE(target.staged->paths().empty());
}

TEST(DataFileWriter, NullInARequiredColumnNamesColumnAndRowAndWritesNothing) {
  const Schema schema =
      SchemaOf({{.id = 1, .name = "id", .type = TypeKind::kLong, .required = true},
                {.id = 2,
                 .name = "l",
                 .type = Type::List(
                     {.id = 3,
                      .name = "element",
                      .type = Type::Struct({{.id = 4, .name = "x", .type = TypeKind::kInt, .required = true}})})}});
  const WriteTarget target = TargetOf(schema);
  struct Case {
    std::vector<std::string> columns;
    const char* message;  // null: fine
  };
  const Case cases[] = {
      {{"[1, 2, null, 4]", "[null, null, null, null]"}, "column id is required: row 3 has NULL"},
      {{"[1, 2, 3, 4]", R"([[], [{"x": 1}], [null, {"x": 2}], [{"x": 1}, {"x": null}]])"},
       "column l.element.x is required: row 4 has NULL"},
      {{"[1, 2, 3, 4]", R"([[], null, [null], [{"x": 1}]])"}, nullptr},
  };
  for (const Case& c : cases) {
    const auto files = WriteAll(target, {BatchOf(*target.BatchSchema(), c.columns)});
    ASSERT_EQ(files.has_value(), c.message == nullptr);
    if (c.message == nullptr) continue;
    EXPECT_EQ(files.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_EQ(files.error().message(), c.message);
    EXPECT_TRUE(target.staged->paths().empty());
  }
}

TEST(DataFileWriter, LineageColumnsAreStoredUnderTheirReservedIds) {
  WriteTarget target = TargetOf(IdAndRegion());
  target.row_lineage = true;
  const auto files =
      WriteAll(target, {BatchOf(*target.BatchSchema(), {"[1, 2]", R"(["a", "b"])", "[17, null]", "[null, 3]"})});
  ASSERT_TRUE(files) << files.error().ToString();
  const auto parquet = testing::OpenWritten(*target.io, files->front());
  ASSERT_EQ(parquet->schema()->num_fields(), 4);
  EXPECT_EQ(parquet::FieldIdOf(*parquet->schema()->field(2)), 2147483540);
  EXPECT_EQ(parquet::FieldIdOf(*parquet->schema()->field(3)), 2147483539);
  EXPECT_EQ(ColumnText(*target.io, files->front(), 2), "[17, null]");
  EXPECT_EQ(files->front().metrics->null_counts.at(kRowIdFieldId), 1);
}

TEST(DataFileWriter, ColumnsOfTypeUnknownAreNotStored) {
  const Schema schema =
      SchemaOf({{.id = 1, .name = "u", .type = TypeKind::kUnknown}, {.id = 2, .name = "d", .type = TypeKind::kDouble}});
  const WriteTarget target = TargetOf(schema);
  const auto files = WriteAll(target, {BatchOf(*target.BatchSchema(), {"[null, null]", "[NaN, 1.0]"})});
  ASSERT_TRUE(files) << files.error().ToString();
  EXPECT_EQ(testing::OpenWritten(*target.io, files->front())->schema()->num_fields(), 1);
  EXPECT_EQ(files->front().metrics->nan_counts, (std::map<int32_t, int64_t>{{2, 1}}));
}

TEST(DataFileWriter, DataPathPropertyAndPartitionFolderMakeThePath) {
  const WriteTarget target =
      TargetOf(IdAndRegion(), {PartitionBy(2, "identity", "re gion/ü")}, {{"write.data.path", "s3://b/elsewhere/"}});
  const auto files = WriteAll(target, {BatchOf(*target.BatchSchema(), {"[1]", R"(["a b/c=%~*"])"})});
  ASSERT_TRUE(files) << files.error().ToString();
  EXPECT_TRUE(files->front().path.starts_with("s3://b/elsewhere/re+gion%2F%C3%BC=a+b%2Fc%3D%25%7E*/00000-"))
      << files->front().path;
  EXPECT_TRUE(files->front().path.ends_with("-00001.parquet"));
}

TEST(DataFileWriter, LongPartitionValuesMakeNamesThatFileSystemsTake) {
  const BoundSpec spec = BoundSpec::Make({.fields = {PartitionBy(2, "identity")}}, IdAndRegion());
  EXPECT_LT(PartitionPath(spec, {.values = {Datum(std::string(5000, '/'))}}).size(), 255U);
}

// Fails each operation in turn: an error comes out, no file that could be read is left once the ledger is gone.
TEST(DataFileWriter, AfterAnyFailureNothingIsLeft) {
  const Schema schema = IdAndRegion();
  const auto memory = io::MakeMemoryFileIO();
  uint64_t operations = 1;
  for (uint64_t skip = 0; skip < operations; ++skip) {
    const auto faulty = std::make_shared<io::FaultingFileIO>(memory);
    WriteTarget target = TargetOf(schema, {PartitionBy(1, "bucket[3]")}, {{"write.target-file-size-bytes", "4000"}});
    target.io = faulty;
    target.staged = std::make_shared<StagedFiles>(memory);
    if (skip > 0) faulty->Add({.effect = io::FailWith{}, .operation = {}, .path_contains = {}, .skip = skip - 1});
    const auto files = WriteAll(target, {Numbers(target, 0, 2'000)});
    if (skip == 0) {
      ASSERT_TRUE(files);
      operations = faulty->operations() + 1;
      ASSERT_GT(operations, 9U);
    } else {
      ASSERT_FALSE(files);
      EXPECT_EQ(files.error().kind(), ErrorKind::kIo);
    }
    const std::vector<std::string> paths = target.staged->paths();
    target.staged.reset();
    for (const std::string& path : paths) EXPECT_FALSE(memory->Stat(path)) << path;
  }
}

TEST(StagedFiles, ReleasedFilesStayAndOthersGo) {
  const auto io = io::MakeMemoryFileIO();
  for (const char* path : {"/a", "/b", "/c"}) {
    auto file = io->Create(path);
    ASSERT_TRUE(file && (*file)->Close());
  }
  {
    StagedFiles staged(io);
    for (const char* path : {"/a", "/b", "/c", "/never-created"}) staged.Add(path);
    staged.Release("/b");
    EXPECT_EQ(staged.paths(), (std::vector<std::string>{"/a", "/c", "/never-created"}));
  }
  EXPECT_FALSE(io->Stat("/a"));
  EXPECT_TRUE(io->Stat("/b"));
  EXPECT_FALSE(io->Stat("/c"));
}

TEST(StagedFiles, WhatCannotBeDeletedStaysEnteredAndTheErrorIsTold) {
  const auto memory = io::MakeMemoryFileIO();
  for (const char* path : {"/a", "/b"}) ASSERT_TRUE((*memory->Create(path))->Close());
  const auto faulty = std::make_shared<io::FaultingFileIO>(memory);
  faulty->Add({.effect = io::FailWith{.kind = ErrorKind::kPermissionDenied},
               .operation = io::Operation::kDelete,
               .path_contains = "/a"});
  StagedFiles staged(faulty);
  staged.Add("/a");
  staged.Add("/b");
  const auto deleted = staged.DeleteAll();
  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_EQ(staged.paths(), std::vector<std::string>{"/a"});
  EXPECT_FALSE(memory->Stat("/b"));
  staged.Release();
}

TEST(PartitionedWriter, RowsOfAPartitionKeepTheirOrderInItsFile) {
  const WriteTarget target = TargetOf(IdAndRegion(), {PartitionBy(2, "identity")});
  const auto schema = *target.BatchSchema();
  const auto files = WriteAll(target, {BatchOf(schema, {"[1, 2, 3, 4]", R"(["eu", "us", "eu", null])"}),
                                       BatchOf(schema, {"[5, 6, 7]", R"([null, "eu", "us"])"})});
  ASSERT_TRUE(files) << files.error().ToString();
  ASSERT_EQ(files->size(), 3U);
  EXPECT_EQ((*files)[0].partition->values[0], Datum(std::string("eu")));
  EXPECT_EQ(ColumnText(*target.io, (*files)[0], 0), "[1, 3, 6]");
  EXPECT_EQ(ColumnText(*target.io, (*files)[1], 0), "[2, 7]");
  EXPECT_TRUE(IsNull((*files)[2].partition->values[0]));
  EXPECT_EQ(ColumnText(*target.io, (*files)[2], 0), "[4, 5]");
}

// Counts what is open at a time.
class OpenCounter : public io::FaultingFileIO {
 public:
  using FaultingFileIO::FaultingFileIO;
  Result<std::unique_ptr<io::OutputFile>> Create(std::string_view path) override {
    most = std::max(most, ++open);
    ++created;
    struct Counted : io::OutputFile {
      std::unique_ptr<io::OutputFile> file;
      OpenCounter* counter = nullptr;
      ~Counted() override { --counter->open; }
      Result<void> Write(ByteView bytes) override { return file->Write(bytes); }
      Result<void> Close() override { return file->Close(); }
    };
    auto counted = std::make_unique<Counted>();
    counted->counter = this;
    counted->file = DELENDA_TRY(FaultingFileIO::Create(path));
    return counted;
  }
  int open = 0, most = 0, created = 0;
};

TEST(PartitionedWriter, NeverHasMoreFilesOpenThanAllowedAndClosesTheOneThatRestedLongest) {
  WriteTarget target = TargetOf(IdAndRegion(), {PartitionBy(1, "identity")});
  const auto counter = std::make_shared<OpenCounter>(io::MakeMemoryFileIO());
  target.io = counter;
  const auto schema = *target.BatchSchema();
  const auto row = [&](int id) { return BatchOf(schema, {fmt::format("[{}]", id), "[null]"}); };
  // 1 and 2 are open; 1 is written to again, so that 3 closes 2; 2 comes back to a second file and closes 1.
  const auto files = WriteAll(target, {row(1), row(2), row(1), row(3), row(2)}, {.max_open_files = 2});
  ASSERT_TRUE(files) << files.error().ToString();
  EXPECT_EQ(counter->most, 2);
  EXPECT_EQ(counter->created, 4);
  std::vector<int64_t> partitions;
  for (const ContentFile& file : *files) partitions.push_back(std::get<int64_t>(file.partition->values[0]));
  EXPECT_EQ(partitions, (std::vector<int64_t>{1, 2, 2, 3}));
}

TEST(PartitionedWriter, ClusteredRowsNeedOneOpenFileAndMakeOneFileAPartition) {
  WriteTarget target = TargetOf(IdAndRegion(), {PartitionBy(1, "truncate[100]")});
  const auto counter = std::make_shared<OpenCounter>(io::MakeMemoryFileIO());
  target.io = counter;
  std::vector<Batch> batches;
  for (int64_t first = 0; first < 1000; first += 70) {
    batches.push_back(Numbers(target, first, std::min<int64_t>(70, 1000 - first)));
  }
  const auto files = WriteAll(target, batches, {.max_open_files = 1});
  ASSERT_TRUE(files) << files.error().ToString();
  EXPECT_EQ(files->size(), 10U);
  EXPECT_EQ(counter->most, 1);
}

TEST(PartitionedWriter, EndsRowGroupsEarlyWhenAllTogetherTakeTooMuchMemory) {
  const WriteTarget target = TargetOf(IdAndRegion(), {PartitionBy(1, "bucket[4]")});
  std::vector<Batch> batches;
  for (int64_t i = 0; i < 20; ++i) batches.push_back(Numbers(target, i * 5000, 5000));
  const auto files = WriteAll(target, batches, {.max_open_files = 8, .max_buffered_bytes = 100'000});
  ASSERT_TRUE(files) << files.error().ToString();
  ASSERT_EQ(files->size(), 4U);
  size_t row_groups = 0;
  int64_t rows = 0;
  for (const ContentFile& file : *files) {
    const auto parquet = testing::OpenWritten(*target.io, file);
    for (const parquet::RowGroup& group : parquet->row_groups()) EXPECT_GT(group.num_rows, 0);
    row_groups += parquet->row_groups().size();
    rows += file.record_count;
  }
  EXPECT_GT(row_groups, 8U);
  EXPECT_EQ(rows, 100'000);
}

TEST(PartitionedWriter, ColumnsAreEncodedOnTheExecutorWithTheSameResult) {
  Executor executor(4);
  WriteTarget one = TargetOf(IdAndRegion());
  WriteTarget many = TargetOf(IdAndRegion());
  many.executor = &executor;
  const auto a = WriteAll(one, {Numbers(one, 0, 100'000)});
  const auto b = WriteAll(many, {Numbers(many, 0, 100'000)});
  ASSERT_TRUE(a && b);
  const auto bytes = [](const WriteTarget& target, const ContentFile& file) {
    return *io::ReadWholeFile(*target.io, file.path);
  };
  EXPECT_EQ(bytes(one, a->front()), bytes(many, b->front()));
}

}  // namespace
}  // namespace delenda::write
