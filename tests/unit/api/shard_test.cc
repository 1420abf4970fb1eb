#include "delenda/shard.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace delenda {
namespace {

const std::string kTables = DELENDA_FIXTURES "/iceberg";

OpenOptions MappedFiles() {
  OpenOptions options;
  options.mappings = {{.from = "/warehouse", .to = kTables}};
  options.threads = 2;
  return options;
}

std::multiset<std::string> Lines(RowStream& rows) {
  std::string text;
  const auto count = WriteRows(rows, {}, [&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  EXPECT_TRUE(count) << count.error().ToString();
  std::multiset<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST(Shard, AllTogetherGiveTheRowsOfTheScan) {
  for (const std::string name : {"mor_dv", "mor_mixed", "mor_dv_partitioned", "schema_evo", "imported"}) {
    SCOPED_TRACE(name);
    const auto table = Table::Open(kTables + "/" + name, MappedFiles());
    ASSERT_TRUE(table) << table.error().ToString();
    auto rows = table->Scan({.with_metadata = true});
    ASSERT_TRUE(rows) << rows.error().ToString();
    const auto wanted = Lines(*rows);
    const auto texts = table->Shards({.with_metadata = true}, 3);
    ASSERT_TRUE(texts) << texts.error().ToString();
    ASSERT_EQ(texts->size(), 3U);
    std::multiset<std::string> found;
    for (const auto& text : *texts) {
      EXPECT_EQ(text.find('\n'), std::string::npos);
      const auto shard = Shard::Parse(text, MappedFiles());
      ASSERT_TRUE(shard) << shard.error().ToString();
      EXPECT_EQ(shard->Io().requests, 0U);
      auto part = shard->Scan({.verify_footers = true});
      ASSERT_TRUE(part) << part.error().ToString();
      found.merge(Lines(*part));
      EXPECT_EQ(part->stats().files, shard->Plan().files.size());
    }
    EXPECT_EQ(found, wanted);
  }
}

TEST(Shard, IsAlsoTheWholePlan) {
  const auto table = Table::Open(kTables + "/mor_dv", MappedFiles());
  ASSERT_TRUE(table);
  const auto shard = Shard::Parse(*table->PlanJson(), MappedFiles());
  ASSERT_TRUE(shard) << shard.error().ToString();
  auto rows = shard->Scan({.limit = 5, .ordered = true});
  ASSERT_TRUE(rows);
  EXPECT_EQ(Lines(*rows).size(), 5U);
}

TEST(Shard, RefusesNoShardsAndOtherTexts) {
  const auto table = Table::Open(kTables + "/mor_dv", MappedFiles());
  ASSERT_TRUE(table);
  EXPECT_EQ(table->Shards({}, 0).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Shard::Parse("").error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(Shard::Parse("{}").error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(Shard::Parse("{\"version\": 9}").error().kind(), ErrorKind::kNotSupported);
}

}  // namespace
}  // namespace delenda
