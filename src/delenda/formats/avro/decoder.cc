#include "delenda/formats/avro/decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace delenda::avro {
namespace {

// A row of Iceberg's metadata is at most five deep; a record that contains itself could go on for as long as its bytes.
constexpr int kMaxCallDepth = 64;

}  // namespace

Decoder::At Decoder::Fail(Fault fault, At at) {
  fault_ = fault;
  fault_at_ = at;
  return nullptr;
}

// Most numbers have one byte: those are read where they are wanted.
[[gnu::always_inline]] inline Decoder::At Decoder::Varint(At at, int64_t& value) {
  const uint64_t bits = *at;
  if (bits >= 0x80 || at >= end_) return LongVarint(at, value);
  value = static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
  return at + 1;
}

// Reads at most ten bytes, which may lie behind the end but inside the padding.
Decoder::At Decoder::LongVarint(At at, int64_t& value) {
  uint64_t bits = *at;
  if (bits < 0x80) {
    ++at;
  } else {
    bits &= 0x7f;
    unsigned shift = 7;
    At from = at++;
    for (;; shift += 7) {
      const uint64_t byte = *at++;
      // The tenth byte may hold only the highest bit: anything more would be cut off silently.
      if (shift == 63 && byte > 1) [[unlikely]]
        return Fail(end_ - from < 10 ? Fault::kTruncated : Fault::kOverlong, from);
      bits |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
  }
  if (at > end_) [[unlikely]]
    return Fail(Fault::kTruncated, end_);
  value = static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
  return at;
}

inline void Decoder::SetNull(Column& column) {
  const size_t row = column.filled_++;
  if (column.maybe_null_) column.valid_.data()[row] = 0;
  switch (column.storage_) {
    case Storage::kInt: column.ints_.data()[row] = 0; break;
    case Storage::kReal: column.reals_.data()[row] = 0; break;
    case Storage::kText: column.texts_.data()[row] = {}; break;
    case Storage::kList: column.offsets_.data()[row + 1] = column.offsets_.data()[row]; break;
    case Storage::kNull:
    case Storage::kRecord:
    case Storage::kAbsent: break;
  }
}

bool Decoder::Grow(const std::vector<Column*>& group, uint64_t count) {
  // Every value is paid for before it gets memory: an element of no bytes, or a null of one, would otherwise let a
  // small file take all of it.
  const uint64_t columns = group.empty() ? 1 : group.size();
  if (count > budget_ / columns) return false;
  budget_ -= count * columns;
  for (Column* column : group) column->Grow(static_cast<size_t>(count));
  return true;
}

inline Decoder::At Decoder::Length(At at, int64_t& length) {
  if ((at = Varint(at, length)) == nullptr) [[unlikely]]
    return nullptr;
  if (length < 0) [[unlikely]]
    return Fail(Fault::kLength, at);
  if (length > end_ - at) [[unlikely]]
    return Fail(Fault::kTruncated, at);
  return at;
}

inline Decoder::At Decoder::Text(At at, const Op& op, bool is_string) {
  int64_t length = 0;
  if ((at = Length(at, length)) == nullptr) [[unlikely]]
    return nullptr;
  const std::string_view text(reinterpret_cast<const char*>(at), static_cast<size_t>(length));
  if (is_string && !IsValidUtf8(text)) [[unlikely]]
    return Fail(Fault::kUtf8, at);
  op.column->texts_.data()[op.column->filled_] = text;
  return at + length;
}

// How many of the bytes have their top bit clear. (Without an instruction for it the compiler calls a function.)
static uint64_t CountEnds(uint64_t word) { return (((~word & 0x8080808080808080) >> 7) * 0x0101010101010101) >> 56; }

// Numbers end with the byte whose top bit is clear: eight bytes are looked at together.
Decoder::At Decoder::SkipVarints(At at, uint64_t count) {
  while (count >= 8 && end_ - at >= 8) {
    const auto word = LoadUnsigned<std::endian::little, uint64_t>(reinterpret_cast<const std::byte*>(at));
    count -= CountEnds(word);
    at += 8;
    // The number that began in these bytes goes on behind them: its end is counted there.
  }
  while (count > 0) {
    if (at >= end_) [[unlikely]]
      return Fail(Fault::kTruncated, end_);
    if (*at++ < 0x80) --count;
  }
  return at;
}

Decoder::At Decoder::SkipList(At at, const Op& op, uint32_t begin, int depth) {
  for (;;) {
    int64_t signed_count = 0;
    if ((at = Varint(at, signed_count)) == nullptr) return nullptr;
    if (signed_count == 0) return at;
    if (signed_count < 0) {
      int64_t bytes = 0;
      if ((at = Varint(at, bytes)) == nullptr) return nullptr;
      if (bytes < 0) return Fail(Fault::kLength, at);
      if (bytes > end_ - at) return Fail(Fault::kTruncated, at);
      at += bytes;
      continue;
    }
    const auto count = static_cast<uint64_t>(signed_count);
    const auto left = static_cast<uint64_t>(end_ - at);
    if (begin == op.end) continue;  // elements of no bytes
    // Also keeps the products below from overflowing. (Elements of which no byte is certain occur only in records that
    // contain themselves without end, whose first one fails.)
    if (count > left / (op.size > 0 ? op.size : 1)) return Fail(Fault::kTruncated, at);
    const Op& body = program_.ops[begin];
    if (begin + 1 == op.end && body.step == Step::kSkipBytes) {
      at += count * body.size;
    } else if (begin + 1 == op.end && body.step == Step::kSkipVarints) {
      if ((at = SkipVarints(at, count * body.size)) == nullptr) return nullptr;
    } else if (op.shape == Shape::kSkipNumberAndText) {
      for (uint64_t i = 0; i < count; ++i) {
        // A number and a length of one byte each, with room for the text: nearly all pairs.
        if (end_ - at > 2 + 0x3f && at[0] < 0x80 && (at[1] & 0x81) == 0) {
          at += 2 + (at[1] >> 1);
          continue;
        }
        int64_t length = 0;
        if ((at = Varint(at, length)) == nullptr) [[unlikely]]
          return nullptr;
        if ((at = Length(at, length)) == nullptr) [[unlikely]]
          return nullptr;
        at += length;
      }
    } else {
      for (uint64_t i = 0; i < count; ++i) {
        if ((at = Run(at, begin, op.end, depth + 1)) == nullptr) return nullptr;
      }
    }
  }
}

Decoder::At Decoder::Pairs(At at, const Op& op, uint32_t begin, uint64_t count) {
  Column& first = *program_.ops[begin].column;
  Column& second = *program_.ops[begin + 1].column;
  int64_t* const keys = first.ints_.data();
  const bool numbers = op.shape == Shape::kIntAndNumber;
  size_t row = first.filled_;
  for (uint64_t i = 0; i < count; ++i) {
    fault_column_ = &first;
    const At start = at;
    int64_t key = 0, value = 0;
    if ((at = Varint(at, key)) == nullptr) [[unlikely]]
      return nullptr;
    if (key != static_cast<int32_t>(key)) [[unlikely]]
      return Fail(Fault::kIntRange, start);
    fault_column_ = &second;
    if ((at = Varint(at, value)) == nullptr) [[unlikely]]
      return nullptr;
    const At text = at;
    if (!numbers) {
      if (value < 0) [[unlikely]]
        return Fail(Fault::kLength, at);
      if (value > end_ - at) [[unlikely]]
        return Fail(Fault::kTruncated, at);
      at += value;
    }
    if (!op.only_keys.empty() && std::ranges::find(op.only_keys, key) == op.only_keys.end()) continue;
    keys[row] = key;
    if (numbers)
      second.ints_.data()[row] = value;
    else
      second.texts_.data()[row] = {reinterpret_cast<const char*>(text), static_cast<size_t>(value)};
    ++row;
  }
  fault_column_ = nullptr;
  // There was room for all pairs: rows that were not taken are given back.
  const size_t unused = static_cast<size_t>(count) - (row - first.filled_);
  for (Column* column : op.group) column->size_ -= unused;
  first.filled_ = second.filled_ = row;
  return at;
}

Decoder::At Decoder::ListBody(At at, const Op& op, uint32_t begin, uint64_t count, int depth) {
  const auto left = static_cast<uint64_t>(end_ - at);
  if (op.size > 0 && count > left / op.size) return Fail(Fault::kTruncated, at);
  if (!Grow(op.group, count)) return Fail(Fault::kCells, at);
  if (op.shape != Shape::kAny) return Pairs(at, op, begin, count);
  for (uint64_t i = 0; i < count; ++i) {
    if ((at = Run(at, begin, op.end, depth + 1)) == nullptr) [[unlikely]]
      return nullptr;
  }
  return at;
}

Decoder::At Decoder::List(At at, const Op& op, uint32_t begin, int depth) {
  Column& column = *op.column;
  const size_t row = column.filled_++;
  if (column.maybe_null_) column.valid_.data()[row] = 1;
  for (;;) {
    int64_t count = 0;
    if ((at = Varint(at, count)) == nullptr) [[unlikely]]
      return nullptr;
    if (count == 0) break;
    if (count > 0) {
      at = ListBody(at, op, begin, static_cast<uint64_t>(count), depth);
      if (at == nullptr) [[unlikely]]
        return nullptr;
      continue;
    }
    int64_t bytes = 0;
    if (count == std::numeric_limits<int64_t>::min()) return Fail(Fault::kCount, at);
    if ((at = Varint(at, bytes)) == nullptr) return nullptr;
    if (bytes < 0) return Fail(Fault::kLength, at);
    if (bytes > end_ - at) return Fail(Fault::kTruncated, at);
    const At block_end = at + bytes;
    if ((at = ListBody(at, op, begin, static_cast<uint64_t>(-count), depth)) == nullptr) return nullptr;
    // A reader that steps over this list goes by the size: with another end the two would read different rows.
    if (at != block_end) return Fail(Fault::kListSize, at);
  }
  column.offsets_.data()[row + 1] = static_cast<uint32_t>(op.group[0]->size_);
  return at;
}

Decoder::At Decoder::Run(At at, uint32_t begin, uint32_t end, int depth) {
  if (depth > kMaxCallDepth) return Fail(Fault::kDepth, at);
  const Op* const ops = program_.ops.data();
  uint32_t pc = begin;
  while (pc < end) {
    const Op& op = ops[pc];
    if (op.null_branch != kNoNullBranch) {
      // Both branch numbers are one byte: 0 is 0x00, 1 is 0x02.
      if (at >= end_) [[unlikely]]
        return Fail(Fault::kTruncated, at);
      const uint8_t branch = *at;
      if ((branch & ~uint8_t{2}) != 0) [[unlikely]] {
        fault_column_ = op.column;
        return Fail(Fault::kBranch, at);
      }
      ++at;
      if (branch >> 1 == op.null_branch) {
        if (op.column != nullptr) {
          SetNull(*op.column);
          if (op.step == Step::kRecord) {
            for (Column* below : op.group) SetNull(*below);
          }
        }
        pc = op.end;
        continue;
      }
    }
    Column* const column = op.column;
    At next = at;
    ++pc;
    switch (op.step) {
      case Step::kInt:
      case Step::kLong: {
        int64_t value = 0;
        next = Varint(at, value);
        if (op.step == Step::kInt && value != static_cast<int32_t>(value)) [[unlikely]]
          next = Fail(Fault::kIntRange, at);
        column->ints_.data()[column->filled_] = value;
        break;
      }
      case Step::kBoolean:
        if (at >= end_)
          next = Fail(Fault::kTruncated, at);
        else if (*at > 1)
          next = Fail(Fault::kBoolean, at);
        else
          column->ints_.data()[column->filled_] = *next++;
        break;
      case Step::kFloat:
      case Step::kDouble: {
        const auto* from = reinterpret_cast<const std::byte*>(at);
        if (op.step == Step::kFloat) {
          column->reals_.data()[column->filled_] =
              static_cast<double>(std::bit_cast<float>(LoadUnsigned<std::endian::little, uint32_t>(from)));
          next += 4;
        } else {
          column->reals_.data()[column->filled_] =
              std::bit_cast<double>(LoadUnsigned<std::endian::little, uint64_t>(from));
          next += 8;
        }
        if (next > end_) next = Fail(Fault::kTruncated, at);
        break;
      }
      case Step::kString: next = Text(at, op, true); break;
      case Step::kBytes: next = Text(at, op, false); break;
      case Step::kFixed:
        if (op.size > static_cast<uint64_t>(end_ - at)) {
          next = Fail(Fault::kTruncated, at);
          break;
        }
        column->texts_.data()[column->filled_] = {reinterpret_cast<const char*>(at), static_cast<size_t>(op.size)};
        next += op.size;
        break;
      case Step::kEnum: {
        int64_t symbol = 0;
        next = Varint(at, symbol);
        if (next == nullptr) break;
        if (symbol < 0 || static_cast<uint64_t>(symbol) >= op.type->symbols.size()) {
          next = Fail(Fault::kSymbol, at);
          break;
        }
        column->texts_.data()[column->filled_] = op.type->symbols[static_cast<size_t>(symbol)];
        break;
      }
      case Step::kRecord:
      case Step::kNull: break;
      case Step::kList:
        at = List(at, op, pc, depth);
        if (at == nullptr) [[unlikely]] {
          if (fault_column_ == nullptr) fault_column_ = column;
          return nullptr;
        }
        pc = op.end;
        continue;
      case Step::kSkipBytes:
        if (op.size > static_cast<uint64_t>(end_ - at)) [[unlikely]]
          return Fail(Fault::kTruncated, at);
        at += op.size;
        continue;
      case Step::kSkipVarints:
        if ((at = SkipVarints(at, op.size)) == nullptr) [[unlikely]]
          return nullptr;
        continue;
      case Step::kSkipText: {
        int64_t length = 0;
        if ((at = Length(at, length)) == nullptr) [[unlikely]]
          return nullptr;
        at += length;
        continue;
      }
      case Step::kSkipNullable: continue;
      case Step::kSkipUnion: {
        int64_t branch = 0;
        next = Varint(at, branch);
        if (next == nullptr) return nullptr;
        if (branch < 0 || static_cast<uint64_t>(branch) >= op.targets.size()) return Fail(Fault::kBranch, at);
        at = next;
        pc = op.targets[static_cast<size_t>(branch)];
        continue;
      }
      case Step::kSkipList:
        if ((at = SkipList(at, op, pc, depth)) == nullptr) [[unlikely]]
          return nullptr;
        pc = op.end;
        continue;
      case Step::kSkipCall:
        if ((at = Run(at, op.begin, op.end, depth + 1)) == nullptr) return nullptr;
        continue;
      case Step::kJump: pc = op.end; continue;
    }
    if (next == nullptr) [[unlikely]] {
      fault_column_ = column;
      return nullptr;
    }
    at = next;
    if (column->maybe_null_) column->valid_.data()[column->filled_] = 1;
    ++column->filled_;
  }
  return at;
}

std::string Decoder::Describe() const {
  static constexpr std::array<std::string_view, 13> kFaults = {
      "no fault",
      "the value reaches over the end of the block",
      "a variable-length number is longer than 64 bits",
      "a union's branch number is out of range",
      "a negative length",
      "a list's count is out of range",
      "a boolean is neither 0 nor 1",
      "a string is not valid UTF-8",
      "an enum's number is out of range",
      "an int does not fit in 32 bits",
      "more values than the limit of a batch allows",
      "records inside each other deeper than 64",
      "a list's elements do not end where its byte size says",
  };
  std::string text(kFaults[static_cast<size_t>(fault_)]);
  text += fmt::format(" at inflated byte {}", fault_at_ - begin_);
  if (fault_column_ != nullptr) text += fmt::format(", field \"{}\"", fault_column_->name());
  return text;
}

Result<void> Decoder::Append(ByteView data, uint64_t rows) {
  begin_ = reinterpret_cast<At>(data.data());
  end_ = begin_ + data.size();
  if (program_.min_row_bytes > 0 && rows > data.size() / program_.min_row_bytes) {
    return Corrupt("{} records of at least {} bytes do not fit in {} bytes", rows, program_.min_row_bytes, data.size());
  }
  if (!Grow(program_.group, rows)) {
    return NotSupported("{} records of {} columns: more values than the limit of a batch allows", rows,
                        program_.group.size());
  }
  At at = begin_;
  for (uint64_t row = 0; row < rows; ++row) {
    at = Run(at, 0, program_.row_end, 0);
    if (at == nullptr) [[unlikely]] {
      const std::string what = Describe();
      if (fault_ == Fault::kCells || fault_ == Fault::kDepth) return NotSupported("{} (record {})", what, row);
      return Corrupt("{} (record {})", what, row);
    }
  }
  if (at != end_) return Corrupt("{} bytes are left behind the last of {} records", end_ - at, rows);
  columns_.rows_ += static_cast<size_t>(rows);
  return {};
}

}  // namespace delenda::avro
