#include "delenda/formats/parquet/bloom_filter.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <parquet/bloom_filter.h>

#include <string>

#include "delenda/base/bytes.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/parquet_file_state.h"
#include "delenda/io/ranges.h"

namespace delenda::parquet {

bool BloomFilter::MayHold(std::string_view plain) const { return filter_->FindHash(filter_->Hash(plain)); }

bool ParquetFile::HasSmallBloomFilter(size_t row_group, int leaf) const {
  const auto chunk = state_->metadata->RowGroup(static_cast<int>(row_group))->ColumnChunk(leaf);
  const auto offset = chunk->bloom_filter_offset();
  const auto length = chunk->bloom_filter_length();
  if (!offset || !length || *offset <= 0 || *length <= 0) return false;
  // Within the file, whatever the footer says; no larger than what it saves.
  return static_cast<uint64_t>(*offset) <= state_->size &&
         static_cast<uint64_t>(*length) <= state_->size - static_cast<uint64_t>(*offset) &&
         *length < chunk->total_compressed_size();
}

Result<BloomFilter> ParquetFile::ReadBloomFilter(size_t row_group, int leaf) const {
  if (!HasSmallBloomFilter(row_group, leaf)) return InternalError("there is no bloom filter to read");
  const auto chunk = state_->metadata->RowGroup(static_cast<int>(row_group))->ColumnChunk(leaf);
  const io::ByteRange range{static_cast<uint64_t>(*chunk->bloom_filter_offset()),
                            static_cast<uint64_t>(*chunk->bloom_filter_length())};
  const Bytes bytes = DELENDA_TRY(io::ReadRange(*state_->file, range));
  const auto read = [&]() -> Result<BloomFilter> {
    // The filter may go on to refer to the buffer, which owns its bytes.
    arrow::io::BufferReader stream(arrow::Buffer::FromString(std::string(AsText(bytes))));
    return BloomFilter(
        std::make_shared<const ::parquet::BlockSplitBloomFilter>(::parquet::BlockSplitBloomFilter::Deserialize(
            ::parquet::ReaderProperties(), &stream, static_cast<int64_t>(bytes.size()))));
  };
  return WithContext(Guarded(read), "file", path());
}

}  // namespace delenda::parquet
