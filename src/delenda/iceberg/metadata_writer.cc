#include "delenda/iceberg/metadata_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "delenda/formats/json/json.h"
#include "delenda/formats/json/writer.h"
#include "delenda/iceberg/schema_json.h"

namespace delenda::iceberg {
namespace {

bool SameSpec(const PartitionSpec& a, const PartitionSpec& b) {
  return a.spec_id == b.spec_id && std::ranges::equal(a.fields, b.fields, [](const auto& x, const auto& y) {
           return x.source_id == y.source_id && x.field_id == y.field_id && x.name == y.name &&
                  x.transform == y.transform;
         });
}

bool SameSchema(const Schema& a, const Schema& b) {
  return a.id() == b.id() && a.fields() == b.fields() && a.identifier_ids() == b.identifier_ids();
}

// The text that was read, if it still says what is to be written.
template <typename T>
const std::string* KeptText(const std::map<int32_t, std::string>& texts, int32_t id, const T& value,
                            Result<T> (*parse)(const json::Value&), bool (*same)(const T&, const T&)) {
  const auto found = texts.find(id);
  if (found == texts.end()) return nullptr;
  const auto document = json::Document::Parse(found->second);
  if (!document) return nullptr;
  const auto parsed = parse(document->root());
  return parsed && same(*parsed, value) ? &found->second : nullptr;
}

Result<void> CheckSnapshot(const TableMetadata& metadata, const Snapshot& snapshot) {
  if (snapshot.manifest_list.empty()) {
    return NotSupported("snapshot {} has no manifest list (version 1): it can't be written", snapshot.snapshot_id);
  }
  if (snapshot.sequence_number > metadata.last_sequence_number) {
    return InvalidArgument("snapshot {} has sequence number {}, the table's last one is {}", snapshot.snapshot_id,
                           snapshot.sequence_number, metadata.last_sequence_number);
  }
  if (snapshot.first_row_id.has_value() != snapshot.added_rows.has_value()) {
    return InvalidArgument("snapshot {} has first-row-id or added-rows, but not both", snapshot.snapshot_id);
  }
  int64_t end = 0;
  // Row ids of this snapshot that are above next-row-id would be given out again.
  if (snapshot.first_row_id && (*snapshot.first_row_id < 0 || *snapshot.added_rows < 0 ||
                                __builtin_add_overflow(*snapshot.first_row_id, *snapshot.added_rows, &end) ||
                                end > metadata.next_row_id.value_or(0))) {
    return InvalidArgument("snapshot {} has row ids from {} on for {} rows, the table's next one is {}",
                           snapshot.snapshot_id, *snapshot.first_row_id, *snapshot.added_rows,
                           metadata.next_row_id.value_or(0));
  }
  return {};
}

Result<void> CheckMetadata(const TableMetadata& metadata) {
  if (metadata.format_version != 2 && metadata.format_version != 3) {
    return NotSupported("metadata of format version {} is not written: versions 2 and 3 are", metadata.format_version);
  }
  if (metadata.table_uuid.empty() || metadata.location.empty())
    return InvalidArgument("a table needs uuid and location");
  if (metadata.FindSchema(metadata.current_schema_id) == nullptr)
    return InvalidArgument("there is no schema {}", metadata.current_schema_id);
  if (metadata.FindSpec(metadata.default_spec_id) == nullptr)
    return InvalidArgument("there is no partition spec {}", metadata.default_spec_id);
  if (metadata.format_version >= 3 && !metadata.next_row_id) return InvalidArgument("version 3 needs next-row-id");
  for (const Snapshot& snapshot : metadata.snapshots) DELENDA_TRY(CheckSnapshot(metadata, snapshot));
  for (const auto& [name, ref] : metadata.refs) {
    if (metadata.FindSnapshot(ref.snapshot_id) == nullptr)
      return InvalidArgument("{} '{}' names snapshot {}, which there is not", ref.is_branch ? "branch" : "tag", name,
                             ref.snapshot_id);
  }
  const auto main = metadata.refs.find("main");
  const bool has_main = main != metadata.refs.end();
  if (has_main != metadata.current_snapshot_id.has_value() ||
      (has_main && main->second.snapshot_id != *metadata.current_snapshot_id)) {
    return InvalidArgument("branch main and current-snapshot-id differ");
  }
  for (const auto& [name, json] : metadata.other_members) {
    if (name == "encryption-keys" && json != "[]" && json != "null")
      return NotSupported("the table has encryption keys: encrypted tables can't be written");
  }
  return {};
}

class MetadataWriter {
 public:
  explicit MetadataWriter(const TableMetadata& metadata) : metadata_(metadata) {}

  Result<std::string> Write() {
    const auto& m = metadata_;
    out_.BeginObject().Member("format-version", m.format_version);
    Text("table-uuid", m.table_uuid);
    Text("location", m.location);
    out_.Member("last-sequence-number", m.last_sequence_number).Member("last-updated-ms", m.last_updated_ms);
    out_.Member("last-column-id", m.last_column_id);
    DELENDA_TRY(WriteSchemas());
    DELENDA_TRY(WriteSpecs());
    WriteSortOrders();
    StringMap("properties", m.properties, nullptr);
    out_.Key("current-snapshot-id");
    if (m.current_snapshot_id) {
      out_.Int(*m.current_snapshot_id);
    } else if (m.format_version >= 3) {
      out_.Null();
    } else {
      out_.Int(-1);  // what readers of version 2 expect
    }
    if (m.format_version >= 3) out_.Member("next-row-id", *m.next_row_id);
    WriteRefs();
    out_.Key("snapshots").BeginArray();
    for (const Snapshot& snapshot : m.snapshots) WriteSnapshot(snapshot);
    out_.EndArray();
    WriteStatistics("statistics", m.statistics);
    WriteStatistics("partition-statistics", m.partition_statistics);
    WriteLogs();
    for (const auto& [name, json] : m.other_members) {
      CheckText(name);
      out_.Key(name).Raw(json);
    }
    out_.EndObject();
    if (!bad_text_.empty()) return InvalidArgument("{} is no valid UTF-8", bad_text_);
    return std::move(out_).Finish();
  }

 private:
  // The JSON writer would replace bytes that are no UTF-8, and a path be another one.
  void CheckText(std::string_view text) {
    if (!IsValidUtf8(text) && bad_text_.empty()) bad_text_ = "a text of the metadata";
  }
  void Text(const char* key, const std::string& value) {
    if (!IsValidUtf8(value) && bad_text_.empty()) bad_text_ = key;
    out_.Member(key, std::string_view(value));
  }

  void StringMap(const char* key, const std::map<std::string, std::string>& map, const std::string* operation) {
    out_.Key(key).BeginObject();
    if (operation != nullptr) Text("operation", *operation);
    for (const auto& [name, value] : map) {
      CheckText(name);
      CheckText(value);
      out_.Member(name, std::string_view(value));
    }
    out_.EndObject();
  }

  Result<void> WriteSchemas() {
    out_.Member("current-schema-id", metadata_.current_schema_id).Key("schemas").BeginArray();
    for (const Schema& schema : metadata_.schemas) {
      if (const auto* text =
              KeptText<Schema>(metadata_.as_read.schemas, schema.id(), schema, SchemaFromJson, SameSchema)) {
        out_.Raw(*text);
      } else {
        DELENDA_TRY(SchemaToJson(schema, out_));
      }
    }
    out_.EndArray();
    return {};
  }

  Result<void> WriteSpecs() {
    out_.Member("default-spec-id", metadata_.default_spec_id).Key("partition-specs").BeginArray();
    for (const PartitionSpec& spec : metadata_.specs) {
      if (const auto* text =
              KeptText<PartitionSpec>(metadata_.as_read.specs, spec.spec_id, spec, PartitionSpecFromJson, SameSpec)) {
        out_.Raw(*text);
      } else {
        DELENDA_TRY(PartitionSpecToJson(spec, out_));
      }
    }
    out_.EndArray().Member("last-partition-id", metadata_.last_partition_id);
    return {};
  }

  void WriteSortOrders() {
    out_.Member("default-sort-order-id", metadata_.default_sort_order_id).Key("sort-orders").BeginArray();
    for (const SortOrder& order : metadata_.sort_orders) out_.Raw(order.json);
    // Required; every table has at least this one.
    if (metadata_.sort_orders.empty()) out_.Raw(R"({"order-id":0,"fields":[]})");
    out_.EndArray();
  }

  void WriteRefs() {
    out_.Key("refs").BeginObject();
    for (const auto& [name, ref] : metadata_.refs) {
      CheckText(name);
      out_.Key(name).BeginObject().Member("snapshot-id", ref.snapshot_id);
      out_.Member("type", ref.is_branch ? "branch" : "tag");
      if (ref.min_snapshots_to_keep) out_.Member("min-snapshots-to-keep", *ref.min_snapshots_to_keep);
      if (ref.max_snapshot_age_ms) out_.Member("max-snapshot-age-ms", *ref.max_snapshot_age_ms);
      if (ref.max_ref_age_ms) out_.Member("max-ref-age-ms", *ref.max_ref_age_ms);
      out_.EndObject();
    }
    out_.EndObject();
  }

  void WriteSnapshot(const Snapshot& snapshot) {
    out_.BeginObject();
    // Snapshots that version 1 wrote have none.
    if (snapshot.sequence_number > 0) out_.Member("sequence-number", snapshot.sequence_number);
    out_.Member("snapshot-id", snapshot.snapshot_id);
    if (snapshot.parent_id) out_.Member("parent-snapshot-id", *snapshot.parent_id);
    out_.Member("timestamp-ms", snapshot.timestamp_ms);
    if (!snapshot.operation.empty()) {
      StringMap("summary", snapshot.summary, &snapshot.operation);
    } else if (!snapshot.summary.empty()) {
      StringMap("summary", snapshot.summary, nullptr);
    }
    Text("manifest-list", snapshot.manifest_list);
    if (snapshot.schema_id) out_.Member("schema-id", *snapshot.schema_id);
    if (snapshot.first_row_id) {
      out_.Member("first-row-id", *snapshot.first_row_id).Member("added-rows", *snapshot.added_rows);
    }
    out_.EndObject();
  }

  void WriteStatistics(const char* key, const std::vector<StatisticsFile>& files) {
    out_.Key(key).BeginArray();
    for (const StatisticsFile& file : files) out_.Raw(file.json);
    out_.EndArray();
  }

  void WriteLogs() {
    out_.Key("snapshot-log").BeginArray();
    for (const SnapshotLogEntry& entry : metadata_.snapshot_log) {
      out_.BeginObject()
          .Member("timestamp-ms", entry.timestamp_ms)
          .Member("snapshot-id", entry.snapshot_id)
          .EndObject();
    }
    out_.EndArray().Key("metadata-log").BeginArray();
    for (const MetadataLogEntry& entry : metadata_.metadata_log) {
      out_.BeginObject().Member("timestamp-ms", entry.timestamp_ms);
      Text("metadata-file", entry.metadata_file);
      out_.EndObject();
    }
    out_.EndArray();
  }

  const TableMetadata& metadata_;
  json::Writer out_;
  std::string bad_text_;
};

}  // namespace

Result<std::string> TableMetadataToJson(const TableMetadata& metadata) {
  DELENDA_TRY(CheckMetadata(metadata));
  return MetadataWriter(metadata).Write();
}

}  // namespace delenda::iceberg
