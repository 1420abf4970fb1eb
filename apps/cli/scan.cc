#include <delenda/rows.h>
#include <fmt/format.h>

#include "cli/listing.h"
#include "cli/session.h"

namespace delenda::cli {

Result<void> RunScan(Session& session) {
  auto rows = session.table.Scan(session.arguments.scan);
  if (!rows) return std::unexpected(std::move(rows).error());
  const bool is_table = session.Format(OutputFormat::kLines) == OutputFormat::kTable;
  const bool to_terminal = session.out.IsTerminal();
  const auto sink = [&](std::string_view text) -> Result<void> {
    if (to_terminal) session.progress.Clear();
    return session.out.Write(text);
  };
  const WriteRowsOptions options = {.format = is_table ? RowFormat::kTable : RowFormat::kJsonLines,
                                    .width = session.out.Width()};
  const auto written = WriteRows(*rows, options, sink);
  session.stats.scan = rows->stats();
  if (!written) return std::unexpected(written.error());
  return {};
}

Result<void> RunCount(Session& session) {
  const auto count = session.table.Count(session.arguments.scan);
  if (!count) return std::unexpected(count.error());
  session.stats.count = *count;
  if (session.arguments.format != OutputFormat::kDocument) return session.out.Write(fmt::format("{}\n", count->rows));
  const Json document = {{"rows", count->rows},
                         {"data-files-by-metadata", count->files_by_metadata},
                         {"data-files-read", count->files_read},
                         {"data-files-pruned", count->files_pruned}};
  return session.out.Write(JsonText(document));
}

}  // namespace delenda::cli
