#include "delenda/formats/puffin/puffin_footer.h"

#include <nlohmann/json.hpp>

#include "delenda/formats/puffin/blob_codec.h"

namespace delenda::puffin {

namespace {

using Json = nlohmann::json;

// A blob's entry takes about 400 bytes: room for 150,000 blobs in one file. An LZ4 frame can grow 255-fold, so without
// a bound a small file could ask for any amount of memory.
constexpr uint64_t kMaxPayloadBytes = uint64_t{64} << 20;
// The payload's own depth is 4; properties of later versions may nest deeper, a hostile file as deep as it is long.
constexpr int kMaxJsonDepth = 64;
constexpr uint32_t kCompressedFlag = 1;

Result<void> CheckDepth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    if (in_string) {
      if (character == '\\') ++i;
      if (character == '"') in_string = false;
    } else if (character == '"') {
      in_string = true;
    } else if (character == '{' || character == '[') {
      if (++depth > kMaxJsonDepth) {
        return Corrupt("Puffin footer nests too deep: at byte {} of the payload, at most {} levels expected", i,
                       kMaxJsonDepth);
      }
    } else if (character == '}' || character == ']') {
      --depth;
    }
  }
  return {};
}

Result<Json> ParsePayload(std::string_view text) {
  if (!IsValidUtf8(text)) return Corrupt("Puffin footer is not valid UTF-8");
  DELENDA_TRY(CheckDepth(text));
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return Corrupt("Puffin footer is no valid JSON: at byte {} of the payload", error.byte);
  } catch (const std::exception& error) {
    return Corrupt("Puffin footer is no valid JSON: {}", error.what());
  }
}

Result<const Json*> Member(const Json& object, const char* name, std::string_view where) {
  const auto member = object.find(name);
  if (member == object.end()) return Corrupt("Puffin footer: {} lacks '{}'", where, name);
  return &*member;
}

Result<int64_t> AsInteger(const Json& value, int64_t min, int64_t max, std::string_view where, std::string_view name) {
  const auto wrong = [&] {
    return Corrupt("Puffin footer: '{}' of {} is wrong: expected an integer from {} to {}, found {:.40}", name, where,
                   min, max, value.is_number() ? value.dump() : value.type_name());
  };
  if (!value.is_number_integer()) return wrong();
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return wrong();
  const auto number = value.get<int64_t>();
  if (number < min || number > max) return wrong();
  return number;
}

Result<int64_t> IntegerMember(const Json& object, const char* name, int64_t min, std::string_view where) {
  return AsInteger(*DELENDA_TRY(Member(object, name, where)), min, INT64_MAX, where, name);
}

Result<std::string> AsString(const Json& value, std::string_view where, std::string_view name) {
  if (!value.is_string()) {
    return Corrupt("Puffin footer: '{}' of {} is wrong: expected a string, found {}", name, where, value.type_name());
  }
  return value.get<std::string>();
}

Result<Properties> ReadProperties(const Json& object, std::string_view where) {
  Properties properties;
  const auto member = object.find("properties");
  if (member == object.end() || member->is_null()) return properties;
  if (!member->is_object()) {
    return Corrupt("Puffin footer: 'properties' of {} is wrong: expected an object, found {}", where,
                   member->type_name());
  }
  for (auto item = member->begin(); item != member->end(); ++item) {
    properties.emplace(item.key(), DELENDA_TRY(AsString(item.value(), where, item.key())));
  }
  return properties;
}

Result<BlobMetadata> ReadBlobMetadata(const Json& object, size_t index, uint64_t footer_offset) {
  const std::string where = fmt::format("blob {}", index);
  if (!object.is_object()) return Corrupt("Puffin footer: {} is no object but {}", where, object.type_name());
  BlobMetadata blob;
  blob.type = DELENDA_TRY(AsString(*DELENDA_TRY(Member(object, "type", where)), where, "type"));
  const Json& fields = *DELENDA_TRY(Member(object, "fields", where));
  if (!fields.is_array()) {
    return Corrupt("Puffin footer: 'fields' of {} is wrong: expected an array, found {}", where, fields.type_name());
  }
  for (const Json& field : fields) {
    blob.fields.push_back(static_cast<int32_t>(DELENDA_TRY(AsInteger(field, INT32_MIN, INT32_MAX, where, "fields"))));
  }
  blob.snapshot_id = DELENDA_TRY(IntegerMember(object, "snapshot-id", INT64_MIN, where));
  blob.sequence_number = DELENDA_TRY(IntegerMember(object, "sequence-number", INT64_MIN, where));
  blob.offset = static_cast<uint64_t>(DELENDA_TRY(IntegerMember(object, "offset", 0, where)));
  blob.length = static_cast<uint64_t>(DELENDA_TRY(IntegerMember(object, "length", 0, where)));
  // A range outside would be read as another blob's bytes, the footer's, or past the end.
  if (blob.offset < kMagicBytes || blob.offset > footer_offset || blob.length > footer_offset - blob.offset) {
    return Corrupt(
        "Puffin footer: {} lies outside the file's blobs: expected within bytes {} to {}, found offset {}, length {}",
        where, kMagicBytes, footer_offset, blob.offset, blob.length);
  }
  if (const auto codec = object.find("compression-codec"); codec != object.end() && !codec->is_null()) {
    blob.compression_codec = DELENDA_TRY(AsString(*codec, where, "compression-codec"));
  }
  blob.properties = DELENDA_TRY(ReadProperties(object, where));
  return blob;
}

Result<void> CheckMagic(ByteView at, std::string_view where, uint64_t offset) {
  if (AsText(at) == kMagic) return {};
  const auto found = LoadUnsigned<std::endian::big, uint32_t>(at.data());
  return Corrupt("Puffin {} magic mismatch: at byte {}, expected 0x50464131, found 0x{:08x}", where, offset, found);
}

}  // namespace

Result<void> CheckHeader(ByteView head) {
  if (head.size() < kMagicBytes)
    return Corrupt("Puffin file is too short: expected at least {} bytes, found {}", kMinFileBytes, head.size());
  return CheckMagic(head.first(kMagicBytes), "header", 0);
}

Result<Tail> ParseTail(ByteView tail, uint64_t file_size) {
  if (file_size < kMinFileBytes) {
    return Corrupt("Puffin file is too short: expected at least {} bytes, found {}", kMinFileBytes, file_size);
  }
  if (tail.size() < kTailBytes || tail.size() > file_size) {
    return InvalidArgument("Puffin tail has a wrong size: expected {} to {} bytes, found {}", kTailBytes, file_size,
                           tail.size());
  }
  const ByteView last = tail.last(kTailBytes);
  DELENDA_TRY(CheckMagic(last.last(kMagicBytes), "footer", file_size - kMagicBytes));
  const auto payload_size = static_cast<int32_t>(LoadUnsigned<std::endian::little, uint32_t>(last.data()));
  if (payload_size < 0 || static_cast<uint64_t>(payload_size) > file_size - kMinFileBytes) {
    return Corrupt("Puffin footer payload size is impossible: at byte {}, expected 0 to {}, found {}",
                   file_size - kTailBytes, file_size - kMinFileBytes, payload_size);
  }
  const auto flags = LoadUnsigned<std::endian::little, uint32_t>(last.data() + 4);
  if ((flags & ~kCompressedFlag) != 0) {
    return NotSupported(
        "Puffin footer has unknown flags: at byte {}, expected 0x00000000 or 0x00000001, found 0x{:08x}",
        file_size - kTailBytes + 4, flags);
  }
  const auto payload_bytes = static_cast<uint64_t>(payload_size);
  return Tail{payload_bytes + kFooterFrameBytes, payload_bytes, (flags & kCompressedFlag) != 0};
}

Result<Footer> ParseFooter(ByteView tail, uint64_t file_size) {
  const Tail parsed = DELENDA_TRY(ParseTail(tail, file_size));
  if (tail.size() < parsed.footer_bytes) {
    return InvalidArgument("Puffin tail is shorter than the footer: expected {} bytes, found {}", parsed.footer_bytes,
                           tail.size());
  }
  const ByteView footer = tail.last(parsed.footer_bytes);
  const uint64_t footer_offset = file_size - parsed.footer_bytes;
  DELENDA_TRY(CheckMagic(footer.first(kMagicBytes), "footer start", footer_offset));
  ByteView payload = footer.subspan(kMagicBytes, parsed.payload_bytes);
  Bytes decompressed;
  if (parsed.payload_compressed) {
    decompressed = DELENDA_TRY(DecompressLz4Frame(payload, kMaxPayloadBytes));
    payload = decompressed;
  }
  const Json json = DELENDA_TRY(ParsePayload(AsText(payload)));
  if (!json.is_object()) return Corrupt("Puffin footer is no JSON object but {}", json.type_name());

  Footer out;
  const Json& blobs = *DELENDA_TRY(Member(json, "blobs", "the file"));
  if (!blobs.is_array()) {
    return Corrupt("Puffin footer: 'blobs' is wrong: expected an array, found {}", blobs.type_name());
  }
  for (size_t i = 0; i < blobs.size(); ++i) {
    out.blobs.push_back(DELENDA_TRY(ReadBlobMetadata(blobs[i], i, footer_offset)));
  }
  out.properties = DELENDA_TRY(ReadProperties(json, "the file"));
  return out;
}

Result<Bytes> DecompressBlob(const BlobMetadata& blob, ByteView stored, uint64_t max_bytes) {
  if (stored.size() != blob.length) {
    return InvalidArgument("blob of {} bytes expected, {} given", blob.length, stored.size());
  }
  if (!blob.compression_codec) return Bytes(stored.begin(), stored.end());
  if (*blob.compression_codec == "lz4") return DecompressLz4Frame(stored, max_bytes);
  if (*blob.compression_codec == "zstd") return DecompressZstdFrame(stored, max_bytes);
  return NotSupported("unknown compression codec of a Puffin blob: expected lz4 or zstd, found {:.40}",
                      *blob.compression_codec);
}

}  // namespace delenda::puffin
