// Deletion vectors in all three framings. The first byte chooses the framing, so that one corpus serves them all:
// 0 Iceberg blob, 1 Delta frame, 2 Delta inline text; from 4 on the same with the CRC put right (0 and 1) or the bytes
// encoded as Z85 first (2), so that the checks behind them are reached.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/dv/dv_format.h"
#include "delenda/formats/dv/z85.h"

namespace {

using delenda::Bytes;
using delenda::ByteView;
using delenda::PositionSet;

void Require(bool condition) {
  if (!condition) std::abort();
}

// Length and CRC made right for what lies between them.
Bytes Sealed(ByteView framed) {
  delenda::ByteWriter out;
  out.WriteBig(static_cast<uint32_t>(framed.size()));
  out.Write(framed);
  out.WriteBig(delenda::Crc32(framed));
  return std::move(out).Finish();
}

// What was accepted must come back from every framing, and from its own canonical bytes.
void CheckAccepted(const PositionSet& set) {
  const Bytes blob = delenda::dv::EncodeIcebergBlob(set).value();
  Require(delenda::dv::DecodeIcebergBlob(blob, set.cardinality()).value() == set);
  Require(!delenda::dv::DecodeIcebergBlob(blob, set.cardinality() + 1).has_value());
  const auto size = static_cast<int64_t>(blob.size() - delenda::dv::kFrameBytes);
  Require(delenda::dv::DecodeDeltaFileFrame(blob, size, set.cardinality()).value() == set);
  const auto text = delenda::dv::EncodeDeltaInline(set).value();
  Require(delenda::dv::DecodeDeltaInline(text.text, text.size_in_bytes, set.cardinality()).value() == set);
  if (const auto max = set.Max()) {
    Require(delenda::dv::CheckWithinFile(set, *max + 1).has_value());
    Require(!delenda::dv::CheckWithinFile(set, *max).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ByteView input = std::as_bytes(std::span(data + 1, size - 1));
  const bool helped = (data[0] & 4) != 0;
  const Bytes sealed = helped ? Sealed(input) : Bytes(input.begin(), input.end());
  switch (data[0] & 3) {
    case 0: {
      const auto set = delenda::dv::DecodeIcebergBlob(sealed, std::nullopt);
      if (set) CheckAccepted(*set);
      break;
    }
    case 1: {
      delenda::ByteReader reader(sealed);
      const auto stated = reader.ReadBig<uint32_t>("size");
      const auto set =
          delenda::dv::DecodeDeltaFileFrame(sealed, stated ? static_cast<int64_t>(*stated) : -1, std::nullopt);
      if (set) CheckAccepted(*set);
      break;
    }
    default: {
      std::string text(delenda::AsText(input));
      Bytes padded(input.begin(), input.end());
      padded.resize((padded.size() + 3) / 4 * 4);
      auto size_in_bytes = static_cast<int64_t>(input.size());
      if (helped) {
        text = delenda::dv::EncodeZ85(padded).value();
        Require(delenda::dv::DecodeZ85(text).value() == padded);
      } else {
        size_in_bytes = static_cast<int64_t>(text.size() / 5 * 4);
        if (const auto bytes = delenda::dv::DecodeZ85(text)) Require(delenda::dv::EncodeZ85(*bytes).value() == text);
      }
      for (int64_t cut = 0; cut < 4; ++cut) {
        const auto set = delenda::dv::DecodeDeltaInline(text, size_in_bytes - cut, std::nullopt);
        if (set) CheckAccepted(*set);
      }
    }
  }
  return 0;
}
