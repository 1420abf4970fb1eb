// The wrappers around a FileIO: counting, failing, redirecting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "delenda/io/counting_file_io.h"
#include "delenda/io/faulting_file_io.h"
#include "delenda/io/mapping_file_io.h"

namespace delenda::io {
namespace {

using ::testing::HasSubstr;

void Put(FileIO& io, std::string_view path, std::string_view text) {
  auto file = io.Create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->Write(AsBytes(text)));
  ASSERT_TRUE((*file)->Close());
}

std::string Get(FileIO& io, std::string_view path) {
  const auto bytes = ReadWholeFile(io, path);
  return bytes ? std::string(AsText(*bytes)) : bytes.error().ToString();
}

TEST(CountingFileIO, CountsEveryKindOfCall) {
  CountingFileIO io(MakeMemoryFileIO(), CountingFileIO::Detail::kPerPath);
  Put(io, "/t/a", "12345");
  Put(io, "/t/b", "1");
  EXPECT_EQ(Get(io, "/t/a"), "12345");
  ASSERT_TRUE(io.Open("/t/a", 5));
  ASSERT_TRUE(io.Stat("/t/b"));
  ASSERT_TRUE(io.List("/t"));
  ASSERT_TRUE(io.Delete("/t/b"));
  EXPECT_FALSE(io.Open("/t/b"));

  const IoCounts expected = {.opens = 3,
                             .opens_without_size = 2,
                             .stats = 1,
                             .lists = 1,
                             .reads = 1,
                             .bytes_read = 5,
                             .creates = 2,
                             .bytes_written = 6,
                             .deletes = 1};
  EXPECT_EQ(io.Snapshot(), expected);
  EXPECT_EQ(io.Snapshot().requests(), 8u);
  const IoCounts of_a = {
      .opens = 2, .opens_without_size = 1, .reads = 1, .bytes_read = 5, .creates = 1, .bytes_written = 5};
  EXPECT_EQ(io.SnapshotOf("/t/a"), of_a);
  EXPECT_EQ(io.SnapshotOf("/never"), IoCounts{});
  EXPECT_EQ(io.SnapshotPerPath().size(), 3u);
  io.Reset();
  EXPECT_EQ(io.Snapshot(), IoCounts{});
  EXPECT_TRUE(io.SnapshotPerPath().empty());
}

TEST(CountingFileIO, OpenFilesCountAfterTheirFileIOIsGone) {
  auto io = std::make_unique<CountingFileIO>(MakeMemoryFileIO());
  Put(*io, "/a", "12345");
  const auto file = *io->Open("/a");
  io.reset();
  std::byte one[1];
  EXPECT_TRUE(file->ReadAt(0, one));
}

TEST(CountingFileIO, CountsExactlyWhenShared) {
  CountingFileIO io(MakeMemoryFileIO(), CountingFileIO::Detail::kPerPath);
  Put(io, "/a", "12345");
  std::vector<std::thread> readers;
  for (int t = 0; t < 4; ++t) {
    readers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(Get(io, "/a"), "12345");
    });
  }
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(io.Snapshot().bytes_read, 4u * 200 * 5);
  EXPECT_EQ(io.SnapshotOf("/a").opens, 4u * 200);
}

TEST(FaultingFileIO, FailsWithTheGivenKindOnMatchingPathsOnly) {
  FaultingFileIO io(MakeMemoryFileIO());
  Put(io, "/t/m1.avro", "1");
  Put(io, "/t/data", "2");
  io.Add({.effect = FailWith{ErrorKind::kPermissionDenied, "refused"},
          .operation = Operation::kOpen,
          .path_contains = ".avro"});
  const auto refused = io.Open("/t/m1.avro");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().ToString(), "permission denied: refused (file: /t/m1.avro)");
  EXPECT_EQ(Get(io, "/t/data"), "2");
  EXPECT_TRUE(io.Stat("/t/m1.avro"));
  io.Clear();
  EXPECT_EQ(Get(io, "/t/m1.avro"), "1");
}

TEST(FaultingFileIO, FailsTheNthOperation) {
  const auto work = [](FileIO& io) -> Result<void> {
    auto file = DELENDA_TRY(io.Create("/a"));  // 0
    DELENDA_TRY(file->Write(AsBytes("x")));    // 1
    DELENDA_TRY(file->Close());                // 2
    DELENDA_TRY(ReadWholeFile(io, "/a"));      // 3, 4, 5: open, size, read
    DELENDA_TRY(io.Stat("/a"));                // 6
    DELENDA_TRY(io.List("/"));                 // 7
    return io.Delete("/a");                    // 8
  };
  FaultingFileIO well(MakeMemoryFileIO());
  ASSERT_TRUE(work(well));
  ASSERT_EQ(well.operations(), 9u);
  for (uint64_t n = 0; n < 9; ++n) {
    FaultingFileIO io(MakeMemoryFileIO());
    io.Add({.effect = FailWith{}, .operation = {}, .path_contains = "", .skip = n, .times = 1});
    const auto result = work(io);
    ASSERT_FALSE(result) << n;
    EXPECT_EQ(result.error().kind(), ErrorKind::kIo);
    EXPECT_EQ(io.operations(), n + 1);
  }
}

TEST(FaultingFileIO, CanFailAfterTheFact) {
  FaultingFileIO io(MakeMemoryFileIO());
  io.Add({.effect = FailWith{.kind = ErrorKind::kIo, .message = "answer lost", .after_the_fact = true},
          .operation = Operation::kClose,
          .path_contains = ""});
  auto file = *io.Create("/a");
  EXPECT_FALSE(file->Close());
  EXPECT_TRUE(io.Stat("/a"));
}

TEST(FaultingFileIO, ShortensFiles) {
  FaultingFileIO io(MakeMemoryFileIO());
  Put(io, "/a", "0123456789");
  io.Add({.effect = TruncateTo{4}, .operation = {}, .path_contains = ""});
  EXPECT_EQ(Get(io, "/a"), "0123");
  EXPECT_EQ(io.Stat("/a")->size, 4u);
  EXPECT_THAT(ReadWholeFile(io, "/a", 10).error().ToString(), HasSubstr("file ends at byte 4"));
}

TEST(FaultingFileIO, FlipsBytesWhereverTheyAreRead) {
  FaultingFileIO io(MakeMemoryFileIO());
  Put(io, "/a", "0123456789");
  io.Add({.effect = FlipByte{.offset = 3, .mask = 0x20}, .operation = {}, .path_contains = ""});
  EXPECT_EQ(Get(io, "/a"),
            "012\x13"
            "456789");
  const auto file = *io.Open("/a");
  std::byte two[2];
  ASSERT_TRUE(file->ReadAt(2, two));
  EXPECT_EQ(AsText(two), "2\x13");
  ASSERT_TRUE(file->ReadAt(4, two));
  EXPECT_EQ(AsText(two), "45");
}

TEST(FaultingFileIO, DelaysOnlyWhatItShould) {
  FaultingFileIO io(MakeMemoryFileIO());
  Put(io, "/a", "x");
  io.Add({.effect = Delay{std::chrono::milliseconds(30)}, .operation = Operation::kRead, .path_contains = "/a"});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Get(io, "/a"), "x");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
}

TEST(LocationMapping, Parses) {
  const auto mapping = ParseLocationMapping("/warehouse=/data/k=v");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->from, "/warehouse");
  EXPECT_EQ(mapping->to, "/data/k=v");
  for (const std::string_view bad : {"", "=", "/a", "=/a", "/a="}) {
    EXPECT_EQ(ParseLocationMapping(bad).error().kind(), ErrorKind::kInvalidArgument) << bad;
  }
}

struct MapCase {
  std::vector<std::string_view> mappings;
  std::string_view path;
  std::string_view mapped;
};

TEST(LocationMapping, Rules) {
  const std::vector<MapCase> cases = {
      // a bare FROM stands for all three local forms
      {{"/warehouse=/new"}, "/warehouse/db/t", "/new/db/t"},
      {{"/warehouse=/new"}, "file:/warehouse/db/t", "/new/db/t"},
      {{"/warehouse=/new"}, "file:///warehouse/db/t", "/new/db/t"},
      {{"/warehouse=/new"}, "file:///warehouse", "/new"},
      {{"/warehouse=/new"}, "s3://warehouse/db/t", "s3://warehouse/db/t"},
      {{"/warehouse=/new"}, "s3:///warehouse/db/t", "s3:///warehouse/db/t"},
      // whole names only
      {{"/warehouse=/new"}, "/warehouse2/t", "/warehouse2/t"},
      {{"/warehouse=/new"}, "/a/warehouse/t", "/a/warehouse/t"},
      {{"/warehouse=/new"}, "warehouse/t", "warehouse/t"},
      // slashes at the end make no difference
      {{"/warehouse/=/new/"}, "/warehouse/t", "/new/t"},
      {{"/warehouse/=/new"}, "/warehouse", "/new"},
      {{"/=/mnt"}, "/a/b", "/mnt/a/b"},
      {{"/mnt=/"}, "/mnt/a", "/a"},
      // with a scheme: that scheme only
      {{"file:/warehouse=/new"}, "file:/warehouse/t", "/new/t"},
      {{"file:/warehouse=/new"}, "file:///warehouse/t", "/new/t"},
      {{"file:///warehouse=/new"}, "file:/warehouse/t", "/new/t"},
      {{"file:/warehouse=/new"}, "/warehouse/t", "/warehouse/t"},
      {{"s3://bucket/w=/new"}, "s3://bucket/w/t", "/new/t"},
      {{"s3://bucket/w=/new"}, "s3a://bucket/w/t", "/new/t"},
      {{"s3n://bucket=/new"}, "s3://bucket/w/t", "/new/w/t"},
      {{"s3://bucket=/new"}, "s3://bucket2/w", "s3://bucket2/w"},
      {{"s3://bucket=/new"}, "gs://bucket/w", "gs://bucket/w"},
      {{"/w=s3://bucket/x"}, "file:/w/t", "s3://bucket/x/t"},
      // the longest FROM wins, whatever the order; once, not again and again
      {{"/w=/1", "/w/db=/2"}, "/w/db/t", "/2/t"},
      {{"/w/db=/2", "/w=/1"}, "/w/db/t", "/2/t"},
      {{"/w/db=/2", "/w=/1"}, "/w/other", "/1/other"},
      {{"/w=/1", "/w=/2"}, "/w/t", "/1/t"},
      {{"/a=/b", "/b=/c"}, "/a/t", "/b/t"},
      {{"file:/w/db=/2", "/w=/1"}, "file:///w/db/t", "/2/t"},
      // names are opaque
      {{"/w=/new"}, "/w/a%20b//c d/k=x%2Fy", "/new/a%20b//c d/k=x%2Fy"},
      {{"/w x=/new"}, "/w%20x/t", "/w%20x/t"},
      {{"/w=/new"}, "//w/t", "//w/t"},
      {{}, "/w/t", "/w/t"},
  };
  for (const MapCase& c : cases) {
    std::vector<LocationMapping> mappings;
    for (const std::string_view text : c.mappings) mappings.push_back(*ParseLocationMapping(text));
    EXPECT_EQ(MapLocation(mappings, c.path), c.mapped) << c.path << " by " << ::testing::PrintToString(c.mappings);
  }
}

TEST(MappingFileIO, RedirectsAllCallsAndAnswersInTheAskedForm) {
  const std::shared_ptr<FileIO> inner = MakeMemoryFileIO();
  const auto io = MakeMappingFileIO(inner, {{"/warehouse", "/new"}});
  Put(*io, "file:/warehouse/t/a", "x");
  EXPECT_EQ(Get(*inner, "/new/t/a"), "x");
  EXPECT_EQ(Get(*io, "/warehouse/t/a"), "x");
  EXPECT_EQ(io->Stat("file:///warehouse/t/a")->path, "file:///warehouse/t/a");
  EXPECT_EQ(io->List("file:/warehouse/t")->front().path, "file:/warehouse/t/a");
  EXPECT_EQ((*io->Open("/warehouse/t/a"))->path(), "/warehouse/t/a");
  EXPECT_THAT(io->Open("/warehouse/none").error().ToString(), HasSubstr("/new/none"));
  EXPECT_TRUE(io->Delete("/warehouse/t/a"));
  EXPECT_FALSE(inner->Stat("/new/t/a"));
}

TEST(MappingFileIO, ReadsFixtureTablesFromWhereTheyAre) {
  const auto io = MakeMappingFileIO(MakeLocalFileIO(), {{"/warehouse", DELENDA_FIXTURES}});
  const auto bare = io->List("/warehouse/iceberg");
  ASSERT_TRUE(bare) << bare.error().ToString();
  EXPECT_FALSE(bare->empty());
  EXPECT_EQ(io->List("file:/warehouse/iceberg")->size(), bare->size());
  EXPECT_EQ(io->List("file:///warehouse/iceberg")->size(), bare->size());
}

}  // namespace
}  // namespace delenda::io
