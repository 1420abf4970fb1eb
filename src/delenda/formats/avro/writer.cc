#include "delenda/formats/avro/writer.h"

#include <libdeflate.h>
#include <snappy.h>
#include <zstd.h>

#include <cstring>
#include <exception>
#include <random>

#include "delenda/formats/avro/schema.h"

namespace delenda::avro {
namespace {

std::string_view CodecName(Codec codec) {
  switch (codec) {
    case Codec::kNull: return "null";
    case Codec::kDeflate: return "deflate";
    case Codec::kSnappy: return "snappy";
    case Codec::kZstandard: return "zstandard";
  }
  return "null";
}

void Append(Bytes& out, ByteView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

Result<SyncMarker> RandomSync() {
  SyncMarker sync;
  try {
    // Not a seeded generator: the same marker in two files would let a reader that lost its place run from one file's
    // bytes into data that looks like the other's.
    std::random_device device;
    for (size_t i = 0; i < sync.size(); i += sizeof(uint32_t)) {
      const uint32_t value = device();
      std::memcpy(sync.data() + i, &value, sizeof(value));
    }
  } catch (const std::exception& error) {
    return InternalError("no random bytes for a sync marker: {}", error.what());
  }
  return sync;
}

Result<int> CheckedLevel(Codec codec, std::optional<int> level) {
  const int least = codec == Codec::kDeflate ? 0 : 1;
  const int most = codec == Codec::kDeflate ? 12 : 22;
  const int value = level.value_or(codec == Codec::kDeflate ? 6 : 1);
  if ((codec == Codec::kDeflate || codec == Codec::kZstandard) && (value < least || value > most)) {
    return InvalidArgument("{} has levels {} to {}: {} is none", CodecName(codec), least, most, value);
  }
  return value;
}

}  // namespace

struct Writer::Compressors {
  struct FreeDeflate {
    void operator()(libdeflate_compressor* at) const { libdeflate_free_compressor(at); }
  };
  struct FreeZstd {
    void operator()(ZSTD_CCtx* at) const { ZSTD_freeCCtx(at); }
  };
  std::unique_ptr<libdeflate_compressor, FreeDeflate> deflate;
  std::unique_ptr<ZSTD_CCtx, FreeZstd> zstd;
};

Writer::Writer() : compressors_(std::make_unique<Compressors>()) {}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

Result<Writer> Writer::Make(std::string_view schema_json, const Metadata& metadata, const WriteOptions& options) {
  if (auto schema = Schema::Parse(schema_json); !schema) return InvalidArgument("{}", schema.error().message());
  Writer writer;
  writer.codec_ = options.codec;
  writer.level_ = DELENDA_TRY(CheckedLevel(options.codec, options.level));
  writer.block_bytes_ = options.block_bytes;
  writer.sync_ = options.sync ? *options.sync : DELENDA_TRY(RandomSync());

  Encoder header;
  header.Fixed(std::string_view("Obj\x01", 4));
  header.BeginItems(metadata.size() + 2);
  header.Text("avro.schema");
  header.Text(schema_json);
  header.Text("avro.codec");
  header.Text(CodecName(options.codec));
  for (const auto& [key, value] : metadata) {
    if (key.starts_with("avro.")) return InvalidArgument("metadata key '{}' is reserved by the format", key);
    if (!IsValidUtf8(key)) return InvalidArgument("a metadata key is not valid UTF-8");
    header.Text(key);
    header.Text(value);
  }
  header.EndItems();
  Append(writer.file_, header.view());
  Append(writer.file_, writer.sync_);
  return writer;
}

Result<void> Writer::EndRow() {
  ++block_rows_;
  ++rows_;
  if (block_.size() >= block_bytes_) return FlushBlock();
  return {};
}

Result<void> Writer::FlushBlock() {
  if (block_rows_ == 0) return {};
  const ByteView packed = DELENDA_TRY(Pack(block_.view()));
  Encoder head;
  head.Int(block_rows_);
  head.Int(static_cast<int64_t>(packed.size()));
  Append(file_, head.view());
  Append(file_, packed);
  Append(file_, sync_);
  block_.Clear();
  block_rows_ = 0;
  return {};
}

Result<ByteView> Writer::Pack(ByteView block) {
  switch (codec_) {
    case Codec::kNull: return block;
    case Codec::kDeflate: {
      auto& deflate = compressors_->deflate;
      if (!deflate) deflate.reset(libdeflate_alloc_compressor(level_));
      if (!deflate) return InternalError("no memory for a deflate compressor");
      packed_.resize(libdeflate_deflate_compress_bound(deflate.get(), block.size()));
      const size_t size =
          libdeflate_deflate_compress(deflate.get(), block.data(), block.size(), packed_.data(), packed_.size());
      if (size == 0) return InternalError("a block of {} bytes was not deflated", block.size());
      return ByteView(packed_).first(size);
    }
    case Codec::kSnappy: {
      // The block is followed by the CRC-32 of what it inflates to, big-endian.
      packed_.resize(snappy::MaxCompressedLength(block.size()) + sizeof(uint32_t));
      size_t size = 0;
      snappy::RawCompress(reinterpret_cast<const char*>(block.data()), block.size(),
                          reinterpret_cast<char*>(packed_.data()), &size);
      ByteWriter crc;
      crc.WriteBig(Crc32(block));
      std::memcpy(packed_.data() + size, crc.view().data(), crc.size());
      return ByteView(packed_).first(size + crc.size());
    }
    case Codec::kZstandard: {
      auto& zstd = compressors_->zstd;
      if (!zstd) zstd.reset(ZSTD_createCCtx());
      if (!zstd) return InternalError("no memory for a zstandard compressor");
      packed_.resize(ZSTD_compressBound(block.size()));
      const size_t size =
          ZSTD_compressCCtx(zstd.get(), packed_.data(), packed_.size(), block.data(), block.size(), level_);
      if (ZSTD_isError(size)) return InternalError("zstandard: {}", ZSTD_getErrorName(size));
      return ByteView(packed_).first(size);
    }
  }
  return InternalError("unknown Avro codec");
}

Result<Bytes> Writer::Finish() && {
  DELENDA_TRY(FlushBlock());
  return std::move(file_);
}

}  // namespace delenda::avro
