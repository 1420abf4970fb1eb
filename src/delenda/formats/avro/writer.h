// Writes Avro object container files, value by value. Avro 1.12 specification, "Object Container Files".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/avro/codec.h"
#include "delenda/formats/avro/encoder.h"

namespace delenda::avro {

using SyncMarker = std::array<std::byte, 16>;

struct WriteOptions {
  Codec codec = Codec::kDeflate;  // what Iceberg writes by default
  std::optional<int> level =
      std::nullopt;             // deflate 0 to 12 (default 6), zstandard 1 to 22 (default 1); else not looked at
  size_t block_bytes = 64'000;  // a block ends with the row that reaches this many bytes before compression
  std::optional<SyncMarker> sync = std::nullopt;  // default: random
};

// A file in memory: manifests and their lists are a few MiB at most, and their length is wanted before they are stored.
//
//   auto writer = DELENDA_TRY(avro::Writer::Make(schema_json, {{"format-version", "3"}}, {}));
//   writer.row().Text("x");            // the values of one row, in the order of the schema
//   DELENDA_TRY(writer.EndRow());
//   Bytes file = DELENDA_TRY(std::move(writer).Finish());
class Writer {
 public:
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  // `metadata` follows "avro.schema" and "avro.codec" in the header, in this order. InvalidArgument: the schema is
  // none, a metadata key begins with "avro." (reserved by the format) or is no UTF-8, or the level is out of range.
  static Result<Writer> Make(std::string_view schema_json, const Metadata& metadata, const WriteOptions& options);

  // Where the values of the next row go. They must match the schema: nothing in the file could tell a reader that they
  // do not.
  Encoder& row() { return block_; }
  // InternalError: the compressor failed.
  Result<void> EndRow();

  // Bytes of the file so far; what waits in the open block counts uncompressed, so that the file never gets larger than
  // expected when it is closed at a target size.
  size_t size() const { return file_.size() + block_.size(); }
  uint64_t rows() const { return rows_; }

  Result<Bytes> Finish() &&;

 private:
  struct Compressors;
  Writer();
  Result<void> FlushBlock();
  // The compressed block, in `packed_` or the block itself.
  Result<ByteView> Pack(ByteView block);

  Codec codec_ = Codec::kNull;
  int level_ = 0;
  size_t block_bytes_ = 0;
  SyncMarker sync_{};
  Encoder block_;
  int64_t block_rows_ = 0;
  uint64_t rows_ = 0;
  Bytes packed_;
  Bytes file_;
  std::unique_ptr<Compressors> compressors_;
};

}  // namespace delenda::avro
