// Puffin container (Iceberg's Puffin specification): reading the footer.
//
// Pure functions of bytes: the caller reads the last kTailBytes of the file, asks ParseTail how long the footer is,
// reads that many bytes from the end (or has them already) and parses them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::puffin {

inline constexpr std::string_view kMagic = "PFA1";
inline constexpr uint64_t kMagicBytes = 4;
// End of every file: payload size (4) · flags (4) · magic (4).
inline constexpr uint64_t kTailBytes = 12;
// A footer is magic · payload · tail.
inline constexpr uint64_t kFooterFrameBytes = kMagicBytes + kTailBytes;
// The smallest file: header magic and a footer without payload.
inline constexpr uint64_t kMinFileBytes = kMagicBytes + kFooterFrameBytes;

// Blob types that the specification names; other types are kept as they are.
inline constexpr std::string_view kDeletionVectorV1 = "deletion-vector-v1";
inline constexpr std::string_view kApacheDatasketchesThetaV1 = "apache-datasketches-theta-v1";
// Properties of a deletion-vector-v1 blob.
inline constexpr std::string_view kReferencedDataFile = "referenced-data-file";
inline constexpr std::string_view kCardinality = "cardinality";
inline constexpr std::string_view kCreatedBy = "created-by";

using Properties = std::map<std::string, std::string, std::less<>>;

struct BlobMetadata {
  std::string type;
  std::vector<int32_t> fields;  // field ids that the blob was computed for
  int64_t snapshot_id = 0;      // -1: not known when written (always for deletion vectors)
  int64_t sequence_number = 0;  // -1: as above
  uint64_t offset = 0;          // checked: the blob lies between the header magic and the footer
  uint64_t length = 0;          // in bytes, as stored
  std::optional<std::string> compression_codec;
  Properties properties;
};

struct Footer {
  std::vector<BlobMetadata> blobs;
  Properties properties;
};

struct Tail {
  uint64_t footer_bytes = 0;  // size of the whole footer, from its leading magic to the end of the file
  uint64_t payload_bytes = 0;
  bool payload_compressed = false;  // flags, byte 0, bit 0: the payload is one LZ4 frame
};

// `tail`: the last bytes of the file, at least kTailBytes of them. Corrupt if the magic is missing or the payload size
// is negative or larger than the file; NotSupported if a flag bit is set that the specification reserves.
Result<Tail> ParseTail(ByteView tail, uint64_t file_size);

// `tail`: the last bytes of the file, at least ParseTail(...).footer_bytes of them. Checks everything that ParseTail
// checks, the payload (JSON in UTF-8, at most one LZ4 frame of bounded size), and that every blob lies inside the file.
Result<Footer> ParseFooter(ByteView tail, uint64_t file_size);

// Corrupt unless the file begins with the magic. `head`: the first bytes of the file.
Result<void> CheckHeader(ByteView head);

// The content of a blob, decompressed by its codec (none, `lz4`: one frame with content size, `zstd`: one frame with
// content size). `stored` = the blob's bytes in the file; `max_bytes` bounds the decompressed size, so that a small
// file cannot ask for all memory.
Result<Bytes> DecompressBlob(const BlobMetadata& blob, ByteView stored, uint64_t max_bytes = uint64_t{1} << 30);

}  // namespace delenda::puffin
