#include "delenda/formats/parquet/flat_values.h"

#include <arrow/array.h>
#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace delenda::parquet {
namespace {

// Indices are decoded this many at a time.
constexpr int64_t kIndexBlock = 1024;

// Decodes indices block by block, sees that they lie within the dictionary, and calls
// use(indices, first value, values) with `first value` a multiple of kIndexBlock.
template <typename Use>
Result<void> ForEachIndexBlock(HybridRuns& indices, int64_t values, size_t dictionary, const Use& use) {
  std::array<uint32_t, kIndexBlock> block;
  for (int64_t first = 0; first < values; first += kIndexBlock) {
    const int64_t count = std::min(kIndexBlock, values - first);
    DELENDA_TRY(indices.Decode(block.data(), count));
    uint32_t highest = 0;
    for (int64_t i = 0; i < count; ++i) highest = std::max(highest, block[static_cast<size_t>(i)]);
    if (highest >= dictionary) return Corrupt("index {} into a dictionary of {} values", highest, dictionary);
    DELENDA_TRY(use(block.data(), first, count));
  }
  return {};
}

// From the stored form of a value of fixed width to Arrow's.
template <size_t kWidth>
struct SameBytes {
  static constexpr size_t kIn = kWidth, kOut = kWidth;
  explicit SameBytes(size_t) {}
  size_t in() const { return kIn; }
  size_t out() const { return kOut; }
  void operator()(const std::byte* from, std::byte* to) const { std::memcpy(to, from, kWidth); }
};

struct AnyBytes {
  static constexpr size_t kIn = 0, kOut = 0;
  explicit AnyBytes(size_t width) : width_(width) {}
  size_t in() const { return width_; }
  size_t out() const { return width_; }
  void operator()(const std::byte* from, std::byte* to) const { std::memcpy(to, from, width_); }
  size_t width_;
};

void StoreDecimal(uint64_t low, int64_t high, std::byte* to) {
  std::memcpy(to, &low, sizeof(low));
  std::memcpy(to + sizeof(low), &high, sizeof(high));
}

template <typename T>
struct IntegerToDecimal {
  explicit IntegerToDecimal(size_t) {}
  size_t in() const { return sizeof(T); }
  size_t out() const { return 16; }
  void operator()(const std::byte* from, std::byte* to) const {
    T value;
    std::memcpy(&value, from, sizeof(T));
    const int64_t wide = value;
    StoreDecimal(static_cast<uint64_t>(wide), wide >> 63, to);
  }
};

// Two's complement, the highest byte first, of up to 16 bytes.
struct BigEndianToDecimal {
  explicit BigEndianToDecimal(size_t width) : width_(width) {}
  size_t in() const { return width_; }
  size_t out() const { return 16; }
  void operator()(const std::byte* from, std::byte* to) const {
    std::array<std::byte, 16> bytes;
    const bool negative = (from[0] & std::byte{0x80}) != std::byte{0};
    bytes.fill(negative ? std::byte{0xff} : std::byte{0});
    for (size_t i = 0; i < width_; ++i) bytes[width_ - 1 - i] = from[i];
    std::memcpy(to, bytes.data(), bytes.size());
  }
  size_t width_;
};

template <typename Convert>
class FixedValues final : public FlatColumn {
 public:
  FixedValues(const Chunk& chunk, ChunkPages pages)
      : FlatColumn(chunk, std::move(pages)), convert_(static_cast<size_t>(std::max(0, chunk.column->type_length()))) {}

 private:
  bool Fits(int64_t) const override { return true; }

  Result<void> SetDictionary(ByteView values, int64_t count) override {
    const size_t in = convert_.in(), out = convert_.out();
    if (static_cast<uint64_t>(count) > values.size() / in)
      return Corrupt("a dictionary of {} bytes is said to hold {} values", values.size(), count);
    dictionary_.resize(static_cast<size_t>(count) * out);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i)
      convert_(values.data() + i * in, dictionary_.data() + i * out);
    return {};
  }

  Result<void> Begin(int64_t count) override {
    values_ = DELENDA_TRY(buffers().Allocate(count * static_cast<int64_t>(convert_.out()), kCompactSlack));
    return {};
  }

  std::byte* At(int64_t row) const { return values_->bytes() + static_cast<size_t>(row) * convert_.out(); }

  Result<void> CheckLeft(int64_t values) const {
    if (static_cast<uint64_t>(values) > plain_.size() / convert_.in())
      return Corrupt("a page has {} bytes left for {} values", plain_.size(), values);
    return {};
  }

  Result<void> AppendPlain(int64_t values, const RowMask& kept) override {
    DELENDA_TRY(CheckLeft(values));
    const std::byte* from = plain_.data();
    const size_t in = convert_.in(), out = convert_.out();
    CompactRows(
        kept, values, out, At(written()),
        [&](int64_t value, std::byte* to) { convert_(from + static_cast<size_t>(value) * in, to); },
        [&](int64_t value, int64_t count, std::byte* to) {
          const std::byte* begin = from + static_cast<size_t>(value) * in;
          if constexpr (requires { Convert::kIn; }) {
            std::memcpy(to, begin, static_cast<size_t>(count) * in);
          } else {
            for (size_t i = 0; i < static_cast<size_t>(count); ++i) convert_(begin + i * in, to + i * out);
          }
        });
    return SkipPlain(values);
  }

  Result<void> SkipPlain(int64_t values) override {
    DELENDA_TRY(CheckLeft(values));
    plain_ = plain_.subspan(static_cast<size_t>(values) * convert_.in());
    return {};
  }

  Result<void> AppendIndexed(int64_t values, const RowMask& kept) override {
    const size_t width = convert_.out();
    std::byte* to = At(written());
    const auto gather = [&](const uint32_t* indices, int64_t first, int64_t count) -> Result<void> {
      const auto copy = [&](int64_t i, std::byte* out) {
        const std::byte* from = dictionary_.data() + size_t{indices[i]} * width;
        if constexpr (requires { requires Convert::kOut != 0; })
          std::memcpy(out, from, Convert::kOut);
        else
          std::memcpy(out, from, width);
      };
      to = CompactRows(kept.From(first), count, width, to, copy, [&](int64_t i, int64_t run, std::byte* out) {
        for (const int64_t end = i + run; i < end; ++i, out += width) copy(i, out);
      });
      return {};
    };
    return ForEachIndexBlock(indices_, values, dictionary_.size() / width, gather);
  }

  void Spread(int64_t rows, int64_t values, const RowMask& valid) override {
    const size_t width = convert_.out();
    std::byte* begin = At(written());
    // From behind: no value is overwritten before it has moved.
    for (int64_t row = rows - 1, value = values - 1; row > value; --row) {
      std::byte* to = begin + static_cast<size_t>(row) * width;
      if (valid.Kept(row))
        std::memcpy(to, begin + static_cast<size_t>(value--) * width, width);
      else
        std::memset(to, 0, width);
    }
  }

  Result<std::shared_ptr<arrow::Array>> End(std::shared_ptr<arrow::Buffer> validity, int64_t null_count) override {
    return arrow::MakeArray(
        arrow::ArrayData::Make(type(), written(), {std::move(validity), std::move(values_)}, null_count));
  }

  Convert convert_;
  std::vector<std::byte> dictionary_;  // as Arrow has the values
  std::shared_ptr<RecycledBuffer> values_;
};

// Strings and bytes. Short ones are copied 16 bytes at a time, whatever their length: what is too much is overwritten
// by the next one, or lies in the slack.
class VariableValues final : public FlatColumn {
 public:
  VariableValues(const Chunk& chunk, ChunkPages pages)
      : FlatColumn(chunk, std::move(pages)), chunk_bytes_(chunk.metadata->total_uncompressed_size()) {}

 private:
  static constexpr size_t kShort = 16;
  static constexpr size_t kLengthBytes = 4;

  struct Entry {
    uint32_t offset = 0;
    uint32_t size = 0;
  };

  bool Fits(int64_t batch_rows) const override {
    const auto limit = static_cast<int64_t>(std::numeric_limits<int32_t>::max()) - chunk_bytes_;
    return chunk_bytes_ >= 0 && limit > 0 && longest_ <= limit / batch_rows;
  }

  static std::unexpected<Error> EndsEarly() { return Corrupt("a page ends within a value of variable length"); }

  // The length in front of a value, seen to lie within the page with its value.
  static Result<uint32_t> LengthAt(const std::byte* at, const std::byte* end) {
    const auto left = static_cast<size_t>(end - at);
    if (left >= kLengthBytes) {
      const auto length = LoadUnsigned<std::endian::little, uint32_t>(at);
      if (length <= left - kLengthBytes) return length;
    }
    return EndsEarly();
  }

  Result<void> SetDictionary(ByteView values, int64_t count) override {
    if (static_cast<uint64_t>(count) > values.size() / kLengthBytes)
      return Corrupt("a dictionary of {} bytes is said to hold {} values", values.size(), count);
    const std::byte* at = values.data();
    const std::byte* end = at + values.size();
    entries_.reserve(static_cast<size_t>(count));
    entry_bytes_.reserve(values.size() + kShort);
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t size = DELENDA_TRY(LengthAt(at, end));
      at += kLengthBytes;
      entries_.push_back({static_cast<uint32_t>(entry_bytes_.size()), size});
      entry_bytes_.insert(entry_bytes_.end(), at, at + size);
      longest_ = std::max(longest_, int64_t{size});
      at += size;
    }
    entry_bytes_.resize(entry_bytes_.size() + kShort);
    return {};
  }

  Result<void> Begin(int64_t count) override {
    const auto size = (count + 1) * static_cast<int64_t>(sizeof(int32_t));
    offsets_ = DELENDA_TRY(buffers().Allocate(size, kCompactSlack));
    Offsets()[0] = 0;
    used_ = 0;
    // About as much as the batch before: growing means copying.
    bytes_ = DELENDA_TRY(buffers().Allocate(static_cast<int64_t>(last_used_ + last_used_ / 16), kShort));
    return {};
  }

  int32_t* Offsets() const { return reinterpret_cast<int32_t*>(offsets_->mutable_data()); }

  // Room for `more` bytes and what is copied too much. Corrupt if offsets would overflow.
  Result<void> Reserve(size_t more) {
    const size_t needed = used_ + more + kShort;
    if (needed > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
      return Corrupt("a batch of values has more than 2 GiB: more than the column chunk is said to have");
    if (static_cast<int64_t>(needed) <= bytes_->room()) return {};
    const int64_t size = std::max(static_cast<int64_t>(needed), bytes_->room() / 2 * 3);
    std::shared_ptr<RecycledBuffer> larger = DELENDA_TRY(buffers().Allocate(size));
    std::memcpy(larger->bytes(), bytes_->bytes(), used_);
    bytes_ = std::move(larger);
    return {};
  }

  Result<void> AppendPlain(int64_t values, const RowMask& kept) override {
    // Every length is seen to lie within the page, so all of them together do.
    DELENDA_TRY(Reserve(plain_.size()));
    const std::byte* at = plain_.data();
    const std::byte* const end = at + plain_.size();
    std::byte* const to = bytes_->bytes();
    int32_t* next = Offsets() + written() + 1;
    size_t used = used_;
    for (int64_t first = 0; first < values; first += 64) {
      const int64_t count = std::min<int64_t>(64, values - first);
      uint64_t word = kept.Word(first, count);
      for (int64_t i = 0; i < count; ++i, word >>= 1) {
        const auto left = static_cast<size_t>(end - at);
        if (left < kLengthBytes) [[unlikely]]
          return EndsEarly();
        const size_t size = LoadUnsigned<std::endian::little, uint32_t>(at);
        if (size > left - kLengthBytes) [[unlikely]]
          return EndsEarly();
        at += kLengthBytes;
        if (size <= kShort && left >= kLengthBytes + kShort) {
          std::memcpy(to + used, at, kShort);
        } else if ((word & 1) != 0) {
          std::memcpy(to + used, at, size);
        }
        at += size;
        used += size & (0 - static_cast<size_t>(word & 1));
        *next = static_cast<int32_t>(used);
        next += word & 1;
      }
    }
    used_ = used;
    plain_ = plain_.subspan(static_cast<size_t>(at - plain_.data()));
    return {};
  }

  Result<void> SkipPlain(int64_t values) override {
    const std::byte* at = plain_.data();
    const std::byte* const end = at + plain_.size();
    for (int64_t i = 0; i < values; ++i) at += kLengthBytes + DELENDA_TRY(LengthAt(at, end));
    plain_ = plain_.subspan(static_cast<size_t>(at - plain_.data()));
    return {};
  }

  Result<void> AppendIndexed(int64_t values, const RowMask& kept) override {
    int32_t* next = Offsets() + written() + 1;
    const auto gather = [&](const uint32_t* indices, int64_t first, int64_t count) -> Result<void> {
      DELENDA_TRY(Reserve(static_cast<size_t>(count * longest_)));
      std::byte* const to = bytes_->bytes();
      const RowMask part = kept.From(first);
      const bool all_short = longest_ <= static_cast<int64_t>(kShort);
      size_t used = used_;
      for (int64_t begin = 0; begin < count; begin += 64) {
        const int64_t rows = std::min<int64_t>(64, count - begin);
        uint64_t word = part.Word(begin, rows);
        if (word == 0) continue;
        for (int64_t i = 0; i < rows; ++i, word >>= 1) {
          const Entry entry = entries_[indices[begin + i]];
          const std::byte* from = entry_bytes_.data() + entry.offset;
          if (all_short)
            std::memcpy(to + used, from, kShort);
          else if ((word & 1) != 0)
            std::memcpy(to + used, from, entry.size);
          used += entry.size & (0 - static_cast<size_t>(word & 1));
          *next = static_cast<int32_t>(used);
          next += word & 1;
        }
      }
      used_ = used;
      return {};
    };
    return ForEachIndexBlock(indices_, values, entries_.size(), gather);
  }

  // Only the ends move: a NULL has no bytes.
  void Spread(int64_t rows, int64_t values, const RowMask& valid) override {
    int32_t* ends = Offsets() + written() + 1;
    for (int64_t row = rows - 1, value = values - 1; row > value; --row) {
      ends[row] = ends[value];  // ends[-1] is the end of the row before
      if (valid.Kept(row)) --value;
    }
  }

  Result<std::shared_ptr<arrow::Array>> End(std::shared_ptr<arrow::Buffer> validity, int64_t null_count) override {
    bytes_->SetSize(static_cast<int64_t>(used_));
    last_used_ = used_;
    return arrow::MakeArray(arrow::ArrayData::Make(
        type(), written(),
        {std::move(validity), std::move(offsets_), std::shared_ptr<arrow::Buffer>(std::move(bytes_))}, null_count));
  }

  int64_t chunk_bytes_;
  std::vector<Entry> entries_;
  std::vector<std::byte> entry_bytes_;  // of the dictionary, and what is copied too much
  int64_t longest_ = 0;                 // of its values

  std::shared_ptr<RecycledBuffer> offsets_;
  std::shared_ptr<RecycledBuffer> bytes_;
  size_t used_ = 0;
  size_t last_used_ = 0;  // by the batch before
};

}  // namespace

std::unique_ptr<FlatColumn> MakeFlatValues(const FlatColumn::Chunk& chunk, ChunkPages pages) {
  using Physical = ::parquet::Type;
  const bool decimal = chunk.type->id() == arrow::Type::DECIMAL128;
  const auto make = [&]<typename Values>() -> std::unique_ptr<FlatColumn> {
    return std::make_unique<Values>(chunk, std::move(pages));
  };
  switch (chunk.column->physical_type()) {
    case Physical::INT32:
      if (decimal) return make.operator()<FixedValues<IntegerToDecimal<int32_t>>>();
      return make.operator()<FixedValues<SameBytes<4>>>();
    case Physical::INT64:
      if (decimal) return make.operator()<FixedValues<IntegerToDecimal<int64_t>>>();
      return make.operator()<FixedValues<SameBytes<8>>>();
    case Physical::FLOAT: return make.operator()<FixedValues<SameBytes<4>>>();
    case Physical::DOUBLE: return make.operator()<FixedValues<SameBytes<8>>>();
    case Physical::FIXED_LEN_BYTE_ARRAY:
      if (decimal) return make.operator()<FixedValues<BigEndianToDecimal>>();
      return make.operator()<FixedValues<AnyBytes>>();
    case Physical::BYTE_ARRAY: return make.operator()<VariableValues>();
    default: return nullptr;
  }
}

}  // namespace delenda::parquet
