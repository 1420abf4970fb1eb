#include <arrow/type.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "delenda/api/storage.h"
#include "delenda/api/table_place.h"
#include "delenda/commit/manifest_merge.h"
#include "delenda/commit/next_metadata.h"
#include "delenda/commit/retry.h"
#include "delenda/formats/json/json.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/iceberg/metadata_writer.h"
#include "delenda/iceberg/new_table.h"
#include "delenda/iceberg/schema_json.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/location.h"
#include "delenda/model/column_text.h"
#include "delenda/model/partition_text.h"
#include "delenda/write.h"
#include "delenda/write/infer_json.h"
#include "delenda/write/row_source.h"
#include "delenda/write/schema_from_arrow.h"
#include "delenda/write/write_properties.h"

namespace delenda {
namespace {

Result<Schema> SchemaOfFile(io::FileIO& io, const std::string& path) {
  const auto format = write::RowFormatFromPath(path);
  if (path == "-" || !format || *format == write::RowFormat::kCsv)
    return InvalidArgument("{} tells no types: a Parquet, Arrow IPC or JSON lines file does; or state the columns",
                           path);
  if (*format == write::RowFormat::kJsonLines) return write::InferJsonSchema(io, path);
  const auto source = DELENDA_TRY(write::RowSource::Open(io, path, {.format = format}));
  return WithContext(write::SchemaFromArrow(*source->schema()), "file", path);
}

Result<Schema> SchemaOfJson(std::string_view text) {
  const auto parse = [&]() -> Result<Schema> {
    const auto document = DELENDA_TRY(json::Document::Parse(text));
    const Schema schema = DELENDA_TRY(iceberg::SchemaFromJson(document.root()));
    return Schema::Make(0, schema.fields(), schema.identifier_ids());
  };
  auto schema = parse();
  if (!schema && schema.error().kind() == ErrorKind::kCorrupt)
    return InvalidArgument("this is no schema of Iceberg: {}", schema.error().message());
  return schema;
}

Result<Schema> ColumnsOf(const CreateRequest& request, io::FileIO& io) {
  const int ways =
      (request.like.empty() ? 0 : 1) + (request.schema_json.empty() ? 0 : 1) + (request.columns.empty() ? 0 : 1);
  if (ways != 1) return InvalidArgument("a table's columns come from a file, or from a schema, or from a text");
  Schema schema = !request.like.empty() ? DELENDA_TRY(SchemaOfFile(io, request.like))
                  : !request.schema_json.empty() ? DELENDA_TRY(SchemaOfJson(request.schema_json))
                                                 : DELENDA_TRY(ParseColumns(request.columns));
                                                 if (!request.key.empty())
                                                   schema = DELENDA_TRY(iceberg::WithIdentifiers(
                                                       schema, request.key, request.schema_json.empty()));
                                                 // As the reference implementation does: the ids of another table mean
                                                 // nothing here.
                                                 return write::WithFreshIds(schema);
}

// Properties that writers would stumble over only when rows come.
Result<void> CheckProperties(const iceberg::TableMetadata& metadata) {
  DELENDA_TRY(write::WriteProperties::Parse(metadata.properties, metadata.CurrentSchema()));
  DELENDA_TRY(commit::RetryPolicy::From(metadata.properties));
  DELENDA_TRY(commit::ManifestMergePolicy::From(metadata.properties));
  return {};
}

CreateReport ToReport(const iceberg::TableMetadata& metadata) {
  CreateReport report;
  report.location = metadata.location;
  report.uuid = metadata.table_uuid;
  report.format_version = metadata.format_version;
  const Schema& schema = metadata.CurrentSchema();
  for (const Field& field : schema.fields()) {
    const bool is_key = std::ranges::find(schema.identifier_ids(), field.id) != schema.identifier_ids().end();
    report.columns.push_back({.id = field.id,
                              .name = field.name,
                              .type = field.type.ToString(),
                              .required = field.required,
                              .is_key = is_key});
  }
  for (const auto& field : metadata.FindSpec(metadata.default_spec_id)->fields) {
    report.partitioning.push_back({.id = field.field_id,
                                   .name = field.name,
                                   .transform = field.transform.ToString(),
                                   .column = FullName(schema.FindById(field.source_id))});
  }
  report.properties = metadata.properties;
  return report;
}

// Where the new table is to be.
struct NewPlace {
  api::TablePlace place;
  std::string location;

  Result<std::string> Create(io::FileIO& io, std::string_view text, bool gzip) const {
    if (place.catalog) return place.catalog->CreateTable(place.name, location, text, gzip);
    return catalog::CreateInFolder(io, location, text, gzip);
  }
  // Nothing: there is no such table.
  Result<std::optional<iceberg::LoadedTable>> Load(io::FileIO& io) const {
    const auto load = [&]() -> Result<iceberg::LoadedTable> {
      return iceberg::LoadTable(io, place.catalog ? DELENDA_TRY(place.catalog->Locate(place.name)) : location);
    };
    auto loaded = load();
    if (!loaded && loaded.error().kind() == ErrorKind::kNotFound) return std::nullopt;
    if (!loaded) return std::unexpected(std::move(loaded).error());
    return *std::move(loaded);
  }
};

Result<NewPlace> FindPlace(std::string_view table, const CreateRequest& request, const OpenOptions& options,
                           std::shared_ptr<io::FileIO> io) {
  if (table.ends_with(".json")) return InvalidArgument("{} would be one version of a table: name its folder", table);
  NewPlace found {
    .place = DELENDA_TRY(api::FindTable(table, options, std::move(io)))
    , .location = request.location
  };
  if (!found.place.catalog) {
    found.location = io::AbsoluteLocation(found.place.path);
    if (!request.location.empty() && io::AbsoluteLocation(request.location) != found.location)
      return InvalidArgument("a table that is named by its folder lies there: leave the location {} out",
                             request.location);
  } else if (request.location.empty()) {
    found.location = DELENDA_TRY(found.place.catalog->DefaultLocation(found.place.name));
  }
  found.location = io::AbsoluteLocation(found.location);
  return found;
}

Result<CreateReport> Create(const NewPlace& place, const CreateRequest& request, io::FileIO& files, io::FileIO& io) {
  iceberg::NewTable table;
  table.location = place.location;
  table.schema = DELENDA_TRY(ColumnsOf(request, files));
  if (!request.partition_by.empty()) table.spec = DELENDA_TRY(ParsePartitioning(request.partition_by, table.schema));
  table.properties = request.properties;
  table.format_version = request.format_version;
  const auto metadata = DELENDA_TRY(iceberg::MakeNewTable(table));
  DELENDA_TRY(CheckProperties(metadata));
  const std::string text = DELENDA_TRY(iceberg::TableMetadataToJson(metadata));

  const auto existing = [&](const iceberg::LoadedTable& loaded) {
    CreateReport report = ToReport(loaded.metadata);
    report.is_dry_run = request.dry_run;
    report.metadata_path = loaded.metadata_path;
    return report;
  };
  if (request.if_not_exists || request.dry_run) {
    if (const auto found = DELENDA_TRY(place.Load(io))) {
      if (request.if_not_exists) return existing(*found);
      return AlreadyExists("there is a table already ({})", found->metadata_path);
    }
  }
  CreateReport report = ToReport(metadata);
  report.is_dry_run = request.dry_run;
  if (request.dry_run) return report;
  auto created = place.Create(io, text, commit::WritesGzip(metadata));
  if (!created) {
    // Somebody else made it a moment ago.
    if (created.error().kind() == ErrorKind::kAlreadyExists && request.if_not_exists) {
      if (const auto found = DELENDA_TRY(place.Load(io))) return existing(*found);
    }
    return std::unexpected(std::move(created).error());
  }
  report.created = true;
  report.metadata_path = *std::move(created);
  return report;
}

}  // namespace

Result<CreateReport> CreateTable(std::string_view location, const CreateRequest& request, OpenOptions options) {
  return parquet::Guarded([&]() -> Result<CreateReport> {
    const api::Storage storage = api::MakeStorage(options);
    const NewPlace place = DELENDA_TRY(FindPlace(location, request, options, storage.io));
    // The file that it is to be like comes from where the caller is: mappings are for the files of the table.
    return Create(place, request, *storage.counter, *storage.io);
  });
}

}  // namespace delenda
