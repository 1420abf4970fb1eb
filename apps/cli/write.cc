#include <delenda/write.h>
#include <fmt/format.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/listing.h"
#include "cli/session.h"

namespace delenda::cli {
namespace {

// What was done, in one line: "deleted 3 rows in 2 files (1 new deletion vector, 1 file dropped); snapshot 123".
std::string ChangeText(std::string_view verb, uint64_t rows, const ChangeReport& report) {
  std::vector<std::string> parts;
  if (report.files_changed > 0) parts.push_back(Plural(report.files_changed, "new deletion vector"));
  if (report.files_dropped > 0) parts.push_back(Plural(report.files_dropped, "file") + " dropped");
  if (report.files_added > 0) {
    parts.push_back(fmt::format("{} added, {}", Plural(report.files_added, "file"),
                                SizeText(static_cast<int64_t>(report.bytes_added))));
  }
  std::string text = fmt::format("{} {}", verb, Plural(rows, "row"));
  const uint64_t touched = report.files_changed + report.files_dropped;
  if (touched > 0) text += fmt::format(" in {}", Plural(touched, "file"));
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? " (" : ", ") + parts[i];
  if (!parts.empty()) text += ')';
  if (report.snapshot_id) return text + fmt::format("; snapshot {}\n", *report.snapshot_id);
  return text + (report.is_dry_run ? "; dry run: nothing was changed\n" : "; no snapshot was made\n");
}

Json ChangeJson(const ChangeReport& report) {
  Json document = {{"dry-run", report.is_dry_run},          {"snapshot-id", nullptr},
                   {"rows-deleted", report.rows_deleted},   {"rows-updated", report.rows_updated},
                   {"rows-added", report.rows_added},       {"deletion-vectors", report.files_changed},
                   {"files-dropped", report.files_dropped}, {"files-added", report.files_added},
                   {"bytes-added", report.bytes_added},     {"attempts", report.attempts},
                   {"looked-again", report.looked_again}};
  if (report.snapshot_id) document["snapshot-id"] = *report.snapshot_id;
  return document;
}

}  // namespace

Result<void> RunWrite(Session& session) {
  const WriteArguments& write = session.arguments.write;
  Result<ChangeReport> report{ChangeReport()};
  std::string_view done, would;
  uint64_t ChangeReport::* rows = nullptr;
  switch (session.arguments.command) {
    case Command::kAppend:
      report = session.writable->Append({.files = write.files,
                                         .format = write.file_format,
                                         .ignore_unknown_columns = write.ignore_unknown_columns,
                                         .branch = write.branch,
                                         .dry_run = write.dry_run});
      std::tie(done, would, rows) = std::tuple("appended", "would append", &ChangeReport::rows_added);
      break;
    case Command::kUpdate:
      report = session.writable->Update(
          {.set = write.set, .where = write.where, .branch = write.branch, .dry_run = write.dry_run});
      std::tie(done, would, rows) = std::tuple("updated", "would update", &ChangeReport::rows_updated);
      break;
    default:
      report = session.writable->Delete({.where = write.where, .branch = write.branch, .dry_run = write.dry_run});
      std::tie(done, would, rows) = std::tuple("deleted", "would delete", &ChangeReport::rows_deleted);
      break;
  }
  if (!report) return std::unexpected(std::move(report).error());
  session.progress.Clear();
  if (session.arguments.json) return session.out.Write(JsonText(ChangeJson(*report)));
  return session.out.Write(ChangeText(write.dry_run ? would : done, (*report).*rows, *report));
}

}  // namespace delenda::cli
