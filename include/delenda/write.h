// Changing a table's rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delenda/result.h"
#include "delenda/scan.h"
#include "delenda/table.h"

namespace delenda {

class KeyPositionResolver;  // delenda/delta_writer.h

// What a change did. Counts are exact, those of a dry run what it would do now.
struct ChangeReport {
  bool is_dry_run = false;
  std::optional<int64_t> snapshot_id = {};  // not set: there was nothing to change, or a dry run
  uint64_t rows_added = 0;                  // rows that are new; those of updates are not among them
  uint64_t rows_deleted = 0;                // nor are they among these
  uint64_t rows_updated = 0;
  uint64_t files_added = 0;             // data files
  uint64_t files_dropped = 0;           // data files of which no live row is left
  uint64_t files_changed = 0;           // data files that got a new deletion vector
  uint64_t files_merged = 0;            // of these: whose vector holds what other writers deleted meanwhile, too
  uint64_t bytes_added = 0;             // of data files
  uint64_t rows_converted = 0;          // that delete files deleted and deletion vectors delete now
  uint64_t delete_files_converted = 0;  // that deletion vectors took the place of
  uint64_t delete_files_added = 0;      // equality deletes, by DeltaFallback::kCommitEqualityDeletes
  uint64_t attempts = 1;                // of the commit: more than 1 when other writers were faster
  uint64_t looked_again = 0;            // how often the rows were looked for again, since others had changed them
};

struct DeleteRequest {
  std::string where = {};  // which rows, as in ScanOptions; empty: all
  std::string branch = "main";
  bool dry_run = false;
};

// Rows in files that are told apart by some of their columns. The files are Parquet, Arrow IPC, CSV (with a header
// line; all texts are parsed) or JSON lines; "-" is standard input. Columns are matched by name.
struct KeyedRowsRequest {
  std::vector<std::string> files = {};  // in order
  std::string format = {};              // of all files: parquet, arrow, csv, jsonl; empty: as each name's end says
  // Columns of the table and of the files, not nested and not float or double; empty: the table's identifier fields
  // (DeleteKeysRequest: all columns of the files). Two rows have the same key if all of
  // them are equal; NULL equals NULL.
  std::vector<std::string> key = {};
  bool ignore_unknown_columns = false;  // else a column that neither the table has nor a condition names is an error
  // Bytes that rows and keys may take; more go to files without a name in `temp_folder` (empty: TMPDIR, else /tmp).
  uint64_t memory = uint64_t{256} << 20;
  std::string temp_folder = {};
  std::string branch = "main";
  bool dry_run = false;  // read and check every row, change nothing
};

struct DeleteKeysRequest {
  // Empty key: all columns of the files. Other columns than the key are ignored.
  KeyedRowsRequest rows = {};
};

// How an upsert finds and replaces the rows of the table. The rows are the same afterwards.
enum class UpsertVia : uint8_t {
  kPositions,  // looks for the keys, then writes: row ids are kept, reports tell updates from inserts
  // Writes first, as streams do (delenda/delta_writer.h), and looks for the keys in the commit. Rows are written once,
  // however often others come between; they get new row ids, and an update is a deleted row and an added one.
  kEqualityDeletes,
};

// What happens when other writers were faster in all tries of a commit by key.
enum class DeltaFallback : uint8_t {
  // It fails; nothing is lost, and it may be tried again.
  kAbort,
  // Equality deletes are committed, which always works: readers apply them, slowly, until WritableTable::Convert. Only
  // where the table has an unpartitioned spec, or the key all columns of every partition field.
  kCommitEqualityDeletes,
};

struct UpsertRequest {
  KeyedRowsRequest rows = {};
  // Rows of the files for which this filter is true only delete. It looks at columns of the table and others of the
  // files (which are texts in CSV and JSON lines). Empty: none.
  std::string delete_when = {};
  bool strict = false;  // a key that is there twice, in the files or in the table, is an error; via positions only
  UpsertVia via = UpsertVia::kPositions;
  // Via equality deletes only: CommitDeltasRequest::most_tries, and what is done after them.
  uint64_t most_tries = 50;
  DeltaFallback fallback = DeltaFallback::kAbort;
};

// Clauses apply to a row in this order, the first whose condition holds; conditions and values see the table's columns
// by their names, and those of the files as source.NAME.
struct MergeRequest {
  KeyedRowsRequest rows = {};
  std::string matched_delete = {};  // condition; empty: no row is deleted
  // Columns of rows with a key of the files, and their values as UpdateRequest::set. `matched_update_all`: all columns
  // get the files' values; those in `matched_update` get theirs.
  std::vector<std::pair<std::string, std::string>> matched_update = {};
  bool matched_update_all = false;
  std::string matched_update_when = {};  // condition; empty: all
  // Condition (it sees source.NAME only) for rows of the files whose key the table lacks; empty: all. Not set: none is
  // inserted.
  std::optional<std::string> not_matched_insert = {};
};

struct AppendRequest {
  // Parquet, Arrow IPC, CSV (with a header line; all texts are parsed) or JSON lines; "-" is standard input. Columns
  // are matched by name.
  std::vector<std::string> files = {};
  std::string format = {};              // of all files: parquet, arrow, csv, jsonl; empty: as each name's end says
  bool ignore_unknown_columns = false;  // else a column that the table lacks is an error
  std::string branch = "main";
  bool dry_run = false;  // read and check every row, write nothing
};

struct UpdateRequest {
  // Column and value: a literal (12, 1.50, 'text', TRUE, NULL, DATE '2024-02-29', TIMESTAMP '...'), a column, or these
  // joined by + - * / || and parentheses. All are computed from the old row. Nothing is rounded or cut: what does not
  // fit is an error.
  std::vector<std::pair<std::string, std::string>> set = {};
  std::string where = {};  // which rows, as in ScanOptions; empty: all
  std::string branch = "main";
  bool dry_run = false;
};

struct UpgradeRequest {
  int32_t format_version = 3;  // 3 or 2
  bool dry_run = false;
};

struct UpgradeReport {
  bool is_dry_run = false;
  int32_t from = 0, to = 0;  // format versions; equal: the table had it already, and nothing was changed
  std::string metadata_path = {};
  uint64_t attempts = 1;
};

struct CreateRequest {
  // The columns, by one of these. `like`: those of a Parquet, Arrow IPC or JSON lines file (by the end of its name);
  // JSON has long, double, boolean, string, structs and lists only. `schema_json`: a schema as Iceberg's metadata has
  // it. `columns`: "id long NOT NULL, region string, tags list<string>, price decimal(9, 2) DEFAULT 0".
  // Field ids are new ones in any case.
  std::string like = {};
  std::string schema_json = {};
  std::string columns = {};
  // "bucket(16, id), day(ts), region"; empty: not partitioned. Also truncate(N, c), year, month, hour and void.
  std::string partition_by = {};
  // Identifier fields. With `columns` and `like` they become required; a schema must say so itself.
  std::vector<std::string> key = {};
  std::map<std::string, std::string> properties = {};
  // Where the files go; empty: where the catalog puts them. A table that is named by its folder lies in it.
  std::string location = {};
  int32_t format_version = 3;  // or 2
  bool if_not_exists = false;  // a table that exists is no error, and stays as it is
  bool dry_run = false;
};

// The table that was made, or was there.
struct CreateReport {
  struct Column {
    int32_t id = 0;
    std::string name;
    std::string type;
    bool required = false;
    bool is_key = false;
  };
  struct PartitionField {
    int32_t id = 0;
    std::string name;
    std::string transform;
    std::string column;
  };

  bool is_dry_run = false;
  bool created = false;  // false: it existed, or a dry run
  std::string location = {};
  std::string metadata_path = {};  // empty for a dry run
  std::string uuid = {};
  int32_t format_version = 0;
  std::vector<Column> columns = {};
  std::vector<PartitionField> partitioning = {};
  std::map<std::string, std::string> properties = {};
};

// Makes a table without rows: in the folder `location`, or "catalog.namespace.table" in a catalog.
//
// EXAMPLE  auto made = delenda::CreateTable("lake.sales.orders", {.columns = "id long NOT NULL, ts timestamptz",
//                                                                 .partition_by = "day(ts)", .key = {"id"}});
//
// AlreadyExists; InvalidArgument: columns, partitions, keys or properties that no table can have (the message says
// which); NotFound: an unknown column or catalog; errors of storage.
Result<CreateReport> CreateTable(std::string_view location, const CreateRequest& request, OpenOptions options = {});

struct ConvertRequest {
  std::string branch = "main";
  bool position_deletes = false;  // position delete files too, not only equality deletes
  bool dry_run = false;
  const KeyPositionResolver* resolver = nullptr;  // finds the rows of keys; null: a scan of the key columns
};

// A table to write to. Every change is one snapshot, on top of whatever the table is by then: others may write at the
// same time, and rows that they change are never lost. Not thread-safe: use one object for each thread.
//
// EXAMPLE  auto table = delenda::WritableTable::Open("warehouse/orders");
//          if (!table) return Fail(table.error());
//          auto report = table->Delete({.where = "order_id = 7"});
//          if (!report) return Fail(report.error());   // nothing was changed (but see kCommitStateUnknown)
class WritableTable {
 public:
  // The folder of a table without catalog, or "catalog.namespace.table". InvalidArgument for a metadata file: that is
  // one version of a table, which never changes.
  static Result<WritableTable> Open(std::string_view location, OpenOptions options = {});

  WritableTable(WritableTable&&) noexcept;
  WritableTable& operator=(WritableTable&&) noexcept;
  ~WritableTable();

  // Deletes rows. Errors: those of Table::Scan; NotSupported below format version 3; CommitConflict when others were
  // faster again and again; CommitStateUnknown when it can't be told whether the commit happened.
  Result<ChangeReport> Delete(const DeleteRequest& request);

  // Adds rows: all files in one snapshot. InvalidArgument, before anything is committed: rows that do not fit the
  // table's columns (the error says file, column, row and value). Other errors as Delete, but version 2 is no
  // hindrance.
  Result<ChangeReport> Append(const AppendRequest& request);

  // Gives rows new values; they keep their _row_id. NotFound for an unknown column; InvalidArgument for a value that
  // can't be computed or does not fit. Other errors as Delete.
  Result<ChangeReport> Update(const UpdateRequest& request);

  // Deletes the rows whose keys are in files. Errors: those of Append for the files and of Delete; NotFound,
  // InvalidArgument for a key column.
  Result<ChangeReport> DeleteKeys(const DeleteKeysRequest& request);

  // Rows of files replace those with the same key, which keep their _row_id, or are inserted; of several rows of the
  // files with one key the last one counts. A key never gets two rows, whatever others write meanwhile. Errors: those
  // of DeleteKeys and of filters; ValidationFailed: strict, and a key with several rows in the table.
  Result<ChangeReport> Upsert(const UpsertRequest& request);

  // Rows of files update or delete those with the same key, or are inserted. InvalidArgument: two rows of the files
  // with one key. Other errors as Upsert and Update.
  Result<ChangeReport> Merge(const MergeRequest& request);

  // Makes the table one of a higher format version, without a snapshot. InvalidArgument: a lower one. CommitConflict,
  // CommitStateUnknown as Delete.
  Result<UpgradeReport> Upgrade(const UpgradeRequest& request = {});

  // Turns the equality deletes of a branch into deletion vectors, which every reader applies faster, and removes them
  // in the same snapshot. No row changes. Errors as Delete; ValidationFailed: a data file that may hold one of their
  // rows has position delete files, which are to be converted too.
  Result<ChangeReport> Convert(const ConvertRequest& request);

  const std::string& location() const;  // as the metadata says it
  // What was asked of storage since Open began.
  IoStats Io() const;

  class Impl;  // private to the library
  Impl& impl() { return *impl_; }

 private:
  explicit WritableTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace delenda
