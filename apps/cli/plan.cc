#include <fmt/format.h>

#include "cli/listing.h"
#include "cli/session.h"

namespace delenda::cli {
namespace {

std::string LastName(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string DeletesText(const DataFileInfo& file, const std::vector<DeleteInfo>& deletes) {
  std::string text;
  const auto add = [&text](std::string part) { text += (text.empty() ? "" : ", ") + std::move(part); };
  if (file.dv && *file.dv < deletes.size()) add(fmt::format("DV of {}", deletes[*file.dv].record_count));
  if (!file.position_deletes.empty()) add(Plural(file.position_deletes.size(), "position delete file"));
  if (!file.equality_deletes.empty()) add(Plural(file.equality_deletes.size(), "equality delete file"));
  return text;
}

}  // namespace

Result<void> RunPlan(Session& session) {
  if (session.Format(OutputFormat::kDocument) != OutputFormat::kTable) {
    const auto json = session.table.PlanJson(session.arguments.scan);
    if (!json) return std::unexpected(json.error());
    return session.out.Write(*json);
  }
  const auto plan = session.table.Plan(session.arguments.scan);
  if (!plan) return std::unexpected(plan.error());
  Listing listing{.name = "data-files",
                  .columns = {{.name = "data file", .keep_end = true},
                              {.name = "partition"},
                              {.name = "rows", .right = true},
                              {.name = "size", .right = true},
                              {.name = "deletes"},
                              {.name = "residual"}},
                  .rows = {},
                  .summary = {}};
  for (const auto& file : plan->files) {
    const bool whole = file.start == 0 && file.length == static_cast<uint64_t>(file.file_size);
    std::string name = LastName(file.path);
    if (!whole) name += fmt::format(" [{}, {})", file.start, file.start + file.length);
    listing.Add({std::move(name), file.partition, fmt::format("{}", file.record_count), SizeText(file.file_size),
                 DeletesText(file, plan->deletes), file.residual},
                {});
  }
  listing.summary = fmt::format(
      "({}, {}; {} pruned of {} in {} of {} manifests)\n", Plural(plan->files.size(), "task"),
      Plural(plan->deletes.size(), "delete"), plan->files_pruned, Plural(plan->files_live, "data file"),
      plan->data_manifests_read + plan->delete_manifests_read, plan->data_manifests + plan->delete_manifests);
  return listing.Print(OutputFormat::kTable, session.out);
}

}  // namespace delenda::cli
