#include "delenda/write/row_source.h"

#include <arrow/array.h>
#include <arrow/csv/options.h>
#include <arrow/csv/reader.h>
#include <arrow/io/buffered.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "delenda/formats/json/json.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/io/location.h"
#include "delenda/write/input_stream.h"
#include "delenda/write/json_rows.h"

namespace delenda::write {
namespace {

using parquet::Guarded;
using parquet::ToResult;
using BatchRef = std::shared_ptr<arrow::RecordBatch>;
using SchemaRef = std::shared_ptr<arrow::Schema>;

// Offsets, UTF-8 and the digits of decimals are what the file says: nothing later looks at them again.
Result<BatchRef> Checked(BatchRef batch) {
  if (batch) DELENDA_TRY(ToResult(batch->ValidateFull()));
  return batch;
}

// 16 bytes that a Parquet file calls a UUID are marked as Arrow marks them, at any depth. `leaf` counts depth first.
std::shared_ptr<arrow::Field> WithUuidMarks(const std::shared_ptr<arrow::Field>& field,
                                            const std::vector<parquet::Leaf>& leaves, size_t& leaf) {
  const arrow::DataType& type = *field->type();
  if (!arrow::is_nested(type.id())) {
    if (!leaves[leaf++].uuid) return field;
    auto metadata = field->metadata() ? field->metadata()->Copy() : arrow::KeyValueMetadata::Make({}, {});
    metadata->Append("ARROW:extension:name", "arrow.uuid");
    return field->WithMetadata(std::move(metadata));
  }
  arrow::FieldVector children;
  for (const auto& child : type.fields()) children.push_back(WithUuidMarks(child, leaves, leaf));
  if (type.id() == arrow::Type::STRUCT) return field->WithType(arrow::struct_(std::move(children)));
  if (type.id() == arrow::Type::LIST) return field->WithType(arrow::list(children[0]));
  if (type.id() == arrow::Type::MAP) {
    return field->WithType(
        std::make_shared<arrow::MapType>(children[0]->type()->field(0), children[0]->type()->field(1)));
  }
  return field;
}

class ParquetSource final : public RowSource {
 public:
  static Result<std::unique_ptr<RowSource>> Make(io::FileIO& io, std::string_view path, int64_t batch_rows) {
    std::shared_ptr<io::InputFile> file = DELENDA_TRY(io.Open(path));
    const uint64_t size = DELENDA_TRY(file->Size());
    auto opened = DELENDA_TRY(parquet::ParquetFile::Open(std::move(file), size));
    arrow::FieldVector fields;
    size_t leaf = 0;
    for (const auto& field : opened->schema()->fields()) fields.push_back(WithUuidMarks(field, opened->leaves(), leaf));
    return std::make_unique<ParquetSource>(std::move(opened), arrow::schema(std::move(fields)), batch_rows);
  }
  ParquetSource(std::shared_ptr<const parquet::ParquetFile> file, SchemaRef schema, int64_t batch_rows)
      : file_(std::move(file)), schema_(std::move(schema)), batch_rows_(batch_rows) {
    for (size_t i = 0; i < file_->leaves().size(); ++i) leaves_.push_back(static_cast<int>(i));
  }

  const SchemaRef& schema() const override { return schema_; }
  Result<BatchRef> Next() override {
    while (true) {
      if (!reader_) {
        if (next_row_group_ == file_->row_groups().size() || leaves_.empty()) return BatchRef();
        // One without rows, as of a file that was made of none, need not have a page.
        if (file_->row_groups()[next_row_group_].num_rows == 0) {
          ++next_row_group_;
          continue;
        }
        reader_ = DELENDA_TRY(file_->Read(next_row_group_++, leaves_, batch_rows_));
      }
      BatchRef batch = DELENDA_TRY(reader_->Next());
      if (batch) return WithContext(Checked(std::move(batch)), "file", file_->path());
      reader_.reset();
    }
  }

 private:
  std::shared_ptr<const parquet::ParquetFile> file_;
  SchemaRef schema_;
  int64_t batch_rows_;
  std::vector<int> leaves_;
  size_t next_row_group_ = 0;
  std::unique_ptr<parquet::RowGroupReader> reader_;
};

// Sources that are Arrow's own readers.
class ReaderSource final : public RowSource {
 public:
  ReaderSource(std::shared_ptr<arrow::RecordBatchReader> reader, std::string path, bool is_text)
      : reader_(std::move(reader)), schema_(reader_->schema()), path_(std::move(path)), is_text_(is_text) {}

  const SchemaRef& schema() const override { return schema_; }
  bool is_text() const override { return is_text_; }
  Result<BatchRef> Next() override {
    const auto next = [&]() -> Result<BatchRef> {
      BatchRef batch;
      do {
        DELENDA_TRY(ToResult(reader_->ReadNext(&batch)));
      } while (batch && batch->num_rows() == 0);
      return Checked(std::move(batch));
    };
    return WithContext(Guarded(next), "file", path_);
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  SchemaRef schema_;
  std::string path_;
  bool is_text_;
};

// Batches of an IPC file, found by its footer.
class IpcFileReader final : public arrow::RecordBatchReader {
 public:
  explicit IpcFileReader(std::shared_ptr<arrow::ipc::RecordBatchFileReader> file)
      : file_(std::move(file)), schema_(file_->schema()) {}
  SchemaRef schema() const override { return schema_; }
  arrow::Status ReadNext(BatchRef* batch) override {
    batch->reset();
    if (next_ == file_->num_record_batches()) return arrow::Status::OK();
    return file_->ReadRecordBatch(next_++).Value(batch);
  }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file_;
  SchemaRef schema_;
  int next_ = 0;
};

constexpr std::string_view kIpcFileMagic = "ARROW1";
constexpr int64_t kIpcFileHeader = 8;  // magic, padded

Result<std::unique_ptr<RowSource>> OpenArrow(io::FileIO& io, std::string_view path) {
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  std::shared_ptr<arrow::io::InputStream> stream = DELENDA_TRY(OpenBytes(io, path));
  std::shared_ptr<arrow::RecordBatchReader> reader;
  if (auto file = std::dynamic_pointer_cast<arrow::io::RandomAccessFile>(stream)) {
    const auto head = DELENDA_TRY(ToResult(file->ReadAt(0, static_cast<int64_t>(kIpcFileMagic.size()))));
    if (std::string_view(*head) == kIpcFileMagic) {
      reader = std::make_shared<IpcFileReader>(
          DELENDA_TRY(ToResult(arrow::ipc::RecordBatchFileReader::Open(file, options))));
    }
  }
  if (!reader) {
    reader = DELENDA_TRY(ToResult(arrow::ipc::RecordBatchStreamReader::Open(std::move(stream), options)));
  }
  return std::make_unique<ReaderSource>(std::move(reader), std::string(path), false);
}

constexpr int64_t kHeaderBytes = 64 * 1024;

// Of a CSV file that begins like this.
bool HasOneColumn(std::string_view head) {
  bool is_quoted = false;
  for (const char c : head) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == ',') return false;
    if (c == '\n' || c == '\r') break;
  }
  return true;
}

Result<std::unique_ptr<RowSource>> OpenCsv(io::FileIO& io, std::string_view path) {
  auto read = arrow::csv::ReadOptions::Defaults();
  read.use_threads = false;
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.newlines_in_values = true;
  auto convert = arrow::csv::ConvertOptions::Defaults();
  convert.default_column_type = arrow::utf8();
  convert.null_values = {""};
  convert.strings_can_be_null = true;
  convert.quoted_strings_can_be_null = false;
  auto stream = DELENDA_TRY(ToResult(arrow::io::BufferedInputStream::Create(kHeaderBytes, arrow::default_memory_pool(),
                                                                            DELENDA_TRY(OpenBytes(io, path)))));
  // An empty line is a NULL where there is one column, and else nothing.
  parse.ignore_empty_lines = !HasOneColumn(DELENDA_TRY(ToResult(stream->Peek(kHeaderBytes))));
  auto reader = DELENDA_TRY(ToResult(
      arrow::csv::StreamingReader::Make(arrow::io::default_io_context(), std::move(stream), read, parse, convert)));
  return std::make_unique<ReaderSource>(std::move(reader), std::string(path), true);
}

class JsonSource final : public RowSource {
 public:
  static Result<std::unique_ptr<RowSource>> Make(io::FileIO& io, std::string_view path,
                                                 const RowSourceOptions& options) {
    if (!options.table) return InvalidArgument("JSON lines can only be read for a table whose columns are known");
    auto stream = DELENDA_TRY(OpenBytes(io, path));
    auto rows = DELENDA_TRY(JsonRows::Make(*options.table, options.ignore_unknown_columns));
    return std::make_unique<JsonSource>(LineReader(std::move(stream)), std::move(rows), std::string(path),
                                        options.batch_rows);
  }
  JsonSource(LineReader lines, JsonRows rows, std::string path, int64_t batch_rows)
      : lines_(std::move(lines)), rows_(std::move(rows)), path_(std::move(path)), batch_rows_(batch_rows) {}

  const SchemaRef& schema() const override { return rows_.schema(); }
  Result<BatchRef> Next() override {
    std::string_view line;
    uint64_t bytes = 0;
    while (rows_.rows() < batch_rows_ && bytes < kBatchBytes) {
      if (!DELENDA_TRY(WithContext(lines_.Next(line), "file", path_))) break;
      bytes += line.size();
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      Result<void> appended = AppendLine(line);
      if (!appended) {
        appended.error().Add("line", static_cast<uint64_t>(lines_.number())).Add("file", path_);
        return std::unexpected(std::move(appended).error());
      }
    }
    if (rows_.rows() == 0) return BatchRef();
    return rows_.Finish();
  }

 private:
  static constexpr uint64_t kBatchBytes = uint64_t{64} << 20;

  Result<void> AppendLine(std::string_view line) {
    const json::Document document = DELENDA_TRY(json::Document::Parse(line));
    return rows_.Append(document.root());
  }

  LineReader lines_;
  JsonRows rows_;
  std::string path_;
  int64_t batch_rows_;
};

struct KnownFormat {
  std::string_view name;
  RowFormat format;
};

}  // namespace

Result<RowFormat> RowFormatFromName(std::string_view name) {
  constexpr KnownFormat kKnown[] = {{"parquet", RowFormat::kParquet}, {"arrow", RowFormat::kArrow},
                                    {"csv", RowFormat::kCsv},         {"jsonl", RowFormat::kJsonLines},
                                    {"json", RowFormat::kJsonLines},  {"ndjson", RowFormat::kJsonLines}};
  for (const KnownFormat& known : kKnown) {
    if (known.name == name) return known.format;
  }
  return InvalidArgument("unknown format '{}': expected parquet, arrow, csv or jsonl", name);
}

std::optional<RowFormat> RowFormatFromPath(std::string_view path) {
  constexpr KnownFormat kKnown[] = {{".parquet", RowFormat::kParquet},  {".pq", RowFormat::kParquet},
                                    {".arrow", RowFormat::kArrow},      {".arrows", RowFormat::kArrow},
                                    {".ipc", RowFormat::kArrow},        {".feather", RowFormat::kArrow},
                                    {".csv", RowFormat::kCsv},          {".jsonl", RowFormat::kJsonLines},
                                    {".ndjson", RowFormat::kJsonLines}, {".json", RowFormat::kJsonLines}};
  std::string name(io::Basename(path));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const KnownFormat& known : kKnown) {
    if (name.ends_with(known.name)) return known.format;
  }
  return std::nullopt;
}

Result<std::unique_ptr<RowSource>> RowSource::Open(io::FileIO& io, std::string_view path,
                                                   const RowSourceOptions& options) {
  const std::optional<RowFormat> format = options.format ? options.format : RowFormatFromPath(path);
  if (!format) {
    return InvalidArgument("the format of '{}' is not known by its name: state parquet, arrow, csv or jsonl", path);
  }
  const auto open = [&]() -> Result<std::unique_ptr<RowSource>> {
    switch (*format) {
      case RowFormat::kParquet:
        if (path == "-") return NotSupported("Parquet cannot be read from standard input: write it to a file first");
        return ParquetSource::Make(io, path, options.batch_rows);
      case RowFormat::kArrow: return OpenArrow(io, path);
      case RowFormat::kCsv: return OpenCsv(io, path);
      case RowFormat::kJsonLines: return JsonSource::Make(io, path, options);
    }
    return InternalError("a format without a reader");
  };
  return WithContext(Guarded(open), "file", path);
}

}  // namespace delenda::write
