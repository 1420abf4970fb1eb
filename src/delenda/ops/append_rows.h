// APPEND: new rows from files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/io/file_io.h"
#include "delenda/ops/row_change.h"
#include "delenda/write/row_source.h"

namespace delenda::ops {

struct AppendOptions {
  std::vector<std::string> files;                         // "-": standard input
  std::optional<write::RowFormat> format = std::nullopt;  // of all files; not set: as their names say
  std::string branch = "main";
  bool ignore_unknown_columns = false;
  bool dry_run = false;  // read and check every row, write nothing
};

// Appends the rows of all files as one snapshot: an append fits whatever others commit. `files`: where the rows come
// from, which need not be where the table is. One file is open at a time.
//
// EXAMPLE  a.csv "id,region\n1,eu\n", b.jsonl {"id": 2}  →  rows {1, eu}, {2, NULL} in one new data file, one snapshot.
//
// Errors: those of the sources; InvalidArgument, before anything is committed, for rows that do not fit the table's
// schema (write/row_conform.h), with their file; NotFound: no such branch; NotSupported for format version 1.
Result<RowChange> AppendRows(commit::TableSession& session, io::FileIO& files, const AppendOptions& options);

}  // namespace delenda::ops
