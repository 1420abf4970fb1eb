#include "delenda/formats/puffin/blob_codec.h"

#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace delenda::puffin {

namespace {

constexpr size_t kFirstChunk = size_t{64} << 10;

// Room for the next step of decompression: doubles, up to one byte more than allowed, so that a frame that ends exactly
// at the bound is told from one that goes on.
Result<void> GrowOutput(Bytes& out, uint64_t max_bytes, std::string_view codec) {
  if (out.size() > max_bytes) {
    return Corrupt("{} frame decompresses to more than {} bytes", codec, max_bytes);
  }
  out.resize(static_cast<size_t>(std::min<uint64_t>(max_bytes + 1, std::max(kFirstChunk, out.size() * 2))));
  return {};
}

Result<Bytes> FinishOutput(Bytes out, size_t produced, uint64_t max_bytes, size_t left_over, std::string_view codec) {
  if (produced > max_bytes) return Corrupt("{} frame decompresses to more than {} bytes", codec, max_bytes);
  if (left_over != 0) return Corrupt("bytes left over after the {} frame: 0 expected, {} found", codec, left_over);
  out.resize(produced);
  return out;
}

}  // namespace

Result<Bytes> DecompressLz4Frame(ByteView frame, uint64_t max_bytes) {
  LZ4F_dctx* raw = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION))) return InternalError("no LZ4 context");
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context(raw,
                                                                                     &LZ4F_freeDecompressionContext);
  Bytes out;
  size_t produced = 0;
  for (size_t consumed = 0;;) {
    if (produced == out.size()) DELENDA_TRY(GrowOutput(out, max_bytes, "LZ4"));
    size_t written = out.size() - produced;
    size_t read = frame.size() - consumed;
    const size_t hint =
        LZ4F_decompress(context.get(), out.data() + produced, &written, frame.data() + consumed, &read, nullptr);
    if (LZ4F_isError(hint)) return Corrupt("damaged LZ4 frame: {} at byte {}", LZ4F_getErrorName(hint), consumed);
    produced += written;
    consumed += read;
    if (hint == 0) return FinishOutput(std::move(out), produced, max_bytes, frame.size() - consumed, "LZ4");
    if (written == 0 && read == 0) return Corrupt("LZ4 frame is cut off after {} bytes", frame.size());
  }
}

Result<Bytes> DecompressZstdFrame(ByteView frame, uint64_t max_bytes) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (context == nullptr) return InternalError("no Zstandard context");
  Bytes out;
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  size_t produced = 0;
  for (;;) {
    if (produced == out.size()) DELENDA_TRY(GrowOutput(out, max_bytes, "Zstandard"));
    ZSTD_outBuffer step{out.data() + produced, out.size() - produced, 0};
    const size_t before = in.pos;
    const size_t hint = ZSTD_decompressStream(context.get(), &step, &in);
    if (ZSTD_isError(hint)) return Corrupt("damaged Zstandard frame: {} at byte {}", ZSTD_getErrorName(hint), before);
    produced += step.pos;
    if (hint == 0) return FinishOutput(std::move(out), produced, max_bytes, frame.size() - in.pos, "Zstandard");
    if (step.pos == 0 && in.pos == before) return Corrupt("Zstandard frame is cut off after {} bytes", frame.size());
  }
}

}  // namespace delenda::puffin
