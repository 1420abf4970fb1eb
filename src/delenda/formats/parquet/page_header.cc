#include "delenda/formats/parquet/page_header.h"

#include <optional>

#include "delenda/formats/parquet/compact_reader.h"

namespace delenda::parquet {
namespace {

// Field ids of the struct that describes the page, by its kind; 0: none.
struct DetailFields {
  int16_t values, encoding, level_encoding, definition_bytes, repetition_bytes, compressed;
};
constexpr DetailFields kDataFields{1, 2, 3, 0, 0, 0};
constexpr DetailFields kDataV2Fields{1, 4, 0, 5, 6, 7};
constexpr DetailFields kDictionaryFields{1, 2, 0, 0, 0, 0};

Result<void> ReadDetails(CompactReader& reader, const DetailFields& fields, PageHeader& header) {
  bool has_values = false;
  CompactField field;
  while (DELENDA_TRY(reader.NextField(field))) {
    const auto size = [&]() -> Result<uint32_t> {
      const int32_t value = DELENDA_TRY(reader.I32(field));
      if (value < 0) return Corrupt("a page is said to have {} values or bytes", value);
      return static_cast<uint32_t>(value);
    };
    if (field.id == fields.values) {
      header.values = DELENDA_TRY(size());
      has_values = true;
    } else if (field.id == fields.encoding) {
      header.encoding = DELENDA_TRY(reader.I32(field));
    } else if (field.id == fields.level_encoding) {
      header.level_encoding = DELENDA_TRY(reader.I32(field));
    } else if (field.id == fields.definition_bytes) {
      header.definition_bytes = DELENDA_TRY(size());
    } else if (field.id == fields.repetition_bytes) {
      header.repetition_bytes = DELENDA_TRY(size());
    } else if (field.id == fields.compressed && (field.type == kTrue || field.type == kFalse)) {
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
  CompactReader reader(bytes, "a page header");
  PageHeader header;
  std::optional<int32_t> type, decoded, stored;
  bool data = false, dictionary = false, data_v2 = false;
  CompactField field;
  while (DELENDA_TRY(reader.NextField(field))) {
    const bool is_struct = field.type == kStruct;
    if (field.id == 1) {
      type = DELENDA_TRY(reader.I32(field));
    } else if (field.id == 2) {
      decoded = DELENDA_TRY(reader.I32(field));
    } else if (field.id == 3) {
      stored = DELENDA_TRY(reader.I32(field));
    } else if (field.id == 5 && is_struct) {
      DELENDA_TRY(ReadDetails(reader, kDataFields, header));
      data = true;
    } else if (field.id == 7 && is_struct) {
      DELENDA_TRY(ReadDetails(reader, kDictionaryFields, header));
      dictionary = true;
    } else if (field.id == 8 && is_struct) {
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
