// From the columns of a file to the columns of the table, by field id (Iceberg spec, "Column Projection" and "Schema
// Evolution").
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/model/datum.h"
#include "delenda/model/type.h"

namespace delenda::read {

// Values that the metadata gives to columns which a file does not hold, by field id: those of identity partitions.
using ConstantColumns = std::map<int32_t, Datum>;

// Makes the wanted columns of one file: finds them by field id whatever their names and order, widens promoted types,
// and fills in what the file does not hold: the partition's value, else the field's initial default, else NULL.
//
// EXAMPLE  table: 1 id long, 3 note string, 2 price double       file: 2 cost float, 1 id int
//          →  id widened to long, note all NULL, price = cost widened to double; leaves() = {0, 1}
class ColumnAdapter {
 public:
  // NotSupported for a file without field ids (stored ones or those of a name mapping), Corrupt for a required field
  // that the file lacks, for a type that the table's type cannot be read from, and for a field id that appears twice.
  static Result<ColumnAdapter> Make(const std::vector<Field>& wanted, const parquet::ParquetFile& file,
                                    const ConstantColumns& constants);

  // The leaves of the file to read, ascending. Empty: nothing needs to be read.
  const std::vector<int>& leaves() const { return leaves_; }

  // The wanted columns from a batch that was read with exactly leaves(). Without leaves `batch` is null.
  // Columns whose types agree are passed on without a copy.
  Result<std::vector<std::shared_ptr<arrow::Array>>> Adapt(const arrow::RecordBatch* batch, int64_t rows) const;

  struct Node;

 private:
  std::vector<int> leaves_;
  std::vector<std::shared_ptr<const Node>> columns_;
};

// The leaf of the file that holds a field, and its type there.
struct FileLeaf {
  int leaf = 0;
  std::shared_ptr<arrow::DataType> type;
};
// The primitive field at the end of a path of field ids through structs; nothing if the file does not hold it.
std::optional<FileLeaf> FindLeaf(const parquet::ParquetFile& file, const std::vector<int32_t>& path);

}  // namespace delenda::read
