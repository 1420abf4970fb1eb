#include <delenda/verify.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cli/listing.h"
#include "cli/session.h"

namespace delenda::cli {
namespace {

Json ToJson(const VerifyFinding& finding) {
  Json object = {{"severity", finding.is_error ? "error" : "warning"},
                 {"check", finding.check},
                 {"place", finding.place},
                 {"snapshot-id", nullptr},
                 {"what", finding.what},
                 {"effect", finding.effect},
                 {"remedy", finding.remedy}};
  if (finding.snapshot_id) object["snapshot-id"] = *finding.snapshot_id;
  return object;
}

// Below the table, whose cells are cut to the terminal: each rule with its findings in full.
std::string RulesText(const VerifyReport& report) {
  constexpr size_t kMaxInFull = 20;
  std::string text;
  std::set<std::string_view> told;
  for (const auto& finding : report.findings) {
    if (!told.insert(finding.check).second) continue;
    text += fmt::format("\n{}\n", finding.check);
    size_t count = 0;
    for (const auto& same : report.findings) {
      if (same.check == finding.check && ++count <= kMaxInFull)
        text += fmt::format("  {}\n    {}\n", same.place, same.what);
    }
    if (count > kMaxInFull) text += fmt::format("  ... and {} more: --json gives all\n", count - kMaxInFull);
    text += fmt::format("  effect: {}\n  remedy: {}\n", finding.effect, finding.remedy);
  }
  return text + "\n";
}

std::string Looked(const VerifyReport& report) {
  std::string text =
      fmt::format("{}, {}", Plural(report.data_files, "data file"), Plural(report.deletion_vectors, "deletion vector"));
  if (report.delete_files > 0) text += fmt::format(", {}", Plural(report.delete_files, "delete file"));
  if (report.snapshots > 1) text += fmt::format(" of {}", Plural(report.snapshots, "snapshot"));
  return text;
}

}  // namespace

Result<void> RunVerify(Session& session) {
  const Arguments& arguments = session.arguments;
  auto report = session.table->Verify(
      {.at = arguments.scan.at, .all_snapshots = arguments.all_snapshots, .deep = arguments.deep});
  if (!report) return std::unexpected(std::move(report).error());
  if (arguments.errors_only) std::erase_if(report->findings, [](const auto& finding) { return !finding.is_error; });
  const auto errors = static_cast<uint64_t>(std::ranges::count(report->findings, true, &VerifyFinding::is_error));
  const uint64_t warnings = report->findings.size() - errors;
  if (!report->findings.empty()) session.exit_code = kExitBadData;

  const OutputFormat format = session.Format(OutputFormat::kLines);
  if (format == OutputFormat::kTable) session.progress.Clear();
  Listing listing{
      .name = "findings",
      .columns = {{.name = "severity"}, {.name = "check"}, {.name = "where", .keep_end = true}, {.name = "what"}},
      .rows = {},
      .summary = {}};
  for (const auto& finding : report->findings) {
    listing.Add({finding.is_error ? "error" : "warning", finding.check, finding.place, finding.what}, ToJson(finding));
  }
  if (format == OutputFormat::kTable && report->findings.empty())
    return session.out.Write(fmt::format("{} checked: no findings\n", Looked(*report)));
  listing.summary = fmt::format("{}{} checked: {}, {}\n", RulesText(*report), Looked(*report), Plural(errors, "error"),
                                Plural(warnings, "warning"));
  listing.totals = {{"deep", arguments.deep},
                    {"snapshots", report->snapshots},
                    {"manifests", report->manifests},
                    {"data-files", report->data_files},
                    {"deletion-vectors", report->deletion_vectors},
                    {"delete-files", report->delete_files},
                    {"errors", errors},
                    {"warnings", warnings}};
  return listing.Print(format, session.out);
}

}  // namespace delenda::cli
