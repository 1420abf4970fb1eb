// A table: the way in to everything that delenda does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/changes.h"
#include "delenda/deletion_vector.h"
#include "delenda/hooks.h"
#include "delenda/inspect.h"
#include "delenda/result.h"
#include "delenda/rows.h"
#include "delenda/scan.h"
#include "delenda/verify.h"

namespace delenda {

// Files whose location in the metadata is `from`, or lies below it, are now at the same place below `to`.
struct LocationMapping {
  std::string from = {};
  std::string to = {};
};

// "FROM=TO", cut at the first '='. InvalidArgument when a side is empty.
Result<LocationMapping> ParseLocationMapping(std::string_view text);

struct OpenOptions {
  std::vector<LocationMapping> mappings = {};
  size_t threads = 0;  // for planning and reading; 0: one per hardware thread
  Hooks hooks = {};    // warnings go to `hooks.log`
  // TOML file that says which catalogs there are. Not set: the file that the environment variable DELENDA_CONFIG names,
  // else ~/.delenda.toml if it exists. Variables DELENDA_CATALOG__NAME__URI, __TYPE, __WAREHOUSE come on top.
  std::optional<std::string> config = {};
};

// One version of a table's metadata, read when it was opened: commits of others show only in a table opened later.
// Copies share everything. Thread-safe.
//
// EXAMPLE  auto table = delenda::Table::Open("warehouse/orders");
//          if (!table) return Fail(table.error());
//          auto rows = table->Scan({.columns = {{"id", "amount"}}, .where = "region = 'eu'"});
//          if (!rows) return Fail(rows.error());
//          auto count = delenda::WriteRows(*rows, {}, [](std::string_view text) -> delenda::Result<void> {
//            std::fwrite(text.data(), 1, text.size(), stdout);
//            return {};
//          });
//          // {"id": 1, "amount": "12.50"} ...: rows that were deleted are not among them.
class Table {
 public:
  // An Iceberg table (format version 1, 2 or 3): its folder, one of its metadata files (*.metadata.json), or the name
  // "catalog.namespace.table" of a table in a catalog, unless a file or folder has that name.
  // NotFound if there is no table, or no such catalog; Corrupt for broken metadata; NotSupported for a format version
  // above 3.
  static Result<Table> Open(std::string_view location, OpenOptions options = {});

  std::string_view format() const;  // "iceberg"
  int32_t format_version() const;
  const std::string& location() const;       // as the metadata says it
  const std::string& metadata_path() const;  // the metadata file that was read
  const std::string& uuid() const;           // empty in old version 1 tables
  std::optional<int64_t> current_snapshot_id() const;

  // The live rows. NotFound for an unknown snapshot, branch, tag or column; InvalidArgument for a bad filter;
  // NotSupported, before any row, for files that this version cannot read; Corrupt when metadata contradicts itself.
  // What is wrong with the files themselves comes as an error of the stream.
  Result<RowStream> Scan(const ScanOptions& options = {}) const;

  // The number of rows that Scan would return, from metadata alone wherever that is exact: every delete of a file is a
  // deletion vector, and partition values decide the filter. Other files are read.
  Result<CountInfo> Count(const ScanOptions& options = {}) const;

  // The files that Scan would read, with their deletes.
  Result<PlanInfo> Plan(const ScanOptions& options = {}) const;
  // The same as a JSON document {"version", "snapshotId", ..., "deleteFiles": [...], "dataFiles": [...]}: each delete
  // file once, data files refer to them by index. It holds all that reading needs: Shard::Parse takes it.
  Result<std::string> PlanJson(const ScanOptions& options = {}) const;
  // The scan cut into `count` parts of about equal bytes, each such a document of one line, for workers to read (see
  // delenda/shard.h). Together they give the rows of Scan, without `limit` and `ordered`; some are empty when there are
  // fewer files (or parts of files, by `split_size`) than shards. InvalidArgument for no shards or more than 65,536.
  Result<std::vector<std::string>> Shards(const ScanOptions& options, size_t count) const;

  // What the snapshots of a range inserted, deleted and updated: the columns asked for, then those that tell of the
  // change (ChangeDialect). By snapshot, oldest first; in one, deletes come before updates and these before inserts; an
  // update is two rows, its image before and directly behind it the one after.
  //
  // Errors as PlanChanges, before any row, and as Scan. InvalidArgument: key columns that the table lacks; net changes
  // of rows that have neither lineage nor key; ChangeDialect::kDelta for a snapshot without a sequence number (format
  // version 1). ValidationFailed: a key that fits several rows of a snapshot, so that images could be paired in
  // several ways.
  Result<RowStream> Changes(const ChangeReadOptions& options = {}) const;
  // The same, planned once, snapshot by snapshot: of all that have changes, oldest first. InvalidArgument with
  // `options.net`.
  Result<std::vector<SnapshotChanges>> ChangesBySnapshot(const ChangeReadOptions& options = {}) const;

  // What reading the changes of a range of snapshots would touch: which rows of which data files were inserted, deleted
  // and inserted again.
  // NotFound for an unknown snapshot, branch, tag or column; InvalidArgument for a bad filter, or when the range's ends
  // do not lie on one line of snapshots; NotSupported where position or equality deletes are in the way and are not to
  // be resolved; Corrupt when metadata contradicts itself.
  Result<ChangePlanInfo> PlanChanges(const ChangeOptions& options = {}) const;
  // The same as a JSON document {"version", "kind": "changes", ..., "deleteFiles": [...], "tasks": [...]}, with all
  // that reading needs.
  Result<std::string> PlanChangesJson(const ChangeOptions& options = {}) const;
  // The tasks cut into `count` parts of about equal bytes, each such a document of one line. Their rows together are
  // the rows of the tasks; tasks of one snapshot may come into several. InvalidArgument as for Shards.
  Result<std::vector<std::string>> ChangeShards(const ChangeOptions& options, size_t count) const;

  // All snapshots that the table keeps, oldest first.
  std::vector<SnapshotInfo> Snapshots() const;
  // How the current snapshot changed, oldest first.
  std::vector<HistoryEntry> History() const;
  // Branches and tags, by name.
  std::vector<RefInfo> Refs() const;

  // The data files of a snapshot and the deletes that apply to each, also where Scan refuses the files' format.
  Result<PlanInfo> Files(const SnapshotChoice& at = {}) const;
  // The delete files and deletion vectors of a snapshot, in the order of its manifests, as they stand: also those of a
  // table that breaks rules, which Scan refuses.
  Result<std::vector<DeleteInfo>> Deletes(const SnapshotChoice& at = {}) const;
  // Decode the deletion vector of a data file, or all vectors of a Puffin file. `file`: a path as the metadata has it,
  // or the end of one, from a slash on, that fits one file only. NotFound if there is no such file, or it has no
  // vector; InvalidArgument if several fit.
  Result<std::vector<DvInfo>> DeletionVectors(std::string_view file, const SnapshotChoice& at = {}) const;

  // Checks the rules of the table format: the metadata file, the manifests of the chosen snapshots against their lists
  // and summaries, which deletes apply, and with `deep` every file by its footer, every deletion vector and all row
  // ids. What is wrong with the table comes as findings; an error means that it could not be looked at (storage,
  // cancellation, an unknown snapshot, encryption).
  Result<VerifyReport> Verify(const VerifyOptions& options = {}) const;

  // What was asked of storage since Open began.
  IoStats Io() const;

  class Impl;  // private to the library

 private:
  explicit Table(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace delenda
