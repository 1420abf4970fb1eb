#include "delenda/formats/parquet/parquet_file.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/input_adapter.h"

namespace delenda::parquet {
namespace {

constexpr std::string_view kFieldIdKey = "PARQUET:field_id";
constexpr uint64_t kSpeculativeRead = uint64_t{64} << 10;
constexpr uint64_t kMagicBytes = 4;
constexpr uint64_t kTailBytes = 8;  // length of the footer (u32 little-endian) · magic

::parquet::ArrowReaderProperties ArrowProperties(int64_t batch_rows) {
  ::parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(batch_rows);
  properties.set_pre_buffer(false);  // ranges are fetched by InputAdapter, on the calling thread
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);  // ns would overflow before 1677 and after 2262
  properties.set_arrow_extensions_enabled(false);
  return properties;
}

// At any depth.
bool HasFieldIds(const arrow::FieldVector& fields) {
  return std::ranges::any_of(fields, [](const std::shared_ptr<arrow::Field>& field) {
    return FieldIdOf(*field).has_value() || HasFieldIds(field->type()->fields());
  });
}

}  // namespace

std::optional<int32_t> FieldIdOf(const arrow::Field& field) {
  if (!field.metadata()) return std::nullopt;
  const int at = field.metadata()->FindKey(kFieldIdKey);
  if (at < 0) return std::nullopt;
  const std::string& text = field.metadata()->value(at);
  int32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0) return std::nullopt;
  return id;
}

std::shared_ptr<const arrow::KeyValueMetadata> FieldIdMetadata(int32_t field_id) {
  return arrow::KeyValueMetadata::Make({std::string(kFieldIdKey)}, {fmt::format("{}", field_id)});
}

int CountLeaves(const arrow::DataType& type) {
  if (!arrow::is_nested(type.id())) return 1;
  int leaves = 0;
  for (const auto& child : type.fields()) leaves += CountLeaves(*child->type());
  return leaves;
}

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

ParquetFile::ParquetFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
ParquetFile::~ParquetFile() = default;

const std::string& ParquetFile::path() const { return state_->file->path(); }
int64_t ParquetFile::num_rows() const { return state_->metadata->num_rows(); }
const std::vector<RowGroup>& ParquetFile::row_groups() const { return state_->row_groups; }
const std::shared_ptr<arrow::Schema>& ParquetFile::schema() const { return state_->schema; }
FieldIds ParquetFile::field_ids() const { return state_->field_ids; }
const std::vector<Leaf>& ParquetFile::leaves() const { return state_->leaves; }

Result<std::shared_ptr<const ParquetFile>> ParquetFile::Open(std::shared_ptr<io::InputFile> file, uint64_t size,
                                                             const IdAssigner& assign_ids) {
  auto state = std::make_unique<State>();
  state->file = std::move(file);
  state->size = size;
  std::shared_ptr<ParquetFile> opened(new ParquetFile(std::move(state)));
  const auto read = [&]() -> Result<void> {
    DELENDA_TRY(opened->ReadFooter());
    State& s = *opened->state_;
    if (HasFieldIds(s.schema->fields())) {
      s.field_ids = FieldIds::kStored;
    } else if (assign_ids) {
      s.schema = assign_ids(*s.schema);
      s.field_ids = FieldIds::kAssigned;
    }
    return opened->ReadRowGroups();
  };
  DELENDA_TRY(WithContext(Guarded(read), "file", opened->path()));
  return opened;
}

Result<void> ParquetFile::ReadFooter() {
  State& s = *state_;
  if (s.size < kMagicBytes + kTailBytes || s.size > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return Corrupt("not a Parquet file: {} bytes long", s.size);
  }
  const uint64_t read = std::min(s.size, kSpeculativeRead);
  s.tail_offset = s.size - read;
  s.tail = std::make_shared<const Bytes>(DELENDA_TRY(io::ReadRange(*s.file, {s.tail_offset, read})));
  const std::byte* end = s.tail->data() + s.tail->size();
  const std::string_view magic = AsText(ByteView(end - kMagicBytes, kMagicBytes));
  if (magic == "PARE") return NotSupported("the Parquet file is encrypted");
  if (magic != "PAR1") {
    return Corrupt(
        "not a Parquet file, or its size is not the stated {} bytes: expected PAR1 at its end, found bytes {:02x}",
        s.size, fmt::join(std::span(reinterpret_cast<const uint8_t*>(end - kMagicBytes), kMagicBytes), " "));
  }
  const uint64_t footer = LoadUnsigned<std::endian::little, uint32_t>(end - kTailBytes);
  if (footer > s.size - kTailBytes - kMagicBytes) {
    return Corrupt("the Parquet footer is said to be {} bytes long, the file has {}", footer, s.size);
  }
  Bytes large;
  const std::byte* at = end - kTailBytes;
  if (footer <= s.tail->size() - kTailBytes) {
    at -= footer;
  } else {
    large = DELENDA_TRY(io::ReadRange(*s.file, {s.size - kTailBytes - footer, footer}));
    at = large.data();
  }
  s.metadata = ::parquet::FileMetaData::Make(at, static_cast<int64_t>(footer), ::parquet::default_reader_properties());
  if (s.metadata->is_encryption_algorithm_set()) return NotSupported("the Parquet file has encrypted columns");

  // A writer that used Arrow leaves its schema in the footer, and Arrow's reader would then give dictionaries, large or
  // view types, durations … instead of what the Parquet schema says: the result must not depend on who wrote the file.
  // (The object was made, not const, by FileMetaData::Make just now and nobody else has seen it.)
  if (const auto& hints = s.metadata->key_value_metadata(); hints && hints->Contains("ARROW:schema")) {
    DELENDA_TRY(ToResult(const_cast<arrow::KeyValueMetadata&>(*hints).Delete("ARROW:schema")));
  }
  DELENDA_TRY(
      ToResult(::parquet::arrow::FromParquetSchema(s.metadata->schema(), ArrowProperties(1), nullptr, &s.schema)));

  int leaves = 0;
  for (const auto& field : s.schema->fields()) leaves += CountLeaves(*field->type());
  if (leaves != s.metadata->num_columns()) {
    return Corrupt("the Parquet schema has {} columns, {} after conversion", s.metadata->num_columns(), leaves);
  }
  for (int i = 0; i < leaves; ++i) {
    const ::parquet::ColumnDescriptor* column = s.metadata->schema()->Column(i);
    s.leaves.push_back({column->physical_type(), column->max_repetition_level() > 0, column->path()->ToDotString()});
  }
  return {};
}

Result<void> ParquetFile::ReadRowGroups() {
  State& s = *state_;
  int64_t rows = 0;
  for (int i = 0; i < s.metadata->num_row_groups(); ++i) {
    const auto group = s.metadata->RowGroup(i);
    if (group->num_columns() != s.metadata->num_columns()) {
      return Corrupt("row group {} has {} column chunks, the schema {} columns", i, group->num_columns(),
                     s.metadata->num_columns());
    }
    if (group->num_rows() < 0 || group->num_rows() > std::numeric_limits<int64_t>::max() - rows) {
      return Corrupt("row group {} is said to have {} rows", i, group->num_rows());
    }
    RowGroup info{group->num_rows(), static_cast<uint64_t>(rows), 0};
    s.row_groups.push_back(info);
    if (group->num_columns() > 0) {
      // Checked to lie within the file: a row group outside of every split would silently not be read.
      s.row_groups.back().first_byte = DELENDA_TRY(ChunkRange(static_cast<size_t>(i), 0))
      .offset;
    }
    rows += group->num_rows();
  }
  if (rows != s.metadata->num_rows()) {
    return Corrupt("the Parquet footer counts {} rows, its row groups {}", s.metadata->num_rows(), rows);
  }
  return {};
}

Result<io::ByteRange> ParquetFile::ChunkRange(size_t row_group, int leaf) const {
  const State& s = *state_;
  const auto chunk = s.metadata->RowGroup(static_cast<int>(row_group))->ColumnChunk(leaf);
  int64_t start = chunk->data_page_offset();
  if (chunk->has_dictionary_page() && chunk->dictionary_page_offset() > 0 && chunk->dictionary_page_offset() < start) {
    start = chunk->dictionary_page_offset();
  }
  const int64_t length = chunk->total_compressed_size();
  const auto size = static_cast<int64_t>(s.size);
  if (start < 0 || length < 0 || start >= size || length > size - start) {
    return Corrupt("column {} of row group {} is said to lie at offset {}, {} bytes long; the file has {}",
                   s.leaves[static_cast<size_t>(leaf)].path, row_group, start, length, s.size);
  }
  if (!chunk->file_path().empty())
    return NotSupported("a column chunk of row group {} lies in another file", row_group);
  if (!s.leaves[static_cast<size_t>(leaf)].repeated && chunk->num_values() != s.row_groups[row_group].num_rows) {
    return Corrupt("column {} of row group {} is said to have {} values, the row group {} rows",
                   s.leaves[static_cast<size_t>(leaf)].path, row_group, chunk->num_values(),
                   s.row_groups[row_group].num_rows);
  }
  return io::ByteRange{static_cast<uint64_t>(start), static_cast<uint64_t>(length)};
}

Result<LeafStatistics> ParquetFile::Statistics(size_t row_group, int leaf) const {
  const State& s = *state_;
  const auto read = [&]() -> Result<LeafStatistics> {
    LeafStatistics result;
    const auto chunk = s.metadata->RowGroup(static_cast<int>(row_group))->ColumnChunk(leaf);
    if (!chunk->is_stats_set()) return result;  // also when the writer's version is known to write wrong ones
    const auto encoded = chunk->encoded_statistics();
    if (!encoded) return result;
    if (encoded->has_null_count && encoded->null_count >= 0) result.null_count = encoded->null_count;
    const ::parquet::ColumnDescriptor* column = s.metadata->schema()->Column(leaf);
    const bool bytes = column->physical_type() == ::parquet::Type::BYTE_ARRAY ||
                       column->physical_type() == ::parquet::Type::FIXED_LEN_BYTE_ARRAY;
    // Without a defined order, binary bounds were compared as signed bytes by some writers.
    if (bytes && column->column_order().get_order() != ::parquet::ColumnOrder::TYPE_DEFINED_ORDER) return result;
    if (column->sort_order() == ::parquet::SortOrder::UNKNOWN) return result;  // INT96, intervals
    if (encoded->has_min) result.min = encoded->min();
    if (encoded->has_max) result.max = encoded->max();
    return result;
  };
  return WithContext(Guarded(read), "file", path());
}

struct RowGroupReader::State {
  std::shared_ptr<InputAdapter> input;
  std::unique_ptr<::parquet::arrow::FileReader> reader;
  std::unique_ptr<arrow::RecordBatchReader> batches;
  std::shared_ptr<arrow::Schema> schema;
  std::string path;
  size_t row_group = 0;
  int64_t num_rows = 0;
  int64_t rows_read = 0;
};

RowGroupReader::RowGroupReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RowGroupReader::~RowGroupReader() = default;

const std::shared_ptr<arrow::Schema>& RowGroupReader::schema() const { return state_->schema; }

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupReader::Next() {
  State& s = *state_;
  const auto read = [&]() -> Result<std::shared_ptr<arrow::RecordBatch>> {
    std::shared_ptr<arrow::RecordBatch> batch;
    do {
      DELENDA_TRY(ToResult(s.batches->ReadNext(&batch)));
    } while (batch && batch->num_rows() == 0);
    if (batch) s.rows_read += batch->num_rows();
    if (batch ? s.rows_read > s.num_rows : s.rows_read != s.num_rows) {
      return Corrupt("expected {} rows, found {}{}", s.num_rows, batch ? "at least " : "", s.rows_read);
    }
    return batch;
  };
  Result<std::shared_ptr<arrow::RecordBatch>> batch = Guarded(read);
  if (!batch) batch.error().Add("row group", s.row_group).Add("file", s.path);
  return batch;
}

Result<std::unique_ptr<RowGroupReader>> ParquetFile::Read(size_t row_group, const std::vector<int>& leaves,
                                                          int64_t batch_rows, const RowGroupReader* earlier) const {
  const State& s = *state_;
  const auto open = [&]() -> Result<std::unique_ptr<RowGroupReader>> {
    if (row_group >= s.row_groups.size() || leaves.empty() || batch_rows <= 0) {
      return InternalError("no such read of a Parquet file");
    }
    std::vector<io::ByteRange> ranges;
    for (int leaf : leaves) ranges.push_back(DELENDA_TRY(ChunkRange(row_group, leaf)));
    auto input = std::make_shared<InputAdapter>(s.file, s.size);
    input->Serve(s.tail_offset, s.tail, *s.tail);
    if (earlier != nullptr) input->ServeAllOf(*earlier->state_->input);
    DELENDA_TRY(input->Fetch(ranges));

    auto state = std::make_unique<RowGroupReader::State>();
    state->input = input;
    auto raw = ::parquet::ParquetFileReader::Open(input, ::parquet::default_reader_properties(), s.metadata);
    state->reader = DELENDA_TRY(ToResult(
        ::parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(raw), ArrowProperties(batch_rows))));
    state->batches = DELENDA_TRY(ToResult(state->reader->GetRecordBatchReader({static_cast<int>(row_group)}, leaves)));
    state->schema = state->batches->schema();
    state->path = path();
    state->row_group = row_group;
    state->num_rows = s.row_groups[row_group].num_rows;
    return std::unique_ptr<RowGroupReader>(new RowGroupReader(std::move(state)));
  };
  Result<std::unique_ptr<RowGroupReader>> reader = Guarded(open);
  if (!reader) reader.error().Add("row group", row_group).Add("file", path());
  return reader;
}

}  // namespace delenda::parquet
