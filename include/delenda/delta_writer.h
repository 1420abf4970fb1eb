// Streams of changes by key: workers write events, one commit makes the work of all a snapshot. And who finds the rows
// of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/arrow_c.h"
#include "delenda/deletion_vector.h"
#include "delenda/result.h"
#include "delenda/rows.h"
#include "delenda/write.h"

namespace delenda {

struct DeltaOptions {
  // Columns of the table, at the top level, not float or double. Empty: its identifier fields.
  std::vector<std::string> key = {};
  std::string operation_column = "op";  // of the batches: text, c, r, u or d; the table must not have it
  bool ignore_unknown_columns = false;  // else a column that the table lacks is an error
  uint64_t order = 0;                   // of several results in one commit: the one with the higher number came later
  DeltaFallback fallback = DeltaFallback::kAbort;
  // Bytes that events may take; more go to files without a name in `temp_folder` (empty: TMPDIR, else /tmp).
  uint64_t memory = uint64_t{256} << 20;
  std::string temp_folder = {};
};

// Files that a writer has written and no commit has published. If it goes away before, it deletes them.
class DeltaResult {
 public:
  DeltaResult(DeltaResult&&) noexcept;
  DeltaResult& operator=(DeltaResult&&) noexcept;
  ~DeltaResult();

  uint64_t order() const;
  uint64_t rows() const;                          // in the data files
  std::vector<std::string> data_files() const;    // locations of new rows
  std::vector<std::string> delete_files() const;  // locations of the keys that go, as equality delete files

  class Impl;  // private to the library
  explicit DeltaResult(std::unique_ptr<Impl> impl);
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Takes events in order: c (created), r (read, of a first snapshot) and u (updated) all mean that the row is the one
// with its key from now on, d (deleted) that there is none; of a d only the key counts. So events may be repeated. The
// last event of each key is written, and nothing of the others. Not thread-safe: each worker has its own, on a table
// object of its own.
//
// EXAMPLE  auto writer = delenda::DeltaWriter::Make(table, {.key = {"id"}});
//          if (auto written = writer->Write(&stream); !written) return Fail(written.error());
//          std::vector<delenda::DeltaResult> work;
//          work.push_back(*writer->Finish());                           // and those of other workers
//          auto report = delenda::CommitDeltas(table, work);            // one snapshot
class DeltaWriter {
 public:
  // The table must outlive it; it is read now, and not looked at again. NotFound, InvalidArgument: key or operation
  // column; the fallback is not possible with this key. NotSupported below format version 3.
  static Result<DeltaWriter> Make(WritableTable& table, DeltaOptions options);

  DeltaWriter(DeltaWriter&&) noexcept;
  DeltaWriter& operator=(DeltaWriter&&) noexcept;
  ~DeltaWriter();

  // All batches of a stream, which is taken over, also on failure. Values are made to fit as for an append.
  // InvalidArgument, with column and row: a value that does not fit, an operation that is none of the four; batches
  // before that one were taken.
  Result<void> Write(ArrowArrayStream* batches);
  // Writes files that nobody reads yet. After an error of storage it may be called again; once it has succeeded the
  // writer is used up.
  Result<DeltaResult> Finish();

 private:
  class Impl;
  explicit DeltaWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Rows of one data file that have one of the keys.
struct KeyPositions {
  std::string data_file = {};                 // its location, as the metadata has it
  std::vector<PositionRange> positions = {};  // in any order; those that are deleted already need not be left out
};

// Keys whose rows are looked for, in one state of a table. Valid during the call that it is given to.
class KeyQuery {
 public:
  const std::string& branch() const;
  int64_t base_snapshot_id() const;        // the state: rows that others add later do not count
  std::optional<int32_t> spec_id() const;  // of the partition that rows lie in; nothing: they lie anywhere
  std::string partition() const;           // as `inspect` shows it: "region=eu/ts_day=2024-02-29"; empty: as spec_id
  uint64_t size() const;                   // how many keys
  // Every key once: its columns, under their names in the table ("address.zip" inside of a struct) and with their field
  // ids, then `_below`, a long: only rows of data files whose data sequence number is smaller count; NULL: all rows.
  // NULL equals NULL.
  Result<RowStream> Keys() const;
  // What the library itself finds, reading the key columns of the data files that may hold a key.
  Result<std::vector<KeyPositions>> Scan() const;

  class Impl;  // private to the library
  explicit KeyQuery(const Impl& impl) : impl_(&impl) {}

 private:
  const Impl* impl_;
};

// Finds the rows of keys, for callers who know more of a table than a scan can: an index, what a stream wrote where.
// Every live row with one of the keys must be found: a row that is not stays, and its delete is lost. Which of them are
// deleted already, and the data file's spec, partition and vector, are looked up by the library.
//
// EXAMPLE  class Index final : public delenda::KeyPositionResolver {
//            delenda::Result<std::vector<delenda::KeyPositions>> Resolve(const delenda::KeyQuery& query) const override
//            {
//              if (query.base_snapshot_id() != indexed_) return query.Scan();
//              …                            // e.g. {{.data_file = "s3://w/t/data/a.parquet", .positions = {{7, 8}}}}
//            }
//          };
//          Index index;
//          auto report = table->Convert({.resolver = &index});
class KeyPositionResolver {
 public:
  virtual ~KeyPositionResolver() = default;
  // Called once for each partition (or once for all of them) of each set of key columns, and again when others have
  // changed the table meanwhile. An error ends the operation, and nothing is changed. What does not fit is
  // InvalidArgument: a file that is no data file of the state and partition, or not older than every key; positions
  // that the file does not have.
  virtual Result<std::vector<KeyPositions>> Resolve(const KeyQuery& query) const = 0;
};

struct CommitDeltasRequest {
  std::string branch = "main";
  // How often keys are looked for, since others may change what was read. 0: not at all; the results' fallback is done
  // at once, which must not be kAbort.
  uint64_t most_tries = 50;
  uint64_t memory = uint64_t{256} << 20;  // bytes that keys may take; with more the table is looked through repeatedly
  const KeyPositionResolver* resolver = nullptr;  // null: a scan of the key columns
};

// Makes results of writers with one key one snapshot. Rows of the table with one of the keys are deleted by deletion
// vectors, in whatever partition they lie, and so are rows of results for which a later one has an event: no reader
// sees an equality delete (but with the fallback). A key never gets two rows, whatever others write meanwhile.
//
// After an error the results are as they were: commit them again. Those that are committed already, since an answer was
// lost, are not committed twice; the report says in which snapshot they are. An update counts as one deleted and one
// added row, and the row gets a new _row_id.
//
// InvalidArgument: no result, results with other keys, two of one order number, some of which are committed already.
// CommitConflict: tries are used up. ValidationFailed: the table's columns or partitioning have changed so that the
// files do not fit any more. Other errors as WritableTable::Delete.
Result<ChangeReport> CommitDeltas(WritableTable& table, const std::vector<DeltaResult>& results,
                                  const CommitDeltasRequest& request = {});

}  // namespace delenda
