// Deletion vectors as bytes: the Iceberg blob, the Delta file frame and the Delta inline text.
//
// Every function is a pure function of bytes: who calls it has fetched them. Decoding checks in a fixed order: length,
// magic, CRC, structure (all that CRoaring's validator checks), cardinality, nothing left over; errors are Corrupt and
// say the byte offset within the given bytes, what was expected and what was found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/positions/position_set.h"

namespace delenda::dv {

// Iceberg `deletion-vector-v1` blob: exactly the bytes at content_offset, content_size_in_bytes long. `cardinality` is
// the record_count of the manifest entry (or the `cardinality` property of the Puffin footer), checked if given.
Result<PositionSet> DecodeIcebergBlob(ByteView blob, std::optional<uint64_t> cardinality);
// InvalidArgument if the vector does not fit the format's 4-byte length.
Result<Bytes> EncodeIcebergBlob(const PositionSet& positions);

// Delta `.bin` file. The version byte is at offset 0 of the file; NotSupported unless it is 1.
Result<void> CheckDeltaFileVersion(std::byte version);
// How many bytes to read at a descriptor's offset: its sizeInBytes plus the frame. Corrupt if sizeInBytes is negative
// or does not fit the format's 4-byte length.
Result<uint64_t> DeltaFileFrameSize(int64_t size_in_bytes);
// `frame`: the bytes of the file from the descriptor's offset on, DeltaFileFrameSize(size_in_bytes) of them or more
// (the rest is not looked at: other vectors may follow in the file).
Result<PositionSet> DecodeDeltaFileFrame(ByteView frame, int64_t size_in_bytes, std::optional<uint64_t> cardinality);
// The frame, to be put at an offset of a file that begins with kDeltaFileVersion.
Result<Bytes> EncodeDeltaFileFrame(const PositionSet& positions);

// Delta inline descriptor (storageType `i`): pathOrInlineDv as Z85 text, cut to size_in_bytes after decoding. It has no
// CRC.
Result<PositionSet> DecodeDeltaInline(std::string_view text, int64_t size_in_bytes,
                                      std::optional<uint64_t> cardinality);
struct DeltaInline {
  std::string text;           // pathOrInlineDv
  int64_t size_in_bytes = 0;  // sizeInBytes: without the zero padding that Z85 needs
};
Result<DeltaInline> EncodeDeltaInline(const PositionSet& positions);

// Corrupt if a position is not below the data file's record count. Without this check a vector that belongs to another
// file (or a truncated data file) would silently delete the wrong rows, and counts from metadata would be wrong.
Result<void> CheckWithinFile(const PositionSet& positions, uint64_t record_count);

}  // namespace delenda::dv
