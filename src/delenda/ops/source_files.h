// Files of rows as one stream of batches of a table's columns, and of columns that only expressions look at.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"
#include "delenda/model/type.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/write/row_conform.h"
#include "delenda/write/row_source.h"

namespace delenda::ops {

// What rows with a key look like: the columns of the table, those other than the key optional, then `more`, optional
// and with new field ids. `key`: names get the table's spelling. NotFound, InvalidArgument: of a key column.
Result<Schema> SchemaOfKeyedRows(const Schema& table, std::vector<std::string>& key, std::vector<Field> more);
// InvalidArgument: the rows lack a key column.
Result<void> CheckHasKey(const arrow::Schema& rows, const std::vector<std::string>& key);

// One file is open at a time.
class SourceFiles {
 public:
  // `io` must outlive it. Errors as KeyedSource::Open, as far as schemas tell.
  static Result<SourceFiles> Open(io::FileIO& io, const Schema& table, KeyedSourceOptions options);

  // KeyedSource::schema.
  const Schema& schema() const { return schema_; }
  const std::vector<std::string>& key() const { return options_.rows.key; }
  // Batches of schema(); null after the last file. Errors name the file.
  Result<std::shared_ptr<arrow::RecordBatch>> Next();

 private:
  SourceFiles(io::FileIO& io, KeyedSourceOptions options) : io_(&io), options_(std::move(options)) {}

  bool IsJson(const std::string& path) const;
  // A source whose schema is looked at before its rows are read; standard input stays open.
  Result<std::shared_ptr<write::RowSource>> Peek(const std::string& path);
  Result<void> TakeKeyFromFile();
  Result<std::vector<Field>> FindLookedAt(const Schema& table);
  Result<void> OpenNext();
  Result<std::shared_ptr<arrow::RecordBatch>> NextOfFile();

  io::FileIO* io_;
  KeyedSourceOptions options_;
  Schema schema_;
  size_t next_file_ = 0;
  std::shared_ptr<write::RowSource> peeked_input_;  // standard input
  std::shared_ptr<write::RowSource> source_;
  std::optional<write::RowConformer> conformer_;
};

}  // namespace delenda::ops
