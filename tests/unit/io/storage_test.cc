// What every FileIO promises, tested on local and memory storage alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

#include "delenda/io/file_io.h"
#include "delenda/io/location.h"
#include "support/temporary_folder.h"

namespace delenda::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class Kind : uint8_t { kLocal, kMemory, kLocalUri };

class Storage : public ::testing::TestWithParam<Kind> {
 protected:
  Storage() : io_(GetParam() == Kind::kMemory ? MakeMemoryFileIO() : MakeLocalFileIO()) {}

  std::string Path(std::string_view name) const {
    return Join((GetParam() == Kind::kLocalUri ? "file://" : "") + scratch_.path().string(), name);
  }
  void Put(std::string_view name, std::string_view text) const {
    auto file = io_->Create(Path(name));
    ASSERT_TRUE(file) << file.error().ToString();
    ASSERT_TRUE((*file)->Write(AsBytes(text)));
    const auto closed = (*file)->Close();
    ASSERT_TRUE(closed) << closed.error().ToString();
  }
  std::string Get(std::string_view name) const {
    const auto bytes = ReadWholeFile(*io_, Path(name));
    return bytes ? std::string(AsText(*bytes)) : bytes.error().ToString();
  }
  static ErrorKind KindOf(const auto& result) { return result ? ErrorKind::kInternal : result.error().kind(); }

  delenda::testing::TemporaryFolder scratch_;
  std::shared_ptr<FileIO> io_;
};

std::string KindName(const ::testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::kLocal ? "Local" : info.param == Kind::kMemory ? "Memory" : "LocalUri";
}

INSTANTIATE_TEST_SUITE_P(Kinds, Storage, ::testing::Values(Kind::kLocal, Kind::kMemory, Kind::kLocalUri), KindName);

TEST_P(Storage, ReadsWhatWasWritten) {
  Put("a/b/file", "hello");
  EXPECT_EQ(Get("a/b/file"), "hello");
  Put("empty", "");
  EXPECT_EQ(Get("empty"), "");
  const auto info = io_->Stat(Path("a/b/file"));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->size, 5u);
  EXPECT_FALSE(info->is_directory);
  EXPECT_EQ(info->path, Path("a/b/file"));
  EXPECT_TRUE(io_->Stat(Path("a"))->is_directory);
}

TEST_P(Storage, NamesAreOpaque) {
  for (const std::string name : {"a%20b", "a b", "k=x%2Fy", "ünïcode", "a+b#c?d", ".hidden", "x:y"}) {
    Put(name, name);
    EXPECT_EQ(Get(name), name);
  }
  EXPECT_FALSE(io_->Open(Path("a%20b%20c")));
}

TEST_P(Storage, ReadAt_FillsAllOrFails) {
  Put("file", "0123456789");
  auto file = *io_->Open(Path("file"));
  std::array<std::byte, 4> four;
  ASSERT_TRUE(file->ReadAt(6, four));
  EXPECT_EQ(AsText(four), "6789");
  for (const uint64_t offset :
       {uint64_t{7}, uint64_t{10}, uint64_t{11}, uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 3}) {
    const auto read = file->ReadAt(offset, four);
    ASSERT_EQ(KindOf(read), ErrorKind::kCorrupt) << offset;
    EXPECT_THAT(read.error().ToString(), HasSubstr("file ends at byte 10"));
    EXPECT_THAT(read.error().ToString(), HasSubstr(scratch_.path().string() + "/file"));
  }
  EXPECT_TRUE(file->ReadAt(10, {}));
}

TEST_P(Storage, KnownSizeIsTakenAsGiven) {
  Put("file", "0123456789");
  EXPECT_EQ(*(*io_->Open(Path("file")))->Size(), 10u);
  EXPECT_EQ(*(*io_->Open(Path("file"), 4))->Size(), 4u);
  EXPECT_EQ(AsText(*ReadWholeFile(*io_, Path("file"), 10)), "0123456789");
  EXPECT_EQ(KindOf(ReadWholeFile(*io_, Path("file"), 11)), ErrorKind::kCorrupt);
}

TEST_P(Storage, ReadWholeFile_HoldsItsLimit) {
  Put("file", "0123456789");
  EXPECT_TRUE(ReadWholeFile(*io_, Path("file"), std::nullopt, 10));
  EXPECT_EQ(KindOf(ReadWholeFile(*io_, Path("file"), std::nullopt, 9)), ErrorKind::kCorrupt);
  // A size that metadata lies about is found out before that much memory is taken.
  EXPECT_EQ(KindOf(ReadWholeFile(*io_, Path("file"), uint64_t{3} << 30)), ErrorKind::kCorrupt);
}

TEST_P(Storage, MissingFilesAreNotFound) {
  const std::string path = Path("no/such");
  EXPECT_EQ(KindOf(io_->Open(path)), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(io_->Stat(path)), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(io_->List(path)), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(io_->Delete(path)), ErrorKind::kNotFound);
  EXPECT_THAT(io_->Open(path).error().ToString(), HasSubstr(path));
}

TEST_P(Storage, List_ReturnsDirectChildrenSorted) {
  Put("t/b", "22");
  Put("t/a.x", "1");
  Put("t/a/deep/file", "");
  Put("t/c", "");
  Put("tt/other", "");
  for (const std::string& folder : {Path("t"), Path("t/")}) {
    const auto found = io_->List(folder);
    ASSERT_TRUE(found);
    std::vector<std::string> names;
    for (const auto& info : *found) {
      EXPECT_TRUE(info.path.starts_with(Path("t/")));
      names.push_back(std::string(Basename(info.path)) + (info.is_directory ? "/" : fmt::format(":{}", info.size)));
    }
    EXPECT_THAT(names, ElementsAre("a/", "a.x:1", "b:2", "c:0"));
  }
}

TEST_P(Storage, FilesAreNeverOverwritten) {
  Put("file", "first");
  EXPECT_EQ(KindOf(io_->Create(Path("file"))), ErrorKind::kAlreadyExists);
  // Two writers that both began before either ended: one wins.
  auto one = *io_->Create(Path("race"));
  auto two = *io_->Create(Path("race"));
  ASSERT_TRUE(one->Write(AsBytes("one")));
  ASSERT_TRUE(two->Write(AsBytes("two")));
  EXPECT_TRUE(two->Close());
  EXPECT_EQ(KindOf(one->Close()), ErrorKind::kAlreadyExists);
  EXPECT_EQ(Get("race"), "two");
  EXPECT_EQ(Get("file"), "first");
}

TEST_P(Storage, OnlyOneOfManyConcurrentWritersWins) {
  std::atomic<int> won{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      auto file = io_->Create(Path("commit"));
      if (!file) return;
      EXPECT_TRUE((*file)->Write(AsBytes(std::to_string(i))));
      if ((*file)->Close()) won.fetch_add(1);
    });
  }
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(won.load(), 1);
  EXPECT_EQ(io_->List(Path(""))->size(), 1u) << "temporary files were left";
}

TEST_P(Storage, NothingIsVisibleBeforeClose) {
  {
    auto file = *io_->Create(Path("dir/file"));
    ASSERT_TRUE(file->Write(AsBytes("half")));
    EXPECT_EQ(KindOf(io_->Stat(Path("dir/file"))), ErrorKind::kNotFound);
  }
  EXPECT_EQ(KindOf(io_->Stat(Path("dir/file"))), ErrorKind::kNotFound);
  if (const auto left = io_->List(Path("dir"))) {
    EXPECT_TRUE(left->empty()) << left->front().path;
  }
}

TEST_P(Storage, ClosedFilesTakeNoMore) {
  auto file = *io_->Create(Path("file"));
  ASSERT_TRUE(file->Close());
  EXPECT_EQ(KindOf(file->Write(AsBytes("x"))), ErrorKind::kInvalidArgument);
  EXPECT_EQ(KindOf(file->Close()), ErrorKind::kInvalidArgument);
}

TEST_P(Storage, Delete_RemovesAndOpenFilesStayReadable) {
  Put("file", "still here");
  auto file = *io_->Open(Path("file"));
  ASSERT_TRUE(io_->Delete(Path("file")));
  EXPECT_EQ(KindOf(io_->Open(Path("file"))), ErrorKind::kNotFound);
  std::array<std::byte, 5> five;
  ASSERT_TRUE(file->ReadAt(0, five));
  EXPECT_EQ(AsText(five), "still");
}

TEST_P(Storage, Replace_PutsAFileInPlaceOfAnother) {
  ASSERT_TRUE(io_->Replace(Path("d/hint"), AsBytes("1")));
  const auto open = io_->Open(Path("d/hint"));
  ASSERT_TRUE(open);
  ASSERT_TRUE(io_->Replace(Path("d/hint"), AsBytes("22")));
  EXPECT_EQ(Get("d/hint"), "22");
  Bytes old(1);
  ASSERT_TRUE((*open)->ReadAt(0, old));
  EXPECT_EQ(AsText(old), "1");  // who reads the old file goes on reading it
  EXPECT_EQ(io_->List(Path("d"))->size(), 1U);
}

TEST_P(Storage, OneFileServesManyReaders) {
  std::string text(1 << 16, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 % 251);
  Put("file", text);
  auto file = *io_->Open(Path("file"));
  std::vector<std::thread> readers;
  for (size_t t = 0; t < 4; ++t) {
    readers.emplace_back([&, t] {
      Bytes part(1000);
      for (size_t offset = t; offset + part.size() < text.size(); offset += 777) {
        ASSERT_TRUE(file->ReadAt(offset, part));
        ASSERT_EQ(AsText(part), std::string_view(text).substr(offset, part.size()));
      }
    });
  }
  for (auto& reader : readers) reader.join();
}

TEST(LocalStorage, RefusesWhatIsNoFile) {
  const delenda::testing::TemporaryFolder scratch;
  const auto io = MakeLocalFileIO();
  const auto folder = io->Open(scratch.path().string());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(folder.error().ToString(), HasSubstr("directory"));
  // Not asked for its kind when the size is known; reading tells.
  EXPECT_FALSE(ReadWholeFile(*io, scratch.path().string(), 10));
  ASSERT_EQ(::mkfifo((scratch.path().string() + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(io->Open(scratch.path().string() + "/pipe").error().kind(), ErrorKind::kInvalidArgument);
}

TEST(LocalStorage, RefusesPathsThatNameNoLocalFile) {
  const auto io = MakeLocalFileIO();
  const std::vector<std::pair<std::string, ErrorKind>> cases = {
      {"", ErrorKind::kInvalidArgument},
      {std::string("/etc/passwd\0.avro", 17), ErrorKind::kInvalidArgument},
      {"file://host/x", ErrorKind::kInvalidArgument},
      {"s3://bucket/x", ErrorKind::kNotSupported},
      {"hdfs://name/x", ErrorKind::kNotSupported},
      {"/dev/null/x", ErrorKind::kNotFound},
      {"/" + std::string(300, 'x'), ErrorKind::kInvalidArgument},
  };
  for (const auto& [path, kind] : cases) {
    const auto opened = io->Open(path);
    ASSERT_FALSE(opened) << path;
    EXPECT_EQ(opened.error().kind(), kind) << path;
    EXPECT_FALSE(io->Stat(path)) << path;
    EXPECT_FALSE(io->Create(path)) << path;
    EXPECT_FALSE(io->Delete(path)) << path;
  }
}

TEST(LocalStorage, ReadsTheThreeFormsOfAPath) {
  const delenda::testing::TemporaryFolder scratch;
  const auto io = MakeLocalFileIO();
  auto file = *io->Create("file://" + scratch.path().string() + "/x");
  ASSERT_TRUE(file->Write(AsBytes("1")));
  ASSERT_TRUE(file->Close());
  for (const std::string prefix : {"", "file:", "file://"}) {
    EXPECT_EQ(AsText(*ReadWholeFile(*io, prefix + scratch.path().string() + "/x")), "1") << prefix;
    EXPECT_EQ(io->List(prefix + scratch.path().string())->front().path, prefix + scratch.path().string() + "/x");
  }
}

TEST(LocalStorage, List_SkipsLinksToNowhere) {
  const delenda::testing::TemporaryFolder scratch;
  std::filesystem::create_symlink("nowhere", scratch.path().string() + "/dangling");
  EXPECT_TRUE(MakeLocalFileIO()->List(scratch.path().string())->empty());
}

}  // namespace
}  // namespace delenda::io
