// What an open Parquet file knows, shared by the sources of ParquetFile and RowGroupReader.
#pragma once

#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "delenda/formats/parquet/parquet_file.h"

namespace delenda::parquet {

// How Arrow's reader is to read.
::parquet::ArrowReaderProperties ArrowProperties(int64_t batch_rows);

// Are the bounds that the file's writer gives for values of the column in an order that is known?
bool BoundsAreInOrder(const ::parquet::FileMetaData& metadata, const ::parquet::ColumnDescriptor& column);

struct ParquetFile::State {
  std::shared_ptr<io::InputFile> file;
  uint64_t size = 0;
  std::shared_ptr<const Bytes> tail;  // the last bytes of the file, as the footer's read brought them
  uint64_t tail_offset = 0;
  std::shared_ptr<::parquet::FileMetaData> metadata;
  std::shared_ptr<arrow::Schema> schema;
  FieldIds field_ids = FieldIds::kNone;
  std::vector<RowGroup> row_groups;
  std::vector<Leaf> leaves;
};

}  // namespace delenda::parquet
