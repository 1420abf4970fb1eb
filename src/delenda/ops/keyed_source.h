// Rows from files, made to fit a table and told apart by some of its columns: what delete --keys, upsert and merge
// bring.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/model/type.h"
#include "delenda/read/key_table.h"
#include "delenda/read/row_gather.h"
#include "delenda/write/row_source.h"

namespace delenda::ops {

// The columns by which rows are told apart: those that are named, else the table's identifier fields (spec, "Identifier
// Field IDs"). InvalidArgument: neither.
Result<std::vector<std::string>> KeyColumns(const Schema& table, const std::vector<std::string>& named);

// Files of rows that are told apart by a key.
struct KeyedFiles {
  std::vector<std::string> files = {};                    // in order; "-": standard input
  std::optional<write::RowFormat> format = std::nullopt;  // of all files; not set: as their names say
  std::vector<std::string> key = {};                      // columns of the table, at the top level, and of the files
  bool ignore_unknown_columns = false;
  // Bytes that rows and keys may take, about; beyond it rows go to a file without name in `temp_folder` (empty: TMPDIR,
  // else /tmp). The batch that is being read comes on top. Less than 1 MiB works, but slowly.
  uint64_t memory_budget = uint64_t{256} << 20;
  std::string temp_folder = {};
};

struct KeyedSourceOptions {
  // An empty key (with `only_keys`): all columns of the first file.
  KeyedFiles rows = {};
  // Columns that expressions look at. Those that the table lacks are taken from the files.
  std::vector<std::string> looked_at = {};
  bool only_keys = false;  // the rows have their key columns and no others; other columns of the files are ignored
  // A key that is there twice is an error; else the last of its rows counts.
  bool is_unique = false;
};

// Rows of a source, one for each key.
struct KeyedRows {
  read::KeyTable keys;
  // The row of key number i is row_of[i]. None if only keys are wanted.
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::vector<read::RowRef> row_of;
};

// The rows of the source, read once (standard input can't be read again) and then looked at as often as needed, since
// the operation may be evaluated anew. If they do not fit into memory they are cut into parts by the hash of their key,
// so that each key is in one part.
//
// EXAMPLE  key id; a.csv "id,v\n1,a\n2,b\n", b.csv "id,v\n1,c\n"  →  one part: {1, c}, {2, b}
class KeyedSource {
 public:
  // Looks at the schemas of the files. `files`: where the rows come from, which need not be where the table is; must
  // outlive Read.
  //
  // Errors: those of the sources. InvalidArgument: a file that lacks a key column, an unknown column, a key column that
  // is a float or nested. NotFound: no such key column. NotSupported: a column that the table lacks and expressions
  // look at, which is nested. (Other schemas than the first file's are looked at by Read, if they need not be known
  // earlier.)
  static Result<KeyedSource> Open(io::FileIO& files, const Schema& table, KeyedSourceOptions options);
  // For rows that the caller brings as batches (Add), with further columns `more` behind the table's. Of the options
  // the key, is_unique, memory and folder matter, of the hooks cancellation.
  static Result<KeyedSource> ForBatches(const Schema& table, KeyedSourceOptions options, std::vector<Field> more,
                                        const Hooks& hooks);
  // A batch of schema(), as RowConformer makes it. Io: temporary files.
  Result<void> Add(std::shared_ptr<arrow::RecordBatch> batch);
  // There are no more batches: parts can be looked at. Errors as Read; after one the rows are gone.
  Result<void> Close();

  // Reads all rows of the files; once. Values are made to fit as for an append (write/row_conform.h), but a column
  // other than the key may be NULL or missing although the table requires it: whoever writes the row has to look.
  //
  // InvalidArgument, with the file: rows that do not fit; is_unique, but in several parts (then Part says it): a key
  // that is there twice, which is named. Io: temporary files. Cancelled.
  Result<void> Read(const Hooks& hooks);
  ~KeyedSource();
  KeyedSource(KeyedSource&&) noexcept;
  KeyedSource& operator=(KeyedSource&&) noexcept;

  // Of the rows: the table's columns (only_keys: the key), then those that only expressions look at. Columns other than
  // the key are optional.
  const Schema& schema() const;
  const std::vector<std::string>& key() const;
  // The rows still fit the table: its columns are those that it had when the files were read.
  bool Fits(const Schema& table) const;

  size_t parts() const;
  // The rows of a part; each is there for one part at a time only, unless there is just one.
  Result<std::shared_ptr<const KeyedRows>> Part(size_t part);

  uint64_t rows() const;  // read from the files
  uint64_t spilled_bytes() const;

 private:
  struct State;
  explicit KeyedSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "(id = 7, region = NULL)": a row's key, for messages.
std::string KeyText(const KeyedSource& source, const arrow::RecordBatch& batch, int64_t row);

}  // namespace delenda::ops
