#include "delenda/iceberg/table_metadata.h"

#include <algorithm>
#include <iterator>

#include "delenda/base/gzip.h"
#include "delenda/formats/json/json.h"
#include "delenda/formats/json/writer.h"
#include "delenda/iceberg/schema_json.h"

namespace delenda::iceberg {
namespace {

// Inflated metadata above this is refused: a small gzip file could otherwise ask for all memory.
constexpr uint64_t kMaxMetadataBytes = uint64_t{1} << 30;

Result<std::map<std::string, std::string>> StringMap(const json::Value& value, std::string_view key) {
  std::map<std::string, std::string> map;
  if (const auto object = DELENDA_TRY(value.Optional<json::Object>(key))) {
    for (const auto member : *object) map[std::string(member.key())] = DELENDA_TRY(member.As<std::string>());
  }
  return map;
}

Result<Snapshot> SnapshotFromJson(const json::Value& value, int32_t format_version) {
  Snapshot snapshot;
  snapshot.snapshot_id = DELENDA_TRY(value.Get<int64_t>("snapshot-id"));
  snapshot.parent_id = DELENDA_TRY(value.Optional<int64_t>("parent-snapshot-id"));
  // Snapshots that version 1 wrote have none, also after an upgrade.
  snapshot.sequence_number = DELENDA_TRY(value.Optional<int64_t>("sequence-number"))
  .value_or(0);
  snapshot.timestamp_ms = DELENDA_TRY(value.Get<int64_t>("timestamp-ms"));
  snapshot.summary = DELENDA_TRY(StringMap(value, "summary"));
  if (auto operation = snapshot.summary.extract("operation")) snapshot.operation = operation.mapped();
  snapshot.schema_id = DELENDA_TRY(value.Optional<int32_t>("schema-id"));
  snapshot.first_row_id = DELENDA_TRY(value.Optional<int64_t>("first-row-id"));
  snapshot.added_rows = DELENDA_TRY(value.Optional<int64_t>("added-rows"));
  if (DELENDA_TRY(value.Optional<std::string_view>("key-id"))) {
    return NotSupported("snapshot {} has an encrypted manifest list; encrypted tables can't be read",
                        snapshot.snapshot_id);
  }
  if (const auto list = DELENDA_TRY(value.Optional<std::string>("manifest-list"))) {
    snapshot.manifest_list = *list;
  } else {
    if (format_version > 1) return value.Fail("lacks manifest-list");
    for (const auto path : DELENDA_TRY(value.Get<json::Array>("manifests")))
      snapshot.manifests.push_back(DELENDA_TRY(path.As<std::string>()));
  }
  return snapshot;
}

Result<SnapshotRef> RefFromJson(const json::Value& value) {
  SnapshotRef ref;
  ref.snapshot_id = DELENDA_TRY(value.Get<int64_t>("snapshot-id"));
  const auto type = DELENDA_TRY(value.Get<std::string_view>("type"));
  if (type != "branch" && type != "tag") return value.Fail("type is neither branch nor tag");
  ref.is_branch = type == "branch";
  ref.min_snapshots_to_keep = DELENDA_TRY(value.Optional<int32_t>("min-snapshots-to-keep"));
  ref.max_snapshot_age_ms = DELENDA_TRY(value.Optional<int64_t>("max-snapshot-age-ms"));
  ref.max_ref_age_ms = DELENDA_TRY(value.Optional<int64_t>("max-ref-age-ms"));
  return ref;
}

std::string TextOf(const json::Value& value) {
  json::Writer text;
  text.Copy(value);
  return std::move(text).Finish();
}

Result<void> ParseSchemas(const json::Value& root, TableMetadata& metadata) {
  if (const auto schemas = DELENDA_TRY(root.Optional<json::Array>("schemas"))) {
    for (const auto schema : *schemas) {
      metadata.schemas.push_back(DELENDA_TRY(SchemaFromJson(schema)));
      metadata.as_read.schemas[metadata.schemas.back().id()] = TextOf(schema);
    }
    metadata.current_schema_id = DELENDA_TRY(root.Get<int32_t>("current-schema-id"));
  } else {
    if (metadata.format_version > 1) return root.Fail("lacks schemas");
    metadata.schemas.push_back(DELENDA_TRY(SchemaFromJson(DELENDA_TRY(root.Member("schema")))));
    metadata.current_schema_id = metadata.schemas[0].id();
  }
  if (metadata.FindSchema(metadata.current_schema_id) == nullptr) return root.Fail("current-schema-id names no schema");
  return {};
}

Result<void> ParseSpecs(const json::Value& root, TableMetadata& metadata) {
  if (const auto specs = DELENDA_TRY(root.Optional<json::Array>("partition-specs"))) {
    for (const auto spec : *specs) {
      metadata.specs.push_back(DELENDA_TRY(PartitionSpecFromJson(spec)));
      metadata.as_read.specs[metadata.specs.back().spec_id] = TextOf(spec);
    }
    metadata.default_spec_id = DELENDA_TRY(root.Get<int32_t>("default-spec-id"));
  } else {
    if (metadata.format_version > 1) return root.Fail("lacks partition-specs");
    metadata.specs.push_back(DELENDA_TRY(PartitionSpecFromJson(DELENDA_TRY(root.Member("partition-spec")))));
  }
  if (metadata.FindSpec(metadata.default_spec_id) == nullptr)
    return root.Fail("default-spec-id names no partition spec");
  if (const auto last = DELENDA_TRY(root.Optional<int32_t>("last-partition-id"))) {
    metadata.last_partition_id = *last;
  } else {
    for (const auto& spec : metadata.specs) {
      for (const auto& field : spec.fields)
        metadata.last_partition_id = std::max(metadata.last_partition_id, field.field_id);
    }
  }
  return {};
}

Result<std::vector<StatisticsFile>> StatisticsFromJson(const json::Value& root, std::string_view key) {
  std::vector<StatisticsFile> files;
  if (const auto array = DELENDA_TRY(root.Optional<json::Array>(key))) {
    for (const auto file : *array) {
      files.push_back({
        .snapshot_id = DELENDA_TRY(file.Get<int64_t>("snapshot-id"))
        , .path = DELENDA_TRY(file.Get<std::string>("statistics-path"))
        , .json = TextOf(file)
      });
    }
  }
  return files;
}

// What reading does not need and a rewrite must keep.
Result<void> ParseKept(const json::Value& root, TableMetadata& metadata) {
  if (const auto orders = DELENDA_TRY(root.Optional<json::Array>("sort-orders"))) {
    for (const auto order : *orders) {
      metadata.sort_orders.push_back({
        .order_id = DELENDA_TRY(order.Get<int32_t>("order-id"))
        , .json = TextOf(order)
      });
    }
    metadata.default_sort_order_id = DELENDA_TRY(root.Get<int32_t>("default-sort-order-id"));
  }
  metadata.statistics = DELENDA_TRY(StatisticsFromJson(root, "statistics"));
  metadata.partition_statistics = DELENDA_TRY(StatisticsFromJson(root, "partition-statistics"));
  if (const auto log = DELENDA_TRY(root.Optional<json::Array>("metadata-log"))) {
    for (const auto entry : *log) {
      metadata.metadata_log.push_back({
        .timestamp_ms = DELENDA_TRY(entry.Get<int64_t>("timestamp-ms"))
        , .metadata_file = DELENDA_TRY(entry.Get<std::string>("metadata-file"))
      });
    }
  }
  static constexpr std::string_view kKnown[] = {"format-version",
                                                "table-uuid",
                                                "location",
                                                "last-sequence-number",
                                                "last-updated-ms",
                                                "last-column-id",
                                                "schema",
                                                "schemas",
                                                "current-schema-id",
                                                "partition-spec",
                                                "partition-specs",
                                                "default-spec-id",
                                                "last-partition-id",
                                                "default-sort-order-id",
                                                "sort-orders",
                                                "properties",
                                                "snapshots",
                                                "refs",
                                                "current-snapshot-id",
                                                "next-row-id",
                                                "statistics",
                                                "snapshot-log",
                                                "metadata-log",
                                                "partition-statistics"};
  for (const auto member : DELENDA_TRY(root.As<json::Object>())) {
    if (std::ranges::find(kKnown, member.key()) == std::end(kKnown))
      metadata.other_members.emplace_back(member.key(), TextOf(member));
  }
  return {};
}

Result<void> ParseHistory(const json::Value& root, TableMetadata& metadata) {
  if (const auto snapshots = DELENDA_TRY(root.Optional<json::Array>("snapshots"))) {
    for (const auto snapshot : *snapshots)
      metadata.snapshots.push_back(DELENDA_TRY(SnapshotFromJson(snapshot, metadata.format_version)));
  }
  if (const auto log = DELENDA_TRY(root.Optional<json::Array>("snapshot-log"))) {
    for (const auto entry : *log) {
      metadata.snapshot_log.push_back({
        .timestamp_ms = DELENDA_TRY(entry.Get<int64_t>("timestamp-ms"))
        , .snapshot_id = DELENDA_TRY(entry.Get<int64_t>("snapshot-id"))
      });
    }
  }
  if (const auto refs = DELENDA_TRY(root.Optional<json::Object>("refs"))) {
    for (const auto ref : *refs) metadata.refs[std::string(ref.key())] = DELENDA_TRY(RefFromJson(ref));
  }
  const auto current = DELENDA_TRY(root.Optional<int64_t>("current-snapshot-id"));
  if (!current || *current == -1) return {};  // old writers wrote -1 for "none"
  metadata.current_snapshot_id = current;
  // A current snapshot that is not there must not pass for an empty table.
  if (metadata.FindSnapshot(*current) == nullptr) return root.Fail("current-snapshot-id names no snapshot");
  metadata.refs.try_emplace("main", SnapshotRef{.snapshot_id = *current});
  if (metadata.refs["main"].snapshot_id != *current) return root.Fail("branch main and current-snapshot-id differ");
  return {};
}

}  // namespace

Result<TableMetadata> TableMetadata::Parse(ByteView bytes) {
  Bytes inflated;
  if (IsGzip(bytes)) {
    inflated = DELENDA_TRY(Gunzip(bytes, kMaxMetadataBytes));
    bytes = inflated;
  }
  const auto document = DELENDA_TRY(json::Document::Parse(bytes));
  const json::Value root = document.root();
  TableMetadata metadata;
  metadata.format_version = DELENDA_TRY(root.Get<int32_t>("format-version"));
  if (metadata.format_version < 1) return root.Fail("format-version is below 1");
  if (metadata.format_version > 3) {
    return NotSupported("Iceberg format version {} is not supported: versions 1 to 3 are", metadata.format_version);
  }
  metadata.table_uuid = DELENDA_TRY(root.Optional<std::string>("table-uuid"))
  .value_or("");
  metadata.location = DELENDA_TRY(root.Get<std::string>("location"));
  metadata.last_sequence_number = DELENDA_TRY(root.Optional<int64_t>("last-sequence-number"))
  .value_or(0);
  metadata.last_updated_ms = DELENDA_TRY(root.Get<int64_t>("last-updated-ms"));
  metadata.last_column_id = DELENDA_TRY(root.Get<int32_t>("last-column-id"));
  metadata.next_row_id = DELENDA_TRY(root.Optional<int64_t>("next-row-id"));
  metadata.properties = DELENDA_TRY(StringMap(root, "properties"));
  DELENDA_TRY(ParseSchemas(root, metadata));
  DELENDA_TRY(ParseSpecs(root, metadata));
  DELENDA_TRY(ParseHistory(root, metadata));
  DELENDA_TRY(ParseKept(root, metadata));
  return metadata;
}

std::map<int32_t, BoundSpec> BindSpecs(const TableMetadata& metadata, const Schema& schema) {
  std::map<int32_t, BoundSpec> specs;
  for (const auto& spec : metadata.specs) {
    BoundSpec bound = BoundSpec::Make(spec, schema);
    for (auto newest = metadata.schemas.rbegin(); newest != metadata.schemas.rend(); ++newest) {
      const BoundSpec other = BoundSpec::Make(spec, *newest);
      for (size_t i = 0; i < bound.source_types.size(); ++i) {
        if (bound.source_types[i].kind() != TypeKind::kUnknown) continue;
        bound.source_types[i] = other.source_types[i];
        bound.result_types[i] = other.result_types[i];
      }
    }
    specs.emplace(spec.spec_id, std::move(bound));
  }
  return specs;
}

const Schema& TableMetadata::CurrentSchema() const { return *FindSchema(current_schema_id); }

const Schema* TableMetadata::FindSchema(int32_t schema_id) const {
  const auto found = std::ranges::find(schemas, schema_id, &Schema::id);
  return found == schemas.end() ? nullptr : &*found;
}

const PartitionSpec* TableMetadata::FindSpec(int32_t spec_id) const {
  const auto found = std::ranges::find(specs, spec_id, &PartitionSpec::spec_id);
  return found == specs.end() ? nullptr : &*found;
}

const Snapshot* TableMetadata::FindSnapshot(int64_t snapshot_id) const {
  const auto found = std::ranges::find(snapshots, snapshot_id, &Snapshot::snapshot_id);
  return found == snapshots.end() ? nullptr : &*found;
}

}  // namespace delenda::iceberg
