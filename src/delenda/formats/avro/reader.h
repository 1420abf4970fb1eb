// Reads Avro object container files straight into columns. Made for Iceberg's manifests and manifest lists, of which
// planning reads very many entries: fields are found by Iceberg field id once per schema, unwanted ones are stepped
// over, texts are views into the inflated blocks.
// Avro 1.12 specification, "Object Container Files"; docs/formats/avro.md.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/avro/columns.h"
#include "delenda/formats/avro/projection.h"
#include "delenda/formats/avro/schema.h"

namespace delenda::avro {

// Parsed schemas by their text. The manifests of a table share one schema per partition spec, and parsing its JSON
// costs more than decoding a small manifest. May be shared by threads.
class SchemaCache {
 public:
  Result<std::shared_ptr<const Schema>> Get(const std::string& json);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Schema>> schemas_;
};

struct ReadOptions {
  // Largest inflated block. Writers make blocks of 16 KiB to some MiB.
  uint64_t max_block_bytes = uint64_t{256} << 20;
  // Largest number of values, over all columns, in one batch: a null takes one byte in the file but 17 in memory.
  uint64_t max_cells = uint64_t{1} << 27;
  SchemaCache* schemas = nullptr;  // not owned
};

// One block of a file, found but not inflated.
struct FileBlock {
  size_t offset = 0;  // of its record count, in the file
  size_t end = 0;     // behind its sync marker
  uint64_t rows = 0;
  ByteView data;  // as it lies in the file
};

// The blocks of a file in its order, up to the first one whose header or marker is broken: `broken` is its error, which
// counts only for those who have decoded all blocks before it.
struct BlockList {
  std::vector<FileBlock> blocks;
  std::optional<Error> broken;
};

class Decoder;
class Inflater;
enum class Codec : uint8_t;

class Reader {
 public:
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // Reads the header. Corrupt: bad magic, broken metadata or schema; NotSupported: a codec other than null, deflate,
  // snappy and zstandard.
  static Result<Reader> Open(Bytes file, const ReadOptions& options = {});
  // Same, over bytes that `owner` keeps alive (nullptr: the caller does, for as long as reader and columns live).
  static Result<Reader> Open(ByteView file, std::shared_ptr<const void> owner, const ReadOptions& options = {});

  const std::shared_ptr<const Schema>& schema() const { return schema_; }
  // All of the header: "avro.schema", "avro.codec", and Iceberg's "schema", "partition-spec", "format-version", ...
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
  // The value of a metadata key; nullptr: there is none.
  const std::string* FindMetadata(std::string_view key) const;

  // Empty columns for a projection, to be passed to NextBlock of this reader and of every other one that has the same
  // schema object (schema(), see SchemaCache). NotSupported: a wanted field is a union other than [null, T], [T, null],
  // or contains itself; Corrupt: a field id occurs twice in a record.
  Result<Columns> Prepare(const Projection& projection) const;

  // Decodes the next block in place of what `columns` held. False: the file has ended, `columns` has no rows.
  // Corrupt names the block's offset in the file and the record. After an error the reader stays where it was.
  // A file cut exactly between two blocks cannot be told from a whole one: the format has no count of blocks, so
  // callers that know the length (a manifest list states manifest_length and counts) should compare it.
  Result<bool> NextBlock(Columns& columns);

  // All blocks that are left, as one batch.
  Result<Columns> ReadAll(const Projection& projection);

  // All blocks that are left, found by their headers alone, so that threads can share the decoding of one file.
  BlockList FindBlocks() const;
  // An inflater for DecodeBlock; each thread has its own.
  Inflater MakeInflater() const;
  // Columns and inflaters made for the one serve the other.
  bool IsLike(const Reader& other) const { return schema_ == other.schema_ && codec_ == other.codec_; }
  // Decodes one of FindBlocks' blocks in place of what `columns` held (NextBlock: the same for the next block, with the
  // same errors). Thread-safe, each thread with columns and inflater of its own.
  Result<void> DecodeBlock(const FileBlock& block, Columns& columns, Inflater& inflater) const;

 private:
  Reader();
  Result<FileBlock> BlockAt(size_t offset) const;
  Result<void> AppendBlock(const FileBlock& block, Columns& columns, Decoder& decoder, Inflater& inflater) const;
  Result<void> CheckColumns(const Columns& columns) const;

  ByteView file_;
  std::shared_ptr<const void> owner_;
  ReadOptions options_;
  std::map<std::string, std::string, std::less<>> metadata_;
  std::shared_ptr<const Schema> schema_;
  Codec codec_{};
  std::unique_ptr<Inflater> inflater_;
  std::array<std::byte, 16> sync_{};
  size_t offset_ = 0;  // of the next block
};

}  // namespace delenda::avro
