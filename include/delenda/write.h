// Changing a table's rows.
#pragma once

#include <cstddef>
#include <cstdint>
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

// What a change did. Counts are exact, those of a dry run what it would do now.
struct ChangeReport {
  bool is_dry_run = false;
  std::optional<int64_t> snapshot_id = {};  // not set: there was nothing to change, or a dry run
  uint64_t rows_added = 0;
  uint64_t rows_deleted = 0;
  uint64_t rows_updated = 0;
  uint64_t files_added = 0;    // data files
  uint64_t files_dropped = 0;  // data files of which no live row is left
  uint64_t files_changed = 0;  // data files that got a new deletion vector
  uint64_t bytes_added = 0;    // of data files
  uint64_t attempts = 1;       // of the commit: more than 1 when other writers were faster
  uint64_t looked_again = 0;   // how often the rows were looked for again, since others had changed them
};

struct DeleteRequest {
  std::string where = {};  // which rows, as in ScanOptions; empty: all
  std::string branch = "main";
  bool dry_run = false;
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

  const std::string& location() const;  // as the metadata says it
  // What was asked of storage since Open began.
  IoStats Io() const;

  class Impl;  // private to the library

 private:
  explicit WritableTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace delenda
