// Prints the live rows of a table: scan TABLE [FILTER] [FROM=TO]
//
// Batches cross the library's interface as Arrow C streams, so that any Arrow implementation can take them over. This
// program needs none: it looks at the schema in the C structures and lets delenda print the rows.
#include <delenda/rows.h>
#include <delenda/table.h>

#include <cstdio>
#include <string>

namespace {

int Fail(const delenda::Error& error) {
  std::fprintf(stderr, "%s\n", error.ToString().c_str());
  return 1;
}

delenda::Result<void> Print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return std::unexpected(delenda::Error(delenda::ErrorKind::kIo, "standard output is closed"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: scan TABLE [FILTER] [FROM=TO]\n");
    return 2;
  }
  delenda::OpenOptions options;
  options.hooks.log = [](delenda::LogLevel, std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  if (argc > 3) {
    auto mapping = delenda::ParseLocationMapping(argv[3]);
    if (!mapping) return Fail(mapping.error());
    options.mappings.push_back(*std::move(mapping));
  }

  const auto table = delenda::Table::Open(argv[1], std::move(options));
  if (!table) return Fail(table.error());

  auto rows = table->Scan({.where = argc > 2 ? argv[2] : ""});
  if (!rows) return Fail(rows.error());

  ArrowSchema schema;
  if (auto got = rows->GetSchema(&schema); !got) return Fail(got.error());
  for (int64_t i = 0; i < schema.n_children; ++i) {
    std::fprintf(stderr, "%s: Arrow format %s\n", schema.children[i]->name, schema.children[i]->format);
  }
  schema.release(&schema);

  const auto written = delenda::WriteRows(*rows, {.format = delenda::RowFormat::kTable}, Print);
  return written ? 0 : Fail(written.error());
}
