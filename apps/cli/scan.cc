#include <delenda/rows.h>
#include <fmt/format.h>

#include <utility>

#include "cli/listing.h"
#include "cli/row_output.h"
#include "cli/session.h"

namespace delenda::cli {

Result<void> RunScan(Session& session) {
  const ScanOptions& scan = session.arguments.scan;
  auto rows =
      session.shard == nullptr
          ? session.table->Scan(scan)
          : session.shard->Scan({.limit = scan.limit, .ordered = scan.ordered, .verify_footers = scan.verify_footers});
  if (!rows) return std::unexpected(std::move(rows).error());
  return WriteToOutput(session, *rows);
}

Result<void> RunCount(Session& session) {
  const auto count = session.table->Count(session.arguments.scan);
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
