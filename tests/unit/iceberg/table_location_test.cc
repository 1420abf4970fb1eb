// Finding the current metadata file of a folder.
#include "delenda/iceberg/table_location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fixtures.h"

namespace delenda::iceberg {
namespace {

using ::testing::HasSubstr;

std::string SmallMetadata() {
  return R"({"format-version": 2, "location": "/t", "last-updated-ms": 1, "last-column-id": 1, "last-sequence-number": 0, "schemas":
    [{"type": "struct", "schema-id": 0, "fields": []}], "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "default-spec-id": 0})";
}

void Put(io::FileIO& io, const std::string& path, const std::string& text) {
  auto file = io.Create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->Write(AsBytes(text)));
  ASSERT_TRUE((*file)->Close());
}

TEST(MetadataVersion, IsTheNumberInTheName) {
  struct Case {
    const char* name;
    std::optional<int64_t> version;
  };
  for (const auto& [name, version] : {
           Case{"v12.metadata.json", 12},
           Case{"v1.gz.metadata.json", 1},
           Case{"v3.metadata.json.gz", 3},
           Case{"00012-0a-b.metadata.json", 12},
           Case{"00000-x.gz.metadata.json", 0},
           Case{"v.metadata.json", {}},
           Case{"va.metadata.json", {}},
           Case{"12.metadata.json", {}},
           Case{"v1.json", {}},
           Case{"v-1.metadata.json", {}},
           Case{"snap-1.avro", {}},
           Case{"v99999999999999999999.metadata.json", {}},
       }) {
    EXPECT_EQ(MetadataVersion(name), version) << name;
  }
}

TEST(LoadTable, FollowsHintsAndListings) {
  struct Case {
    const char* rule;
    std::vector<std::string> files;
    std::optional<std::string> hint;
    std::string found;  // below /t/metadata; empty: an error
    ErrorKind kind;
  };
  const std::vector<Case> cases = {
      {"the hint names the version", {"v1.metadata.json", "v2.metadata.json"}, "2", "v2.metadata.json", {}},
      {"white space around it", {"v1.metadata.json"}, " 1\n", "v1.metadata.json", {}},
      {"a stale hint is followed forward",
       {"v1.metadata.json", "v2.metadata.json", "v3.gz.metadata.json"},
       "1",
       "v3.gz.metadata.json",
       {}},
      {"never past a gap", {"v1.metadata.json", "v3.metadata.json"}, "1", "v1.metadata.json", {}},
      {"the version of the hint was cleaned up", {"v7.metadata.json", "v8.metadata.json"}, "3", "v8.metadata.json", {}},
      {"gzip in both spellings", {"v1.metadata.json.gz"}, "1", "v1.metadata.json.gz", {}},
      {"a hint may be a file name",
       {"00001-a.metadata.json", "00002-b.metadata.json"},
       "00001-a.metadata.json",
       "00001-a.metadata.json",
       {}},
      {"or its stem", {"00001-a.metadata.json"}, "00001-a", "00001-a.metadata.json", {}},
      {"no hint: the highest version",
       {"00001-a.metadata.json", "00010-b.metadata.json", "00009-c.metadata.json"},
       {},
       "00010-b.metadata.json",
       {}},
      {"numbers, not text", {"v9.metadata.json", "v10.metadata.json"}, {}, "v10.metadata.json", {}},
      {"two of one version", {"00002-a.metadata.json", "00002-b.metadata.json"}, {}, "", ErrorKind::kValidationFailed},
      {"nothing there", {"readme.txt"}, {}, "", ErrorKind::kNotFound},
      {"a hint out of the folder", {"v1.metadata.json"}, "../../secret", "", ErrorKind::kCorrupt},
  };
  for (const auto& test : cases) {
    auto io = io::MakeMemoryFileIO();
    for (const auto& file : test.files) Put(*io, "/t/metadata/" + file, SmallMetadata());
    if (test.hint) Put(*io, "/t/metadata/version-hint.text", *test.hint);
    for (const char* location : {"/t", "/t/"}) {
      const auto table = LoadTable(*io, location);
      if (test.found.empty()) {
        ASSERT_FALSE(table) << test.rule;
        EXPECT_EQ(table.error().kind(), test.kind) << test.rule << ": " << table.error().ToString();
        continue;
      }
      ASSERT_TRUE(table) << test.rule << ": " << table.error().ToString();
      EXPECT_EQ(table->metadata_path, "/t/metadata/" + test.found) << test.rule;
    }
  }
}

TEST(LoadTable, TakesAMetadataFile) {
  auto io = io::MakeMemoryFileIO();
  Put(*io, "/t/metadata/v1.metadata.json", SmallMetadata());
  Put(*io, "/t/metadata/v2.metadata.json", SmallMetadata());
  const auto table = LoadTable(*io, "/t/metadata/v1.metadata.json");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->metadata_path, "/t/metadata/v1.metadata.json");
  const auto missing = LoadTable(*io, "/t/metadata/v9.metadata.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(missing.error().ToString(), HasSubstr("/t/metadata/v9.metadata.json"));
}

TEST(LoadTable, ReadsEveryFixtureTable) {
  for (const auto& name : testing::ReadableIcebergTables()) {
    const auto table = LoadTable(*testing::FixtureIO(), testing::FixtureTable(name));
    EXPECT_TRUE(table) << name << ": " << table.error().ToString();
  }
}

}  // namespace
}  // namespace delenda::iceberg
