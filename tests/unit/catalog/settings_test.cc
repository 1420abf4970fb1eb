#include "delenda/catalog/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delenda/base/bytes.h"

namespace delenda::catalog {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::shared_ptr<io::FileIO> Holding(const std::string& path, const std::string& text) {
  auto io = io::MakeMemoryFileIO();
  auto file = io->Create(path);
  EXPECT_TRUE(file);
  EXPECT_TRUE((*file)->Write(AsBytes(text)));
  EXPECT_TRUE((*file)->Close());
  return io;
}

TEST(Settings, ComeFromAFile) {
  const auto io = Holding("/c.toml",
                          "[catalog.prod]\ntype = \"sql\"\nuri = \"sqlite:////data/c.db\"\n"
                          "[catalog.\"odd name\"]\nwarehouse = \"/w\"\n[other]\nx = 1\n");
  const auto settings = LoadSettings(*io, "/c.toml", {});
  ASSERT_TRUE(settings) << settings.error().ToString();
  ASSERT_EQ(settings->catalogs.size(), 2U);
  EXPECT_THAT(settings->Find("prod")->properties,
              UnorderedElementsAre(Pair("type", "sql"), Pair("uri", "sqlite:////data/c.db")));
  EXPECT_EQ(settings->Find("odd name")->properties.at("warehouse"), "/w");
  EXPECT_EQ(settings->Find("PROD"), settings->Find("prod"));
  EXPECT_EQ(settings->Find("other"), nullptr);
}

TEST(Settings, OfTheEnvironmentReplaceThoseOfTheFile) {
  const auto io = Holding("/c.toml", "[catalog.Prod]\nuri = \"sqlite:///old\"\nwarehouse = \"/w\"\n");
  const auto settings = LoadSettings(
      *io, std::nullopt,
      {"DELENDA_CONFIG=/c.toml", "DELENDA_CATALOG__PROD__URI=sqlite:///new", "DELENDA_CATALOG__NEW__CATALOG_NAME=a=b",
       "DELENDA_CATALOG__=x", "DELENDA_CATALOG__PROD__=x", "DELENDA_CATALOG____URI=x", "DELENDA_CATALOG=x"});
  ASSERT_TRUE(settings) << settings.error().ToString();
  ASSERT_EQ(settings->catalogs.size(), 2U);
  EXPECT_THAT(settings->Find("prod")->properties,
              UnorderedElementsAre(Pair("uri", "sqlite:///new"), Pair("warehouse", "/w")));
  EXPECT_THAT(settings->Find("new")->properties, UnorderedElementsAre(Pair("catalog-name", "a=b")));
}

TEST(Settings, NeedNoFileAtHome) {
  const auto io = Holding("/people/me/.delenda.toml", "[catalog.a]\nuri = \"x\"\n");
  EXPECT_NE(LoadSettings(*io, std::nullopt, {"HOME=/people/me"})->Find("a"), nullptr);
  const auto none = LoadSettings(*io, std::nullopt, {"HOME=/people/you"});
  ASSERT_TRUE(none) << none.error().ToString();
  EXPECT_TRUE(none->catalogs.empty());
  EXPECT_EQ(none->places.front(), "/people/you/.delenda.toml");
  EXPECT_TRUE(LoadSettings(*io, std::nullopt, {}));
}

TEST(Settings, NeedTheFileThatWasNamed) {
  const auto io = io::MakeMemoryFileIO();
  for (const auto& missing : {LoadSettings(*io, "/c.toml", {}), LoadSettings(*io, {}, {"DELENDA_CONFIG=/c.toml"})}) {
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind(), ErrorKind::kNotFound);
    EXPECT_THAT(missing.error().ToString(), HasSubstr("/c.toml"));
  }
}

TEST(Settings, ThatAreWrongAreRefusedWithTheirPlace) {
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{{"[catalog.a]\nuri = \n", "line 2"},
                                                        {"catalog = 1\n", "\"catalog\" must be a table"},
                                                        {"[catalog]\na = 1\n", "\"catalog.a\" must be a table"},
                                                        {"[catalog.a]\nuri = 1\n", "\"catalog.a.uri\" must be text"},
                                                        {std::string("\0\xff", 2), "line 1"}}) {
    const auto io = Holding("/c.toml", text);
    const auto settings = LoadSettings(*io, "/c.toml", {});
    ASSERT_FALSE(settings) << text;
    EXPECT_EQ(settings.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(settings.error().ToString(), HasSubstr(message));
    EXPECT_THAT(settings.error().ToString(), HasSubstr("/c.toml"));
  }
}

}  // namespace
}  // namespace delenda::catalog
