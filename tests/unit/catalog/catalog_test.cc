// Finding tables by name; the SQL catalog of the fixtures was written by PyIceberg.
#include "delenda/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"

namespace delenda::catalog {
namespace {

using ::testing::HasSubstr;

const std::string kFixture = DELENDA_FIXTURES "/iceberg/sqlcatalog.db";

std::unique_ptr<Catalog> Sql(const std::string& path, const std::string& name) {
  return MakeSqlCatalog({.database_path = path, .catalog_name = name, .warehouse = {}}, io::MakeLocalFileIO());
}

TableName Name(const std::string& text) {
  const auto name = ParseTableName(text);
  EXPECT_TRUE(name) << text;
  return name.value_or(TableName());
}

TEST(TableName, HasACatalogNamespacesAndATable) {
  const TableName name = Name("c.a.b.t");
  EXPECT_EQ(name.catalog, "c");
  EXPECT_EQ(name.Namespace(), "a.b");
  EXPECT_EQ(name.table, "t");
  for (const char* text : {"", "a", "a.b", "a..b", ".a.b", "a.b.", "w/a.b.c", "../a.b.c", "s3://b/a.b.c"}) {
    EXPECT_FALSE(ParseTableName(text)) << text;
  }
}

TEST(SqlCatalog, FindsWhatPyIcebergRegistered) {
  const auto catalog = Sql(kFixture, "fixtures");
  EXPECT_EQ(*catalog->Locate(Name("x.db.mor_dv")), "/warehouse/mor_dv/metadata/v10.metadata.json");
  EXPECT_EQ(*catalog->Locate(Name("x.db.nested.pyiceberg_part")),
            "file:///warehouse/pyiceberg_part/metadata/00004-93ab8f0b-1995-4b98-b0d8-9111de82e551.metadata.json");
  const auto missing = catalog->Locate(Name("x.db.nothing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(missing.error().ToString(), HasSubstr("sqlcatalog.db"));
  EXPECT_THAT(Sql(kFixture, "other")->Locate(Name("x.db.mor_dv")).error().message(),
              HasSubstr("only 'fixtures': set catalog-name"));
}

// A database of its own for each test.
class SqlCatalogFile : public ::testing::Test {
 protected:
  void Execute(const char* sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  Result<std::string> Locate(const std::string& name) const { return Sql(path_, "c")->Locate(Name(name)); }

  delenda::testing::TemporaryFolder scratch_;
  std::filesystem::path folder_ = scratch_.path();
  std::string path_ = folder_ / "c.db";
};

// The statement of Java's JdbcCatalog for schema version V0.
constexpr const char* kV0 =
    "CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, "
    "table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), "
    "PRIMARY KEY (catalog_name, table_namespace, table_name));"
    "INSERT INTO iceberg_tables VALUES ('c', 'db', 't', '/w/t/metadata/v1.metadata.json', NULL), "
    "('c', 'db', 'none', NULL, NULL);";

TEST_F(SqlCatalogFile, OfVersion0HasNoTypes) {
  Execute(kV0);
  EXPECT_EQ(*Locate("x.db.t"), "/w/t/metadata/v1.metadata.json");
  EXPECT_EQ(Locate("x.db.none").error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(Locate("x.db.u").error().kind(), ErrorKind::kNotFound);
}

TEST_F(SqlCatalogFile, OfVersion1TellsTablesFromViews) {
  Execute(kV0);
  Execute(
      "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5);"
      "INSERT INTO iceberg_tables VALUES ('c', 'db', 'v', '/w/v', NULL, 'VIEW'), ('c', 'db', 'u', '/w/u', NULL, "
      "'TABLE');");
  EXPECT_EQ(*Locate("x.db.t"), "/w/t/metadata/v1.metadata.json");  // NULL, as an upgrade leaves it
  EXPECT_EQ(*Locate("x.db.u"), "/w/u");
  EXPECT_EQ(Locate("x.db.v").error().kind(), ErrorKind::kNotSupported);
}

TEST_F(SqlCatalogFile, ThatIsNoneIsRefused) {
  EXPECT_EQ(Locate("x.db.t").error().kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(path_));  // looking creates nothing
  Execute("CREATE TABLE other (a);");
  EXPECT_THAT(Locate("x.db.t").error().message(), HasSubstr("no catalog"));
  std::ofstream(path_, std::ios::trunc) << std::string(5000, 'x');
  EXPECT_EQ(Locate("x.db.t").error().kind(), ErrorKind::kCorrupt);
}

TEST(FolderCatalog, JoinsNamespacesAndTable) {
  EXPECT_EQ(*MakeFolderCatalog("s3://b/w/", io::MakeMemoryFileIO())->Locate(Name("c.a.b.t")), "s3://b/w/a/b/t");
}

TEST(Catalog, IsMadeFromItsSettings) {
  const auto kind = [](std::map<std::string, std::string> properties) {
    const auto catalog = Catalog::Make({.name = "c", .properties = std::move(properties)}, io::MakeMemoryFileIO());
    return catalog ? std::optional<ErrorKind>() : catalog.error().kind();
  };
  EXPECT_EQ(kind({{"type", "sql"}, {"uri", "sqlite:////c.db"}}), std::nullopt);
  EXPECT_EQ(kind({{"uri", "jdbc:sqlite:c.db"}}), std::nullopt);
  EXPECT_EQ(kind({{"warehouse", "/w"}}), std::nullopt);
  EXPECT_EQ(kind({{"type", "folder"}, {"warehouse", "/w"}}), std::nullopt);
  EXPECT_EQ(kind({}), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind({{"type", "sql"}}), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind({{"uri", "sqlite:///"}}), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind({{"uri", "postgresql://u:secret@h/d"}}), ErrorKind::kNotSupported);
  EXPECT_EQ(kind({{"type", "rest"}, {"uri", "http://h"}}), ErrorKind::kNotSupported);
}

TEST(FindCatalog, SaysWhereItLooked) {
  Settings settings;
  settings.places = {"/c.toml", "environment"};
  const auto storage = io::MakeMemoryFileIO();
  const auto none = FindCatalog(settings, Name("c.db.t"), storage);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(none.error().message(), HasSubstr("none is configured"));
  EXPECT_THAT(none.error().message(), HasSubstr("/c.toml and environment"));
  settings.catalogs["fixtures"] = {.name = "fixtures", .properties = {{"uri", "sqlite:///" + kFixture}}};
  EXPECT_THAT(FindCatalog(settings, Name("c.db.t"), storage).error().message(), HasSubstr("there are: fixtures"));
  EXPECT_EQ(*(*FindCatalog(settings, Name("FIXTURES.db.mor_dv"), storage))->Locate(Name("FIXTURES.db.mor_dv")),
            "/warehouse/mor_dv/metadata/v10.metadata.json");
}

}  // namespace
}  // namespace delenda::catalog
