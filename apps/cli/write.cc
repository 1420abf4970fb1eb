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

// "upserted 5 rows: 3 updated, 1 inserted, 1 deleted"
std::string MixedRows(std::string_view verb, const ChangeReport& report) {
  return fmt::format("{} {}: {} updated, {} inserted, {} deleted", verb,
                     Plural(report.rows_updated + report.rows_added + report.rows_deleted, "row"), report.rows_updated,
                     report.rows_added, report.rows_deleted);
}

// What was done, in one line: "deleted 3 rows in 2 files (1 new deletion vector, 1 file dropped); snapshot 123".
// `text`: "deleted 3 rows".
std::string ChangeText(std::string text, const ChangeReport& report) {
  std::vector<std::string> parts;
  if (report.files_changed > 0) parts.push_back(Plural(report.files_changed, "new deletion vector"));
  if (report.files_dropped > 0) parts.push_back(Plural(report.files_dropped, "file") + " dropped");
  if (report.files_added > 0) {
    parts.push_back(fmt::format("{} added, {}", Plural(report.files_added, "file"),
                                SizeText(static_cast<int64_t>(report.bytes_added))));
  }
  if (report.delete_files_added > 0)
    parts.push_back(Plural(report.delete_files_added, "equality delete file") + " added");
  const uint64_t touched = report.files_changed + report.files_dropped;
  if (touched > 0) text += fmt::format(" in {}", Plural(touched, "file"));
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? " (" : ", ") + parts[i];
  if (!parts.empty()) text += ')';
  if (report.snapshot_id) return text + fmt::format("; snapshot {}\n", *report.snapshot_id);
  return text + (report.is_dry_run ? "; dry run: nothing was changed\n" : "; no snapshot was made\n");
}

Json ChangeJson(const ChangeReport& report) {
  Json document = {{"dry-run", report.is_dry_run},
                   {"snapshot-id", nullptr},
                   {"rows-deleted", report.rows_deleted},
                   {"rows-updated", report.rows_updated},
                   {"rows-added", report.rows_added},
                   {"deletion-vectors", report.files_changed},
                   {"files-dropped", report.files_dropped},
                   {"files-added", report.files_added},
                   {"bytes-added", report.bytes_added},
                   {"merged-files", report.files_merged},
                   {"attempts", report.attempts},
                   {"looked-again", report.looked_again},
                   {"equality-delete-files-added", report.delete_files_added}};
  if (report.snapshot_id) document["snapshot-id"] = *report.snapshot_id;
  return document;
}

}  // namespace

Result<void> RunWrite(Session& session) {
  const WriteArguments& write = session.arguments.write;
  WritableTable& table = *session.writable;
  const KeyedRowsRequest rows{.files = write.files,
                              .format = write.file_format,
                              .key = write.key,
                              .ignore_unknown_columns = write.ignore_unknown_columns,
                              .branch = write.branch,
                              .dry_run = write.dry_run};
  Result<ChangeReport> report{ChangeReport()};
  std::string_view done, would;
  std::string converted;
  uint64_t ChangeReport::* counted = nullptr;  // null: rows of several kinds
  switch (session.arguments.command) {
    case Command::kAppend:
      report = table.Append({.files = write.files,
                             .format = write.file_format,
                             .ignore_unknown_columns = write.ignore_unknown_columns,
                             .branch = write.branch,
                             .dry_run = write.dry_run});
      std::tie(done, would, counted) = std::tuple("appended", "would append", &ChangeReport::rows_added);
      break;
    case Command::kUpdate:
      report = table.Update({.set = write.set, .where = write.where, .branch = write.branch, .dry_run = write.dry_run});
      std::tie(done, would, counted) = std::tuple("updated", "would update", &ChangeReport::rows_updated);
      break;
    case Command::kUpsert:
      report = table.Upsert(
          {.rows = rows,
           .delete_when = write.delete_when,
           .strict = write.strict,
           .via = write.via == "equality" ? UpsertVia::kEqualityDeletes : UpsertVia::kPositions,
           .most_tries = write.most_tries,
           .fallback = write.fallback == "abort" ? DeltaFallback::kAbort : DeltaFallback::kCommitEqualityDeletes});
      std::tie(done, would) = std::tuple("upserted", "would upsert");
      break;
    case Command::kMerge:
      report = table.Merge({.rows = rows,
                            .matched_delete = write.matched_delete,
                            .matched_update = write.matched_update,
                            .matched_update_all = write.matched_update_all,
                            .matched_update_when = write.matched_update_when,
                            .not_matched_insert = write.not_matched_insert});
      std::tie(done, would) = std::tuple("merged", "would merge");
      break;
    case Command::kConvert:
      report =
          table.Convert({.branch = write.branch, .position_deletes = write.position_deletes, .dry_run = write.dry_run});
      if (report) {
        converted = fmt::format("{} {} into deletion vectors:", write.dry_run ? "would turn" : "turned",
                                Plural(report->delete_files_converted, "delete file"));
      }
      done = would = converted;
      counted = &ChangeReport::rows_converted;
      break;
    default:
      if (write.keys_file.empty()) {
        report = table.Delete({.where = write.where, .branch = write.branch, .dry_run = write.dry_run});
      } else {
        KeyedRowsRequest keys = rows;
        keys.files = {write.keys_file};
        report = table.DeleteKeys({.rows = std::move(keys)});
      }
      std::tie(done, would, counted) = std::tuple("deleted", "would delete", &ChangeReport::rows_deleted);
      break;
  }
  if (!report) return std::unexpected(std::move(report).error());
  session.progress.Clear();
  if (session.arguments.json) {
    Json document = ChangeJson(*report);
    if (session.arguments.command == Command::kConvert) {
      document["rows-converted"] = report->rows_converted;
      document["delete-files-converted"] = report->delete_files_converted;
    }
    return session.out.Write(JsonText(document));
  }
  const std::string_view verb = write.dry_run ? would : done;
  std::string text =
      counted == nullptr ? MixedRows(verb, *report) : fmt::format("{} {}", verb, Plural((*report).*counted, "row"));
  return session.out.Write(ChangeText(std::move(text), *report));
}

}  // namespace delenda::cli
