// Arrow batches as one Parquet file of a table: field ids at every level, row groups of bounded size, statistics.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/io/file_io.h"

namespace delenda::parquet {

enum class Codec : uint8_t { kUncompressed, kSnappy, kGzip, kLz4, kZstd, kBrotli };
// By its name in table properties, in any case of letters. InvalidArgument for another name.
Result<Codec> CodecFromName(std::string_view name);

struct WriterOptions {
  Codec codec = Codec::kZstd;
  std::optional<int> codec_level = std::nullopt;  // else the codec's own
  // A row group ends at whichever it reaches first. Bytes are the memory that its pages, encoded and compressed, take.
  int64_t row_group_bytes = int64_t{128} << 20;
  int64_t row_group_rows = int64_t{1} << 20;
  int64_t page_bytes = int64_t{1} << 20;
  int64_t page_rows = 20'000;
  bool version_2_pages = false;
  int64_t dictionary_bytes = int64_t{2} << 20;  // a column whose dictionary grows larger goes on without one
  struct Bloom {
    int32_t field_id = 0;
    double false_positives = 0.01;
    std::optional<int64_t> distinct = std::nullopt;  // else as many as a row group may have rows
  };
  std::vector<Bloom> blooms = {};
  // Columns are encoded on its threads; null: on the caller's. Never called from one of its own threads.
  Executor* executor = nullptr;
};

// One leaf in one row group, as the footer says.
struct WrittenChunk {
  int64_t compressed_bytes = 0;
  int64_t values = 0;  // NULLs included, and below lists one for each empty or NULL list
  // No bounds: all values are NULL or NaN, or longer than Parquet lets a bound be (4 KiB).
  LeafStatistics statistics;
};
struct WrittenLeaf {
  int32_t field_id = 0;
  Leaf leaf;
  std::vector<WrittenChunk> chunks;  // by row group
};

struct WrittenFile {
  std::string path;
  uint64_t size = 0;
  int64_t rows = 0;
  std::vector<int64_t> row_group_offsets;  // where each row group's first column chunk begins
  std::vector<WrittenLeaf> leaves;         // depth first
};

// Writes one file. Destroyed before Finish, nothing becomes visible under the path (io::OutputFile).
//
//   auto writer = DELENDA_TRY(FileWriter::Make(io, path, schema, {}));
//   DELENDA_TRY(writer->Write(*batch));
//   WrittenFile file = DELENDA_TRY(writer->Finish());
class FileWriter {
 public:
  // Every field of `schema`, nested ones too, carries its id (FieldIdMetadata); arrow::extension::uuid() at any depth
  // becomes Parquet's UUID. Decimals are stored as Iceberg wants them: int32 to 9 digits, int64 to 18, then the fewest
  // bytes. NotSupported: a bloom filter of a boolean or of a column that Parquet has no leaf for.
  static Result<std::unique_ptr<FileWriter>> Make(io::FileIO& io, std::string path,
                                                  const std::shared_ptr<arrow::Schema>& schema,
                                                  const WriterOptions& options);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // A batch of the schema's types; storage arrays may stand for extension types. Requiredness is not checked.
  Result<void> Write(const arrow::RecordBatch& batch);
  // What was written so far, but for the last few rows, goes to the file; rows that follow to another row group.
  Result<void> EndRowGroup();

  int64_t rows() const;
  uint64_t buffered_bytes() const;  // memory that the open row group takes
  uint64_t estimated_size() const;  // bytes of the file if it were finished now, about

  // Closes the file: it is durable and visible when this returns.
  Result<WrittenFile> Finish();

 private:
  struct State;
  explicit FileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace delenda::parquet
