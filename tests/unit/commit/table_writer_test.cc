// The one file of all vectors of a commit.
#include "delenda/commit/table_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/commit/memory_table.h"

namespace delenda::commit {
namespace {

using ::testing::ElementsAre;
using testing::MemoryTable;
using testing::Set;

TEST(WriteVectors, PutsSmallerVectorsFirst) {
  std::vector<uint64_t> scattered;
  for (uint64_t i = 0; i < 900; ++i) scattered.push_back(i * 3);
  const auto io = io::MakeMemoryFileIO();
  const MemoryTable table(io);
  write::StagedFiles staged(io);
  const std::vector<NewVector> vectors = {
      {.data_file = MemoryTable::DataFile("large.parquet", 3000), .positions = Set(scattered)},
      {.data_file = MemoryTable::DataFile("small.parquet", 3000), .positions = Set({7})},
      {.data_file = MemoryTable::DataFile("middle.parquet", 3000), .positions = Set({1, 3, 5, 2999})},
  };
  const auto entries = WriteVectors(vectors, table.Metadata(), *io, staged);
  ASSERT_TRUE(entries) << entries.error().ToString();
  std::vector<std::string> files;
  std::vector<int64_t> records;
  int64_t end = 4;  // of Puffin's magic
  for (const auto& entry : *entries) {
    files.push_back(*entry.referenced_data_file);
    records.push_back(entry.record_count);
    EXPECT_EQ(entry.content_offset, end);
    end += *entry.content_size;
  }
  EXPECT_THAT(files, ElementsAre("/w/t/data/small.parquet", "/w/t/data/middle.parquet", "/w/t/data/large.parquet"));
  EXPECT_THAT(records, ElementsAre(1, 4, 900));
}

}  // namespace
}  // namespace delenda::commit
