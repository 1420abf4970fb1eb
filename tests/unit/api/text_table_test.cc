#include "delenda/text_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace delenda {
namespace {

std::string Draw(std::vector<TextColumn> columns, const TextTable::Options& options,
                 const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  TextTable table(std::move(columns), options, [&text](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  for (const auto& row : rows) EXPECT_TRUE(table.AddRow(row));
  EXPECT_TRUE(table.Finish());
  return text;
}

TEST(TextTable, AlignsNumbersToTheRight) {
  EXPECT_EQ(Draw({{.name = "id", .right = true}, {.name = "note"}}, {}, {{"7", "seven"}, {"100", "x"}}),
            " id  note\n"
            "---  -----\n"
            "  7  seven\n"
            "100  x\n");
}

TEST(TextTable, CountsWideAndCombiningCharacters) {
  EXPECT_EQ(DisplayWidth("abc"), 3U);
  EXPECT_EQ(DisplayWidth("süd"), 3U);
  EXPECT_EQ(DisplayWidth("日本"), 4U);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);
  EXPECT_EQ(DisplayWidth("😀"), 2U);
  EXPECT_EQ(Draw({{.name = "a"}, {.name = "b"}}, {}, {{"日本", "x"}, {"abcd", "y"}}),
            "a     b\n----  -\n日本  x\nabcd  y\n");
}

TEST(TextTable, CutsTextToTheWidthButNeverNumbers) {
  const std::string text = Draw({{.name = "n", .right = true}, {.name = "t"}, {.name = "p", .keep_end = true}},
                                {.width = 30}, {{"12345678901", "abcdefghijklmnop", "/long/path/to/a/file"}});
  EXPECT_EQ(text,
            "          n  t        p\n"
            "-----------  -------  --------\n"
            "12345678901  abcdef…  …/a/file\n");
}

TEST(TextTable, ShowsControlCharactersAndBrokenTextAsEscapes) {
  EXPECT_EQ(Draw({{.name = "a"}}, {}, {{"x\n\t\x1b[31m\x7f"}, {"\xff"}, {"\xc2\x9b"}, {"ok ü"}}),
            "a\n"
            "-----------------\n"
            "x\\n\\t\\x1b[31m\\x7f\n"
            "\\xff\n"
            "\\xc2\\x9b\n"
            "ok ü\n");
}

TEST(TextTable, WidthsComeFromTheFirstRowsAndLaterOnesAreCut) {
  EXPECT_EQ(Draw({{.name = "a"}, {.name = "b"}}, {.sample_rows = 1}, {{"ab", "1"}, {"abcdef", "2"}}),
            "a   b\n--  -\nab  1\na…  2\n");
}

TEST(TextTable, AFailingSinkEndsIt) {
  TextTable table({{.name = "a"}}, {.sample_rows = 1},
                  [](std::string_view) -> Result<void> { return std::unexpected(Error(ErrorKind::kIo, "full")); });
  EXPECT_FALSE(table.AddRow({"x"}));
}

TEST(TextTable, WithoutRowsThereIsAHeader) { EXPECT_EQ(Draw({{.name = "a"}}, {}, {}), "a\n-\n"); }

}  // namespace
}  // namespace delenda
