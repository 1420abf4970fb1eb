#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/listing.h"
#include "cli/output_file.h"
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

constexpr std::string_view kPrefix = "shard-";
constexpr std::string_view kSuffix = ".json";

// The shards that an earlier run left in the folder.
std::vector<std::filesystem::path> OldShards(const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string_view name = at->path().filename().native();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    name.remove_prefix(kPrefix.size());
    name.remove_suffix(std::min(name.size(), kSuffix.size()));
    if (!name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos) found.push_back(at->path());
  }
  return found;
}

Result<void> WriteShards(Session& session, const std::vector<std::string>& shards) {
  const std::filesystem::path folder(session.arguments.output);
  const auto failure = [&](ErrorKind kind, std::string message) {
    Error error(kind, std::move(message));
    error.Add("file", folder.native());
    return std::unexpected(std::move(error));
  };
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return failure(ErrorKind::kIo, fmt::format("the folder can't be made: {}", error.message()));
  // Shards of another scan beside the new ones would be read as parts of one.
  const auto old = OldShards(folder, error);
  if (error) return failure(ErrorKind::kIo, fmt::format("the folder can't be listed: {}", error.message()));
  if (!old.empty() && !session.arguments.overwrite)
    return failure(ErrorKind::kAlreadyExists, "the folder holds shards already; --overwrite replaces them");
  std::vector<OutputFile> files;
  for (size_t i = 0; i < shards.size(); ++i) {
    auto file = OutputFile::Create(folder / fmt::format("{}{}{}", kPrefix, i, kSuffix), session.arguments.overwrite,
                                   session.cancel);
    if (!file) return std::unexpected(std::move(file).error());
    if (auto written = file->Write(shards[i]); !written) return written;
    if (auto written = file->Write("\n"); !written) return written;
    if (auto closed = file->Close(); !closed) return closed;
    files.push_back(*std::move(file));
  }
  for (const auto& path : old) std::filesystem::remove(path, error);
  for (auto& file : files) {
    if (auto finished = file.Finish(); !finished) return finished;
  }
  return {};
}

Result<void> RunShards(Session& session) {
  const auto count = static_cast<size_t>(*session.arguments.shards);
  const auto shards = session.arguments.plan_changes ? session.table->ChangeShards(session.arguments.range, count)
                                                     : session.table->Shards(session.arguments.scan, count);
  if (!shards) return std::unexpected(shards.error());
  if (!session.arguments.output.empty()) return WriteShards(session, *shards);
  for (const auto& shard : *shards) {
    if (auto written = session.out.Write(shard + "\n"); !written) return written;
  }
  return {};
}

std::string_view KindText(ChangeTaskInfo::Kind kind) {
  switch (kind) {
    case ChangeTaskInfo::Kind::kAddedRows: return "added rows";
    case ChangeTaskInfo::Kind::kDeletedDataFile: return "deleted data file";
    case ChangeTaskInfo::Kind::kDeletedRows: return "deleted rows";
    case ChangeTaskInfo::Kind::kRestoredRows: break;
  }
  return "restored rows";
}

std::string StateText(const DeleteStateInfo& state, const std::vector<DeleteInfo>& deletes) {
  DataFileInfo file;
  file.dv = state.dv;
  file.position_deletes = state.position_deletes;
  file.equality_deletes = state.equality_deletes;
  return DeletesText(file, deletes);
}

// "DV of 3 → DV of 4"; of a file that came or went, its one state.
std::string StatesText(const ChangeTaskInfo& task, const std::vector<DeleteInfo>& deletes) {
  const std::string before = StateText(task.before, deletes), after = StateText(task.after, deletes);
  switch (task.kind) {
    case ChangeTaskInfo::Kind::kAddedRows: return after;
    case ChangeTaskInfo::Kind::kDeletedDataFile: return before;
    case ChangeTaskInfo::Kind::kDeletedRows:
    case ChangeTaskInfo::Kind::kRestoredRows: break;
  }
  return fmt::format("{} → {}", before.empty() ? "none" : before, after.empty() ? "none" : after);
}

Result<void> RunChangePlan(Session& session) {
  if (session.Format(OutputFormat::kDocument) != OutputFormat::kTable) {
    const auto json = session.table->PlanChangesJson(session.arguments.range);
    if (!json) return std::unexpected(json.error());
    return session.out.Write(*json);
  }
  const auto plan = session.table->PlanChanges(session.arguments.range);
  if (!plan) return std::unexpected(plan.error());
  Listing listing{.name = "tasks",
                  .columns = {{.name = "#", .right = true},
                              {.name = "snapshot", .right = true},
                              {.name = "change"},
                              {.name = "data file", .keep_end = true},
                              {.name = "partition"},
                              {.name = "max rows", .right = true},
                              {.name = "deletes"},
                              {.name = "residual"}},
                  .rows = {},
                  .summary = {}};
  for (const auto& task : plan->tasks) {
    listing.Add({fmt::format("{}", task.change_ordinal), fmt::format("{}", task.commit_snapshot_id),
                 std::string(KindText(task.kind)), LastName(task.file.path), task.file.partition,
                 fmt::format("{}", task.estimated_rows), StatesText(task, plan->deletes), task.file.residual},
                {});
  }
  listing.summary = fmt::format("({}, {}; {} and {}; {} read)\n", Plural(plan->tasks.size(), "task"),
                                Plural(plan->deletes.size(), "delete"), Plural(plan->changelog_snapshots, "snapshot"),
                                Plural(plan->replace_snapshots, "replace snapshot"),
                                Plural(plan->data_manifests_read + plan->delete_manifests_read, "manifest"));
  return listing.Print(OutputFormat::kTable, session.out);
}

}  // namespace

Result<void> RunPlan(Session& session) {
  if (session.arguments.shards) return RunShards(session);
  if (session.arguments.plan_changes) return RunChangePlan(session);
  if (session.Format(OutputFormat::kDocument) != OutputFormat::kTable) {
    const auto json = session.table->PlanJson(session.arguments.scan);
    if (!json) return std::unexpected(json.error());
    return session.out.Write(*json);
  }
  const auto plan = session.table->Plan(session.arguments.scan);
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
