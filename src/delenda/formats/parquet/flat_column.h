// A column without nesting, decoded page by page into just the rows that are kept.
//
// Most of a scan's time is spent here, which is why it is not left to Arrow's reader: there every page is decompressed,
// every value decoded into one buffer and then filtered into another. Here pages without a kept row are passed over,
// and kept values go from the decompressed page to their final place.
#pragma once

#include <arrow/type_fwd.h>
#include <parquet/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/chunk_pages.h"
#include "delenda/formats/parquet/hybrid_runs.h"
#include "delenda/formats/parquet/row_mask.h"

namespace parquet {
class ColumnChunkMetaData;
class ColumnDescriptor;
}  // namespace parquet

namespace delenda::parquet {

class FlatColumn {
 public:
  // A column chunk that is to be read as `type`, as Arrow's reader would give it.
  struct Chunk {
    const ::parquet::ColumnDescriptor* column = nullptr;
    const ::parquet::ColumnChunkMetaData* metadata = nullptr;
    std::shared_ptr<arrow::DataType> type;
    int64_t rows = 0;
    // With which rows its pages begin, by the page index; empty: not known. Corrupt if one is found to begin elsewhere.
    std::vector<int64_t> first_rows = {};
  };

  // False: Arrow's reader is needed (nested columns, booleans, rare types, encodings and codecs).
  static bool CanRead(const Chunk& chunk);
  // Null when it is found that Arrow's reader is needed: `batch_rows` of the longest value would overflow offsets.
  static Result<std::unique_ptr<FlatColumn>> Open(const Chunk& chunk, ChunkPages pages, int64_t batch_rows);
  virtual ~FlatColumn() = default;

  // Passes over rows.
  void Skip(int64_t rows) { skip_ += rows; }
  // Those of the next `rows` rows that are kept, `count` of them. Corrupt if the pages hold fewer rows than the chunk.
  Result<std::shared_ptr<arrow::Array>> Read(int64_t rows, const RowMask& kept, int64_t count);
  // To be called behind the last row: Corrupt if the pages hold more.
  Result<void> Finish();

 protected:
  FlatColumn(const Chunk& chunk, ChunkPages pages);

  // Whether `batch_rows` of the longest value of the dictionary and all bytes of the pages can be told by offsets.
  virtual bool Fits(int64_t batch_rows) const = 0;
  // What differs by type. Values are those that are not NULL, in order; kept ones are put behind `written()` rows.
  virtual Result<void> SetDictionary(ByteView values, int64_t count) = 0;
  virtual Result<void> Begin(int64_t count) = 0;
  virtual Result<void> AppendPlain(int64_t values, const RowMask& kept) = 0;
  virtual Result<void> AppendIndexed(int64_t values, const RowMask& kept) = 0;
  virtual Result<void> SkipPlain(int64_t values) = 0;
  // The last `values` kept values are spread over `rows` rows: those whose bit of `valid` is set.
  virtual void Spread(int64_t rows, int64_t values, const RowMask& valid) = 0;
  virtual Result<std::shared_ptr<arrow::Array>> End(std::shared_ptr<arrow::Buffer> validity, int64_t null_count) = 0;

  const std::shared_ptr<arrow::DataType>& type() const { return type_; }
  BufferRecycler& buffers() const { return *pages_.context().buffers; }
  int64_t written() const { return written_; }
  ByteView plain_;      // values of the page that are left, when they are plainly encoded
  HybridRuns indices_;  // else

 private:
  // `passing`: rows that are to be passed over from there on.
  Result<void> NextPage(int64_t passing = 0);
  Result<void> CheckFirstRow();
  Result<void> LoadPage();
  // Bits of the definition levels: a set one is a value.
  Result<void> ReadLevels(ByteView levels, int64_t rows);
  Result<void> SkipRows(int64_t rows);
  Result<void> SkipInPage(int64_t rows);
  Result<void> AppendRows(int64_t rows, const RowMask& kept);
  Result<void> AppendSparse(int64_t rows, const RowMask& kept);
  Result<void> AppendValues(int64_t values, const RowMask& kept) {
    return indexed_ ? AppendIndexed(values, kept) : AppendPlain(values, kept);
  }
  Result<void> MakeValidity();

  std::shared_ptr<arrow::DataType> type_;
  bool optional_ = false;
  int64_t chunk_rows_ = 0;
  ChunkPages pages_;
  bool has_dictionary_ = false;
  int64_t skip_ = 0;  // rows to pass over before the next one

  std::vector<int64_t> first_rows_;  // of the pages, when they are known
  size_t pages_seen_ = 0;

  // The current page.
  int64_t rows_seen_ = 0;  // of the chunk, with this page
  int64_t page_left_ = 0;  // rows
  bool loaded_ = false;
  int64_t page_skip_ = 0;  // rows to pass over when it is loaded
  bool indexed_ = false;
  bool has_nulls_ = false;
  std::vector<uint64_t> valid_;  // with NULLs only
  int64_t page_row_ = 0;

  // The batch that is being read.
  int64_t batch_count_ = 0;
  int64_t written_ = 0;
  std::shared_ptr<RecycledBuffer> validity_;  // from the first NULL on
  int64_t null_count_ = 0;
  std::vector<uint64_t> value_mask_, row_valid_;
};

}  // namespace delenda::parquet
