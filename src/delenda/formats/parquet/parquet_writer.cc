#include "delenda/formats/parquet/parquet_writer.h"

#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/thread_pool.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/dictionary_choice.h"
#include "delenda/formats/parquet/output_adapter.h"

namespace delenda::parquet {
namespace {

// The batches are ours: what Arrow finds wrong with them is our fault.
constexpr auto kOursToWrite = StatusSource::kCompute;

// In the form that readers parse: those in Java ignore the statistics of text columns in files of unnamed writers.
constexpr char kCreatedBy[] = "delenda version " DELENDA_VERSION;

// Rows are handed to Arrow in slices, between which sizes are looked at.
constexpr int64_t kSliceRows = 64 * 1024;
constexpr int64_t kFewestSliceRows = 100;

// delenda's threads as Arrow sees them.
class ExecutorAdapter final : public arrow::internal::Executor {
 public:
  explicit ExecutorAdapter(delenda::Executor& executor) : executor_(executor) {}
  int GetCapacity() override { return static_cast<int>(executor_.threads()); }

 protected:
  arrow::Status SpawnReal(arrow::internal::TaskHints /*hints*/, arrow::internal::FnOnce<void()> task,
                          arrow::StopToken stop, StopCallback&& on_stop) override {
    executor_.Submit([task = std::move(task), stop = std::move(stop), on_stop = std::move(on_stop)]() mutable {
      if (arrow::Status status = stop.Poll(); !status.ok()) {
        if (on_stop) std::move(on_stop)(status);
        return;
      }
      std::move(task)();
    });
    return arrow::Status::OK();
  }

 private:
  delenda::Executor& executor_;
};

arrow::Compression::type ArrowCodec(Codec codec) {
  switch (codec) {
    case Codec::kUncompressed: return arrow::Compression::UNCOMPRESSED;
    case Codec::kSnappy: return arrow::Compression::SNAPPY;
    case Codec::kGzip: return arrow::Compression::GZIP;
    case Codec::kLz4: return arrow::Compression::LZ4;
    case Codec::kZstd: return arrow::Compression::ZSTD;
    case Codec::kBrotli: return arrow::Compression::BROTLI;
  }
  return arrow::Compression::UNCOMPRESSED;
}

// The same buffers under another type of equal layout. What decides how a nested column is written (requiredness,
// UUIDs) lies in the type of the array, and the batch's may know less than the schema.
std::shared_ptr<arrow::ArrayData> Retyped(const arrow::ArrayData& data, const std::shared_ptr<arrow::DataType>& type) {
  std::shared_ptr<arrow::ArrayData> result = data.Copy();
  result->type = type;
  const auto& fields = type->fields();
  for (size_t i = 0; i < fields.size() && i < result->child_data.size(); ++i) {
    result->child_data[i] = Retyped(*result->child_data[i], fields[i]->type());
  }
  return result;
}

// Types of equal layout: names, requiredness, field ids and extensions may differ.
bool SameLayout(const arrow::DataType& batch, const arrow::DataType& wanted) {
  if (wanted.id() == arrow::Type::EXTENSION && batch.id() != arrow::Type::EXTENSION) {
    return batch.Equals(*static_cast<const arrow::ExtensionType&>(wanted).storage_type());
  }
  if (batch.id() != wanted.id() || batch.num_fields() != wanted.num_fields()) return false;
  if (batch.num_fields() == 0) return batch.Equals(wanted);
  for (int i = 0; i < batch.num_fields(); ++i) {
    if (!SameLayout(*batch.field(i)->type(), *wanted.field(i)->type())) return false;
  }
  return true;
}

Result<::parquet::BloomFilterOptions> BloomOptions(const WriterOptions::Bloom& bloom,
                                                   const ::parquet::ColumnDescriptor& column) {
  if (column.physical_type() == ::parquet::Type::BOOLEAN) {
    return NotSupported("a bloom filter of column {}: booleans have none", column.path()->ToDotString());
  }
  if (!(bloom.false_positives > 0.0 && bloom.false_positives < 1.0) || bloom.distinct.value_or(1) <= 0) {
    return InvalidArgument(
        "a bloom filter with a rate of false positives of {} for {} values: expected between 0 and 1, "
        "and a positive number",
        bloom.false_positives, bloom.distinct.value_or(1));
  }
  ::parquet::BloomFilterOptions options;
  options.fpp = bloom.false_positives;
  options.ndv = bloom.distinct;
  return options;
}

void SetProperties(const WriterOptions& options, arrow::MemoryPool* pool,
                   ::parquet::WriterProperties::Builder& builder) {
  builder.memory_pool(pool)
      ->version(::parquet::ParquetVersion::PARQUET_2_6)
      ->data_page_version(options.version_2_pages ? ::parquet::ParquetDataPageVersion::V2
                                                  : ::parquet::ParquetDataPageVersion::V1)
      ->compression(ArrowCodec(options.codec))
      ->created_by(kCreatedBy)
      ->max_row_group_length(options.row_group_rows)
      ->data_pagesize(options.page_bytes)
      ->max_rows_per_page(options.page_rows)
      ->dictionary_pagesize_limit(options.dictionary_bytes)
      ->enable_write_page_index()
      ->enable_store_decimal_as_integer();
  if (options.codec_level) builder.compression_level(*options.codec_level);
}

Result<std::shared_ptr<::parquet::SchemaDescriptor>> ParquetSchema(const arrow::Schema& schema,
                                                                   const ::parquet::WriterProperties& properties,
                                                                   const ::parquet::ArrowWriterProperties& arrow) {
  std::shared_ptr<::parquet::SchemaDescriptor> descriptor;
  DELENDA_TRY(ToResult(::parquet::arrow::ToParquetSchema(&schema, properties, arrow, &descriptor), kOursToWrite));
  return descriptor;
}

int64_t ChunkStart(const ::parquet::ColumnChunkMetaData& chunk) {
  const bool dictionary = chunk.has_dictionary_page() && chunk.dictionary_page_offset() > 0;
  return dictionary ? std::min(chunk.dictionary_page_offset(), chunk.data_page_offset()) : chunk.data_page_offset();
}

WrittenChunk ChunkOf(const ::parquet::ColumnChunkMetaData& chunk) {
  WrittenChunk written{
      .compressed_bytes = chunk.total_compressed_size(), .values = chunk.num_values(), .statistics = {}};
  if (!chunk.is_stats_set()) return written;
  const auto encoded = chunk.encoded_statistics();
  if (!encoded) return written;
  if (encoded->has_null_count) written.statistics.null_count = encoded->null_count;
  if (encoded->has_min) written.statistics.min = encoded->min();
  if (encoded->has_max) written.statistics.max = encoded->max();
  return written;
}

}  // namespace

Result<Codec> CodecFromName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  struct Known {
    std::string_view name;
    Codec codec;
  };
  constexpr Known kKnown[] = {{"uncompressed", Codec::kUncompressed},
                              {"none", Codec::kUncompressed},
                              {"snappy", Codec::kSnappy},
                              {"gzip", Codec::kGzip},
                              {"lz4", Codec::kLz4},
                              {"lz4_raw", Codec::kLz4},
                              {"zstd", Codec::kZstd},
                              {"brotli", Codec::kBrotli}};
  for (const Known& known : kKnown) {
    if (known.name == lower) return known.codec;
  }
  return InvalidArgument(
      "unknown Parquet compression codec '{}': expected zstd, snappy, gzip, lz4, brotli or uncompressed", name);
}

struct FileWriter::State {
  std::string path;
  std::shared_ptr<arrow::Schema> schema;
  std::unique_ptr<io::OutputFile> file;
  std::unique_ptr<ExecutorAdapter> executor;
  // Of the open row group, so that its size is known. Outlives the writer, as does the stream.
  std::unique_ptr<arrow::ProxyMemoryPool> pool;
  std::shared_ptr<OutputAdapter> stream;
  ::parquet::WriterProperties::Builder properties;
  std::shared_ptr<::parquet::ArrowWriterProperties> arrow_properties;
  std::shared_ptr<::parquet::SchemaDescriptor> descriptor;
  std::unique_ptr<::parquet::arrow::FileWriter> writer;  // opened with the first rows
  int64_t row_group_bytes = 0;
  int64_t rows = 0;
  int64_t rows_in_group = 0;
  // The last slice is held back: a row group may be ended only when another row is certain to come, since Parquet's
  // readers in Java refuse an empty one.
  std::shared_ptr<arrow::RecordBatch> held;

  // `first`: the first rows that will be written; null: there are none.
  Result<void> OpenWriter(const arrow::RecordBatch* first) {
    if (first != nullptr) {
      const auto without = ColumnsWithoutDictionary(*first);
      for (int i = 0; i < descriptor->num_columns(); ++i) {
        const ::parquet::ColumnDescriptor& column = *descriptor->Column(i);
        const int top = descriptor->group_node()->FieldIndex(*descriptor->GetColumnRoot(i));
        if (std::ranges::find(without, top) != without.end()) properties.disable_dictionary(column.path());
      }
    }
    writer = DELENDA_TRY(
        ToResult(::parquet::arrow::FileWriter::Open(*schema, pool.get(), stream, properties.build(), arrow_properties),
                 kOursToWrite));
    return {};
  }
  Result<void> WriteHeld() {
    if (!held) return {};
    if (!writer) DELENDA_TRY(OpenWriter(held.get()));
    DELENDA_TRY(ToResult(writer->WriteRecordBatch(*held), kOursToWrite));
    rows_in_group += held->num_rows();
    held.reset();
    return {};
  }
  Result<void> NextRowGroup() {
    DELENDA_TRY(ToResult(writer->NewBufferedRowGroup(), kOursToWrite));
    rows_in_group = 0;
    return {};
  }
  ~State() {
    if (stream) stream->Abandon();
    try {
      writer.reset();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the file is given up, nobody can use the error
    }
  }
};

FileWriter::FileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileWriter::~FileWriter() = default;

Result<std::unique_ptr<FileWriter>> FileWriter::Make(io::FileIO& io, std::string path,
                                                     const std::shared_ptr<arrow::Schema>& schema,
                                                     const WriterOptions& options) {
  const auto make = [&]() -> Result<std::unique_ptr<FileWriter>> {
    auto state = std::make_unique<State>();
    state->path = path;
    state->schema = schema;
    state->row_group_bytes = options.row_group_bytes;
    state->pool = std::make_unique<arrow::ProxyMemoryPool>(arrow::default_memory_pool());
    if (options.executor != nullptr && options.executor->threads() > 1) {
      state->executor = std::make_unique<ExecutorAdapter>(*options.executor);
    }
    ::parquet::ArrowWriterProperties::Builder arrow_builder;
    if (state->executor) arrow_builder.set_use_threads(true)->set_executor(state->executor.get());
    state->arrow_properties = arrow_builder.build();
    SetProperties(options, state->pool.get(), state->properties);
    state->descriptor = DELENDA_TRY(ParquetSchema(*schema, *state->properties.build(), *state->arrow_properties));
    for (const WriterOptions::Bloom& bloom : options.blooms) {
      bool found = false;
      for (int i = 0; i < state->descriptor->num_columns() && !found; ++i) {
        const ::parquet::ColumnDescriptor& column = *state->descriptor->Column(i);
        if (column.schema_node()->field_id() != bloom.field_id) continue;
        state->properties.enable_bloom_filter(column.path(), DELENDA_TRY(BloomOptions(bloom, column)));
        found = true;
      }
      if (!found)
        return NotSupported("a bloom filter of field {}: it is no column of primitive values", bloom.field_id);
    }
    state->file = DELENDA_TRY(io.Create(path));
    state->stream = std::make_shared<OutputAdapter>(
        [file = state->file.get()](std::string_view bytes) { return file->Write(AsBytes(bytes)); });
    return std::unique_ptr<FileWriter>(new FileWriter(std::move(state)));
  };
  return WithContext(Guarded(make), "file", path);
}

Result<void> FileWriter::Write(const arrow::RecordBatch& batch) {
  State& s = *state_;
  const auto write = [&]() -> Result<void> {
    if (batch.num_columns() != s.schema->num_fields()) {
      return InternalError("a batch of {} columns for a file of {}", batch.num_columns(), s.schema->num_fields());
    }
    arrow::ArrayVector columns = batch.columns();
    for (int i = 0; i < batch.num_columns(); ++i) {
      const auto& wanted = s.schema->field(i)->type();
      auto& column = columns[static_cast<size_t>(i)];
      if (column->type()->Equals(*wanted, /*check_metadata=*/true)) continue;
      if (!SameLayout(*column->type(), *wanted)) {
        return InternalError("column {} of the batch is {}, of the file {}", s.schema->field(i)->name(),
                             column->type()->ToString(), wanted->ToString());
      }
      column = arrow::MakeArray(Retyped(*column->data(), wanted));
    }
    const auto whole = arrow::RecordBatch::Make(s.schema, batch.num_rows(), std::move(columns));
    const int64_t bytes = std::max<int64_t>(DELENDA_TRY(ToResult(arrow::util::ReferencedBufferSize(batch))), 1);
    const int64_t bytes_per_row = bytes / std::max<int64_t>(batch.num_rows(), 1) + 1;
    const int64_t slice = std::clamp(s.row_group_bytes / 4 / bytes_per_row, kFewestSliceRows, kSliceRows);
    for (int64_t at = 0; at < batch.num_rows(); at += slice) {
      DELENDA_TRY(s.WriteHeld());
      if (s.rows_in_group > 0 && static_cast<int64_t>(buffered_bytes()) >= s.row_group_bytes) {
        DELENDA_TRY(s.NextRowGroup());
      }
      s.held = whole->Slice(at, std::min(slice, batch.num_rows() - at));
      s.rows += s.held->num_rows();
    }
    return {};
  };
  return WithContext(Guarded(write), "file", s.path);
}

Result<void> FileWriter::EndRowGroup() {
  State& s = *state_;
  if (!s.held || s.rows_in_group == 0) return {};
  return WithContext(Guarded([&] { return s.NextRowGroup(); }), "file", s.path);
}

int64_t FileWriter::rows() const { return state_->rows; }

uint64_t FileWriter::buffered_bytes() const { return static_cast<uint64_t>(state_->pool->bytes_allocated()); }

uint64_t FileWriter::estimated_size() const {
  return static_cast<uint64_t>(state_->stream->position()) + buffered_bytes();
}

Result<WrittenFile> FileWriter::Finish() {
  State& s = *state_;
  const auto finish = [&]() -> Result<WrittenFile> {
    DELENDA_TRY(s.WriteHeld());
    if (!s.writer) DELENDA_TRY(s.OpenWriter(nullptr));
    DELENDA_TRY(ToResult(s.writer->Close(), kOursToWrite));
    DELENDA_TRY(ToResult(s.stream->Close(), kOursToWrite));
    DELENDA_TRY(s.file->Close());
    const auto metadata = s.writer->metadata();
    WrittenFile file{.path = s.path,
                     .size = static_cast<uint64_t>(s.stream->position()),
                     .rows = metadata->num_rows(),
                     .row_group_offsets = {},
                     .leaves = {}};
    if (file.rows != s.rows) return InternalError("{} rows were given, {} written", s.rows, file.rows);
    for (int i = 0; i < metadata->num_columns(); ++i) {
      const ::parquet::ColumnDescriptor& column = *metadata->schema()->Column(i);
      file.leaves.push_back({.field_id = column.schema_node()->field_id(),
                             .leaf = {.physical = column.physical_type(),
                                      .repeated = column.max_repetition_level() > 0,
                                      .path = column.path()->ToDotString()},
                             .chunks = {}});
    }
    for (int group = 0; group < metadata->num_row_groups(); ++group) {
      const auto row_group = metadata->RowGroup(group);
      for (int i = 0; i < row_group->num_columns(); ++i) {
        const auto chunk = row_group->ColumnChunk(i);
        if (i == 0) file.row_group_offsets.push_back(ChunkStart(*chunk));
        file.leaves[static_cast<size_t>(i)].chunks.push_back(ChunkOf(*chunk));
      }
    }
    return file;
  };
  return WithContext(Guarded(finish), "file", s.path);
}

}  // namespace delenda::parquet
