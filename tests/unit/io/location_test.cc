#include "delenda/io/location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace delenda::io {
namespace {

TEST(Location, Scheme) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"s3://b/x", "s3"},
      {"file:/x", "file"},
      {"file:///x", "file"},
      {"file:x", ""},
      {"/x", ""},
      {"x", ""},
      {"", ""},
      {":", ""},
      {"/a/b://c", ""},
      {"c:/x", ""},
      {"a:b", ""},
      {"1s://x", ""},
      {"S3://b", "S3"},
      {"a+b-c.1://x", "a+b-c.1"},
  };
  for (const auto& [location, scheme] : cases) EXPECT_EQ(Scheme(location), scheme) << location;
}

TEST(Location, CanonicalFormJoinsAliasesAndChangesNothingElse) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"s3://b/x", "s3://b/x"},
      {"s3a://b/x", "s3://b/x"},
      {"s3n://b/x", "s3://b/x"},
      {"/x/y", "/x/y"},
      {"file:/x/y", "/x/y"},
      {"file:///x/y", "/x/y"},
      {"file:////x", "//x"},
      {"file://host/x", "file://host/x"},
      {"s3b://b/x", "s3b://b/x"},
      {"/a%20b//c", "/a%20b//c"},
      {"file:/a%20b//c", "/a%20b//c"},
      {"gs://b/x", "gs://b/x"},
      {"s3a:/x", "s3a:/x"},
      {"x", "x"},
      {"", ""},
  };
  for (const auto& [location, canonical] : cases) EXPECT_EQ(CanonicalLocation(location), canonical) << location;
  // Keys are equal exactly where the forms are.
  for (const auto& [a, canonical_a] : cases) {
    for (const auto& [b, canonical_b] : cases)
      EXPECT_EQ(CanonicalKey(a) == CanonicalKey(b), canonical_a == canonical_b) << a << " " << b;
  }
}

TEST(Location, RelativePathsBecomeAbsolute) {
  const std::string here = std::filesystem::current_path();
  EXPECT_EQ(AbsoluteLocation("w/t"), here + "/w/t");
  EXPECT_EQ(AbsoluteLocation("./w/../t//"), here + "/t");
  EXPECT_EQ(AbsoluteLocation("."), here);
  EXPECT_EQ(AbsoluteLocation("a:b"), here + "/a:b");
  for (const char* location : {"/w/t", "/w/../t", "s3://bucket/t", "file:///w/t", "file:/w", "/"})
    EXPECT_EQ(AbsoluteLocation(location), location);
  EXPECT_EQ(AbsoluteLocation("/w/t/"), "/w/t");
}

TEST(Location, JoinBasenameParent) {
  EXPECT_EQ(Join("/a", "b"), "/a/b");
  EXPECT_EQ(Join("/a/", "b"), "/a/b");
  EXPECT_EQ(Join("s3://bucket", "b"), "s3://bucket/b");
  struct Case {
    std::string_view location, basename, parent;
  };
  for (const Case& c : {Case{"/a/b", "b", "/a"}, Case{"/a", "a", "/"}, Case{"a", "a", ""}, Case{"a/b", "b", "a"},
                        Case{"s3://bucket/a/b", "b", "s3://bucket/a"}, Case{"s3://bucket/a", "a", "s3://bucket"},
                        Case{"s3://bucket", "bucket", ""}, Case{"file:///a", "a", "file:///"},
                        Case{"file:/a/b", "b", "file:/a"}, Case{"/a/", "", "/a"}, Case{"", "", ""}}) {
    EXPECT_EQ(Basename(c.location), c.basename) << c.location;
    EXPECT_EQ(Parent(c.location), c.parent) << c.location;
  }
}

}  // namespace
}  // namespace delenda::io
