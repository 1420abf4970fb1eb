#include "delenda/formats/parquet/page_header.h"

#include <limits>
#include <optional>

namespace delenda::parquet {
namespace {

// Types of Thrift's compact protocol.
enum CompactType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

constexpr int kMaxDepth = 16;

struct CompactField {
  int16_t id = 0;
  uint8_t type = kStop;
};

// Reads just what page headers need and skips the rest.
class CompactReader {
 public:
  explicit CompactReader(ByteView bytes) : reader_(bytes) {}

  size_t offset() const { return reader_.offset(); }

  Result<CompactField> NextField(int16_t last_id) {
    const uint8_t head = DELENDA_TRY(reader_.ReadLittle<uint8_t>("a page header"));
    CompactField field;
    field.type = head & 15;
    if (field.type == kStop) return field;
    const int64_t id = head >> 4 != 0 ? last_id + (head >> 4) : DELENDA_TRY(reader_.ReadZigZag("a page header"));
    if (id < 0 || id > std::numeric_limits<int16_t>::max()) return Corrupt("a page header has a field {}", id);
    field.id = static_cast<int16_t>(id);
    return field;
  }

  Result<int32_t> I32(const CompactField& field) {
    if (field.type != kI32) return Corrupt("field {} of a page header has type {}, not i32", field.id, field.type);
    const int64_t value = DELENDA_TRY(reader_.ReadZigZag("a page header"));
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
      return Corrupt("field {} of a page header is {}", field.id, value);
    return static_cast<int32_t>(value);
  }

  Result<void> Skip(uint8_t type, int depth = 0) {
    if (depth > kMaxDepth) return Corrupt("a page header is nested too deeply");
    switch (type) {
      case kTrue:
      case kFalse: return {};
      case kByte: return SkipBytes(1);
      case kI16:
      case kI32:
      case kI64: DELENDA_TRY(reader_.ReadZigZag("a page header")); return {};
      case kDouble: return SkipBytes(8);
      case kBinary: return SkipBytes(DELENDA_TRY(Size()));
      case kList:
      case kSet: {
        const uint8_t head = DELENDA_TRY(reader_.ReadLittle<uint8_t>("a page header"));
        const uint64_t size = head >> 4 == 15 ? DELENDA_TRY(Size()) : head >> 4;
        for (uint64_t i = 0; i < size; ++i) DELENDA_TRY(SkipElement(head & 15, depth + 1));
        return {};
      }
      case kMap: {
        const uint64_t size = DELENDA_TRY(Size());
        if (size == 0) return {};
        const uint8_t types = DELENDA_TRY(reader_.ReadLittle<uint8_t>("a page header"));
        for (uint64_t i = 0; i < size; ++i) {
          DELENDA_TRY(SkipElement(types >> 4, depth + 1));
          DELENDA_TRY(SkipElement(types & 15, depth + 1));
        }
        return {};
      }
      case kStruct: {
        int16_t id = 0;
        for (;;) {
          const CompactField field = DELENDA_TRY(NextField(id));
          if (field.type == kStop) return {};
          id = field.id;
          DELENDA_TRY(Skip(field.type, depth + 1));
        }
      }
      default: return Corrupt("a page header holds a value of type {}", type);
    }
  }

 private:
  // Unsigned varint.
  Result<uint64_t> Size() {
    uint64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const uint8_t byte = DELENDA_TRY(reader_.ReadLittle<uint8_t>("a page header"));
      value |= uint64_t{byte & 127U} << shift;
      if (byte < 128) return value;
    }
    return Corrupt("a page header holds a length of more than 35 bits");
  }
  Result<void> SkipBytes(uint64_t count) {
    DELENDA_TRY(reader_.Read(count, "a page header"));
    return {};
  }
  // Each takes at least one byte, so that a lying length ends with the bytes.
  Result<void> SkipElement(uint8_t type, int depth) {
    return type == kTrue || type == kFalse ? SkipBytes(1) : Skip(type, depth);
  }

  ByteReader reader_;
};

// Field ids of the struct that describes the page, by its kind; 0: none.
struct DetailFields {
  int16_t values, encoding, level_encoding, definition_bytes, repetition_bytes, compressed;
};
constexpr DetailFields kDataFields{1, 2, 3, 0, 0, 0};
constexpr DetailFields kDataV2Fields{1, 4, 0, 5, 6, 7};
constexpr DetailFields kDictionaryFields{1, 2, 0, 0, 0, 0};

Result<void> ReadDetails(CompactReader& reader, const DetailFields& fields, PageHeader& header) {
  bool has_values = false;
  int16_t id = 0;
  for (;;) {
    const CompactField field = DELENDA_TRY(reader.NextField(id));
    if (field.type == kStop) break;
    id = field.id;
    const auto size = [&]() -> Result<uint32_t> {
      const int32_t value = DELENDA_TRY(reader.I32(field));
      if (value < 0) return Corrupt("a page is said to have {} values or bytes", value);
      return static_cast<uint32_t>(value);
    };
    if (id == fields.values) {
      header.values = DELENDA_TRY(size());
      has_values = true;
    } else if (id == fields.encoding) {
      header.encoding = DELENDA_TRY(reader.I32(field));
    } else if (id == fields.level_encoding) {
      header.level_encoding = DELENDA_TRY(reader.I32(field));
    } else if (id == fields.definition_bytes) {
      header.definition_bytes = DELENDA_TRY(size());
    } else if (id == fields.repetition_bytes) {
      header.repetition_bytes = DELENDA_TRY(size());
    } else if (id == fields.compressed && (field.type == kTrue || field.type == kFalse)) {
      header.compressed = field.type == kTrue;
    } else {
      DELENDA_TRY(reader.Skip(field.type));
    }
  }
  if (!has_values || header.encoding < 0) return Corrupt("a page header states no number of values or no encoding");
  return {};
}

}  // namespace

Result<PageHeader> ParsePageHeader(ByteView bytes) {
  CompactReader reader(bytes);
  PageHeader header;
  std::optional<int32_t> type, decoded, stored;
  bool data = false, dictionary = false, data_v2 = false;
  int16_t id = 0;
  for (;;) {
    const CompactField field = DELENDA_TRY(reader.NextField(id));
    if (field.type == kStop) break;
    id = field.id;
    const bool is_struct = field.type == kStruct;
    if (id == 1) {
      type = DELENDA_TRY(reader.I32(field));
    } else if (id == 2) {
      decoded = DELENDA_TRY(reader.I32(field));
    } else if (id == 3) {
      stored = DELENDA_TRY(reader.I32(field));
    } else if (id == 5 && is_struct) {
      DELENDA_TRY(ReadDetails(reader, kDataFields, header));
      data = true;
    } else if (id == 7 && is_struct) {
      DELENDA_TRY(ReadDetails(reader, kDictionaryFields, header));
      dictionary = true;
    } else if (id == 8 && is_struct) {
      DELENDA_TRY(ReadDetails(reader, kDataV2Fields, header));
      data_v2 = true;
    } else {
      DELENDA_TRY(reader.Skip(field.type));
    }
  }
  if (!type || !decoded || !stored) return Corrupt("a page header states no type or no size");
  if (*decoded < 0 || *stored < 0) return Corrupt("a page is said to be {} bytes long, {} stored", *decoded, *stored);
  if (data + dictionary + data_v2 > 1) return Corrupt("a page header describes several pages");
  switch (*type) {
    case 0: header.kind = PageHeader::Kind::kData; break;
    case 2: header.kind = PageHeader::Kind::kDictionary; break;
    case 3: header.kind = PageHeader::Kind::kDataV2; break;
    default: header.kind = PageHeader::Kind::kOther; break;
  }
  if ((*type == 0 && !data) || (*type == 2 && !dictionary) || (*type == 3 && !data_v2))
    return Corrupt("a page header of type {} does not describe its page", *type);
  header.decoded_bytes = static_cast<uint32_t>(*decoded);
  header.stored_bytes = static_cast<uint32_t>(*stored);
  header.header_bytes = reader.offset();
  return header;
}

}  // namespace delenda::parquet
