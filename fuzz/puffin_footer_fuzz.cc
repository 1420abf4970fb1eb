// The Puffin footer: the input is a whole file. With the first byte 1, a footer is built around the rest of the input
// as its payload, so that the fuzzer needs not find the frame; with 2, that payload is said to be LZ4.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "delenda/formats/puffin/puffin_footer.h"

namespace {

using delenda::Bytes;
using delenda::ByteView;

void Require(bool condition) {
  if (!condition) std::abort();
}

Bytes FileWithPayload(ByteView payload, bool compressed) {
  const ByteView magic = delenda::AsBytes(delenda::puffin::kMagic);
  delenda::ByteWriter out;
  out.Write(magic);
  out.Write(Bytes(64));  // room for blobs
  out.Write(magic);
  out.Write(payload);
  out.WriteLittle(static_cast<uint32_t>(payload.size()));
  out.WriteLittle(uint32_t{compressed ? 1u : 0u});
  out.Write(magic);
  return std::move(out).Finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ByteView input = std::as_bytes(std::span(data + 1, size - 1));
  const bool built = data[0] == 1 || data[0] == 2;
  const Bytes file = built ? FileWithPayload(input, data[0] == 2) : Bytes(input.begin(), input.end());
  (void)delenda::puffin::CheckHeader(file);
  const auto tail = delenda::puffin::ParseTail(file, file.size());
  const auto footer = delenda::puffin::ParseFooter(file, file.size());
  if (!footer) return 0;
  Require(tail.has_value() && tail->footer_bytes + delenda::puffin::kMagicBytes <= file.size());
  // The footer's bytes alone must give the same answer as the whole file.
  const auto alone = delenda::puffin::ParseFooter(ByteView(file).last(tail->footer_bytes), file.size());
  Require(alone.has_value() && alone->blobs.size() == footer->blobs.size());
  for (const auto& blob : footer->blobs) {
    Require(blob.offset >= delenda::puffin::kMagicBytes &&
            blob.offset + blob.length <= file.size() - tail->footer_bytes);
    (void)delenda::puffin::DecompressBlob(blob, ByteView(file).subspan(blob.offset, blob.length), 1 << 20);
  }
  return 0;
}
