// A Parquet file as delenda reads it: field ids, row groups with the positions of their rows, statistics, batches.
#pragma once

#include <arrow/type_fwd.h>
#include <parquet/types.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/bloom_filter.h"
#include "delenda/formats/parquet/row_mask.h"
#include "delenda/io/file_io.h"
#include "delenda/io/ranges.h"

namespace delenda::parquet {

// The field id that a file's schema element carries (Parquet's SchemaElement.field_id); nothing if it has none.
std::optional<int32_t> FieldIdOf(const arrow::Field& field);
// Metadata that FieldIdOf reads.
std::shared_ptr<const arrow::KeyValueMetadata> FieldIdMetadata(int32_t field_id);

// Where the field ids of ParquetFile::schema come from.
enum class FieldIds : uint8_t {
  kNone,      // the file has none
  kStored,    // the file has them, at least for one field at any depth: fields without are no fields of the table
  kAssigned,  // the file has none; an IdAssigner gave them
};
// Makes the schema with field ids of a file that has none.
using IdAssigner = std::function<std::shared_ptr<arrow::Schema>(const arrow::Schema&)>;

// Number of leaves (primitive columns) below a type of a file's schema. Leaves of a file count depth first.
int CountLeaves(const arrow::DataType& type);

struct DecodeContext;

struct RowGroup {
  int64_t num_rows = 0;
  uint64_t first_position = 0;  // ordinal in the file of its first row: rows of all earlier row groups count
  uint64_t first_byte = 0;      // where its first column chunk begins, dictionary page included

  // A split [start, start + length) of the file reads a row group exactly if it holds the group's first byte: each row
  // group belongs to one split, however the file was cut.
  bool BelongsTo(uint64_t start, uint64_t length) const { return first_byte >= start && first_byte - start < length; }
};

// Statistics of one leaf in one row group. Bounds are plain-encoded values (little-endian numbers, bare bytes) of the
// physical type, in the order that the column's logical type defines; parts that a writer left out, or wrote in an
// order that cannot be trusted (the deprecated min and max of unsigned or binary columns), are empty.
struct LeafStatistics {
  std::optional<int64_t> null_count;
  std::optional<std::string> min;  // no value is below it; may be cut short
  std::optional<std::string> max;  // no value is above it; may be cut short and rounded up
  bool min_is_exact = true;        // false: the writer says that `min` was cut short
  bool max_is_exact = true;
};

// A data page of a column chunk that is not repeated, as the page index tells of it.
struct IndexedPage {
  int64_t first_row = 0;  // in the row group
  int64_t rows = 0;       // at least one
  io::ByteRange bytes;    // of the file, with the page's header
  LeafStatistics statistics;
};

// What it takes to read the page index of a column chunk.
enum class PageIndexCost : uint8_t {
  kNone,     // there is none that is worth it
  kHeld,     // nothing: the footer's read has brought it
  kSeek,     // a read where seeks are cheap
  kRequest,  // a request, which may serve many chunks of the file
};

// The column chunk of a leaf in a row group.
struct ColumnChunk {
  size_t row_group = 0;
  int leaf = 0;
};

// Rows [first, end) of a row group.
struct RowRun {
  int64_t first = 0;
  int64_t end = 0;
  friend bool operator==(const RowRun&, const RowRun&) = default;
};

// What the page index of a column chunk was believed to say.
struct KnownPages {
  int leaf = 0;
  std::vector<int64_t> first_rows;  // of its pages, in the row group
};

struct Leaf {
  ::parquet::Type::type physical = ::parquet::Type::UNDEFINED;
  bool repeated = false;  // below a list or a map: its statistics count elements, not rows
  std::string path;       // "st.a", for messages
  bool uuid = false;      // 16 bytes that are a UUID
};

// One row group's batches, in row order.
//
// EXAMPLE  while (const int64_t rows = DELENDA_TRY(reader->Begin())) {
//            const Selection live = ...;  // of these rows
//            if (live.Count() != 0) Use(*DELENDA_TRY(reader->Take(RowMask(live.bytes(), 0), live.Count())));
//          }
class RowGroupReader {
 public:
  ~RowGroupReader();
  RowGroupReader(const RowGroupReader&) = delete;
  RowGroupReader& operator=(const RowGroupReader&) = delete;

  // The file's schema cut down to the wanted leaves.
  const std::shared_ptr<arrow::Schema>& schema() const;

  // Begins the next batch and says how many rows it has; 0 after the row group's last row. Of a batch that is not taken
  // little or nothing is decoded. Corrupt if the columns hold fewer or more rows than the row group: every later
  // position would be off.
  Result<int64_t> Begin();
  // Where in the row group the batch begins that was begun last.
  int64_t first_row() const;
  // Those rows of the batch that are kept, `count` of them. Once for each batch, at most.
  Result<std::shared_ptr<arrow::RecordBatch>> Take(const RowMask& kept, int64_t count);

  // All rows of the next batch; null after the row group's last row.
  Result<std::shared_ptr<arrow::RecordBatch>> Next();

 private:
  friend class ParquetFile;
  struct State;
  explicit RowGroupReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// How a row group is read.
struct RowGroupPart {
  // Only the rows [first, end) of it.
  int64_t first = 0;
  int64_t end = std::numeric_limits<int64_t>::max();
  const RowGroupReader* earlier = nullptr;           // another reader of the file; may be null
  std::shared_ptr<DecodeContext> context = nullptr;  // null: a new one
  // Of those rows only these runs: ascending, apart from each other, none empty. No batch reaches beyond its run. No
  // runs: all rows.
  std::vector<RowRun> runs = {};
  // Corrupt if the pages of these columns begin with other rows, as far as they are passed: the runs were chosen by
  // what the index says of them. (Not seen of columns that Arrow decodes.)
  std::vector<KnownPages> pages = {};
};

// An open file with its footer. Immutable: any number of threads may read row groups at a time.
class ParquetFile {
 public:
  // Reads the footer: one request unless it is larger than 64 KiB. A file up to that size is read whole by it.
  // Corrupt for anything that is no Parquet file; NotSupported for encrypted ones. Errors name the file. `assign_ids`,
  // if not null, is asked when the file has no field ids at all.
  static Result<std::shared_ptr<const ParquetFile>> Open(std::shared_ptr<io::InputFile> file, uint64_t size,
                                                         const IdAssigner& assign_ids = nullptr);
  ~ParquetFile();
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  const std::string& path() const;
  int64_t num_rows() const;
  const std::vector<RowGroup>& row_groups() const;
  // Types as the Parquet schema alone gives them (an embedded Arrow schema is ignored), with field ids as metadata.
  const std::shared_ptr<arrow::Schema>& schema() const;
  FieldIds field_ids() const;
  const std::vector<Leaf>& leaves() const;

  Result<LeafStatistics> Statistics(size_t row_group, int leaf) const;

  // The column chunk has a bloom filter of known size, which is smaller than the chunk.
  bool HasSmallBloomFilter(size_t row_group, int leaf) const;
  // One request. Corrupt: its bytes are no bloom filter.
  Result<BloomFilter> ReadBloomFilter(size_t row_group, int leaf) const;

  // Of a column chunk that is not repeated and has one, small beside the chunk.
  PageIndexCost CostOfPageIndex(size_t row_group, int leaf) const;
  // Bytes of the column chunk's pages, decompressed.
  uint64_t DecodedBytes(size_t row_group, int leaf) const;
  // The pages of chunks that have one (page_index.h), ranges that lie close together in one request. For each chunk:
  // Corrupt if its index is not to be trusted; the chunk itself may be sound.
  Result<std::vector<Result<std::vector<IndexedPage>>>> ReadPageIndexes(std::span<const ColumnChunk> chunks) const;

  // Fetches the column chunks of these leaves (ascending, at least one), ranges that lie close together in one request,
  // and nothing else of the file. What `part.earlier` has fetched is not fetched again. (Of a file
  // where seeks are cheap, chunks are read piece by piece as they are decoded.)
  Result<std::unique_ptr<RowGroupReader>> Read(size_t row_group, const std::vector<int>& leaves, int64_t batch_rows,
                                               const RowGroupPart& part = {}) const;

 private:
  struct State;
  explicit ParquetFile(std::unique_ptr<State> state);
  Result<void> ReadFooter();
  Result<void> ReadRowGroups();
  Result<io::ByteRange> ChunkRange(size_t row_group, int leaf) const;

  std::unique_ptr<State> state_;
};

}  // namespace delenda::parquet
