#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/listing.h"
#include "cli/names.h"
#include "cli/session.h"

namespace delenda::cli {
namespace {

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <typename T>
std::string OrBlank(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string_view KindName(DeleteInfo::Kind kind) {
  switch (kind) {
    case DeleteInfo::Kind::kDeletionVector: return "deletion-vector";
    case DeleteInfo::Kind::kPositionDeletes: return "position-deletes";
    case DeleteInfo::Kind::kEqualityDeletes: break;
  }
  return "equality-deletes";
}

Listing ListSnapshots(const Table& table) {
  Listing listing{.name = "snapshots",
                  .columns = {{.name = "snapshot", .right = true},
                              {.name = "parent", .right = true},
                              {.name = "sequence", .right = true},
                              {.name = "committed"},
                              {.name = "operation"},
                              {.name = "data files"},
                              {.name = "delete files"},
                              {.name = "deleted rows", .right = true},
                              {.name = "current"}},
                  .rows = {},
                  .summary = {}};
  for (const auto& snapshot : table.Snapshots()) {
    const auto of = [&](const char* key) {
      const auto found = snapshot.summary.find(key);
      return found != snapshot.summary.end() ? found->second : std::string("0");
    };
    const auto change = [&](const char* added, const char* removed) {
      const std::string plus = of(added), minus = of(removed);
      return plus == "0" && minus == "0" ? std::string() : fmt::format("+{} -{}", plus, minus);
    };
    Json object = {{"snapshot-id", snapshot.snapshot_id},
                   {"parent-snapshot-id", OrNull(snapshot.parent_id)},
                   {"sequence-number", snapshot.sequence_number},
                   {"committed-at", TimeText(snapshot.timestamp_ms)},
                   {"operation", snapshot.operation},
                   {"schema-id", OrNull(snapshot.schema_id)},
                   {"current", snapshot.is_current},
                   {"summary", snapshot.summary}};
    listing.Add({fmt::format("{}", snapshot.snapshot_id), OrBlank(snapshot.parent_id),
                 fmt::format("{}", snapshot.sequence_number), TimeText(snapshot.timestamp_ms), snapshot.operation,
                 change("added-data-files", "deleted-data-files"), change("added-delete-files", "removed-delete-files"),
                 of("total-position-deletes"), snapshot.is_current ? "*" : ""},
                std::move(object));
  }
  listing.summary = fmt::format("({})\n", Plural(listing.rows.size(), "snapshot"));
  return listing;
}

Listing ListHistory(const Table& table) {
  Listing listing{.name = "history",
                  .columns = {{.name = "current from"},
                              {.name = "snapshot", .right = true},
                              {.name = "parent", .right = true},
                              {.name = "remarks"}},
                  .rows = {},
                  .summary = {}};
  for (const auto& entry : table.History()) {
    Json object = {{"made-current-at", TimeText(entry.timestamp_ms)},
                   {"snapshot-id", entry.snapshot_id},
                   {"parent-snapshot-id", OrNull(entry.parent_id)},
                   {"is-retained", entry.is_retained},
                   {"is-current-ancestor", entry.is_current_ancestor}};
    const char* remark = !entry.is_retained ? "expired" : entry.is_current_ancestor ? "" : "rolled back";
    listing.Add({TimeText(entry.timestamp_ms), fmt::format("{}", entry.snapshot_id), OrBlank(entry.parent_id), remark},
                std::move(object));
  }
  return listing;
}

Listing ListRefs(const Table& table) {
  Listing listing{.name = "refs",
                  .columns = {{.name = "name"},
                              {.name = "kind"},
                              {.name = "snapshot", .right = true},
                              {.name = "keep snapshots", .right = true},
                              {.name = "snapshot age (ms)", .right = true},
                              {.name = "ref age (ms)", .right = true}},
                  .rows = {},
                  .summary = {}};
  for (const auto& ref : table.Refs()) {
    Json object = {{"name", ref.name},
                   {"type", ref.is_branch ? "branch" : "tag"},
                   {"snapshot-id", ref.snapshot_id},
                   {"min-snapshots-to-keep", OrNull(ref.min_snapshots_to_keep)},
                   {"max-snapshot-age-ms", OrNull(ref.max_snapshot_age_ms)},
                   {"max-ref-age-ms", OrNull(ref.max_ref_age_ms)}};
    listing.Add({ref.name, ref.is_branch ? "branch" : "tag", fmt::format("{}", ref.snapshot_id),
                 OrBlank(ref.min_snapshots_to_keep), OrBlank(ref.max_snapshot_age_ms), OrBlank(ref.max_ref_age_ms)},
                std::move(object));
  }
  return listing;
}

Listing ListFiles(const PlanInfo& info) {
  Listing listing{.name = "files",
                  .columns = {{.name = "data file", .keep_end = true},
                              {.name = "partition"},
                              {.name = "rows", .right = true},
                              {.name = "deleted", .right = true},
                              {.name = "share", .right = true},
                              {.name = "size", .right = true},
                              {.name = "deletes"},
                              {.name = "sequence", .right = true}},
                  .rows = {},
                  .summary = {}};
  uint64_t rows = 0, deleted_rows = 0;
  bool all_known = true;
  for (const auto& file : info.files) {
    const auto deleted = file.DeletedRows(info.deletes);
    const auto records = static_cast<uint64_t>(std::max<int64_t>(file.record_count, 0));
    rows += records;
    deleted_rows += deleted.value_or(0);
    all_known = all_known && deleted;
    std::string kinds;
    const auto add = [&kinds](const std::string& part) { kinds += (kinds.empty() ? "" : ", ") + part; };
    Json object = {{"path", file.path},
                   {"format", file.format},
                   {"record-count", file.record_count},
                   {"deleted-rows", OrNull(deleted)},
                   {"file-size", file.file_size},
                   {"spec-id", file.spec_id},
                   {"partition", file.partition},
                   {"sequence-number", file.data_sequence_number},
                   {"file-sequence-number", file.file_sequence_number},
                   {"first-row-id", OrNull(file.first_row_id)}};
    if (file.dv) {
      const DeleteInfo& dv = info.deletes[*file.dv];
      add("DV");
      object["deletion-vector"] = {{"path", dv.path},
                                   {"content-offset", OrNull(dv.content_offset)},
                                   {"content-size", OrNull(dv.content_size)},
                                   {"cardinality", dv.record_count}};
    }
    const auto list = [&](const char* key, const char* noun, const std::vector<uint32_t>& indexes) {
      if (indexes.empty()) return;
      add(Plural(indexes.size(), noun));
      Json& paths = object[key] = Json::array();
      for (const uint32_t index : indexes) paths.push_back(info.deletes[index].path);
    };
    list("position-deletes", "position delete file", file.position_deletes);
    list("equality-deletes", "equality delete file", file.equality_deletes);
    listing.Add({file.path, file.partition, fmt::format("{}", file.record_count),
                 deleted ? fmt::format("{}", *deleted) : "?", deleted ? ShareText(*deleted, records) : "",
                 SizeText(file.file_size), kinds, fmt::format("{}", file.data_sequence_number)},
                std::move(object));
  }
  listing.summary = fmt::format("({}, {}, {} deleted{})\n", Plural(info.files.size(), "data file"), Plural(rows, "row"),
                                all_known ? fmt::format("{}", deleted_rows) : fmt::format("at least {}", deleted_rows),
                                all_known && rows > 0 ? ": " + ShareText(deleted_rows, rows) : "");
  listing.totals = {{"snapshot-id", OrNull(info.snapshot_id)},
                    {"record-count", rows},
                    {"deleted-rows", all_known ? Json(deleted_rows) : Json()}};
  return listing;
}

Listing ListDeletes(const std::vector<DeleteInfo>& deletes) {
  Listing listing{.name = "deletes",
                  .columns = {{.name = "kind"},
                              {.name = "file", .keep_end = true},
                              {.name = "offset", .right = true},
                              {.name = "size", .right = true},
                              {.name = "rows", .right = true},
                              {.name = "deletes from", .keep_end = true},
                              {.name = "partition"},
                              {.name = "sequence", .right = true}},
                  .rows = {},
                  .summary = {}};
  uint64_t counts[3] = {};
  int64_t rows = 0;
  for (const auto& file : deletes) {
    counts[static_cast<size_t>(file.kind)] += 1;
    rows += file.kind == DeleteInfo::Kind::kEqualityDeletes ? 0 : file.record_count;
    Json object = {{"content", KindName(file.kind)},
                   {"format", file.format},
                   {"path", file.path},
                   {"content-offset", OrNull(file.content_offset)},
                   {"content-size", OrNull(file.content_size)},
                   {"file-size", file.file_size},
                   {"record-count", file.record_count},
                   {"referenced-data-file", OrNull(file.referenced_data_file)},
                   {"spec-id", file.spec_id},
                   {"partition", file.partition},
                   {"sequence-number", file.data_sequence_number},
                   {"file-sequence-number", file.file_sequence_number}};
    if (!file.equality_ids.empty()) object["equality-ids"] = file.equality_ids;
    listing.Add({std::string(KindName(file.kind)), file.path, OrBlank(file.content_offset),
                 SizeText(file.content_size.value_or(file.file_size)), fmt::format("{}", file.record_count),
                 file.referenced_data_file.value_or(""), file.partition, fmt::format("{}", file.data_sequence_number)},
                std::move(object));
  }
  listing.summary = fmt::format("({}, {}, {}; {} by position)\n", Plural(counts[0], "deletion vector"),
                                Plural(counts[1], "position delete file"), Plural(counts[2], "equality delete file"),
                                Plural(static_cast<uint64_t>(std::max<int64_t>(rows, 0)), "deleted row"));
  listing.totals = {{"deletion-vectors", counts[0]},
                    {"position-delete-files", counts[1]},
                    {"equality-delete-files", counts[2]},
                    {"position-deletes", rows}};
  return listing;
}

constexpr size_t kShownRuns = 20;

Json DvJson(const DvInfo& dv) {
  return {{"data-file", dv.data_file},
          {"path", dv.container},
          {"content-offset", dv.offset},
          {"content-size", dv.size},
          {"record-count", dv.data_file_rows},
          {"cardinality", dv.cardinality},
          {"runs", dv.runs.size()},
          {"positions", dv.Positions()}};
}

Result<void> PrintDvs(const std::vector<DvInfo>& dvs, bool all, OutputFormat format, Output& out) {
  if (format != OutputFormat::kTable) {
    Listing listing{.name = "deletion-vectors", .columns = {}, .rows = {}, .summary = {}};
    for (const auto& dv : dvs) listing.Add({}, DvJson(dv));
    return listing.Print(format, out);
  }
  for (const auto& dv : dvs) {
    Listing listing{
        .name = {},
        .columns = {{.name = "first", .right = true}, {.name = "last", .right = true}, {.name = "rows", .right = true}},
        .rows = {},
        .summary = {}};
    const size_t shown = all ? dv.runs.size() : std::min(dv.runs.size(), kShownRuns);
    for (size_t i = 0; i < shown; ++i) {
      const PositionRange& run = dv.runs[i];
      listing.Add(
          {fmt::format("{}", run.begin), fmt::format("{}", run.end - 1), fmt::format("{}", run.end - run.begin)}, {});
    }
    const std::string share = ShareText(dv.cardinality, dv.data_file_rows);
    const std::string head = fmt::format(
        "data file    {}\nPuffin file  {}, {} at offset {}\ndeleted      {} of {}{}, in {}\n\n", dv.data_file,
        dv.container, Plural(dv.size, "byte"), dv.offset, dv.cardinality, Plural(dv.data_file_rows, "row"),
        share.empty() ? "" : fmt::format(" ({})", share), Plural(dv.runs.size(), "run"));
    if (shown < dv.runs.size()) listing.summary = fmt::format("({} more: --all shows them)\n", dv.runs.size() - shown);
    if (auto written = out.Write(head); !written) return written;
    if (auto written = listing.Print(format, out); !written) return written;
    if (dvs.size() > 1) {
      if (auto written = out.Write("\n"); !written) return written;
    }
  }
  return {};
}

}  // namespace

Result<void> RunInspect(Session& session) {
  const Table& table = *session.table;
  const Arguments& arguments = session.arguments;
  const SnapshotChoice& at = arguments.scan.at;
  const OutputFormat format = session.Format(OutputFormat::kLines);
  switch (arguments.what) {
    case InspectWhat::kSnapshots: return ListSnapshots(table).Print(format, session.out);
    case InspectWhat::kHistory: return ListHistory(table).Print(format, session.out);
    case InspectWhat::kRefs: return ListRefs(table).Print(format, session.out);
    case InspectWhat::kFiles: {
      const auto files = table.Files(at);
      if (!files) return std::unexpected(files.error());
      return ListFiles(*files).Print(format, session.out);
    }
    case InspectWhat::kDeletes: {
      const auto deletes = table.Deletes(at);
      if (!deletes) return std::unexpected(deletes.error());
      return ListDeletes(*deletes).Print(format, session.out);
    }
    case InspectWhat::kDv: break;
  }
  const auto dvs = table.DeletionVectors(arguments.file, at);
  if (!dvs) return std::unexpected(dvs.error());
  return PrintDvs(*dvs, arguments.all, format, session.out);
}

}  // namespace delenda::cli
