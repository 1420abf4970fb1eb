#include <delenda/write.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/input.h"
#include "cli/listing.h"
#include "cli/session.h"

namespace delenda::cli {
namespace {

// "bucket[16](id)", or the column alone
std::string PartitionText(const CreateReport::PartitionField& field) {
  return field.transform == "identity" ? field.column : fmt::format("{}({})", field.transform, field.column);
}

Listing CreateListing(const CreateReport& report) {
  Listing listing;
  listing.name = "columns";
  listing.columns = {{.name = "id", .right = true}, {.name = "column"}, {.name = "type"}, {.name = ""}, {.name = ""}};
  for (const auto& column : report.columns) {
    listing.Add({std::to_string(column.id), column.name, column.type, column.required ? "NOT NULL" : "",
                 column.is_key ? "key" : ""},
                {{"id", column.id},
                 {"name", column.name},
                 {"type", column.type},
                 {"required", column.required},
                 {"key", column.is_key}});
  }
  listing.totals = {{"dry-run", report.is_dry_run}, {"created", report.created},
                    {"location", report.location},  {"metadata-file", nullptr},
                    {"table-uuid", report.uuid},    {"format-version", report.format_version}};
  if (!report.metadata_path.empty()) listing.totals["metadata-file"] = report.metadata_path;
  Json& fields = listing.totals["partition-fields"] = Json::array();
  std::string partitions;
  for (const auto& field : report.partitioning) {
    fields.push_back(
        {{"field-id", field.id}, {"name", field.name}, {"transform", field.transform}, {"column", field.column}});
    partitions += (partitions.empty() ? "" : ", ") + PartitionText(field);
  }
  listing.totals["properties"] = report.properties;
  const std::string_view what = report.created                 ? "created the table"
                                : report.metadata_path.empty() ? "dry run: would create the table"
                                                               : "there was a table already:";
  listing.summary = fmt::format("{} {} (format version {}, {})\n", what, report.location, report.format_version,
                                partitions.empty() ? "not partitioned" : "partitioned by " + partitions);
  return listing;
}

}  // namespace

Result<void> RunCreate(Session& session) {
  const TableArguments& given = session.arguments.table_changes;
  CreateRequest request;
  request.like = given.like;
  request.columns = given.columns;
  if (!given.schema_file.empty()) {
    auto text = ReadText(given.schema_file);
    if (!text) return std::unexpected(std::move(text).error());
    request.schema_json = *std::move(text);
  }
  request.partition_by = given.partition_by;
  request.key = given.key;
  request.properties = given.properties;
  request.location = given.location;
  request.format_version = given.format_version;
  request.if_not_exists = given.if_not_exists;
  request.dry_run = given.dry_run;
  auto report = CreateTable(session.arguments.table, request, session.open);
  if (!report) return std::unexpected(std::move(report).error());
  // As all commands that change something: for people unless JSON is asked for.
  const auto format = session.arguments.json ? OutputFormat::kDocument : OutputFormat::kTable;
  return CreateListing(*report).Print(format, session.out);
}

Result<void> RunUpgrade(Session& session) {
  const TableArguments& given = session.arguments.table_changes;
  auto report = session.writable->Upgrade({.format_version = given.upgrade_to, .dry_run = given.dry_run});
  if (!report) return std::unexpected(std::move(report).error());
  if (session.arguments.json) {
    return session.out.Write(JsonText({{"dry-run", report->is_dry_run},
                                       {"from", report->from},
                                       {"to", report->to},
                                       {"metadata-file", report->metadata_path},
                                       {"attempts", report->attempts}}));
  }
  if (report->from == report->to)
    return session.out.Write(fmt::format("the table has format version {} already; nothing was changed\n", report->to));
  return session.out.Write(
      report->is_dry_run ? fmt::format("would upgrade from format version {} to {}; dry run: nothing was changed\n",
                                       report->from, report->to)
                         : fmt::format("upgraded from format version {} to {}\n", report->from, report->to));
}

}  // namespace delenda::cli
