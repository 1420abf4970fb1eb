// Databases that writers left in the middle of something, or that may not be written.
#include "delenda/catalog/sqlite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"

namespace delenda::catalog {
namespace {

class Sqlite : public ::testing::Test {
 protected:
  delenda::testing::TemporaryFolder scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

// As after kill -9 in the middle of a commit: the database has pages of the new state, the journal those of the old
// one. A connection that may not write could not even read it (SQLITE_READONLY_ROLLBACK).
TEST_F(Sqlite, ReadersUndoWhatAKilledWriterLeft) {
  const std::string live = folder_ / "live.db", left = folder_ / "left.db";
  const auto writer = SqliteDatabase::Open(live, SqliteDatabase::Mode::kCreate);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->Query("CREATE TABLE t (id INTEGER, text TEXT)"));
  ASSERT_TRUE(writer->Query("INSERT INTO t VALUES (1, 'old')"));
  ASSERT_TRUE(writer->Query("PRAGMA cache_size = 1"));  // so that pages go to the file before the end
  ASSERT_TRUE(writer->Query("BEGIN"));
  ASSERT_TRUE(writer->Query("UPDATE t SET text = 'new'"));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(writer->Query("INSERT INTO t VALUES (2, zeroblob(5000))"));
  std::filesystem::copy(live, left);
  std::filesystem::copy(live + "-journal", left + "-journal");
  ASSERT_GT(std::filesystem::file_size(left), 50U * 1000);

  const auto reader = SqliteDatabase::Open(left, SqliteDatabase::Mode::kRead);
  ASSERT_TRUE(reader) << reader.error().ToString();
  const auto rows = reader->Query("SELECT text FROM t");
  ASSERT_TRUE(rows) << rows.error().ToString();
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ((*rows)[0][0], "old");
}

TEST_F(Sqlite, ReadersChangeNothing) {
  const std::string path = folder_ / "c.db";
  ASSERT_TRUE(SqliteDatabase::Open(path, SqliteDatabase::Mode::kCreate)->Query("CREATE TABLE t (id INTEGER)"));
  const auto reader = SqliteDatabase::Open(path, SqliteDatabase::Mode::kRead);
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->Query("INSERT INTO t VALUES (1)"));
  EXPECT_FALSE(reader->Query("CREATE TABLE u (id INTEGER)"));
  EXPECT_EQ(reader->Query("SELECT * FROM t")->size(), 0U);
}

TEST_F(Sqlite, AWriteProtectedFileCanBeRead) {
  const std::string path = folder_ / "c.db";
  ASSERT_TRUE(SqliteDatabase::Open(path, SqliteDatabase::Mode::kCreate)->Query("CREATE TABLE t (id INTEGER)"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  const auto reader = SqliteDatabase::Open(path, SqliteDatabase::Mode::kRead);
  ASSERT_TRUE(reader) << reader.error().ToString();
  EXPECT_EQ(reader->Query("SELECT * FROM t")->size(), 0U);
}

}  // namespace
}  // namespace delenda::catalog
