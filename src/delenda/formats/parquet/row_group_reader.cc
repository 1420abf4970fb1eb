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

  std::vector<RowRun> runs;  // that are wanted
  size_t run = 0;            // the current one
  int64_t first = 0;         // row of the row group that the batch begins with
  int64_t next = 0;          // row behind the batch
  int64_t rows = 0;          // of the batch
  bool taken = true;         // it was; else its rows are still to be passed over
  bool ended = false;        // and nothing follows
  int64_t arrow_rows = 0;    // that Arrow's reader has given: its last batch ends there
  std::shared_ptr<arrow::RecordBatch> arrow_whole, arrow_batch;  // its last batch, and what is wanted of that

  Result<int64_t> Begin();
  Result<std::shared_ptr<arrow::RecordBatch>> Take(const RowMask& kept, int64_t count);
  // Arrow's columns of the rows from `next` on, `wanted` at most; says how many rows those are.
  Result<int64_t> NextArrowBatch(int64_t wanted);
  // False at the end.
  Result<bool> ReadArrow();
  // Sees that nothing follows the row group's last row.
  Result<void> Finish();
};

RowGroupReader::RowGroupReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RowGroupReader::~RowGroupReader() = default;

const std::shared_ptr<arrow::Schema>& RowGroupReader::schema() const { return state_->schema; }

int64_t RowGroupReader::first_row() const { return state_->first; }

Result<bool> RowGroupReader::State::ReadArrow() {
  DELENDA_TRY(ToResult(batches->ReadNext(&arrow_whole)));
  arrow_rows += arrow_whole ? arrow_whole->num_rows() : 0;
  if (arrow_whole ? arrow_rows > num_rows : arrow_rows != num_rows)
    return Corrupt("expected {} rows, found {}{}", num_rows, arrow_whole ? "at least " : "", arrow_rows);
  return arrow_whole != nullptr;
}

Result<int64_t> RowGroupReader::State::NextArrowBatch(int64_t wanted) {
  // What lies before the wanted rows is read in vain.
  while (arrow_rows <= next) {
    if (!DELENDA_TRY(ReadArrow())) return InternalError("row {} of {} is missing", next, num_rows);
  }
  const int64_t before = arrow_rows - arrow_whole->num_rows();
  wanted = std::min(arrow_rows - next, wanted);
  arrow_batch = wanted == arrow_whole->num_rows() ? arrow_whole : arrow_whole->Slice(next - before, wanted);
  if (next + wanted == arrow_rows) arrow_whole.reset();
  return wanted;
}

Result<void> RowGroupReader::State::Finish() {
  while (batches && DELENDA_TRY(ReadArrow())) {
  }
  for (const Column& column : columns) {
    if (column.flat) DELENDA_TRY(column.flat->Finish());
  }
  return {};
}

Result<int64_t> RowGroupReader::State::Begin() {
  const auto pass_over = [&](int64_t count) {
    for (const Column& column : columns) {
      if (column.flat) column.flat->Skip(count);
    }
  };
  if (!taken) pass_over(rows);
  taken = false;
  rows = 0;
  if (run < runs.size() && next == runs[run].end) ++run;
  if (run == runs.size()) {
    if (!std::exchange(ended, true) && next == num_rows) DELENDA_TRY(Finish());
    return 0;
  }
  if (next < runs[run].first) {
    pass_over(runs[run].first - next);
    next = runs[run].first;
  }
  first = next;
  rows = std::min(batch_rows, runs[run].end - next);
  // Arrow may give fewer rows than were asked for: where strings reach 2 GiB.
  if (batches) rows = DELENDA_TRY(NextArrowBatch(rows));
  next += rows;
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
    const int64_t end = std::min(part.end, state->num_rows);
    for (const RowRun& run : part.runs.empty() ? std::vector{RowRun{part.first, end}} : part.runs) {
      const RowRun wanted{std::max(run.first, part.first), std::min(run.end, end)};
      if (wanted.first < wanted.end) state->runs.push_back(wanted);
    }
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
        const auto known = std::ranges::find(part.pages, leaf, &KnownPages::leaf);
        const FlatColumn::Chunk chunk{
            .column = s.metadata->schema()->Column(leaf),
            .metadata = metadata.get(),
            .type = field->type(),
            .rows = state->num_rows,
            .first_rows = known == part.pages.end() ? std::vector<int64_t>() : known->first_rows};
        if (FlatColumn::CanRead(chunk)) {
          ChunkBytes bytes = DELENDA_TRY(state->input->Chunk(ranges[first], *state->context));
          column.flat = DELENDA_TRY(WithContext(
              FlatColumn::Open(chunk, ChunkPages(std::move(bytes), metadata->compression(), *state->context),
                               batch_rows),
              "column", field->name()));
        }
      }
      if (!column.flat) {
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
