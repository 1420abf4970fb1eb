#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace delenda::cli {
namespace {

bool IsAboutFile(const Error& error) {
  return std::ranges::any_of(error.context(), [](const auto& pair) { return pair.first == "file"; });
}

std::string HintFor(const Error& error, Phase phase, std::string_view moved) {
  switch (error.kind()) {
    case ErrorKind::kNotFound:
      if (phase == Phase::kOpen) {
        return "TABLE is the folder that holds the table's metadata folder, one of its *.metadata.json files, or "
               "catalog.namespace.table";
      }
      if (!IsAboutFile(error)) return {};
      return fmt::format("if the table's files were moved, say where they are: --map-location {}",
                         moved.empty() ? "FROM=TO" : moved);
    case ErrorKind::kInternal: return "this is a fault of delenda: please report it with the command and the version";
    default: return {};
  }
}

std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int ExitCode(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kInvalidArgument:
    case ErrorKind::kAlreadyExists: return kExitUsage;
    case ErrorKind::kNotFound: return IsAboutFile(error) ? kExitStorage : kExitUsage;
    case ErrorKind::kNotSupported: return kExitNotSupported;
    case ErrorKind::kCommitConflict:
    case ErrorKind::kCommitStateUnknown: return kExitConflict;
    case ErrorKind::kPermissionDenied:
    case ErrorKind::kIo: return kExitStorage;
    case ErrorKind::kCancelled: return kExitCancelled;
    case ErrorKind::kCorrupt:
    case ErrorKind::kValidationFailed:
    case ErrorKind::kInternal: break;
  }
  return kExitBadData;
}

std::string ErrorText(const Error& error, Phase phase, bool json, std::string_view moved) {
  const std::string hint = HintFor(error, phase, moved);
  if (json) {
    nlohmann::ordered_json context = nlohmann::ordered_json::object();
    for (const auto& [key, value] : error.context()) context[key] = value;
    nlohmann::ordered_json object = {
        {"kind", ErrorKindName(error.kind())}, {"message", error.message()}, {"context", context}};
    if (!hint.empty()) object["hint"] = hint;
    return Dump({{"error", std::move(object)}});
  }
  std::string text = fmt::format("error: {}: {}\n", ErrorKindName(error.kind()), error.message());
  for (const auto& [key, value] : error.context()) text += fmt::format("  {}: {}\n", key, value);
  if (!hint.empty()) text += fmt::format("  hint: {}\n", hint);
  return text;
}

void Stats::Add(const IoStats& more) {
  io.requests += more.requests;
  io.opens += more.opens;
  io.reads += more.reads;
  io.stats += more.stats;
  io.lists += more.lists;
  io.bytes_read += more.bytes_read;
}

std::string StatsText(const Stats& stats, bool json) {
  nlohmann::ordered_json object;
  if (stats.scan) {
    object["rows"] = stats.scan->rows;
    object["data-files"] = stats.scan->files;
    object["data-files-pruned"] = stats.scan->files_pruned;
    object["deletes"] = stats.scan->deletes;
    object["manifests"] = stats.scan->manifests;
    object["manifests-read"] = stats.scan->manifests_read;
    object["row-groups"] = stats.scan->row_groups;
    object["row-groups-pruned"] = stats.scan->row_groups_pruned;
    object["row-groups-all-deleted"] = stats.scan->row_groups_all_deleted;
    object["rows-pruned"] = stats.scan->rows_pruned;
    if (stats.is_changes) {
      object["row-groups-unchanged"] = stats.scan->row_groups_unchanged;
      object["carry-overs"] = stats.scan->carry_overs;
      object["updates"] = stats.scan->updates;
      object["spilled-bytes"] = stats.scan->spilled_bytes;
    }
  }
  if (stats.count) {
    object["rows"] = stats.count->rows;
    object["data-files-by-metadata"] = stats.count->files_by_metadata;
    object["data-files-read"] = stats.count->files_read;
    object["data-files-pruned"] = stats.count->files_pruned;
  }
  object["requests"] = stats.io.requests;
  object["opens"] = stats.io.opens;
  object["reads"] = stats.io.reads;
  object["stat-calls"] = stats.io.stats;
  object["list-calls"] = stats.io.lists;
  object["bytes-read"] = stats.io.bytes_read;
  object["seconds"] = stats.seconds;
  if (json) return Dump({{"stats", std::move(object)}});
  std::string text;
  for (const auto& [key, value] : object.items()) {
    text += value.is_number_float() ? fmt::format("{}: {:.3f}\n", key, value.get<double>())
                                    : fmt::format("{}: {}\n", key, value.get<uint64_t>());
  }
  return text;
}

}  // namespace delenda::cli
