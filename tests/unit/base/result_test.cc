#include "delenda/base/result.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace delenda {
namespace {

TEST(Redaction, HidesUserInfoAndQueryOfEveryUri) {
  struct Case {
    std::string_view text;
    std::string_view expected;
  };
  const std::vector<Case> cases = {
      {"", ""},
      {"no uri at all", "no uri at all"},
      {"a/plain//path?with=query", "a/plain//path?with=query"},
      {"s3://bucket/key", "s3://bucket/key"},
      {"s3://user:secret@bucket/key", "s3://***@bucket/key"},
      {"https://host/x?X-Amz-Signature=abc", "https://host/x?***"},
      {"https://host?token=abc", "https://host?***"},
      {"https://u:p@host/x?sig=1 and more", "https://***@host/x?*** and more"},
      // A password may hold '@': all of it is hidden, not only what stands before the first one.
      {"postgres://u:p@ss@host/db", "postgres://***@host/db"},
      // An '@' in the path is no user info.
      {"s3://bucket/a@b/c", "s3://bucket/a@b/c"},
      {"two: s3://a:b@c/d, then https://e/f?g=h.", "two: s3://***@c/d, then https://e/f?***"},
      {"'https://h/p?q=1' quoted", "'https://h/p?***' quoted"},
      {"ends with ://", "ends with ://"},
      {"file:///warehouse/t", "file:///warehouse/t"},
  };
  for (const Case& c : cases) EXPECT_EQ(Redact(c.text), c.expected) << c.text;
}

TEST(Error, RedactsItsMessageAndItsContext) {
  Error error(ErrorKind::kIo, "cannot open s3://key:secret@bucket/x");
  error.Add("file", "https://host/y?sig=secret");
  const std::string text = error.ToString();
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  EXPECT_EQ(text, "I/O error: cannot open s3://***@bucket/x (file: https://host/y?***)");
}

TEST(Error, KeepsTheInnermostContextOfAKey) {
  Error error(ErrorKind::kCorrupt, "bad magic");
  error.Add("file", "inner").Add("offset", uint64_t{4}).Add("file", "outer");
  EXPECT_EQ(error.ToString(), "corrupt: bad magic (file: inner; offset: 4)");
}

TEST(Error, EveryKindHasItsOwnName) {
  std::vector<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kInternal); ++kind) {
    const std::string_view name = ErrorKindName(static_cast<ErrorKind>(kind));
    EXPECT_FALSE(name.empty());
    for (std::string_view other : names) EXPECT_NE(name, other);
    names.push_back(name);
  }
  EXPECT_EQ(ErrorKindName(ErrorKind::kInvalidArgument), "invalid argument");
  EXPECT_EQ(ErrorKindName(ErrorKind::kCommitConflict), "commit conflict");
  EXPECT_EQ(ErrorKindName(ErrorKind::kInternal), "internal error");
}

TEST(Result, ErrorFactoriesMakeTheirKind) {
  const auto kind_of = [](Result<int> result) { return result.error().kind(); };
  EXPECT_EQ(kind_of(InvalidArgument("x")), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of(NotFound("x")), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of(AlreadyExists("x")), ErrorKind::kAlreadyExists);
  EXPECT_EQ(kind_of(NotSupported("x")), ErrorKind::kNotSupported);
  EXPECT_EQ(kind_of(Corrupt("x")), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(ValidationFailed("x")), ErrorKind::kValidationFailed);
  EXPECT_EQ(kind_of(PermissionDenied("x")), ErrorKind::kPermissionDenied);
  EXPECT_EQ(kind_of(IoError("x")), ErrorKind::kIo);
  EXPECT_EQ(kind_of(Cancelled("x")), ErrorKind::kCancelled);
  EXPECT_EQ(kind_of(InternalError("x")), ErrorKind::kInternal);
  const Result<int> formatted = Corrupt("expected {}, found {}", 1, "two");
  EXPECT_EQ(formatted.error().message(), "expected 1, found two");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument("{} is odd", value);
  return value / 2;
}

Result<int> Quarter(int value) {
  const int half = DELENDA_TRY(Half(value));
  return DELENDA_TRY(Half(half));
}

Result<void> Check(int value) {
  DELENDA_TRY(Quarter(value));
  return {};
}

Result<void> CheckBoth(int a, int b) {
  DELENDA_TRY(Check(a));
  DELENDA_TRY(Check(b));
  return {};
}

TEST(Result, TryTakesTheValueOrReturnsTheError) {
  EXPECT_EQ(Quarter(12).value(), 3);
  ASSERT_FALSE(Quarter(6).has_value());
  EXPECT_EQ(Quarter(6).error().message(), "3 is odd");
  EXPECT_TRUE(CheckBoth(4, 8).has_value());
  EXPECT_EQ(CheckBoth(4, 7).error().message(), "7 is odd");
}

TEST(Result, TryMovesValuesThatCannotBeCopied) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  const auto use = [&]() -> Result<int> {
    const std::unique_ptr<int> owned = DELENDA_TRY(make());
    return *owned;
  };
  EXPECT_EQ(use().value(), 5);
}

TEST(Result, WithContextTouchesOnlyErrors) {
  EXPECT_EQ(WithContext(Half(4), "file", "f").value(), 2);
  EXPECT_EQ(WithContext(Half(3), "file", "f").error().ToString(), "invalid argument: 3 is odd (file: f)");
}

}  // namespace
}  // namespace delenda
