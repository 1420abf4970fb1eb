// One winner for each version, and nothing left of the others.
#include "delenda/catalog/commit_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "delenda/base/gzip.h"
#include "delenda/catalog/catalog.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/faulting_file_io.h"
#include "delenda/io/location.h"
#include "support/temporary_folder.h"

namespace delenda::catalog {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

enum class CatalogKind { kFolder, kSql };

// A table in a catalog of each kind, in a folder of its own.
class CommitPoints : public ::testing::TestWithParam<CatalogKind> {
 protected:
  void SetUp() override { catalog_ = Make(local_); }

  std::unique_ptr<Catalog> Make(std::shared_ptr<io::FileIO> io) const {
    if (GetParam() == CatalogKind::kFolder) return MakeFolderCatalog(folder_ / "w", std::move(io));
    return MakeSqlCatalog({.database_path = folder_ / "c.db", .catalog_name = "c", .warehouse = folder_ / "w"},
                          std::move(io));
  }
  std::string Create(const TableName& name, std::string_view text = "{}") {
    return *catalog_->CreateTable(name, *catalog_->DefaultLocation(name), text, false);
  }
  std::string Read(const std::string& path) const {
    const auto bytes = *io::ReadWholeFile(*local_, path);
    return std::string(AsText(IsGzip(bytes) ? *Gunzip(bytes, 1 << 20) : bytes));
  }
  size_t MetadataFiles() const {
    size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "w" / "db" / "t" / "metadata"))
      count += file.path().string().ends_with(".metadata.json") ? 1 : 0;
    return count;
  }

  const TableName name_{.catalog = "c", .names = {"db"}, .table = "t"};
  delenda::testing::TemporaryFolder scratch_;
  std::filesystem::path folder_ = scratch_.path();
  std::shared_ptr<io::FileIO> local_ = io::MakeLocalFileIO();
  std::unique_ptr<Catalog> catalog_;
};

TEST_P(CommitPoints, TheSecondWriterOfAVersionLoses) {
  const std::string first = Create(name_, "one");
  const auto a = *catalog_->Open(name_);
  const auto b = *catalog_->Open(name_);
  EXPECT_EQ(*a->Current(), first);
  const std::string second = *a->Publish(first, "two", false);
  const auto lost = b->Publish(first, "lost", false);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind(), ErrorKind::kCommitConflict);
  EXPECT_EQ(*b->Current(), second);
  EXPECT_EQ(Read(second), "two");
  EXPECT_EQ(MetadataFiles(), 2U);
  EXPECT_EQ(Read(*b->Publish(second, "three", false)), "three");
}

TEST_P(CommitPoints, MetadataMayBeCompressed) {
  const auto point = [&] {
    Create(name_);
    return *catalog_->Open(name_);
  }();
  const std::string path = *point->Publish(*point->Current(), "text", true);
  EXPECT_THAT(path, EndsWith(".gz.metadata.json"));
  EXPECT_EQ(Read(path), "text");
  EXPECT_EQ(*point->Current(), path);
}

TEST_P(CommitPoints, OfEightThreadsOneWinsEachVersion) {
  Create(name_);
  constexpr int kThreads = 8, kCommits = 25;
  std::atomic<int> won = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const auto point = *catalog_->Open(name_);
      while (won < kCommits) {
        const std::string base = *point->Current();
        const auto published = point->Publish(base, base, false);
        // Others went on from this version before it could be looked at: it has won, as the chain below shows.
        const bool is_passed = !published && published.error().kind() == ErrorKind::kCommitStateUnknown;
        if (is_passed) {
          EXPECT_EQ(GetParam(), CatalogKind::kFolder);
        }
        if (published || is_passed) {
          ++won;
        } else {
          EXPECT_EQ(published.error().kind(), ErrorKind::kCommitConflict) << published.error().ToString();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  // Each file names the one that it follows: an unbroken chain shows that no commit was lost.
  std::string at = *(*catalog_->Open(name_))->Current();
  int length = 0;
  for (; Read(at) != "{}"; ++length) at = Read(at);
  EXPECT_EQ(length, won);
  EXPECT_EQ(MetadataFiles(), static_cast<size_t>(won) + 1);
}

TEST_P(CommitPoints, ALostAnswerIsToldAsUnknownAndTheFileStays) {
  Create(name_);
  const auto faulty = std::make_shared<io::FaultingFileIO>(local_);
  const auto point = *Make(faulty)->Open(name_);
  const std::string base = *point->Current();
  faulty->Add({.effect = io::FailWith{.after_the_fact = true},
               .operation = io::Operation::kClose,
               .path_contains = ".metadata.json",
               .times = 1});
  const auto published = point->Publish(base, "new", false);
  ASSERT_FALSE(published);
  if (GetParam() == CatalogKind::kFolder) {
    EXPECT_EQ(published.error().kind(), ErrorKind::kCommitStateUnknown);
    EXPECT_EQ(Read(*point->Current()), "new");
  } else {  // the database was not asked yet: surely nothing happened
    EXPECT_EQ(published.error().kind(), ErrorKind::kIo);
    EXPECT_EQ(*point->Current(), base);
    EXPECT_EQ(MetadataFiles(), 1U);
  }
}

TEST_P(CommitPoints, TablesAreCreatedOnceListedAndDropped) {
  Create(name_);
  const TableName nested{.catalog = "c", .names = {"db", "sub"}, .table = "u"};
  const std::string other = Create(nested);
  const auto again = catalog_->CreateTable(name_, *catalog_->DefaultLocation(name_), "{}", false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind(), ErrorKind::kAlreadyExists);
  const auto listed = *catalog_->List();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].Namespace() + "/" + listed[0].table, GetParam() == CatalogKind::kSql ? "db/t" : "db.sub/u");
  ASSERT_TRUE(catalog_->Drop(name_));
  EXPECT_EQ(catalog_->List()->size(), 1U);
  EXPECT_EQ(catalog_->Open(name_).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog_->Drop(name_).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(*(*catalog_->Open(nested))->Current(), other);
}

TEST_P(CommitPoints, ACommitToADroppedTableFails) {
  const std::string base = Create(name_);
  const auto point = *catalog_->Open(name_);
  ASSERT_TRUE(catalog_->Drop(name_));
  if (GetParam() == CatalogKind::kSql) {
    EXPECT_EQ(point->Publish(base, "x", false).error().kind(), ErrorKind::kNotFound);
  }
  EXPECT_EQ(point->Current().error().kind(), ErrorKind::kNotFound);
}

INSTANTIATE_TEST_SUITE_P(Catalogs, CommitPoints, ::testing::Values(CatalogKind::kFolder, CatalogKind::kSql),
                         [](const auto& param) { return param.param == CatalogKind::kFolder ? "Folder" : "Sql"; });

class FolderCommits : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, std::string_view text) {
    const std::string path = "/w/t/metadata/" + name;
    EXPECT_TRUE(io_->Replace(path, AsBytes(text)));
    return path;
  }
  std::shared_ptr<io::FileIO> io_ = io::MakeMemoryFileIO();
  std::unique_ptr<CommitPoint> point_ = MakeFolderCommitPoint(io_, "/w/t");
};

TEST_F(FolderCommits, AFileOfTheVersionInAnySpellingIsAConflict) {
  for (const char* other : {"v2.metadata.json", "v2.gz.metadata.json", "v2.metadata.json.gz"}) {
    for (const bool gzip : {false, true}) {
      io_ = io::MakeMemoryFileIO();
      point_ = MakeFolderCommitPoint(io_, "/w/t");
      const std::string base = Put("v1.metadata.json", "{}");
      Put(other, "theirs");
      EXPECT_EQ(point_->Publish(base, "mine", gzip).error().kind(), ErrorKind::kCommitConflict) << other;
    }
  }
}

TEST_F(FolderCommits, ABaseWhoseFollowerWasDeletedIsStale) {
  const std::string base = Put("v3.metadata.json", "{}");
  Put("v9.metadata.json", "{}");
  Put("version-hint.text", "9\n");
  const auto published = point_->Publish(base, "mine", false);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().kind(), ErrorKind::kCommitConflict);
  EXPECT_EQ(*point_->Current(), "/w/t/metadata/v9.metadata.json");
  EXPECT_FALSE(io_->Stat("/w/t/metadata/v4.metadata.json"));
}

TEST_F(FolderCommits, ATableOfACatalogIsNotChangedBehindItsBack) {
  const std::string base = Put("00003-93ab8f0b-1995-4b98-b0d8-9111de82e551.metadata.json", "{}");
  const auto published = point_->Publish(base, "mine", false);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().kind(), ErrorKind::kValidationFailed);
  EXPECT_THAT(published.error().message(), HasSubstr("catalog"));
}

TEST_F(FolderCommits, AHintThatCannotBeWrittenDoesNotMatter) {
  const std::string base = Put("v1.metadata.json", "{}");
  Put("version-hint.text", "1");
  const auto faulty = std::make_shared<io::FaultingFileIO>(io_);
  faulty->Add({.effect = io::FailWith{}, .operation = io::Operation::kReplace, .path_contains = ""});
  const auto point = MakeFolderCommitPoint(faulty, "/w/t");
  EXPECT_EQ(*point->Publish(base, "mine", false), "/w/t/metadata/v2.metadata.json");
  EXPECT_EQ(*point_->Current(), "/w/t/metadata/v2.metadata.json");
}

class SqlEntries : public CommitPoints {};

TEST_P(SqlEntries, AreRenamedAndRegistered) {
  const auto local = io::MakeLocalFileIO();
  const std::string fixture = DELENDA_FIXTURES "/iceberg/mor_dv/metadata/v10.metadata.json";
  ASSERT_TRUE(catalog_->Register(name_, fixture));
  EXPECT_EQ(catalog_->Register(name_, fixture).error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_FALSE(catalog_->Register({.catalog = "c", .names = {"db"}, .table = "none"}, fixture + ".gone.metadata.json"));
  const TableName renamed{.catalog = "c", .names = {"other", "deep"}, .table = "t2"};
  ASSERT_TRUE(catalog_->Rename(name_, renamed));
  EXPECT_EQ(catalog_->Rename(name_, renamed).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(*catalog_->Locate(renamed), fixture);
  Create(name_);
  EXPECT_EQ(catalog_->Rename(renamed, name_).error().kind(), ErrorKind::kAlreadyExists);
}

INSTANTIATE_TEST_SUITE_P(Catalogs, SqlEntries, ::testing::Values(CatalogKind::kSql));

}  // namespace
}  // namespace delenda::catalog
