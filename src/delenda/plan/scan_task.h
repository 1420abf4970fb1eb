// What a scan will read: data files, each with the deletes that apply to it. Values only; the same for every table
// format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delenda/model/content_file.h"
#include "delenda/model/expression.h"
#include "delenda/model/name_mapping.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::plan {

// A column of the result: a field of the table's schema, or one that the reader makes.
struct OutputColumn {
  enum class Kind : uint8_t {
    kField,     // `field`
    kFilePath,  // _file: location of the data file, as in the metadata (string, required)
    kPosition,  // _pos: 0-based ordinal of the row in its data file, all row groups counted (long, required)
    // Row lineage (spec, "Row Lineage"): what the file stores for a row, else what the metadata gives it.
    kRowId,        // _row_id: first row id of the file + position; NULL where the file has none (long)
    kLastUpdated,  // _last_updated_sequence_number: data sequence number of the file (long)
    kSpecId,       // _spec_id: partition spec of the data file (int, required)
    kPartition,    // _partition: values of all specs' partition fields, NULL where the file's spec lacks one (struct)
    kDeleted,      // _deleted: the row is deleted; with this column deleted rows are returned too (boolean, required)
    // What happened to a row. The reader of changes adds these to the columns of the plan, which never holds them.
    kChangeType,        // _change_type: INSERT or DELETE (string, required)
    kChangeOrdinal,     // _change_ordinal: of the snapshot in the range, from 0 (int, required)
    kCommitSnapshotId,  // _commit_snapshot_id (long, required)
    kCommitTimestamp,   // _commit_timestamp: of the snapshot (timestamptz, required)
  };
  Kind kind = Kind::kField;
  // For metadata columns: name and type of the column, with Iceberg's reserved field id (-1: it has none).
  Field field;
};

// One data file, or a byte range of it, and what is deleted from it.
//
// EXAMPLE  snapshot 2 appended a.parquet (100 rows, sequence number 1); snapshot 3 deleted rows 7 and 9 with a deletion
// vector in d.puffin.
//          A scan of snapshot 3 plans {file: a.parquet, dv: 0}, deletes[0] = {d.puffin, content_offset 4, record_count
//          2}; one of snapshot 2 plans {file: a.parquet} alone.
struct FileTask {
  ContentFile file;
  std::optional<uint32_t> dv;              // index into ScanPlan::deletes; never together with position_deletes
  std::vector<uint32_t> position_deletes;  // indexes into ScanPlan::deletes
  std::vector<uint32_t> equality_deletes;  // indexes into ScanPlan::deletes
  ExprRef residual;                        // never null; what is left of the filter for this file's partition
  // The row groups whose first byte lies in [start, start + length). A whole file: 0, file_size.
  uint64_t start = 0;
  uint64_t length = 0;
};

// What planning looked at; for --stats, tests and reports.
struct PlanMetrics {
  uint64_t data_manifests = 0, data_manifests_read = 0;
  uint64_t delete_manifests = 0, delete_manifests_read = 0;
  uint64_t data_files_live = 0;    // live entries of the data manifests that were read
  uint64_t data_files_pruned = 0;  // of these, decided by partition values or bounds
  uint64_t delete_files_live = 0;
};

// A field that equality deletes match by. It may have left the schema since: a delete outlives the column.
struct KeyField {
  Field column;               // the top-level column that it lies in, with the newest schema's type
  std::vector<int32_t> path;  // field ids from `column` down to the key, through structs only
  Type type;                  // of the key
};

struct ScanPlan {
  std::optional<int64_t> snapshot_id;  // empty table: none, and no tasks
  Schema schema;                       // the snapshot's schema; filters are bound to it
  std::map<int32_t, BoundSpec> specs;  // by spec id; those of the tasks' files are present
  std::vector<OutputColumn> columns;
  ExprRef filter;                           // the whole filter, bound
  std::map<int32_t, KeyField> key_fields;   // by field id: the keys of all equality deletes in `deletes`
  std::optional<NameMapping> name_mapping;  // the table's, for files without field ids
  std::vector<ContentFile> deletes;         // each delete file or DV once, however many tasks refer to it
  std::vector<FileTask> tasks;              // in the order of the manifests
  PlanMetrics metrics;
  std::vector<std::string> warnings;
};

}  // namespace delenda::plan
