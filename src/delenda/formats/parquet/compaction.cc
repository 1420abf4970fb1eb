#include "delenda/formats/parquet/compaction.h"

#include <arrow/array.h>
#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include <utility>
#include <vector>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::parquet {
namespace {

using ArrayRef = std::shared_ptr<arrow::Array>;
using BufferRef = std::shared_ptr<arrow::Buffer>;

// A buffer of `size` bytes with slack behind them.
Result<BufferRef> AllocateSlack(int64_t size) {
  std::unique_ptr<arrow::ResizableBuffer> buffer =
      DELENDA_TRY(ToResult(arrow::AllocateResizableBuffer(size + kCompactSlack)));
  DELENDA_TRY(ToResult(buffer->Resize(size, /*shrink_to_fit=*/false)));
  return BufferRef(std::move(buffer));
}

// Bits of `bitmap` from `offset` on, of the kept rows.
Result<BufferRef> CompactBits(const uint8_t* bitmap, int64_t offset, const RowMask& kept, int64_t rows, int64_t count) {
  const int64_t bytes = (count + 63) / 64 * 8;
  BufferRef buffer = DELENDA_TRY(ToResult(arrow::AllocateBuffer(bytes)));
  std::memset(buffer->mutable_data(), 0, static_cast<size_t>(bytes));
  BitAppender bits(reinterpret_cast<uint64_t*>(buffer->mutable_data()));
  for (int64_t row = 0; row < rows; row += 64) {
    const int64_t length = std::min<int64_t>(64, rows - row);
    const uint64_t places = kept.Word(row, length);
    bits.Append(ExtractBits(LoadBits(bitmap, offset + row, length), places), std::popcount(places));
  }
  return buffer;
}

// Calls use(first row, rows) for each run of kept rows.
template <typename Use>
void ForEachRun(const RowMask& kept, int64_t rows, const Use& use) {
  int64_t begin = -1;
  for (int64_t row = 0; row < rows; row += 64) {
    const int64_t length = std::min<int64_t>(64, rows - row);
    const uint64_t word = kept.Word(row, length);
    for (int64_t bit = 0; bit < length;) {
      const uint64_t left = word >> bit;
      if (begin < 0) {
        if (left == 0) break;
        bit += std::countr_zero(left);
        begin = row + bit;
      } else {
        const int64_t run = std::min<int64_t>(std::countr_one(left), length - bit);
        bit += run;
        if (bit < length) {
          use(begin, row + bit - begin);
          begin = -1;
        }
      }
    }
  }
  if (begin >= 0) use(begin, rows - begin);
}

Result<BufferRef> CompactWidth(const std::byte* values, int64_t width, const RowMask& kept, int64_t rows,
                               int64_t count) {
  BufferRef buffer = DELENDA_TRY(AllocateSlack(count * width));
  auto* out = reinterpret_cast<std::byte*>(buffer->mutable_data());
  const auto bytes = static_cast<size_t>(width);
  if (width == 4) {
    CompactFixed<4>(values, bytes, kept, rows, out);
  } else if (width == 8) {
    CompactFixed<8>(values, bytes, kept, rows, out);
  } else if (width == 16) {
    CompactFixed<16>(values, bytes, kept, rows, out);
  } else {
    // Wider than the slack: only kept values may be written.
    ForEachRun(kept, rows, [&](int64_t first, int64_t run) {
      std::memcpy(out, values + static_cast<size_t>(first) * bytes, static_cast<size_t>(run) * bytes);
      out += static_cast<size_t>(run) * bytes;
    });
  }
  return buffer;
}

Result<BufferRef> CompactOffsets(const int32_t* offsets, const RowMask& kept, int64_t rows, int64_t count) {
  BufferRef buffer = DELENDA_TRY(AllocateSlack((count + 1) * static_cast<int64_t>(sizeof(int32_t))));
  auto* out = reinterpret_cast<int32_t*>(buffer->mutable_data());
  int32_t end = 0;
  *out++ = 0;
  ForEachRun(kept, rows, [&](int64_t first, int64_t run) {
    for (int64_t row = first; row < first + run; ++row) *out++ = end += offsets[row + 1] - offsets[row];
  });
  return buffer;
}

Result<std::shared_ptr<arrow::ArrayData>> CompactData(const arrow::ArrayData& data, const RowMask& kept, int64_t count);

// Of a list or map: entries of the kept rows.
Result<std::shared_ptr<arrow::ArrayData>> CompactEntries(const arrow::ArrayData& entries, const int32_t* offsets,
                                                         const RowMask& kept, int64_t rows) {
  const int64_t first = offsets[0], length = offsets[rows] - first;
  std::vector<uint64_t> words(static_cast<size_t>((length + 63) / 64) + 1, 0);
  auto* bits = reinterpret_cast<uint8_t*>(words.data());
  int64_t count = 0;
  ForEachRun(kept, rows, [&](int64_t row, int64_t run) {
    const int64_t begin = offsets[row] - first, end = offsets[row + run] - first;
    arrow::bit_util::SetBitsTo(bits, begin, end - begin, true);
    count += end - begin;
  });
  return CompactData(*entries.Slice(first, length), RowMask(bits, 0), count);
}

Result<std::shared_ptr<arrow::ArrayData>> CompactData(const arrow::ArrayData& data, const RowMask& kept,
                                                      int64_t count) {
  const arrow::DataType& type = *data.type;
  const int64_t rows = data.length;
  auto result = std::make_shared<arrow::ArrayData>(data.type, count);
  result->buffers.resize(data.buffers.size());
  result->null_count = 0;
  if (type.id() == arrow::Type::NA) {
    result->null_count = count;
    return result;
  }
  if (data.GetNullCount() != 0 && data.buffers[0]) {
    result->buffers[0] = DELENDA_TRY(CompactBits(data.buffers[0]->data(), data.offset, kept, rows, count));
    result->null_count = arrow::kUnknownNullCount;
  }
  switch (type.id()) {
    case arrow::Type::BOOL:
      result->buffers[1] = DELENDA_TRY(CompactBits(data.buffers[1]->data(), data.offset, kept, rows, count));
      return result;
    case arrow::Type::STRING:
    case arrow::Type::BINARY: {
      const auto* offsets = data.GetValues<int32_t>(1);
      result->buffers[1] = DELENDA_TRY(CompactOffsets(offsets, kept, rows, count));
      const int32_t bytes = reinterpret_cast<const int32_t*>(result->buffers[1]->data())[count];
      result->buffers[2] = DELENDA_TRY(ToResult(arrow::AllocateBuffer(bytes)));
      uint8_t* out = result->buffers[2]->mutable_data();
      const uint8_t* in = data.buffers[2] ? data.buffers[2]->data() : nullptr;
      ForEachRun(kept, rows, [&](int64_t first, int64_t run) {
        const auto size = static_cast<size_t>(offsets[first + run] - offsets[first]);
        if (size != 0) std::memcpy(out, in + offsets[first], size);
        out += size;
      });
      return result;
    }
    case arrow::Type::STRUCT:
      for (const auto& child : data.child_data)
        result->child_data.push_back(DELENDA_TRY(CompactData(*child->Slice(data.offset, rows), kept, count)));
      return result;
    case arrow::Type::LIST:
    case arrow::Type::MAP: {
      const auto* offsets = data.GetValues<int32_t>(1);
      result->buffers[1] = DELENDA_TRY(CompactOffsets(offsets, kept, rows, count));
      result->child_data.push_back(DELENDA_TRY(CompactEntries(*data.child_data[0], offsets, kept, rows)));
      return result;
    }
    default: break;
  }
  if (!arrow::is_fixed_width(type.id())) return InternalError("rows of {} cannot be kept apart", type.ToString());
  const int64_t width = type.byte_width();
  const auto* values = reinterpret_cast<const std::byte*>(data.buffers[1]->data());
  result->buffers[1] =
      DELENDA_TRY(CompactWidth(values + static_cast<size_t>(data.offset * width), width, kept, rows, count));
  return result;
}

}  // namespace

Result<ArrayRef> Compact(const ArrayRef& array, const RowMask& kept, int64_t count) {
  const int64_t rows = array->length();
  if (count == rows) return array;
  int64_t first = 0, last_run = 0, runs = 0;
  ForEachRun(kept, rows, [&](int64_t begin, int64_t run) {
    first = begin;
    last_run = run;
    ++runs;
  });
  // A slice keeps all of the memory: not for a few rows of many, which may be kept for long.
  if (runs <= 1 && last_run >= rows - last_run) return array->Slice(first, last_run);
  return arrow::MakeArray(DELENDA_TRY(CompactData(*array->data(), kept, count)));
}

}  // namespace delenda::parquet
