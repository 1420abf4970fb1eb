#include "delenda/formats/dv/dv_codec.h"

#include "delenda/formats/dv/dv_format.h"
#include "delenda/formats/dv/z85.h"

namespace delenda::dv {

namespace {

// Java reads both the frame's length and Delta's sizeInBytes as signed 32-bit numbers.
constexpr uint64_t kMaxFramedBytes = INT32_MAX;

// Step 1. Takes the length field. A length that disagrees with the metadata means that the range belongs to another
// blob.
Result<void> ReadLength(ByteReader& reader, uint64_t expected) {
  const size_t offset = reader.offset();
  const auto length = DELENDA_TRY(reader.ReadBig<uint32_t>("deletion vector length"));
  if (length != expected) {
    return Corrupt("deletion vector length mismatch: at byte {}, expected {}, found {}", offset, expected, length);
  }
  return {};
}

// Step 2. Takes the magic.
Result<void> ReadMagic(ByteReader& reader) {
  const size_t offset = reader.offset();
  const auto magic = DELENDA_TRY(reader.ReadLittle<uint32_t>("deletion vector magic"));
  if (magic != kMagicLittleEndian) {
    return Corrupt("deletion vector magic mismatch: at byte {}, expected 0x{:08x}, found 0x{:08x}", offset,
                   kMagicLittleEndian, magic);
  }
  return {};
}

// Step 3. `framed` is magic and vector; the CRC follows it at `offset`. A flipped bit in a bitset container is a valid
// bitmap of other rows: nothing but the checksum can see it.
Result<void> CheckCrc(ByteView framed, std::byte const* stored_at, size_t offset) {
  const auto stored = LoadUnsigned<std::endian::big, uint32_t>(stored_at);
  const uint32_t computed = Crc32(framed);
  if (stored != computed) {
    return Corrupt("deletion vector CRC mismatch: at byte {}, expected 0x{:08x} (computed), found 0x{:08x} (stored)",
                   offset, computed, stored);
  }
  return {};
}

// Step 5. A vector with fewer positions than the table's metadata says would bring deleted rows back; one with more
// would hide live rows; and counts are answered from the metadata alone.
Result<void> CheckCardinality(const PositionSet& positions, std::optional<uint64_t> expected) {
  if (expected && positions.cardinality() != *expected) {
    return Corrupt("deletion vector cardinality mismatch: expected {}, found {}", *expected, positions.cardinality());
  }
  return {};
}

// Step 6. Bytes behind the last bitmap mean that the bucket count is too small: positions would be lost.
Result<void> CheckNothingLeft(const ByteReader& reader) {
  if (reader.remaining() != 0) {
    return Corrupt("bytes left over after the deletion vector: at byte {}, 0 expected, {} found", reader.offset(),
                   reader.remaining());
  }
  return {};
}

// Steps 4 to 6, from the vector on; `reader` ends where magic and vector end.
Result<PositionSet> ReadVector(ByteReader& reader, std::optional<uint64_t> cardinality) {
  PositionSet positions = DELENDA_TRY(PositionSet::ReadPortable(reader));
  DELENDA_TRY(CheckCardinality(positions, cardinality));
  DELENDA_TRY(CheckNothingLeft(reader));
  return positions;
}

// Length, magic, vector and CRC: `frame` is exactly these.
Result<PositionSet> DecodeFrame(ByteView frame, std::optional<uint64_t> cardinality) {
  if (frame.size() < kFrameBytes + kMagicBytes) {
    return Corrupt("deletion vector is too short: expected at least {} bytes, found {}", kFrameBytes + kMagicBytes,
                   frame.size());
  }
  const size_t crc_offset = frame.size() - kCrcBytes;
  ByteReader reader(frame.first(crc_offset));
  DELENDA_TRY(ReadLength(reader, frame.size() - kFrameBytes));
  DELENDA_TRY(ReadMagic(reader));
  DELENDA_TRY(CheckCrc(frame.subspan(kLengthBytes, crc_offset - kLengthBytes), frame.data() + crc_offset, crc_offset));
  return ReadVector(reader, cardinality);
}

// Appends magic and vector to `out`; their size.
Result<uint32_t> WriteFramed(const PositionSet& positions, ByteWriter& out) {
  const size_t begin = out.size();
  out.WriteLittle(kMagicLittleEndian);
  positions.WritePortable(out, kCrcBytes);
  const size_t size = out.size() - begin;
  if (size > kMaxFramedBytes) {
    return InvalidArgument("deletion vector is too large for the format: at most {} bytes, found {}",
                           kMaxFramedBytes - kMagicBytes, size - kMagicBytes);
  }
  return static_cast<uint32_t>(size);
}

Result<Bytes> EncodeFrame(const PositionSet& positions) {
  ByteWriter out;
  // The length is not known before the rest is written.
  out.WriteBig(uint32_t{0});
  const uint32_t size = DELENDA_TRY(WriteFramed(positions, out));
  out.WriteBig(Crc32(out.view().subspan(kLengthBytes)));
  Bytes frame = std::move(out).Finish();
  StoreUnsigned<std::endian::big>(size, frame.data());
  return frame;
}

Result<uint64_t> CheckSizeInBytes(int64_t size_in_bytes) {
  if (size_in_bytes < static_cast<int64_t>(kMagicBytes) || static_cast<uint64_t>(size_in_bytes) > kMaxFramedBytes) {
    return Corrupt("deletion vector descriptor has an impossible sizeInBytes: expected {} to {}, found {}", kMagicBytes,
                   kMaxFramedBytes, size_in_bytes);
  }
  return static_cast<uint64_t>(size_in_bytes);
}

}  // namespace

Result<PositionSet> DecodeIcebergBlob(ByteView blob, std::optional<uint64_t> cardinality) {
  return DecodeFrame(blob, cardinality);
}

Result<Bytes> EncodeIcebergBlob(const PositionSet& positions) { return EncodeFrame(positions); }

Result<void> CheckDeltaFileVersion(std::byte version) {
  if (std::to_integer<uint8_t>(version) != kDeltaFileVersion) {
    return NotSupported("deletion vector file has an unknown version: expected {}, found {}", kDeltaFileVersion,
                        std::to_integer<uint8_t>(version));
  }
  return {};
}

Result<uint64_t> DeltaFileFrameSize(int64_t size_in_bytes) {
  return DELENDA_TRY(CheckSizeInBytes(size_in_bytes))
  +kFrameBytes;
}

Result<PositionSet> DecodeDeltaFileFrame(ByteView frame, int64_t size_in_bytes, std::optional<uint64_t> cardinality) {
  const uint64_t size = DELENDA_TRY(DeltaFileFrameSize(size_in_bytes));
  if (frame.size() < size) {
    return Corrupt("deletion vector file ends inside a vector: expected {} bytes, found {}", size, frame.size());
  }
  return DecodeFrame(frame.first(size), cardinality);
}

Result<Bytes> EncodeDeltaFileFrame(const PositionSet& positions) { return EncodeFrame(positions); }

Result<PositionSet> DecodeDeltaInline(std::string_view text, int64_t size_in_bytes,
                                      std::optional<uint64_t> cardinality) {
  const uint64_t size = DELENDA_TRY(CheckSizeInBytes(size_in_bytes));
  const Bytes padded = DELENDA_TRY(DecodeZ85(text));
  // More than the padding to a multiple of 4 is another vector's tail or a wrong size.
  if (padded.size() < size || padded.size() - size >= 4) {
    return Corrupt("inline deletion vector size mismatch: expected {} bytes and at most 3 of padding, found {}", size,
                   padded.size());
  }
  ByteReader reader(ByteView(padded).first(size));
  DELENDA_TRY(ReadMagic(reader));
  return ReadVector(reader, cardinality);
}

Result<DeltaInline> EncodeDeltaInline(const PositionSet& positions) {
  ByteWriter writer;
  DeltaInline out;
  out.size_in_bytes = DELENDA_TRY(WriteFramed(positions, writer));
  Bytes framed = std::move(writer).Finish();
  framed.resize((framed.size() + 3) / 4 * 4);
  out.text = DELENDA_TRY(EncodeZ85(framed));
  return out;
}

Result<void> CheckWithinFile(const PositionSet& positions, uint64_t record_count) {
  if (const auto max = positions.Max(); max && *max >= record_count) {
    return Corrupt(
        "deletion vector has a position outside its data file: expected less than {} (the file's record count), "
        "found {}",
        record_count, *max);
  }
  return {};
}

}  // namespace delenda::dv
