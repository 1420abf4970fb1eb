// The metadata file of an Iceberg table (spec, "Table Metadata"), format versions 1 to 3.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::iceberg {

// spec, "Snapshots"
struct Snapshot {
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_id;
  int64_t sequence_number = 0;  // 0 in format version 1
  int64_t timestamp_ms = 0;
  std::string operation;  // "append", "replace", "overwrite", "delete"; empty in old version 1 tables
  std::map<std::string, std::string> summary;  // without "operation"
  std::string manifest_list;                   // empty: `manifests` holds the paths (version 1 only)
  std::vector<std::string> manifests;
  std::optional<int32_t> schema_id;
  std::optional<int64_t> first_row_id;  // version 3
  std::optional<int64_t> added_rows;    // version 3
};

// spec, "Snapshot References"
struct SnapshotRef {
  int64_t snapshot_id = 0;
  bool is_branch = true;
  std::optional<int32_t> min_snapshots_to_keep = std::nullopt;
  std::optional<int64_t> max_snapshot_age_ms = std::nullopt;
  std::optional<int64_t> max_ref_age_ms = std::nullopt;
};

struct SnapshotLogEntry {
  int64_t timestamp_ms = 0;
  int64_t snapshot_id = 0;
};

struct MetadataLogEntry {
  int64_t timestamp_ms = 0;
  std::string metadata_file;
};

// spec, "Sorting". Only kept: what it says of the order of rows is not used.
struct SortOrder {
  int32_t order_id = 0;
  std::string json;  // the whole object
};

// spec, "Table Statistics", "Partition Statistics". Only kept, and found by the snapshot that they are of.
struct StatisticsFile {
  int64_t snapshot_id = 0;
  std::string path;
  std::string json;  // the whole object
};

struct TableMetadata {
  int32_t format_version = 0;
  std::string table_uuid;
  std::string location;
  int64_t last_sequence_number = 0;
  int64_t last_updated_ms = 0;
  int32_t last_column_id = 0;
  std::vector<Schema> schemas;
  int32_t current_schema_id = 0;
  std::vector<PartitionSpec> specs;
  int32_t default_spec_id = 0;
  int32_t last_partition_id = 999;  // highest partition field id that was ever given
  std::vector<SortOrder> sort_orders;
  int32_t default_sort_order_id = 0;
  std::map<std::string, std::string> properties;
  std::optional<int64_t> current_snapshot_id;
  std::vector<Snapshot> snapshots;
  std::vector<SnapshotLogEntry> snapshot_log;
  std::map<std::string, SnapshotRef> refs;  // "main" is present whenever there is a current snapshot
  std::optional<int64_t> next_row_id;       // version 3
  std::vector<StatisticsFile> statistics, partition_statistics;
  std::vector<MetadataLogEntry> metadata_log;
  // Members of the file that none of the above holds: name and JSON text, in the order of the file.
  std::vector<std::pair<std::string, std::string>> other_members;

  // JSON texts by id, as they were read. They may hold what Schema and PartitionSpec do not (free texts, members of
  // later versions) and a rewrite must keep. Schemas and specs never change under one id.
  struct Texts {
    std::map<int32_t, std::string> schemas, specs;
  };
  Texts as_read;

  // Corrupt for JSON that breaks the spec (the message holds the JSON path); NotSupported for a format version above 3
  // or an encrypted table. `bytes` may be gzip (found by its magic, not by the name).
  static Result<TableMetadata> Parse(ByteView bytes);

  const Schema& CurrentSchema() const;
  const Schema* FindSchema(int32_t schema_id) const;
  const PartitionSpec* FindSpec(int32_t spec_id) const;
  const Snapshot* FindSnapshot(int64_t snapshot_id) const;
};

// The table's partition specs, by id, with the types of their values when the table is read with `schema`. Source
// columns that it has dropped have the types of the newest schema that still has them.
std::map<int32_t, BoundSpec> BindSpecs(const TableMetadata& metadata, const Schema& schema);

// Which state of the table: at most one of these is set; none: the current snapshot.
struct SnapshotSelector {
  std::optional<int64_t> snapshot_id = std::nullopt;
  std::optional<std::string> ref = std::nullopt;  // branch or tag
  std::optional<int64_t> as_of_ms =
      std::nullopt;  // the state that was current at this time (milliseconds since 1970, UTC)
};

struct SelectedSnapshot {
  const Snapshot* snapshot = nullptr;  // null: the table has no snapshot, so no rows
  const Schema* schema = nullptr;
};

// The snapshot and the schema to read it with: the snapshot's own for an id, a tag or a time, the table's current one
// for a branch and for the current state (as the reference implementation does). NotFound names what there is;
// InvalidArgument if several are set.
Result<SelectedSnapshot> SelectSnapshot(const TableMetadata& metadata, const SnapshotSelector& selector);

}  // namespace delenda::iceberg
