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
#include "delenda/formats/parquet/parquet_file_state.h"

namespace delenda::parquet {
namespace {

constexpr std::string_view kFieldIdKey = "PARQUET:field_id";
constexpr uint64_t kSpeculativeRead = uint64_t{64} << 10;
// Where a second read costs little, most footers are still read by the first.
constexpr uint64_t kSpeculativeReadCheap = uint64_t{8} << 10;
constexpr uint64_t kMagicBytes = 4;
constexpr uint64_t kTailBytes = 8;  // length of the footer (u32 little-endian) · magic

// At any depth.
bool HasFieldIds(const arrow::FieldVector& fields) {
  return std::ranges::any_of(fields, [](const std::shared_ptr<arrow::Field>& field) {
    return FieldIdOf(*field).has_value() || HasFieldIds(field->type()->fields());
  });
}

}  // namespace

::parquet::ArrowReaderProperties ArrowProperties(int64_t batch_rows) {
  ::parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(batch_rows);
  properties.set_pre_buffer(false);  // ranges are fetched by InputAdapter, on the calling thread
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);  // ns would overflow before 1677 and after 2262
  properties.set_arrow_extensions_enabled(false);
  return properties;
}

bool BoundsAreInOrder(const ::parquet::FileMetaData& metadata, const ::parquet::ColumnDescriptor& column) {
  if (column.sort_order() == ::parquet::SortOrder::UNKNOWN) return false;  // INT96, intervals
  const ::parquet::Type::type physical = column.physical_type();
  if (physical != ::parquet::Type::BYTE_ARRAY && physical != ::parquet::Type::FIXED_LEN_BYTE_ARRAY) return true;
  // Without a defined order, binary bounds were compared as signed bytes by some writers.
  if (column.column_order().get_order() != ::parquet::ColumnOrder::TYPE_DEFINED_ORDER) return false;
  // Decimals of variable length are compared as unsigned bytes by parquet-rs (apache/arrow-rs, issue 11073).
  const auto& logical = column.logical_type();
  const bool decimal = logical != nullptr && logical->is_decimal();
  return !decimal || physical != ::parquet::Type::BYTE_ARRAY || !metadata.created_by().starts_with("parquet-rs");
}

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
  const uint64_t read = std::min(s.size, s.file->SeeksAreCheap() ? kSpeculativeReadCheap : kSpeculativeRead);
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
    const auto& logical = column->logical_type();
    s.leaves.push_back({.physical = column->physical_type(),
                        .repeated = column->max_repetition_level() > 0,
                        .path = column->path()->ToDotString(),
                        .uuid = logical != nullptr && logical->is_UUID()});
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
    if (!BoundsAreInOrder(*s.metadata, *s.metadata->schema()->Column(leaf))) return result;
    if (encoded->has_min) result.min = encoded->min();
    if (encoded->has_max) result.max = encoded->max();
    result.min_is_exact = encoded->is_min_value_exact.value_or(true);
    result.max_is_exact = encoded->is_max_value_exact.value_or(true);
    return result;
  };
  return WithContext(Guarded(read), "file", path());
}

}  // namespace delenda::parquet
