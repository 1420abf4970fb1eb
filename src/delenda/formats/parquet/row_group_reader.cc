#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/schema.h>

#include <algorithm>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/compaction.h"
#include "delenda/formats/parquet/flat_column.h"
#include "delenda/formats/parquet/input_adapter.h"
#include "delenda/formats/parquet/parquet_file_state.h"

namespace delenda::parquet {

struct RowGroupReader::State {
  // A field of the result: read by us, or the next one of Arrow's batches.
  struct Column {
    std::unique_ptr<FlatColumn> flat;
    int arrow_column = -1;
  };

  std::shared_ptr<InputAdapter> input;
  std::shared_ptr<DecodeContext> context;
  std::vector<Column> columns;
  // Null when no column needs them.
  std::unique_ptr<::parquet::arrow::FileReader> reader;
  std::unique_ptr<arrow::RecordBatchReader> batches;
  std::shared_ptr<arrow::Schema> schema;
  std::string path;
  size_t row_group = 0;
  int64_t num_rows = 0;
  int64_t batch_rows = 0;

  int64_t end = 0;         // row behind the last one that is wanted
  int64_t rows_begun = 0;  // of the row group
  int64_t arrow_rows = 0;  // that Arrow's reader has given
  int64_t rows = 0;        // of the batch that was begun
  bool taken = true;       // it was; else its rows are still to be passed over
  bool ended = false;      // and nothing follows
  std::shared_ptr<arrow::RecordBatch> arrow_batch;

  Result<int64_t> Begin();
  Result<std::shared_ptr<arrow::RecordBatch>> Take(const RowMask& kept, int64_t count);
  // Arrow's columns of the rows from rows_begun on, up to `end`; says how many rows those are.
  Result<int64_t> NextArrowBatch();
};

RowGroupReader::RowGroupReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RowGroupReader::~RowGroupReader() = default;

const std::shared_ptr<arrow::Schema>& RowGroupReader::schema() const { return state_->schema; }

Result<int64_t> RowGroupReader::State::NextArrowBatch() {
  if (rows_begun == end && end != num_rows) return 0;
  int64_t rows_before = arrow_rows;
  do {
    DELENDA_TRY(ToResult(batches->ReadNext(&arrow_batch)));
    rows_before = arrow_rows;
    arrow_rows += arrow_batch ? arrow_batch->num_rows() : 0;
    if (arrow_batch ? arrow_rows > num_rows : arrow_rows != num_rows)
      return Corrupt("expected {} rows, found {}{}", num_rows, arrow_batch ? "at least " : "", arrow_rows);
  } while (arrow_batch && arrow_rows <= rows_begun);
  if (!arrow_batch) return 0;
  // What belongs to other parts of the row group is read in vain.
  const int64_t wanted = std::min(arrow_rows, end) - rows_begun;
  if (rows_before != rows_begun || wanted != arrow_batch->num_rows())
    arrow_batch = arrow_batch->Slice(rows_begun - rows_before, wanted);
  return wanted;
}

Result<int64_t> RowGroupReader::State::Begin() {
  if (!taken) {
    for (const Column& column : columns) {
      if (column.flat) column.flat->Skip(rows);
    }
  }
  taken = false;
  rows = std::min(batch_rows, end - rows_begun);
  // Arrow may give fewer rows than were asked for: where strings reach 2 GiB.
  if (batches && !ended) rows = DELENDA_TRY(NextArrowBatch());
  rows_begun += rows;
  if (rows == 0 && !ended) {
    ended = true;
    if (end != num_rows) return 0;
    for (const Column& column : columns) {
      if (column.flat) DELENDA_TRY(column.flat->Finish());
    }
  }
  return rows;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupReader::State::Take(const RowMask& kept, int64_t count) {
  if (taken) return InternalError("a batch was taken twice");
  taken = true;
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    Result<std::shared_ptr<arrow::Array>> array = column.flat
                                                      ? column.flat->Read(rows, kept, count)
                                                      : Compact(arrow_batch->column(column.arrow_column), kept, count);
    if (!array) array.error().Add("column", schema->field(static_cast<int>(i))->name());
    arrays.push_back(DELENDA_TRY(std::move(array)));
  }
  arrow_batch.reset();
  return arrow::RecordBatch::Make(schema, count, std::move(arrays));
}

Result<int64_t> RowGroupReader::Begin() {
  Result<int64_t> rows = Guarded([&] { return state_->Begin(); });
  if (!rows) rows.error().Add("row group", state_->row_group).Add("file", state_->path);
  return rows;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupReader::Take(const RowMask& kept, int64_t count) {
  Result<std::shared_ptr<arrow::RecordBatch>> batch = Guarded([&] { return state_->Take(kept, count); });
  if (!batch) batch.error().Add("row group", state_->row_group).Add("file", state_->path);
  return batch;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupReader::Next() {
  const int64_t rows = DELENDA_TRY(Begin());
  if (rows == 0) return nullptr;
  return Take(RowMask(), rows);
}

Result<std::unique_ptr<RowGroupReader>> ParquetFile::Read(size_t row_group, const std::vector<int>& leaves,
                                                          int64_t batch_rows, const RowGroupPart& part) const {
  const State& s = *state_;
  const auto open = [&]() -> Result<std::unique_ptr<RowGroupReader>> {
    if (row_group >= s.row_groups.size() || leaves.empty() || batch_rows <= 0 || part.first < 0 ||
        part.first > std::min(part.end, s.row_groups[row_group].num_rows)) {
      return InternalError("no such read of a Parquet file");
    }
    auto state = std::make_unique<RowGroupReader::State>();
    state->path = path();
    state->row_group = row_group;
    state->num_rows = s.row_groups[row_group].num_rows;
    state->batch_rows = batch_rows;
    state->end = std::min(part.end, state->num_rows);
    state->rows_begun = part.first;
    state->input = std::make_shared<InputAdapter>(s.file, s.size);
    state->input->Serve(s.tail_offset, s.tail, *s.tail);
    if (part.earlier != nullptr) state->input->ServeAllOf(*part.earlier->state_->input);
    std::vector<io::ByteRange> ranges;
    for (int leaf : leaves) ranges.push_back(DELENDA_TRY(ChunkRange(row_group, leaf)));
    const bool by_pieces = s.file->SeeksAreCheap();
    if (!by_pieces) DELENDA_TRY(state->input->Fetch(ranges));

    const auto group = s.metadata->RowGroup(static_cast<int>(row_group));
    state->context = part.context ? part.context : std::make_shared<DecodeContext>();
    std::vector<int> arrow_leaves;
    std::vector<io::ByteRange> arrow_ranges;
    arrow::FieldVector fields;
    size_t next = 0;  // of `leaves`
    int arrow_fields = 0, first_leaf = 0;
    for (const auto& field : s.schema->fields()) {
      const int end_leaf = first_leaf + CountLeaves(*field->type());
      const size_t first = next;
      while (next < leaves.size() && leaves[next] < end_leaf) ++next;
      first_leaf = end_leaf;
      if (next == first) continue;
      RowGroupReader::State::Column& column = state->columns.emplace_back();
      if (!arrow::is_nested(field->type()->id())) {
        const int leaf = leaves[first];
        const auto metadata = group->ColumnChunk(leaf);
        const FlatColumn::Chunk chunk{s.metadata->schema()->Column(leaf), metadata.get(), field->type(),
                                      state->num_rows};
        if (FlatColumn::CanRead(chunk)) {
          ChunkBytes bytes = DELENDA_TRY(state->input->Chunk(ranges[first], *state->context));
          column.flat = DELENDA_TRY(WithContext(
              FlatColumn::Open(chunk, ChunkPages(std::move(bytes), metadata->compression(), *state->context),
                               batch_rows),
              "column", field->name()));
        }
      }
      if (column.flat) {
        column.flat->Skip(part.first);
      } else {
        column.arrow_column = arrow_fields++;
        for (size_t i = first; i < next; ++i) {
          arrow_leaves.push_back(leaves[i]);
          arrow_ranges.push_back(ranges[i]);
        }
      }
      fields.push_back(field);
    }
    if (!arrow_leaves.empty()) {
      if (by_pieces) DELENDA_TRY(state->input->Fetch(arrow_ranges));
      auto raw = ::parquet::ParquetFileReader::Open(state->input, ::parquet::default_reader_properties(), s.metadata);
      state->reader = DELENDA_TRY(ToResult(::parquet::arrow::FileReader::Make(
          arrow::default_memory_pool(), std::move(raw), ArrowProperties(batch_rows))));
      state->batches =
          DELENDA_TRY(ToResult(state->reader->GetRecordBatchReader({static_cast<int>(row_group)}, arrow_leaves)));
      if (state->batches->schema()->num_fields() != arrow_fields)
        return InternalError("{} columns read, not {}", state->batches->schema()->num_fields(), arrow_fields);
      // Structs are cut down to the wanted leaves.
      for (size_t i = 0; i < fields.size(); ++i) {
        if (const int at = state->columns[i].arrow_column; at >= 0) fields[i] = state->batches->schema()->field(at);
      }
    }
    state->schema = arrow::schema(std::move(fields));
    return std::unique_ptr<RowGroupReader>(new RowGroupReader(std::move(state)));
  };
  Result<std::unique_ptr<RowGroupReader>> reader = Guarded(open);
  if (!reader) reader.error().Add("row group", row_group).Add("file", path());
  return reader;
}

}  // namespace delenda::parquet
