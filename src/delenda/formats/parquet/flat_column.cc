#include "delenda/formats/parquet/flat_column.h"

#include <arrow/array.h>
#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

#include <limits>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/flat_values.h"

namespace delenda::parquet {
namespace {

using Physical = ::parquet::Type;
using Encoding = ::parquet::Encoding;

// parquet.thrift, Encoding.
constexpr int32_t kPlain = 0;
constexpr int32_t kPlainDictionary = 2;
constexpr int32_t kRle = 3;
constexpr int32_t kRleDictionary = 8;

bool CanReadType(const ::parquet::ColumnDescriptor& column, const arrow::DataType& type) {
  const arrow::Type::type id = type.id();
  switch (column.physical_type()) {
    case Physical::INT32:
      return id == arrow::Type::INT32 || id == arrow::Type::UINT32 || id == arrow::Type::DATE32 ||
             id == arrow::Type::TIME32 || id == arrow::Type::DECIMAL128;
    case Physical::INT64:
      return id == arrow::Type::INT64 || id == arrow::Type::UINT64 || id == arrow::Type::TIME64 ||
             id == arrow::Type::TIMESTAMP || id == arrow::Type::DECIMAL128;
    case Physical::FLOAT: return id == arrow::Type::FLOAT;
    case Physical::DOUBLE: return id == arrow::Type::DOUBLE;
    case Physical::BYTE_ARRAY: return id == arrow::Type::STRING || id == arrow::Type::BINARY;
    case Physical::FIXED_LEN_BYTE_ARRAY:
      if (id == arrow::Type::DECIMAL128) return column.type_length() >= 1 && column.type_length() <= 16;
      return id == arrow::Type::FIXED_SIZE_BINARY && column.type_length() >= 1 && column.type_length() <= 64;
    default: return false;
  }
}

}  // namespace

bool FlatColumn::CanRead(const Chunk& chunk) {
  const ::parquet::ColumnDescriptor& column = *chunk.column;
  if (column.max_repetition_level() != 0 || column.max_definition_level() > 1) return false;
  if (!CanReadType(column, *chunk.type) || !Decompressor::Supports(chunk.metadata->compression())) return false;
  // A value of a variable length takes four bytes more in its page than in the result.
  if (chunk.metadata->total_uncompressed_size() > std::numeric_limits<int32_t>::max()) return false;
  for (const Encoding::type encoding : chunk.metadata->encodings()) {
    switch (encoding) {
      case Encoding::PLAIN:
      case Encoding::PLAIN_DICTIONARY:
      case Encoding::RLE_DICTIONARY:
      case Encoding::RLE:         // levels
      case Encoding::BIT_PACKED:  // levels that are not there
        break;
      default: return false;
    }
  }
  return true;
}

Result<std::unique_ptr<FlatColumn>> FlatColumn::Open(const Chunk& chunk, ChunkPages pages, int64_t batch_rows) {
  std::unique_ptr<FlatColumn> column = MakeFlatValues(chunk, std::move(pages));
  if (!column) return InternalError("no flat column: {}", chunk.type->ToString());
  if (chunk.rows > 0) DELENDA_TRY(column->NextPage());  // and the dictionary
  if (!column->Fits(batch_rows)) return nullptr;
  return column;
}

FlatColumn::FlatColumn(const Chunk& chunk, ChunkPages pages)
    : type_(chunk.type),
      optional_(chunk.column->max_definition_level() == 1),
      chunk_rows_(chunk.rows),
      pages_(std::move(pages)),
      first_rows_(chunk.first_rows) {}

// Rows were chosen by the index's word: were the page to hold others, those that it should have named would be lost.
Result<void> FlatColumn::CheckFirstRow() {
  if (first_rows_.empty()) return {};
  const bool known = pages_seen_ < first_rows_.size();
  const int64_t end = pages_seen_ + 1 < first_rows_.size() ? first_rows_[pages_seen_ + 1] : chunk_rows_;
  if (!known || first_rows_[pages_seen_] != rows_seen_ || end != rows_seen_ + page_left_) {
    return Corrupt("page {} holds rows {} to {}, by the page index {} to {}", pages_seen_, rows_seen_,
                   rows_seen_ + page_left_, known ? first_rows_[pages_seen_] : chunk_rows_, end);
  }
  ++pages_seen_;
  return {};
}

Result<void> FlatColumn::NextPage(int64_t passing) {
  // Pages of a column have about as many rows each.
  const auto ahead = passing >= pages_.header().values && pages_.header().values > 0 ? ChunkPages::Ahead::kHeader
                                                                                     : ChunkPages::Ahead::kPages;
  for (;;) {
    if (!DELENDA_TRY(pages_.Next(ahead))) return Corrupt("expected {} rows, found {}", chunk_rows_, rows_seen_);
    const PageHeader& header = pages_.header();
    if (header.kind != PageHeader::Kind::kDictionary) break;
    // A second one would change the meaning of indices that were written for the first.
    if (has_dictionary_) return Corrupt("a column chunk has two dictionaries");
    if (header.encoding != kPlain && header.encoding != kPlainDictionary)
      return NotSupported("a dictionary is encoded by method {}", header.encoding);
    DELENDA_TRY(SetDictionary(DELENDA_TRY(pages_.Load()), header.values));
    has_dictionary_ = true;
  }
  page_left_ = pages_.header().values;
  if (page_left_ > chunk_rows_ - rows_seen_)
    return Corrupt("expected {} rows, found at least {}", chunk_rows_, rows_seen_ + page_left_);
  DELENDA_TRY(CheckFirstRow());
  rows_seen_ += page_left_;
  loaded_ = false;
  page_skip_ = 0;
  page_row_ = 0;
  return {};
}

Result<void> FlatColumn::LoadPage() {
  const PageHeader& header = pages_.header();
  ByteReader page(DELENDA_TRY(pages_.Load()));
  ByteView levels;
  if (header.kind == PageHeader::Kind::kDataV2) {
    DELENDA_TRY(page.Read(header.repetition_bytes, "repetition levels"));
    levels = DELENDA_TRY(page.Read(header.definition_bytes, "definition levels"));
  } else if (optional_) {
    if (header.level_encoding != kRle)
      return NotSupported("definition levels are encoded by method {}", header.level_encoding);
    const uint32_t length = DELENDA_TRY(page.ReadLittle<uint32_t>("definition levels"));
    levels = DELENDA_TRY(page.Read(length, "definition levels"));
  }
  has_nulls_ = false;
  if (optional_) DELENDA_TRY(ReadLevels(levels, header.values));
  indexed_ = header.encoding == kPlainDictionary || header.encoding == kRleDictionary;
  plain_ = {};
  indices_ = {};
  if (indexed_) {
    if (!has_dictionary_) return Corrupt("a page refers to a dictionary, its column chunk has none");
    // A page of NULLs may hold nothing else.
    if (page.remaining() != 0) {
      const uint8_t width = DELENDA_TRY(page.ReadLittle<uint8_t>("indices"));
      if (width > 32) return Corrupt("indices of {} bits", width);
      indices_ = HybridRuns(DELENDA_TRY(page.Read(page.remaining(), "indices")), width);
    }
  } else if (header.encoding == kPlain) {
    plain_ = DELENDA_TRY(page.Read(page.remaining(), "values"));
  } else {
    return NotSupported("values are encoded by method {}, which the column chunk does not list", header.encoding);
  }
  loaded_ = true;
  const int64_t skip = std::exchange(page_skip_, 0);
  return SkipInPage(skip);
}

Result<void> FlatColumn::ReadLevels(ByteView levels, int64_t rows) {
  HybridRuns runs(levels, 1);
  constexpr int64_t kBlock = 1024;
  uint32_t block[kBlock];
  valid_.clear();
  // Nearly always one run says that there are no NULLs.
  if (DELENDA_TRY(runs.SkipRepeated(1, rows))) return {};
  valid_.assign(static_cast<size_t>((rows + 63) / 64), 0);
  BitAppender valid(valid_.data());
  for (int64_t row = 0; row < rows; row += kBlock) {
    const int64_t count = std::min(kBlock, rows - row);
    DELENDA_TRY(runs.Decode(block, count));
    for (int64_t first = 0; first < count; first += 64) {
      const int64_t bits = std::min<int64_t>(64, count - first);
      uint64_t word = 0;
      for (int64_t i = 0; i < bits; ++i) {
        if (block[first + i] > 1) return Corrupt("a definition level of {}, above 1", block[first + i]);
        word |= uint64_t{block[first + i]} << i;
      }
      valid.Append(word, bits);
    }
  }
  has_nulls_ = true;
  return {};
}

Result<void> FlatColumn::SkipInPage(int64_t rows) {
  if (rows == 0) return {};
  int64_t values = rows;
  if (has_nulls_) values = RowMask(reinterpret_cast<const uint8_t*>(valid_.data()), page_row_).Count(rows);
  page_row_ += rows;
  return indexed_ ? indices_.Skip(values) : SkipPlain(values);
}

Result<void> FlatColumn::SkipRows(int64_t rows) {
  while (rows > 0) {
    if (page_left_ == 0) {
      DELENDA_TRY(NextPage(rows));
      continue;
    }
    const int64_t taken = std::min(rows, page_left_);
    if (loaded_)
      DELENDA_TRY(SkipInPage(taken));
    else
      page_skip_ += taken;
    page_left_ -= taken;
    rows -= taken;
  }
  return {};
}

Result<std::shared_ptr<arrow::Array>> FlatColumn::Read(int64_t rows, const RowMask& kept, int64_t count) {
  DELENDA_TRY(SkipRows(std::exchange(skip_, 0)));
  batch_count_ = count;
  written_ = 0;
  null_count_ = 0;
  validity_.reset();
  DELENDA_TRY(Begin(count));
  for (int64_t row = 0; row < rows;) {
    if (page_left_ == 0) {
      DELENDA_TRY(NextPage());
      continue;
    }
    const int64_t taken = std::min(rows - row, page_left_);
    const RowMask part = kept.From(row);
    if (part.None(taken)) {
      DELENDA_TRY(SkipRows(taken));
    } else {
      if (!loaded_) DELENDA_TRY(LoadPage());
      DELENDA_TRY(AppendRows(taken, part));
      page_left_ -= taken;
    }
    row += taken;
  }
  if (written_ != count) return InternalError("{} rows kept, not {}", written_, count);
  return End(std::move(validity_), null_count_);
}

Result<void> FlatColumn::AppendRows(int64_t rows, const RowMask& kept) {
  if (has_nulls_) return AppendSparse(rows, kept);
  const int64_t count = kept.Count(rows);
  DELENDA_TRY(AppendValues(rows, kept));
  page_row_ += rows;
  written_ += count;
  return {};
}

Result<void> FlatColumn::AppendSparse(int64_t rows, const RowMask& kept) {
  const RowMask valid(reinterpret_cast<const uint8_t*>(valid_.data()), page_row_);
  // From rows to values: which values are kept, and which of the kept rows have one.
  value_mask_.assign(static_cast<size_t>((rows + 63) / 64), 0);
  row_valid_.assign(static_cast<size_t>((rows + 63) / 64), 0);
  BitAppender value_mask(value_mask_.data()), row_valid(row_valid_.data());
  int64_t kept_values = 0;
  for (int64_t row = 0; row < rows; row += 64) {
    const int64_t count = std::min<int64_t>(64, rows - row);
    const uint64_t has_value = valid.Word(row, count);
    const uint64_t is_kept = kept.Word(row, count);
    value_mask.Append(ExtractBits(is_kept, has_value), std::popcount(has_value));
    row_valid.Append(ExtractBits(has_value, is_kept), std::popcount(is_kept));
    kept_values += std::popcount(has_value & is_kept);
  }
  const int64_t count = row_valid.size();
  const RowMask kept_of_values =
      kept.all() ? RowMask() : RowMask(reinterpret_cast<const uint8_t*>(value_mask_.data()), 0);
  DELENDA_TRY(AppendValues(value_mask.size(), kept_of_values));
  if (kept_values != count) {
    DELENDA_TRY(MakeValidity());
    Spread(count, kept_values, RowMask(reinterpret_cast<const uint8_t*>(row_valid_.data()), 0));
    uint8_t* bits = validity_->mutable_data();
    for (int64_t row = 0; row < count; ++row) {
      if ((row_valid_[static_cast<size_t>(row / 64)] >> (row % 64) & 1) == 0) {
        const int64_t at = written_ + row;
        bits[at / 8] = static_cast<uint8_t>(bits[at / 8] & ~(1U << (at % 8)));
      }
    }
    null_count_ += count - kept_values;
  }
  page_row_ += rows;
  written_ += count;
  return {};
}

// All valid; NULLs are then cleared.
Result<void> FlatColumn::MakeValidity() {
  if (validity_) return {};
  validity_ = DELENDA_TRY(buffers().Allocate((batch_count_ + 7) / 8));
  std::memset(validity_->mutable_data(), 0xff, static_cast<size_t>(validity_->size()));
  // Bits behind the last row are compared by nobody, but let equal arrays have equal bytes.
  if (batch_count_ % 8 != 0)
    validity_->mutable_data()[batch_count_ / 8] = static_cast<uint8_t>((1U << (batch_count_ % 8)) - 1);
  return {};
}

Result<void> FlatColumn::Finish() {
  // Rows that are passed over to the end are not looked for.
  if (skip_ != 0) return {};
  while (DELENDA_TRY(pages_.Next())) {
    if (pages_.header().kind != PageHeader::Kind::kDictionary && pages_.header().values != 0)
      return Corrupt("expected {} rows, found at least {}", chunk_rows_, rows_seen_ + pages_.header().values);
  }
  return {};
}

}  // namespace delenda::parquet
