#include "delenda/formats/avro/reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "delenda/formats/avro/codec.h"
#include "delenda/formats/avro/decoder.h"
#include "delenda/formats/avro/program.h"

namespace delenda::avro {
namespace {

constexpr std::string_view kMagic("Obj\x01", 4);
constexpr size_t kSyncBytes = 16;
static_assert(kSyncBytes >= Decoder::kPadding, "a block that is not inflated has only its sync marker behind it");

std::string Hex(ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

Result<std::string_view> ReadText(ByteReader& in, std::string_view what) {
  const int64_t size = DELENDA_TRY(in.ReadZigZag(what));
  if (size < 0) return Corrupt("negative length {} of {} before byte {}", size, what, in.offset());
  return AsText(DELENDA_TRY(in.Read(static_cast<uint64_t>(size), what)));
}

using Metadata = std::map<std::string, std::string, std::less<>>;

Result<Metadata> ReadMetadata(ByteReader& in) {
  Metadata metadata;
  for (;;) {
    int64_t count = DELENDA_TRY(in.ReadZigZag("the count of metadata entries"));
    if (count == 0) return metadata;
    if (count < 0) {
      DELENDA_TRY(in.ReadZigZag("the size of the metadata block"));
      if (count == INT64_MIN) return Corrupt("count of metadata entries is out of range before byte {}", in.offset());
      count = -count;
    }
    // Each entry takes two bytes at least, so a count that lies ends at the end of the file.
    for (int64_t i = 0; i < count; ++i) {
      const std::string_view key = DELENDA_TRY(ReadText(in, "a metadata key"));
      const std::string_view value = DELENDA_TRY(ReadText(in, "a metadata value"));
      if (!IsValidUtf8(key)) return Corrupt("a metadata key before byte {} is not valid UTF-8", in.offset());
      // With two schemas under one key, which one the rows are read with would be chance.
      if (!metadata.emplace(key, value).second) return Corrupt("metadata key \"{}\" occurs twice", key);
    }
  }
}

}  // namespace

Result<std::shared_ptr<const Schema>> SchemaCache::Get(const std::string& json) {
  {
    std::scoped_lock lock(mutex_);
    if (auto found = schemas_.find(json); found != schemas_.end()) return found->second;
  }
  auto schema = DELENDA_TRY(Schema::Parse(json));
  std::scoped_lock lock(mutex_);
  // A table has about one schema per partition spec and format version; a cache of more is not one table's.
  constexpr size_t kMaxSchemas = 256;
  if (schemas_.size() >= kMaxSchemas) schemas_.clear();
  // Of two threads that parsed the same text, both get the object of the first one: columns fit both readers.
  return schemas_.try_emplace(json, std::move(schema)).first->second;
}

Reader::Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::Open(Bytes file, const ReadOptions& options) {
  auto owned = std::make_shared<const Bytes>(std::move(file));
  const ByteView view(*owned);
  return Open(view, std::move(owned), options);
}

Result<Reader> Reader::Open(ByteView file, std::shared_ptr<const void> owner, const ReadOptions& options) {
  Reader reader;
  reader.file_ = file;
  reader.owner_ = std::move(owner);
  reader.options_ = options;
  ByteReader in(file);
  const ByteView magic = DELENDA_TRY(in.Read(kMagic.size(), "the Avro magic"));
  if (AsText(magic) != kMagic) return Corrupt("not an Avro file: expected magic 4f626a01, found {}", Hex(magic));
  reader.metadata_ = DELENDA_TRY(ReadMetadata(in));
  const ByteView sync = DELENDA_TRY(in.Read(kSyncBytes, "the sync marker of the header"));
  std::memcpy(reader.sync_.data(), sync.data(), kSyncBytes);
  reader.offset_ = in.offset();

  const std::string* codec = reader.FindMetadata("avro.codec");
  const auto known = CodecNamed(codec == nullptr ? std::string_view() : *codec);
  if (!known) return NotSupported("Avro codec \"{}\": null, deflate, snappy and zstandard are read", *codec);
  reader.codec_ = *known;
  reader.inflater_ = std::make_unique<Inflater>(*known, options.max_block_bytes, Decoder::kPadding);

  const std::string* schema = reader.FindMetadata("avro.schema");
  if (schema == nullptr) return Corrupt("the Avro file's header has no avro.schema");
  reader.schema_ = options.schemas != nullptr ? DELENDA_TRY(options.schemas->Get(*schema))
                                              : DELENDA_TRY(Schema::Parse(*schema));
                                              return reader;
}

const std::string* Reader::FindMetadata(std::string_view key) const {
  auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

Result<Columns> Reader::Prepare(const Projection& projection) const { return Compile(schema_, projection); }

Result<void> Reader::CheckColumns(const Columns& columns) const {
  if (columns.schema_ == schema_) return {};
  return InvalidArgument("columns of another schema: make them with Prepare of a reader that shares this schema");
}

Result<bool> Reader::NextBlock(Columns& columns) {
  DELENDA_TRY(CheckColumns(columns));
  if (offset_ == file_.size()) {
    columns.Clear();
    return false;
  }
  auto block = BlockAt(offset_);
  if (!block) {
    columns.Clear();
    return std::unexpected(std::move(block).error());
  }
  DELENDA_TRY(DecodeBlock(*block, columns, *inflater_));
  offset_ = block->end;
  return true;
}

Result<Columns> Reader::ReadAll(const Projection& projection) {
  Columns columns = DELENDA_TRY(Prepare(projection));
  Decoder decoder(columns, options_.max_cells);
  while (offset_ < file_.size()) {
    const FileBlock block = DELENDA_TRY(BlockAt(offset_));
    DELENDA_TRY(AppendBlock(block, columns, decoder, *inflater_));
    offset_ = block.end;
  }
  return columns;
}

BlockList Reader::FindBlocks() const {
  BlockList list;
  for (size_t at = offset_; at < file_.size(); at = list.blocks.back().end) {
    auto block = BlockAt(at);
    if (!block) {
      list.broken = std::move(block).error();
      break;
    }
    list.blocks.push_back(*block);
  }
  return list;
}

Inflater Reader::MakeInflater() const { return {codec_, options_.max_block_bytes, Decoder::kPadding}; }

Result<void> Reader::DecodeBlock(const FileBlock& block, Columns& columns, Inflater& inflater) const {
  DELENDA_TRY(CheckColumns(columns));
  // The buffer of the block before serves again, unless its texts are still in use.
  std::shared_ptr<const void> last = columns.buffers_.size() == 1 ? std::move(columns.buffers_[0]) : nullptr;
  columns.Clear();
  if (last && columns.recyclable_) inflater.Recycle(std::move(last));
  Decoder decoder(columns, options_.max_cells);
  auto done = AppendBlock(block, columns, decoder, inflater);
  if (!done) columns.Clear();
  return done;
}

static std::unexpected<Error> InBlock(size_t offset, const Error& error) {
  return std::unexpected(Error(error.kind(), fmt::format("Avro block at byte {}: {}", offset, error.message())));
}

Result<FileBlock> Reader::BlockAt(size_t offset) const {
  const auto read = [&]() -> Result<FileBlock> {
    ByteReader in(file_.subspan(offset));
    const int64_t rows = DELENDA_TRY(in.ReadZigZag("the record count"));
    const int64_t size = DELENDA_TRY(in.ReadZigZag("the byte size"));
    if (rows < 0) return Corrupt("the record count is negative: {}", rows);
    if (size < 0) return Corrupt("the byte size is negative: {}", size);
    const ByteView data = DELENDA_TRY(in.Read(static_cast<uint64_t>(size), "the data"));
    const ByteView sync = DELENDA_TRY(in.Read(kSyncBytes, "the sync marker"));
    // Bytes that were lost or doubled before this place show here and nowhere else in a block without a codec.
    if (std::memcmp(sync.data(), sync_.data(), kSyncBytes) != 0) {
      return Corrupt("sync marker at byte {}: expected {}, found {}", offset + in.offset() - kSyncBytes, Hex(sync_),
                     Hex(sync));
    }
    return FileBlock{.offset = offset, .end = offset + in.offset(), .rows = static_cast<uint64_t>(rows), .data = data};
  };
  auto block = read();
  if (!block) return InBlock(offset, block.error());
  return block;
}

Result<void> Reader::AppendBlock(const FileBlock& block, Columns& columns, Decoder& decoder, Inflater& inflater) const {
  const auto append = [&]() -> Result<void> {
    std::shared_ptr<const void> owner = owner_;
    ByteView data = block.data;
    if (codec_ != Codec::kNull) {
      Inflater::Output inflated = DELENDA_TRY(inflater.Inflate(data));
      owner = std::move(inflated.owner);
      data = inflated.data;
    }
    DELENDA_TRY(decoder.Append(data, block.rows));
    if (owner && (columns.buffers_.empty() || columns.buffers_.back() != owner)) {
      columns.buffers_.push_back(std::move(owner));
    }
    columns.recyclable_ = codec_ != Codec::kNull;
    return {};
  };
  auto appended = append();
  if (!appended) return InBlock(block.offset, appended.error());
  return {};
}

}  // namespace delenda::avro
