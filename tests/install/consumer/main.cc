// Opens a table, scans it and counts it through the installed library: consumer FIXTURES_FOLDER

#include <delenda/table.h>

#include <cstdio>
#include <string>

namespace {

// Rows that Spark reads in the table mor_dv, which has deletion vectors.
constexpr int kExpectedRows = 702;

int Fail(const delenda::Error& error) {
  std::fprintf(stderr, "%s\n", error.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string fixtures = argv[1];
  const auto table = delenda::Table::Open(fixtures + "/mor_dv", {.mappings = {{.from = "/warehouse", .to = fixtures}}});
  if (!table) return Fail(table.error());

  auto rows = table->Scan();
  if (!rows) return Fail(rows.error());
  int lines = 0;
  const auto written = delenda::WriteRows(*rows, {.format = delenda::RowFormat::kJsonLines},
                                          [&](std::string_view text) -> delenda::Result<void> {
                                            for (const char c : text) lines += c == '\n' ? 1 : 0;
                                            return {};
                                          });
  if (!written) return Fail(written.error());

  std::printf("%d rows, %d expected\n", lines, kExpectedRows);
  return lines == kExpectedRows ? 0 : 1;
}
